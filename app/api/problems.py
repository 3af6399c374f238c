"""Every error as an RFC 9457 problem document; the only place that knows statuses."""

import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.api.schemas.common import Problem
from app.domain.errors import (
    AppError,
    Conflict,
    FieldError,
    InvalidInput,
    NotFound,
    ProviderFault,
    ProviderUnavailable,
    TooLarge,
    Unavailable,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2  # a lock or a restart of the database is usually over by then

STATUS: Mapping[type[AppError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    Unavailable: 503,
    ProviderFault: 502,
    AppError: 500,
}

PLAIN: Mapping[str, str] = {
    # Only names have a pattern; a regular expression helps nobody.
    "string_pattern_mismatch": "must have no spaces, slashes or control characters, and not begin with a dot",
}

DOCUMENTED: Mapping[int | str, dict[str, Any]] = {
    status: {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in (404, 409, 413, 422, 500, 502, 503)
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can answer with these problems."""
    return {status: DOCUMENTED[status] for status in (*statuses, 422, 500, 503)}


def status_of(error: AppError) -> int:
    """The HTTP status of an error: that of its nearest ancestor in the table."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def problem(
    status: int,
    code: str,
    title: str,
    detail: str,
    request_id: str,
    errors: Sequence[FieldError] = (),
    retry_after: float | None = None,
) -> JSONResponse:
    """A problem document as a response; `retry_after` in seconds."""
    document = Problem(
        type=f"/problems/{code}",
        title=title,
        status=status,
        detail=detail,
        instance=f"urn:uuid:{request_id}",
        errors=[{"pointer": error.pointer, "detail": error.detail} for error in errors] or None,
    )
    seconds = str(math.ceil(retry_after or RETRY_AFTER_SECONDS))
    headers = {"Retry-After": seconds} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse(document.model_dump(exclude_none=True), status, headers, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer all errors of `app` with problem documents."""
    app.add_exception_handler(AppError, _app_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _app_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AppError)
    status = status_of(error)
    level = logging.ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
    log.log(level, "%s", error.code, extra={"status": status, "request": request.state.request_id})
    detail = error.title if status == HTTPStatus.INTERNAL_SERVER_ERROR and not error.retryable else str(error)
    fields = getattr(error, "fields", ())
    rest = error.retry_after if isinstance(error, ProviderUnavailable) else None
    return problem(status, error.code, error.title, detail, request.state.request_id, fields, rest)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [_field(item) for item in error.errors()]
    detail = "; ".join(f"{field.pointer}: {field.detail}" for field in fields[:3])
    return problem(422, InvalidInput.code, InvalidInput.title, detail, request.state.request_id, fields)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    code = phrase.lower().replace(" ", "_")
    response = problem(error.status_code, code, phrase, str(error.detail), request.state.request_id)
    response.headers.update(error.headers or {})
    return response


def _field(error: Mapping[str, Any]) -> FieldError:
    if error["type"] == "json_invalid":  # its place is an offset, not a field
        return FieldError("#", f"is no JSON: {error['ctx']['error']} at character {error['loc'][-1]}")
    return FieldError(_pointer(error["loc"]), PLAIN.get(error["type"], error["msg"]))


def _pointer(location: Sequence[str | int]) -> str:
    """`("body", "messages", 0)` as `#/messages/0`; other places as `query/limit`."""
    place, *path = (str(part).replace("~", "~0").replace("/", "~1") for part in location)
    return "/".join(["#" if place == "body" else place, *path])
