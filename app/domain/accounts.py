"""What a language model tells of an episode, and the way from there to candidates."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from app.domain.dates import When, resolve
from app.domain.ids import StatementId
from app.domain.messages import Message, Role
from app.domain.screening import Candidate, Kind, RefusalReason

_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Told:
    """Title and narrative of an episode."""

    title: str
    narrative: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement as a model gives it: `messages` are numbers that it was shown, `updates` is an alias or empty.

    `date` is YYYY, YYYY-MM, YYYY-MM-DD or empty.
    """

    text: str
    kind: Kind
    messages: tuple[int, ...]
    date: str = ""
    updates: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """A checked reply; `malformed` counts the statements in it that were none."""

    told: Told
    noted: tuple[Noted, ...]
    malformed: int = 0


def candidates(
    noted: Sequence[Noted], shown: Mapping[int, Message], known: Mapping[str, StatementId]
) -> tuple[list[Candidate], Counter[RefusalReason]]:
    """Candidates from notes, and how many were refused for which reason.

    Args:
        noted: in the order they were given.
        shown: the messages by the numbers that the model saw.
        known: stored statements by the aliases that the model saw.
    """
    made: list[Candidate] = []
    refused: Counter[RefusalReason] = Counter()
    for note in noted:
        if not note.messages:
            refused[RefusalReason.NO_CITATION] += 1
        elif not set(note.messages) <= shown.keys():
            refused[RefusalReason.UNKNOWN_MESSAGE] += 1
        elif note.updates and note.updates not in known:
            refused[RefusalReason.UNKNOWN_STATEMENT] += 1
        else:
            cited = [shown[number] for number in sorted(set(note.messages))]
            made.append(_candidate(note, cited, known.get(note.updates)))
    return made, refused


def _candidate(note: Noted, cited: Sequence[Message], updates: StatementId | None) -> Candidate:
    said = max(message.occurred_at for message in cited)
    return Candidate(
        text=" ".join(note.text.split()),
        kind=note.kind,
        messages=tuple(message.id for message in cited),
        occurred_at=said,
        when=next(iter(resolve(note.text, said)), None) or _dated(note.date, cited),
        updates=updates,
        assistant=all(message.role is Role.ASSISTANT for message in cited),
    )


def _dated(written: str, cited: Sequence[Message]) -> When | None:
    """The time in the cited messages that a model's date means; None if they name no such time."""
    span = _span(written)
    times = (when for message in cited for when in resolve(message.content, message.occurred_at))
    return next((when for when in times if span and when.start <= span[1] and span[0] <= when.end), None)


def _span(written: str) -> tuple[date, date] | None:
    """First and last day, of months as if each had 28."""
    found = _DATE.fullmatch(written.strip())
    if found is None:
        return None
    year, month, day = found.groups()
    try:
        return date(int(year), int(month or 1), int(day or 1)), date(int(year), int(month or 12), int(day or 28))
    except ValueError:
        return None
