"""The `Idempotency-Key` header: from a request to a value that a use case can keep."""

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Header, Request, Response
from pydantic import AfterValidator, BaseModel
from pydantic_core import PydanticCustomError

from app.domain.replies import Reply
from app.services.once import Once

LONGEST = 255  # characters

ResultT = TypeVar("ResultT")


def _printable(key: str) -> str:
    if not 1 <= len(key) <= LONGEST or not all(" " <= character <= "~" for character in key):
        raise PydanticCustomError("idempotency_key", f"must be 1 to {LONGEST} printable ASCII characters")
    return key


IdempotencyKey = Annotated[
    str | None,
    AfterValidator(lambda key: None if key is None else _printable(key)),
    Header(
        alias="Idempotency-Key",
        json_schema_extra={"minLength": 1, "maxLength": LONGEST, "pattern": "^[ -~]+$"},
        description="Makes repeating safe: the same key with the same body gets the first answer for 24 hours, "
        "also while the first request is still running; with another body it is refused with 409. "
        "A request that failed leaves its key free.",
        examples=["5b0c7f52-9d1e-4a53-8a53-0c6c4a1f2f6e"],
    ),
]
"""The header, or None."""


def once(
    key: str, request: Request, body: BaseModel, status: int, write: Callable[[ResultT], BaseModel]
) -> Once[ResultT]:
    """The request as a value; its digest leaves out how the JSON was laid out."""
    return once_sent(key, request, json.dumps(body.model_dump(mode="json"), sort_keys=True), status, write)


def once_sent(
    key: str, request: Request, sent: str, status: int, write: Callable[[ResultT], BaseModel]
) -> Once[ResultT]:
    """The request as a value; `sent` tells its body from others."""
    digest = hashlib.sha256(f"{request.method} {request.url.path}\n{sent}".encode()).hexdigest()
    return Once(key, digest, status, lambda result: write(result).model_dump_json())


def respond(reply: Reply) -> Response:
    """The kept answer, byte by byte."""
    return Response(reply.body, reply.status, media_type="application/json")
