"""Search: the question, the evidence, and how it was let in."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Request, Response, Said, Time, TimeUntil, flag, typed
from app.api.schemas.memory import MessageRefOut
from app.api.schemas.messages import Metadata
from app.domain.expansion import Measure, Opened
from app.domain.filters import Filter
from app.domain.levels import Level
from app.services.search import TOP_K, Ask, Found, Hit, Strategy

QUERY_LENGTH = 10_000  # characters

Count = Annotated[int, Field(ge=0, le=TOP_K)]
COUNT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": TOP_K}
COUNTS_SCHEMA = {
    "type": "object",
    "propertyNames": {"enum": [level.value for level in Level]},
    "additionalProperties": COUNT_SCHEMA,
}


def _counts(value: Any) -> Any:  # noqa: ANN401
    """A count, or one for each level; refused as a whole, so that the error names the field."""
    if _is_count(value):
        return value
    if isinstance(value, dict) and value.keys() <= set(Level) and all(map(_is_count, value.values())):
        return {Level(level): count for level, count in value.items()}
    hint = 'must be a whole number from 0 to 100, or one for each level, such as {"message": 20}'
    raise PydanticCustomError("counts", hint)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= TOP_K


Counts = Annotated[
    int | dict[Level, int],
    PlainValidator(_counts),
    WithJsonSchema({"anyOf": [COUNT_SCHEMA, COUNTS_SCHEMA]}),
]


class _Reading(Request):
    """What every read has in common."""

    strategy: Strategy = Field(Strategy.ADAPTIVE, description="How candidates are ranked.")
    max_tokens: int | None = Field(
        None, ge=64, le=32_000, description="Budget of the context; READ__MAX_TOKENS if missing."
    )
    levels: list[Level] = Field(
        default_factory=lambda: [Level.STATEMENT, Level.EPISODE, Level.MESSAGE],
        min_length=1,
        max_length=4,
        description="Levels that may be handed out; statement, episode and message if missing.",
    )
    since: Time | None = Field(None, alias="from", description="Only what happened at this time or later.")
    until: TimeUntil | None = Field(None, alias="to", description="Only what happened up to this time.")
    as_of: Time | None = Field(None, description="Read the past: what was said up to then, as it held then.")
    min_score: float = Field(0, ge=0, le=1, description="Only items that score at least so much.")
    min_sequence: int | None = Field(
        None,
        ge=0,
        le=2**53 - 1,
        description="Wait until memory is settled up to this message, or answer 409.",
    )
    gate: Measure | None = Field(
        None,
        description="How items are let in: off, by score alone; evidence, while the reader is unsure by what they say; "
        "model, while a language model's log-probabilities say so. READ__GATE if missing. Strategies adaptive and "
        "paper only.",
    )
    probes: int | None = Field(
        None, ge=0, le=100, description="Items that a model may test at most; READ__PROBES if missing."
    )
    gate_seconds: float | None = Field(
        None, gt=0, le=300, description="How long its tests may take; READ__GATE_SECONDS if missing."
    )
    explain: bool = Field(default=False, description="Also return what led to the choice.")

    def _ask(self, text: str, default_tokens: int, **more: Any) -> Ask:  # noqa: ANN401
        return Ask(
            text=text,
            max_tokens=self.max_tokens or default_tokens,
            strategy=self.strategy,
            levels=frozenset(self.levels),
            min_score=self.min_score,
            min_sequence=self.min_sequence,
            explain=self.explain,
            gate=self.gate,
            probes=self.probes,
            gate_seconds=self.gate_seconds,
            **more,
        )

    def _limits(self, metadata: dict[str, Any] | None = None) -> Filter:
        return Filter(self.since, self.until, self.as_of, metadata or {})


class SearchQuery(_Reading):
    """A search in the query string."""

    q: Said = Field(max_length=QUERY_LENGTH, description="The question, in any words.")
    top_k: Count = Field(TOP_K, description="Items at most; 0 gives none.")

    def to_ask(self, default_tokens: int) -> Ask:
        """The service's form."""
        return self._ask(self.q, default_tokens, top_k=self.top_k, limits=self._limits())


