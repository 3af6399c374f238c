"""What is asked about: conversations with questions, whatever file they come from. Pure values.

Data sets have faults: evidence that does not exist, answers that are missing or no text, questions that cannot be
read. Each is named as a `Fault`, and what is left is used; only what would make another memory of a conversation (a
message that cannot be read) refuses the whole file, before anything is posted.
"""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from app.domain.messages import Draft
from app.evaluation.errors import BadDataset


class Wrong(StrEnum):
    """Kinds of faults."""

    UNREADABLE_QUESTION = "unreadable_question"  # it is left out
    EVIDENCE_NOT_THERE = "evidence_not_there"  # an id of no message: that id is left out
    NO_EVIDENCE = "no_evidence"  # an answerable question is not searched for
    NO_ANSWER = "no_answer"  # an answerable question's answers are not scored
    ANSWER_NOT_TEXT = "answer_not_text"  # a number is read as text, anything else as no answer
    ANSWER_TO_UNANSWERABLE = "answer_to_unanswerable"  # it is not used
    EMPTY_SESSION = "empty_session"
    BLANK_MESSAGE = "blank_message"  # it is left out
    REPEATED_SESSION = "repeated_session"  # the second one is left out
    UNREADABLE_STATEMENT = "unreadable_statement"  # it is left out


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with the data, and where: `conversation 3, question 12`. `detail` quotes no memory text."""

    kind: Wrong
    place: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `number` counts from 1 in its conversation; `category` is the data's own name for its kind.

    `evidence` are the external ids of the messages that carry the answer, each once, all there. `answer` is None for
    unanswerable questions, and where the data lacks it. `asked_at` is None where the data does not say when.
    """

    number: int
    text: str
    category: str
    answer: str | None
    evidence: tuple[str, ...]
    answerable: bool = True
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement that the data has about a conversation, and the external ids of the messages it rests on."""

    text: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions. `number` counts from 1 in the file; `name` is unique in it."""

    number: int
    name: str
    sessions: tuple[tuple[Draft, ...], ...]
    questions: tuple[Question, ...]
    noted: tuple[Noted, ...] = ()

    @property
    def messages(self) -> tuple[Draft, ...]:
        """Those of all sessions, in order."""
        return tuple(message for session in self.sessions for message in session)

    def first(self, count: int | None) -> "Conversation":
        """The same with its first questions only; all of them for None."""
        return replace(self, questions=self.questions[:count])

    def without(self, numbers: frozenset[int]) -> "Conversation":
        """The same without the questions of these numbers."""
        return replace(self, questions=tuple(one for one in self.questions if one.number not in numbers))


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file's conversations. `sha256` is of the file's bytes, in hex."""

    name: str
    conversations: tuple[Conversation, ...]
    sha256: str
    faults: tuple[Fault, ...] = ()

    def pick(self, numbers: Sequence[int]) -> tuple[Conversation, ...]:
        """The conversations with these numbers; all of them for none. Raises BadDataset for one not there."""
        there = {conversation.number: conversation for conversation in self.conversations}
        missing = [number for number in numbers if number not in there]
        if missing:
            raise BadDataset(f"there is no conversation {missing[0]}: the file has 1 to {len(there)}")
        return tuple(there[number] for number in dict.fromkeys(numbers)) if numbers else self.conversations


def answer_of(value: object, *, answerable: bool) -> tuple[str | None, Wrong | None]:
    """An answer as a data set may hold it, as text, and what is wrong with it."""
    if not answerable:
        return None, None if value is None else Wrong.ANSWER_TO_UNANSWERABLE
    if value is None or (isinstance(value, str) and not value.strip()):
        return None, Wrong.NO_ANSWER
    if isinstance(value, str):
        return value, None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else None, Wrong.ANSWER_NOT_TEXT


Read = Callable[[int, object, Set[str], str], tuple[Question, list[Fault]]]
"""Number, entry, ids of the messages that exist, place → the question and what is wrong with it, or BadDataset."""


def questions(asked: list[object], read: Read, ids: Set[str], place: str, faults: list[Fault]) -> Iterator[Question]:
    """The questions that can be read; what is wrong with them, and with the others, is added to `faults`."""
    for number, item in enumerate(asked, 1):
        here = f"{place}, question {number}"
        try:
            question, wrong = read(number, item, ids, here)
        except BadDataset as error:
            faults.append(Fault(Wrong.UNREADABLE_QUESTION, here, str(error).removeprefix(f"{here}: ")))
            continue
        faults += wrong
        yield question


def faults_of(
    answer: Wrong | None, named: Collection[str], ids: Set[str], place: str, *, answerable: bool
) -> list[Fault]:
    """What is wrong with a question's answer, and with the messages that it names as evidence."""
    missing = [Fault(Wrong.EVIDENCE_NOT_THERE, place, id) for id in named if id not in ids]
    bare = answerable and ids.isdisjoint(named)
    return [
        *missing,
        *([] if answer is None else [Fault(answer, place)]),
        *([Fault(Wrong.NO_EVIDENCE, place)] if bare else []),
    ]
