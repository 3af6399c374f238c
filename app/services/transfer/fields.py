"""The fields of lines: each is written in one way only, so that the same memory gives the same bytes."""

import base64
import binascii
import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from app.domain.late import WIDTH
from app.domain.metadata import canonical, checked
from app.domain.namespaces import NAME_PATTERN
from app.domain.text import clean
from app.storage.schema import NAME_LENGTH
from app.storage.tables import EXTERNAL_ID_LENGTH

MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z")
BIGINT = 2**63 - 1
INTEGER = 2**31 - 1
TEXT_LENGTH = 1_000_000  # characters, as of a message's content
SHORT = 200  # characters of what made a text, and of codes
IMAGES = 20  # of one message
IMAGE_TEXT = 10_000  # characters of a caption or a query
LONGEST_RETENTION = 10**10  # seconds: three hundred years
CITED = 10_000  # messages or statements that one line may name

NUMBER = np.dtype("<f4")


def _moment(value: Any) -> datetime:  # noqa: ANN401
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not MOMENT.fullmatch(value):
        raise ValueError("must be a time such as 2026-03-02T09:30:00.000000Z")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("is no date in the calendar") from error


def _said(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _text(value: Any) -> Any:  # noqa: ANN401
    return clean(value) if isinstance(value, str) else value


def _bytes(value: Any) -> bytes:  # noqa: ANN401
    if not isinstance(value, str):
        raise ValueError("must be base64")  # noqa: TRY004  (what pydantic asks for)
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError("must be base64") from error


def _vector(value: Any) -> np.ndarray[Any, np.dtype[np.float32]]:  # noqa: ANN401
    if isinstance(value, np.ndarray):
        return value
    raw = _bytes(value)
    if not raw or len(raw) % NUMBER.itemsize:
        raise ValueError("must be float32 numbers, little-endian, in base64")
    numbers = np.frombuffer(raw, NUMBER).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError("must hold finite numbers only")
    return numbers


def _words(value: Any) -> np.ndarray[Any, np.dtype[np.int8]]:  # noqa: ANN401
    if isinstance(value, np.ndarray):
        return value
    raw = _bytes(value)
    if len(raw) % WIDTH:
        raise ValueError(f"must be vectors of {WIDTH} int8 numbers in base64")
    return np.frombuffer(raw, np.int8).reshape(-1, WIDTH)


def _packed(numbers: np.ndarray[Any, Any]) -> str:
    exact = numbers.astype(NUMBER) if numbers.dtype == np.float32 else numbers
    return base64.b64encode(exact.tobytes()).decode("ascii")


def _document(value: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = canonical(checked(value))
    return kept


Id = Annotated[UUID, Field(strict=False)]
Moment = Annotated[datetime, BeforeValidator(_moment), PlainSerializer(_said, when_used="json")]
"""UTC to the microsecond."""
Name = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=NAME_LENGTH, pattern=NAME_PATTERN)]
Speaker = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=NAME_LENGTH)]
ExternalId = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=EXTERNAL_ID_LENGTH)]
Text = Annotated[str, BeforeValidator(_text), Field(max_length=TEXT_LENGTH)]
Said = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=TEXT_LENGTH)]
ImageText = Annotated[str, BeforeValidator(_text), Field(max_length=IMAGE_TEXT)]
Code = Annotated[str, BeforeValidator(_text), Field(max_length=SHORT)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256, in hexadecimal."""
Count = Annotated[int, Field(ge=0, le=INTEGER)]
Sequence = Annotated[int, Field(ge=1, le=BIGINT)]
Retention = Annotated[int, Field(ge=1, le=LONGEST_RETENTION)]
Document = Annotated[dict[str, Any], AfterValidator(_document)]
"""A client's metadata, its keys in order."""
Vector = Annotated[np.ndarray[Any, Any], BeforeValidator(_vector), PlainSerializer(_packed, when_used="json")]
"""float32, little-endian, in base64."""
Words = Annotated[np.ndarray[Any, Any], BeforeValidator(_words), PlainSerializer(_packed, when_used="json")]
"""int8, `WIDTH` a word, in base64."""
Version = Literal[1]
