"""What all schemas share: names, times, texts, pages."""

import base64
import binascii
import re
from datetime import UTC, datetime, time
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

from fastapi import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from app.domain.errors import FieldError, InvalidInput
from app.domain.namespaces import NAME_PATTERN
from app.domain.text import clean
from app.telemetry.usage import Usage

NAME_LENGTH = 200  # characters
PAGE_LIMIT = 100  # items of a list at once

DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+\- ]\d{2}:?\d{2})?")
TIME_SCHEMA = {"type": "string", "format": "date-time"}


def _moment(value: Any, *, day_ends: bool = False) -> Any:  # noqa: ANN401
    """An RFC 3339 time as aware UTC; naive is read as UTC, a date alone as its beginning (or its end)."""
    if not isinstance(value, str):
        raise PydanticCustomError("time", "must be an RFC 3339 time such as 2025-03-09T23:30:00-05:00")
    try:
        if DATE.fullmatch(value):
            return datetime.combine(datetime.fromisoformat(value), time.max if day_ends else time.min, UTC)
        return _exact(value)
    except PydanticCustomError:
        raise
    except (ValueError, OverflowError) as error:
        raise PydanticCustomError("time", "is no date in the calendar, or leaves it in UTC") from error


def _exact(value: str) -> datetime:
    match = MOMENT.fullmatch(value)
    if match is None:
        raise PydanticCustomError("time", "must be an RFC 3339 time such as 2025-03-09T23:30:00-05:00")
    date, clock, zone = match.groups()
    # In a query string an unescaped + arrives as a space.
    offset = (zone or "Z").replace(" ", "+").upper()
    moment = datetime.fromisoformat(f"{date}T{_microseconds(clock)}{offset}")
    return moment.astimezone(UTC)


def _microseconds(clock: str) -> str:
    whole, _, fraction = clock.partition(".")
    return f"{whole}.{fraction[:6]:0<6}" if fraction else whole


def _text(value: Any) -> Any:  # noqa: ANN401
    return clean(value) if isinstance(value, str) else value


def typed(value: Any) -> Any:  # noqa: ANN401
    """A number that JSON says is one; a query string has only text."""
    if isinstance(value, str | bool):
        raise PydanticCustomError("number", "must be a number, not text and not true or false")
    return value


def flag(value: Any) -> Any:  # noqa: ANN401
    """The same for true and false."""
    if not isinstance(value, bool):
        raise PydanticCustomError("flag", "must be true or false")
    return value


def _said(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return value


Time = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema(TIME_SCHEMA)]
"""RFC 3339; naive is read as UTC, a date alone as its first moment; numbers are refused."""
TimeUntil = Annotated[
    datetime, BeforeValidator(lambda value: _moment(value, day_ends=True)), WithJsonSchema(TIME_SCHEMA)
]
"""The same, but a date alone means its last moment."""
Cleaned = Annotated[str, BeforeValidator(_text)]
"""Any text; NUL and lone surrogates become U+FFFD, all else passes whole."""
Said = Annotated[
    str, BeforeValidator(_text), AfterValidator(_said), Field(min_length=1, json_schema_extra={"pattern": r"\S"})
]
"""The same, and not blank."""

Typed = BeforeValidator(typed)
"""For numbers in a body."""

Name = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH, pattern=NAME_PATTERN)]
NamespaceName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=NAME_LENGTH,
        pattern=NAME_PATTERN,
        description="The namespace: one user, one agent, one team. No spaces, slashes or leading dot.",
        examples=["ada"],
    ),
]
ConversationName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=NAME_LENGTH,
        pattern=NAME_PATTERN,
        description="The conversation, by the client's own name for it.",
        examples=["chat-1"],
    ),
]


class Request(BaseModel):
    """A request body or query: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Response(BaseModel):
    """A response body."""

    model_config = ConfigDict(from_attributes=True)


class PageQuery(Request):
    """Paging: pass `next_cursor` of one page as `cursor` of the next."""

    limit: int = Field(20, ge=1, le=PAGE_LIMIT, description="Items on this page.")
    cursor: str | None = Field(None, max_length=200, description="`next_cursor` of the page before.")

    def after_id(self) -> UUID | None:
        """The id that the cursor stands for. Raises InvalidInput for one that we did not give out."""
        try:
            return None if self.cursor is None else UUID(decode_cursor(self.cursor))
        except ValueError as error:
            raise _no_cursor() from error

    def after_number(self) -> int:
        """The number that the cursor stands for, 0 without one. Raises InvalidInput as above."""
        try:
            number = 0 if self.cursor is None else int(decode_cursor(self.cursor))
        except ValueError as error:
            raise _no_cursor() from error
        if not 0 <= number < 2**63:
            raise _no_cursor()
        return number


def _no_cursor() -> InvalidInput:
    return InvalidInput("the cursor is not one of ours", [FieldError("query/cursor", "must be a next_cursor")])


def encode_cursor(value: object) -> str:
    """An opaque cursor."""
    return base64.urlsafe_b64encode(str(value).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """What the cursor stands for. Raises ValueError if it is not one of ours."""
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except binascii.Error as error:
        raise ValueError("no cursor") from error


ItemT = TypeVar("ItemT")


class Page(Response, Generic[ItemT]):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[ItemT]
    next_cursor: str | None = None


class MadeBy(Response):
    """What wrote a derived text: `extractive` is the deterministic form that needs no language model."""

    model: str
    revision: str
    prompt: str | None = None


class StageUsage(Response):
    """What was used of a model for one kind of call. The stage `embedder` has texts, the others have tokens."""

    EXAMPLE: ClassVar = {
        "embedder": {"model": "all-MiniLM-L6-v2", "calls": 2, "texts": 7, "seconds": 0.05},
        "statements": {"model": "qwen3-8b", "calls": 1, "tokens_in": 812, "tokens_out": 164, "seconds": 2.4},
    }

    model: str = Field("", description="Its name; several, with commas, if it was changed in between.")
    calls: int = 0
    texts: int = Field(0, description="That got a vector.")
    tokens_in: int = Field(0, description="Read, as the model's side counts them.")
    tokens_out: int = Field(0, description="Written.")
    seconds: float = Field(0.0, description="Waited for it.")

    @classmethod
    def each(cls, usage: Usage) -> dict[str, Self]:
        """From the form in which it is counted."""
        return {stage: cls(**counts) for stage, counts in usage.items()}


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(examples=["/problems/not_found"])
    title: str
    status: int
    detail: str
    instance: str = Field(description="The request's id, also in the X-Request-ID header and in the log.")
    limit: str | None = Field(
        None, description="The setting that the limit comes from, if one was met.", examples=["LIMITS__KEY_REQUESTS"]
    )
    errors: list["ProblemField"] | None = Field(None, description="The fields that are wrong, if any.")


class ProblemField(BaseModel):
    """One wrong field."""

    pointer: str = Field(examples=["#/messages/0/content", "query/limit"])
    detail: str
