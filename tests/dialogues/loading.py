"""The dialogues as values: read from YAML, refused where they contradict themselves."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from tests.dialogues.spans import Span, read_spans

DATA = Path(__file__).parent / "data"
BLIND = "blind"  # the folder measured once, at the end
ROLES = ("user", "assistant", "system", "tool")
FIELDS = ("at", "image", "query", "times")  # of a message, beside its speaker

Reason: TypeAlias = Literal["pleasantry", "question", "unknown", "system", "tool", "recalled", "echo", "advice"]


class Value(BaseModel):
    """Read-only, with known fields only."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(Value):
    """A message; `speaker` is None where the role speaks for itself."""

    number: int
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime
    caption: str | None = None
    query: str | None = None

    @property
    def who(self) -> str:
        """The name by which statements call the speaker."""
        return self.speaker or self.role.capitalize()


class Batch(Value):
    """Messages posted together; all before them is settled first."""

    conversation: str
    messages: tuple[Said, ...]


class Fact(Value):
    """What one statement must say; README.md explains each label."""

    has: tuple[str, ...] = Field(min_length=1)
    lacks: tuple[str, ...] = Field((), alias="not")
    by: str
    cites: tuple[int, ...] = Field(min_length=1)
    beside: tuple[int, ...] = Field((), alias="with")
    when: str | None = None
    kind: str | None = None
    superseded_by: str | None = None
    may_be_superseded_by: str | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The times that are right; none if it should have no date."""
        return read_spans(self.when) if self.when else ()


class Dialogue(Value):
    """A dialogue and its labels."""

    id: str
    topic: str
    language: str
    held_out: bool
    batches: tuple[Batch, ...]
    facts: Mapping[str, Fact]
    nothing: Mapping[Reason, tuple[int, ...]] = {}
    maybe: tuple[int, ...] = ()
    needs_model: bool = False
    needs_embedder: bool = False

    @property
    def messages(self) -> Mapping[int, Said]:
        """Every message by its number."""
        return {message.number: message for batch in self.batches for message in batch.messages}

    @property
    def silent(self) -> frozenset[int]:
        """Messages on which nothing may rest."""
        return frozenset(number for numbers in self.nothing.values() for number in numbers)

    @model_validator(mode="after")
    def _labels_fit(self) -> "Dialogue":
        numbers = set(self.messages)
        cited = {number for fact in self.facts.values() for number in (*fact.cites, *fact.beside)}
        labelled = cited | self.silent | set(self.maybe)
        if labelled != numbers:
            raise ValueError(f"{self.id}: labels name {sorted(labelled ^ numbers)} wrongly or not at all")
        if cited & self.silent:
            raise ValueError(f"{self.id}: {sorted(cited & self.silent)} both give a fact and give nothing")
        for name, fact in self.facts.items():
            self._check(name, fact)
        return self

    def _check(self, name: str, fact: Fact) -> None:
        heirs = [heir for heir in (fact.superseded_by, fact.may_be_superseded_by) if heir]
        if len(heirs) > 1 or any(heir == name or heir not in self.facts for heir in heirs):
            raise ValueError(f"{self.id}: {name} is superseded by {heirs}")
        if fact.by not in {self.messages[number].who for number in fact.cites}:
            raise ValueError(f"{self.id}: {name} is not by {fact.by}")
        if fact.when:
            read_spans(fact.when)


@cache
def load(*, held_out: bool | None = None, blind: bool = False) -> tuple[Dialogue, ...]:
    """All dialogues, or only the open or only the held-out ones; with `blind`, those of the blind split alone.

    Raises ValueError where one is not well-formed.
    """
    paths = [path for path in sorted(DATA.rglob("*.yaml")) if (path.parent.name == BLIND) is blind]
    found = [dialogue for path in paths for dialogue in _read(path)]
    return tuple(dialogue for dialogue in found if held_out in (None, dialogue.held_out))


def parse(text: str) -> list[Dialogue]:
    """The dialogues of one file."""
    raw = yaml.load(text, yaml.BaseLoader)  # every scalar a string: no surprises with "no", 5 or 10:30
    shared = {name: raw[name] for name in ("topic", "language", "held_out") if name in raw}
    return [_dialogue({**shared, **entry}) for entry in raw["dialogues"]]


def _read(path: Path) -> list[Dialogue]:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.parent.name}/{path.name}: {error}") from error


def _dialogue(raw: dict[str, Any]) -> Dialogue:
    said = raw.pop("said")
    return TypeAdapter(Dialogue).validate_python({**raw, "batches": list(_batches(said))})


def _batches(said: Sequence[str | Mapping[str, str]]) -> Iterator[Batch]:
    starts = [index for index, item in enumerate(said) if isinstance(item, str)]
    number = 1
    for start, stop in zip(starts, [*starts[1:], len(said)], strict=True):
        moment, _, conversation = str(said[start]).partition(", ")
        begun = _moment(moment)
        messages = []
        for item in said[start + 1 : stop]:
            assert isinstance(item, Mapping)
            messages.append(_message(item, number, begun + timedelta(minutes=len(messages))))
            number += 1
        yield Batch(conversation=conversation or "chat", messages=tuple(messages))


def _message(item: Mapping[str, str], number: int, default: datetime) -> Said:
    [(speaker, text)] = [(name, text) for name, text in item.items() if name not in FIELDS]
    return Said(
        number=number,
        role=speaker if speaker in ROLES else "user",
        speaker=None if speaker in ROLES else speaker,
        content="\n\n".join([text] * int(item.get("times", 1))),
        occurred_at=_moment(item["at"]) if "at" in item else default,
        caption=item.get("image"),
        query=item.get("query"),
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def day(moment: datetime | None) -> date | None:
    """The UTC day of a moment."""
    return None if moment is None else moment.astimezone(UTC).date()
