"""Every error as an RFC 9457 problem document; the only place that knows statuses."""

import logging
import math
import traceback
from collections.abc import Mapping, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

from app.api.schemas.common import Problem
from app.domain.errors import (
    AppError,
    Busy,
    Conflict,
    FieldError,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    ProviderFault,
    TooLarge,
    TooMany,
    Unauthenticated,
    Unavailable,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
CLIENT_GONE = 499  # nobody was left to answer
REALM = 'Bearer realm="xmemory"'
RETRY_AFTER_SECONDS = 2  # a lock or a restart of the database is usually over by then
MOST_FIELDS = 50  # wrong fields that a problem names: a body may have a million
LONGEST_NAME = 100  # characters of a field's name that it shows: a client may make one up

STATUS: Mapping[type[AppError], int] = {
    InvalidInput: 422,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    LimitReached: 403,
    TooMany: 429,
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
    for status in (401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 502, 503)
}

EVERYWHERE = (408, 415, 422, 429, 500, 503)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can answer with these problems, besides those that every route has."""
    return {status: DOCUMENTED[status] for status in (*statuses, *EVERYWHERE)}


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
    limit: str | None = None,
) -> JSONResponse:
    """A problem document as a response; `retry_after` in seconds, `limit` the setting that was met."""
    document = Problem(
        type=f"/problems/{code}",
        title=title,
        status=status,
        detail=detail,
        instance=f"urn:uuid:{request_id}",
        limit=limit,
        errors=[{"pointer": error.pointer, "detail": error.detail} for error in errors[:MOST_FIELDS]] or None,
    )
    headers = None
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers = {"Retry-After": str(math.ceil(retry_after or RETRY_AFTER_SECONDS))}
    return JSONResponse(document.model_dump(exclude_none=True), status, headers, media_type=MEDIA_TYPE)


def _challenge(error: AppError) -> str | None:
    """What RFC 6750 wants a client to be told when its key is missing or does not do."""
    if isinstance(error, Unauthenticated):
        return f'{REALM}, error="invalid_token"' if error.tried else REALM
    return f'{REALM}, error="insufficient_scope"' if isinstance(error, Forbidden) else None


def of_error(error: AppError, request_id: str) -> JSONResponse:
    """An error of ours as a response."""
    status = status_of(error)
    hidden = status == HTTPStatus.INTERNAL_SERVER_ERROR and not error.retryable
    response = problem(
        status,
        error.code,
        error.title,
        error.title if hidden else str(error),
        request_id,
        getattr(error, "fields", ()),
        getattr(error, "retry_after", None),
        getattr(error, "limit", None),
    )
    challenge = _challenge(error)
    if challenge is not None:
        response.headers["WWW-Authenticate"] = challenge
    return response


def of_status(status: int, detail: str, request_id: str) -> JSONResponse:
    """What only HTTP knows of, by its status alone."""
    phrase = HTTPStatus(status).phrase
    return problem(status, phrase.lower().replace(" ", "_"), phrase, detail, request_id)


def request_id(scope: Scope) -> str:
    """The id of a request, where it has one already."""
    state: MutableMapping[str, Any] = scope.get("state", {})
    return str(state.get("request_id", ""))


def tell_unexpected(error: BaseException) -> None:
    """Log where an error came from that nobody expected; its message might quote memory, and is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-5:]))
    log.error("%s at %s", type(error).__name__, where)


def install(app: FastAPI) -> None:
    """Answer all errors of `app` with problem documents."""
    app.add_exception_handler(AppError, _app_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_gone)


async def _app_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AppError)
    status = status_of(error)
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, Busy)
    level = logging.ERROR if is_ours else logging.INFO
    log.log(level, "%s", error.code, extra={"status": status, "request": request.state.request_id})
    return of_error(error, request.state.request_id)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [_field(item) for item in error.errors()[:MOST_FIELDS]]
    detail = "; ".join(f"{field.pointer}: {field.detail}" for field in fields[:3])
    return problem(422, InvalidInput.code, InvalidInput.title, detail, request.state.request_id, fields)


async def _client_gone(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=CLIENT_GONE)  # which is counted, and read by nobody


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    fields: Sequence[FieldError] = getattr(error, "fields", ())
    if fields:
        return of_error(InvalidInput(str(error.detail), fields), request.state.request_id)
    response = of_status(error.status_code, str(error.detail), request.state.request_id)
    response.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = _allowed(request)
    return response


def _allowed(request: Request) -> str:
    """All methods of the path; the framework knows those of one route."""
    paths: Mapping[str, Any] = request.app.openapi()["paths"]
    methods = paths.get(getattr(request.scope.get("route"), "path_format", ""), {})
    return ", ".join(sorted(method.upper() for method in methods)) or "GET"


def _field(error: Mapping[str, Any]) -> FieldError:
    if error["type"] == "json_invalid":  # its place is an offset, not a field
        return FieldError("#", f"is no JSON: {error['ctx']['error']} at character {error['loc'][-1]}")
    return FieldError(_pointer(error["loc"]), PLAIN.get(error["type"], error["msg"]))


def _pointer(location: Sequence[str | int]) -> str:
    """`("body", "messages", 0)` as `#/messages/0`; other places as `query/limit`."""
    place, *path = (str(part)[:LONGEST_NAME].replace("~", "~0").replace("/", "~1") for part in location)
    return "/".join(["#" if place == "body" else place, *path])