class SearchIn(_Reading):
    """A search in the body."""

    query: Said = Field(
        max_length=QUERY_LENGTH, description="The question, in any words.", examples=["Where does Ada live?"]
    )
    top_k: Counts = Field(TOP_K, description="Items at most, in all or for each level.")
    metadata: Metadata = Field(
        default_factory=dict,
        description="Only messages whose metadata holds all of this, and what rests on them.",
    )

    @field_validator("max_tokens", "min_score", "min_sequence", "probes", "gate_seconds", mode="before")
    @classmethod
    def _numbers(cls, value: Any) -> Any:  # noqa: ANN401
        return typed(value)

    @field_validator("explain", mode="before")
    @classmethod
    def _flags(cls, value: Any) -> Any:  # noqa: ANN401
        return flag(value)

    def to_ask(self, default_tokens: int) -> Ask:
        """The service's form."""
        return self._ask(self.query, default_tokens, limits=self._limits(self.metadata), **self._counts())

    def _counts(self) -> dict[str, Any]:
        if isinstance(self.top_k, int):
            return {"top_k": self.top_k}
        return {"top_k": TOP_K, "per_level": self.top_k}


class HitOut(Response):
    """A piece of evidence."""

    id: UUID
    level: Level
    text: str
    score: float = Field(ge=0, le=1, description="Higher is better; comparable across levels and questions.")
    occurred_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    theme: UUID | None = None
    messages: list[MessageRefOut] = Field(description="Those whose words the text carries.")
    tokens: int
    degraded: bool

    @classmethod
    def of(cls, hit: Hit) -> "HitOut":
        """From the service's result."""
        item = hit.item
        return cls(
            id=item.id,
            level=item.level,
            text=item.text,
            score=round(item.score, 6),
            occurred_at=item.occurred_at,
            valid_from=hit.evidence.valid_from,
            valid_to=hit.evidence.valid_to,
            theme=item.theme,
            messages=[MessageRefOut.model_validate(reference) for reference in hit.references],
            tokens=hit.tokens,
            degraded=hit.evidence.degraded,
        )


class Gate(Response):
    """The reader's gate: what was tested before it was let in, and how."""

    measure: Measure = Field(description="off: items are taken by score alone.")
    probes: int = Field(description="Tests of an item, given what was in.")
    expanded: int = Field(description="Items that passed theirs.")
    failed: int = Field(description="Tests that a model could not make; they were made by evidence.")

    @classmethod
    def of(cls, opened: Opened) -> "Gate":
        """From the service's result."""
        return cls(measure=opened.measure, probes=opened.probes, expanded=opened.taken, failed=opened.failed)


class SearchOut(Response):
    """The evidence for a question, by falling score, and the same as one text."""

    query: str
    strategy: str
    items: list[HitOut]
    context: str = Field(description="All items in time order, as a model should read them.")
    tokens: int = Field(description="Of `context`, never above max_tokens.")
    tokenizer: str
    sequence: int = Field(description="Of the newest message.")
    pending: int = Field(description="Jobs that are queued or running: memory may still grow.")
    buffered: int = Field(
        description="Messages that belong to no episode yet: found by their own words, and nothing drawn from them."
    )
    gate: Gate
    trace: dict[str, Any] | None = None

    @classmethod
    def of(cls, found: Found) -> "SearchOut":
        """From the service's result."""
        return cls(
            query=found.ask.text,
            strategy=found.ask.strategy,
            items=[HitOut.of(hit) for hit in found.hits],
            context=found.context,
            tokens=found.tokens,
            tokenizer=found.tokenizer,
            sequence=found.sequence,
            pending=found.pending,
            buffered=found.buffered,
            gate=Gate.of(found.opened),
            trace=None if found.trace is None else dict(found.trace),
        )
