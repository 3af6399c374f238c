"""Reads conversations of one's own: a JSON object a line, each a conversation with its questions.

    {"conversation": "c1",
     "messages": [{"id": "m1", "speaker": "Ada", "content": "I live in Bern.", "occurred_at": "2026-03-01T10:00:00Z",
                   "role": "user", "session": "s1"}, …],
     "questions": [{"question": "Where does Ada live?", "answer": "Bern", "evidence": ["m1"], "category": "place",
                    "asked_at": "2026-04-01T10:00:00Z"}, {"question": "…", "answerable": false}],
     "statements": [{"text": "Ada lives in Bern.", "messages": ["m1"]}]}

A message needs `id`, `content` and `occurred_at`; `role` is user or assistant (user if missing); messages of one
`session` stand together. A question needs `question`, and `answer` and `evidence` unless `answerable` is false;
`category` is any name ("other", or "unanswerable", if missing). `statements` may be missing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Set
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from app.domain.messages import Draft, Role
from app.evaluation.datasets import (
    Conversation,
    Dataset,
    Fault,
    Noted,
    Question,
    Wrong,
    answer_of,
    faults_of,
    questions,
)
from app.evaluation.errors import BadDataset
from app.evaluation.fields import in_utc, may, need, read_bytes, read_json

OTHER, UNANSWERABLE = "other", "unanswerable"


def load(path: Path) -> Dataset:
    """Read a file. Blocking. Raises BadDataset, naming the line, for what is not in the format."""
    content = read_bytes(path)
    faults: list[Fault] = []
    lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadDataset(f"{path} holds no conversation")
    found = tuple(
        _conversation(count, read_json(line, f"line {number}"), f"line {number}", faults)
        for count, (number, line) in enumerate(lines, 1)
    )
    name, times = Counter(conversation.name for conversation in found).most_common(1)[0]
    if times > 1:
        raise BadDataset(f"the conversation {name} stands on two lines")
    return Dataset("jsonl", found, hashlib.sha256(content).hexdigest(), tuple(faults))


def _conversation(number: int, item: object, place: str, faults: list[Fault]) -> Conversation:
    name = need(item, "conversation", str, place)
    told = need(item, "messages", list, place)
    if not told:
        raise BadDataset(f"{place}: there are no messages")
    drafts = [_message(message, f"{place}, message {count}") for count, message in enumerate(told, 1)]
    ids = Counter(draft.external_id or "" for draft, _ in drafts)
    id, times = ids.most_common(1)[0]
    if times > 1:
        raise BadDataset(f"{place}: the id {id} stands for two messages")
    asked = tuple(questions(need(item, "questions", list, place), _question, ids.keys(), place, faults))
    return Conversation(number, name, _sessions(drafts), asked, tuple(_noted(item, ids.keys(), place, faults)))


def _message(message: object, place: str) -> tuple[Draft, str | None]:
    role = may(message, "role", place) or Role.USER
    if role not in (Role.USER, Role.ASSISTANT):
        raise BadDataset(f"{place}: role must be user or assistant")
    content = need(message, "content", str, place)
    if not content.strip():
        raise BadDataset(f"{place}: content is blank")
    draft = Draft(
        role=Role(role),
        content=content,
        external_id=need(message, "id", str, place),
        speaker=may(message, "speaker", place),
        occurred_at=_time(need(message, "occurred_at", str, place), place),
    )
    return draft, may(message, "session", place)


def _sessions(drafts: list[tuple[Draft, str | None]]) -> tuple[tuple[Draft, ...], ...]:
    """Neighbours of one session together."""
    return tuple(tuple(draft for draft, _ in group) for _, group in groupby(drafts, key=lambda pair: pair[1]))


def _question(number: int, item: object, ids: Set[str], place: str) -> tuple[Question, list[Fault]]:
    text = need(item, "question", str, place)
    held: dict[str, Any] = item if isinstance(item, dict) else {}
    answerable = held.get("answerable") is not False
    answer, wrong = answer_of(held.get("answer"), answerable=answerable)
    listed = need(item, "evidence", list, place) if "evidence" in held else []
    if not text.strip() or not all(isinstance(id, str) for id in listed):
        raise BadDataset(f"{place}: the question must not be blank, and evidence must be a list of texts")
    named = dict.fromkeys(listed)
    evidence = tuple(id for id in named if id in ids)
    faults = faults_of(wrong, named, ids, place, answerable=answerable)
    category = may(item, "category", place) or (OTHER if answerable else UNANSWERABLE)
    asked_at = may(item, "asked_at", place)
    when = None if asked_at is None else _time(asked_at, place)
    return Question(number, text, category, answer, evidence, answerable, when), faults


def _noted(item: object, ids: Set[str], place: str, faults: list[Fault]) -> Iterator[Noted]:
    told = need(item, "statements", list, place) if isinstance(item, dict) and "statements" in item else []
    for number, statement in enumerate(told, 1):
        here = f"{place}, statement {number}"
        try:
            text, named = need(statement, "text", str, here), need(statement, "messages", list, here)
        except BadDataset as error:
            faults.append(Fault(Wrong.UNREADABLE_STATEMENT, here, str(error).removeprefix(f"{here}: ")))
            continue
        there = tuple(id for id in named if isinstance(id, str) and id in ids)
        if text.strip() and there:
            yield Noted(text, there)
        else:
            faults.append(Fault(Wrong.UNREADABLE_STATEMENT, here))


def _time(text: str, place: str) -> datetime:
    try:
        return in_utc(datetime.fromisoformat(text), place)
    except ValueError as error:
        raise BadDataset(f'{place}: "{text}" is no time like "2026-03-01T10:00:00Z"') from error
