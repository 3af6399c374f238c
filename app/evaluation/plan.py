"""What a run measures: its questions, and every request that it makes of them. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from app.domain.packing import dated
from app.domain.text import count_tokens
from app.evaluation import run_folder
from app.evaluation.datasets import Conversation, Question
from app.evaluation.metrics import rendered

FULL = "full"
"""A baseline made up here: the whole conversation as the context, without a bound. It costs no request."""

Row = run_folder.Searched | run_folder.Answered | run_folder.Judged
Key = tuple[str, str, int, str, int, str]
"""Which request a row is of: kind, conversation, question, strategy, budget, and whose answer was judged."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure. `budgets` in tokens, ascending; answers are asked for at the largest. `judge` names a model.

    `concurrency` requests are under way at once. `sessions`: a conversation is put in session by session, each settled
    before the next, rather than whole. `noted`: the data's own statements are posted too.
    """

    strategies: tuple[str, ...]
    budgets: tuple[int, ...]
    answers: bool = False
    sessions: bool = False
    noted: bool = False
    judge: str | None = None
    prefix: str = "eval"
    concurrency: int = 4

    def namespace(self, conversation: Conversation) -> str:
        """Where a conversation lives."""
        return f"{self.prefix}-{conversation.name}"

    def cases(self, conversation: Conversation) -> list["Case"]:
        """The questions that are asked about a conversation."""
        texts = {message.external_id or "": rendered(message) for message in conversation.messages}
        end = max(message.occurred_at for message in conversation.messages if message.occurred_at is not None)
        whole = count_tokens(_whole(conversation))
        return [
            Case(
                conversation=conversation.name,
                namespace=self.namespace(conversation),
                question=question,
                evidence={id: texts[id] for id in question.evidence},
                asked_at=question.asked_at or end,
                messages=len(conversation.messages),
                tokens=whole,
            )
            for question in conversation.questions
        ]

    def requests(self, cases: Sequence["Case"]) -> list["Request"]:
        """All of them, in the order in which they are made and written down."""
        searched = [case for case in cases if case.is_searched]
        service = [name for name in self.strategies if name != FULL]
        searches = [
            Request("search", case, strategy, budget)
            for strategy in self.strategies
            for budget in (self.budgets if strategy != FULL else (0,))
            for case in searched
        ]
        answers = [Request("answer", case, strategy, self.budgets[-1]) for strategy in service for case in cases]
        return [*searches, *answers] if self.answers else searches


@dataclass(frozen=True, slots=True)
class Case:
    """A question, where to ask it, and its evidence: the messages as they stand in a context, by external id.

    `asked_at`: the end of the conversation where the data does not say. `messages` and `tokens` are of all of it.
    """

    conversation: str
    namespace: str
    question: Question
    evidence: Mapping[str, str]
    asked_at: datetime
    messages: int
    tokens: int

    @property
    def is_searched(self) -> bool:
        """Whether it can be answered, and has evidence that exists."""
        return self.question.answerable and bool(self.evidence)

    def written(self) -> run_folder.Question:
        """As it stands in questions.jsonl."""
        question = self.question
        return run_folder.Question(
            conversation=self.conversation,
            question=question.number,
            category=question.category,
            answerable=question.answerable,
            asked=self.is_searched,
            text=question.text,
            expected=question.answer,
            evidence=[run_folder.Evidence(id=id, text=text) for id, text in self.evidence.items()],
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `kind` is search, answer or verdict; `subject` is answer or vague for a verdict."""

    kind: str
    case: Case
    strategy: str
    budget: int
    subject: str = ""

    @property
    def key(self) -> Key:
        """Tells it from all others of a run."""
        return self.kind, self.case.conversation, self.case.question.number, self.strategy, self.budget, self.subject

    @property
    def asked(self) -> dict[str, Any]:
        """The fields that its row has whatever comes of it."""
        question = self.case.question
        return {
            "conversation": self.case.conversation,
            "question": question.number,
            "category": question.category,
            "answerable": question.answerable,
            "strategy": self.strategy,
            "budget": self.budget,
        }


def key_of(row: Row) -> Key:
    """Which request a row is of."""
    subject = row.subject if isinstance(row, run_folder.Judged) else ""
    return row.kind, row.conversation, row.question, row.strategy, row.budget, subject


def options(strategy: str) -> dict[str, object]:
    """`bm25:message+statement` as options of a search: the strategy, and the levels it may hand out."""
    name, _, levels = strategy.partition(":")
    return {"strategy": name, "levels": levels.split("+")} if levels else {"strategy": name}


def limited(
    conversations: Sequence[Conversation], limit: int | None, wrong: Mapping[str, Collection[int]]
) -> tuple[list[Conversation], int]:
    """The conversations with their first `limit` questions, without the wrong ones; and how many those were."""
    first = [conversation.first(limit) for conversation in conversations]
    kept = [conversation.without(frozenset(wrong.get(conversation.name, ()))) for conversation in first]
    return kept, sum(len(one.questions) for one in first) - sum(len(one.questions) for one in kept)


def _whole(conversation: Conversation) -> str:
    """All of it as a context: each day's date once, then a line a message."""
    by_day = groupby(conversation.messages, key=lambda message: message.occurred_at and message.occurred_at.date())
    lines = [[dated(day) if day else "", *map(rendered, messages)] for day, messages in by_day]
    return "\n".join(line for group in lines for line in group)
