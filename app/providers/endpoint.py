"""An OpenAI-compatible endpoint over HTTP: what it says as JSON, what goes wrong as the service's own errors.

An endpoint's error may quote the prompt or the key. Of what it says only the status and its short code are kept.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, AsyncOpenAI, AsyncStream, Timeout

from app.domain.errors import (
    AppError,
    ConfigurationError,
    ContextOverflow,
    ProviderRefused,
    ProviderRejected,
    ProviderUnavailable,
    UnusableReply,
)

OPENAI = "https://api.openai.com/v1"  # where no other endpoint is configured
NO_KEY = "none"  # the SDK wants a key, local endpoints do not
QUOTED = 400  # characters of an error message that are looked at: what follows may be the prompt

_CODE = re.compile(r"[A-Za-z_]{3,48}")  # `rate_limit_exceeded`, `BadRequestError`; no key and no sentence looks so
_OVERFLOW = re.compile(
    r"context[ _]?(?:length|size|window)|max(?:imum)? (?:model|input) length|max_model_len|input length exceeds"
    r"|(?:prompt|input) is too (?:long|large)|input token count|too many (?:input )?tokens|reduce the length"
    r"|too large to process|max_tokens must be at least 1, got -|max_new_tokens",
    re.IGNORECASE,
)
_TOO_LARGE = 413
_OVERFLOWING = {400, 422, 500}  # statuses with which endpoints say that a prompt is too long, beside 413
_WAITING = {408, 409, 429}  # statuses below 500 that go away
_REJECTING = {400, 422, 501}
_CONTENT = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "moderation_blocked"}
_EVENTS = "text/event-stream"
_BROKEN_JSON = "json_validate_failed"  # the model, held to JSON, wrote something else


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an endpoint may take, in seconds. A whole call is bounded by app/providers/guarded.py."""

    connect: float = 5.0
    read: float = 600.0  # until the next bytes: a model says nothing before its reply is done
    discovery: float = 120.0  # all small calls that find out what it can do; a local one may load its model first


class Endpoint:
    """JSON in, JSON out. `what` names it in errors: `the language model`."""

    def __init__(self, what: str, base_url: str | None, api_key: str | None, patience: Patience) -> None:
        self._what = what
        self._client = AsyncOpenAI(
            base_url=_checked_url(base_url or OPENAI),
            api_key=_checked_key(api_key),
            max_retries=0,
            timeout=Timeout(patience.read, connect=patience.connect),
        )
        self._client.organization = self._client.project = None  # the SDK takes them from the environment
        self._closing: asyncio.Task[None] | None = None

    async def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply to `body`, an object. Raises ProviderUnavailable, ContextOverflow, ProviderRefused."""
        return await self._call("post", path, body)

    async def stream(self, path: str, body: Mapping[str, Any], take: Callable[[Mapping[str, Any]], None]) -> None:
        """Hand on the parts of the reply to `body` as they come; an endpoint that does not stream gives one: the whole.

        Raises as `post`.
        """
        with self._faults():
            parts = await self._client.post(
                path, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
            )
            async with parts:
                if _EVENTS not in parts.response.headers.get("content-type", ""):
                    take(self._without_error(json.loads(await parts.response.aread())))
                    return
                async for part in parts:
                    take(self._without_error(part))

    async def get(self, path: str) -> Mapping[str, Any]:
        """What stands at `path`, an object. Raises as `post`."""
        return await self._call("get", path, None)

    def close(self) -> None:
        """Give the connections back, in a moment; without a running event loop they go with the process."""
        try:
            self._closing = asyncio.get_running_loop().create_task(self._client.close())
        except RuntimeError:
            return

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any]:
        with self._faults():
            if method == "get":
                found = await self._client.get(path, cast_to=object)
            else:
                found = await self._client.post(path, cast_to=object, body=body)
            if isinstance(found, str):  # the SDK decodes only what is declared to be JSON
                found = json.loads(found)
            return self._without_error(found)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What goes wrong with a call, as the service's own errors."""
        try:
            yield
        except APITimeoutError:
            raise ProviderUnavailable(f"{self._what} did not answer in time") from None
        except APIConnectionError:
            raise ProviderUnavailable(f"{self._what} cannot be reached, or the connection was cut") from None
        except APIStatusError as error:
            retry_after = _retry_after(error.response.headers)
            raise self._fault(error.status_code, error.body, retry_after) from None
        except APIError as error:  # in the middle of a stream
            raise self._fault(_status_of(error.body), error.body, None) from None
        except ValueError:
            raise ProviderUnavailable(f"something else than {self._what} answered: no JSON") from None

    def _without_error(self, found: object) -> Mapping[str, Any]:
        """An object that is no error: some gateways report those with status 200."""
        if not isinstance(found, Mapping):
            raise ProviderUnavailable(f"something else than {self._what} answered: no JSON object")
        if error := found.get("error"):
            raise self._fault(_status_of(error), error, None)
        return found

    def _fault(self, status: int, error: object, retry_after: float | None) -> AppError:
        """Which of the service's errors an endpoint's error is."""
        code = _code(error)
        said = f"{self._what} answered with status {status}" + (f" ({code})" if code else "")
        if status == _TOO_LARGE or (status in _OVERFLOWING and _is_overflow(error)):
            return ContextOverflow(f"the prompt is too long: {said}")
        if code in _CONTENT:
            return ProviderRefused(f"the content was refused: {said}")
        if code == _BROKEN_JSON:
            return UnusableReply(f"the reply is no JSON: {said}")
        if status in _REJECTING:
            return ProviderRejected(said)
        if status in _WAITING or status >= 500:
            return ProviderUnavailable(said, retry_after)
        return ProviderRefused(said)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError("a model's base URL must look like http://127.0.0.1:11434/v1")
    return url


def _checked_key(key: str | None) -> str:
    key = (key or "").strip() or NO_KEY
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError("a model's API key has characters that no HTTP header can carry")
    return key


def _status_of(error: object) -> int:
    """The status that an error names which came without one of its own."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) else 502


def _code(error: object) -> str:
    """The short word with which an endpoint names its error; empty if it has none."""
    if not isinstance(error, Mapping):
        return ""
    words = (error.get("code"), error.get("type"))
    return next((word for word in words if isinstance(word, str) and _CODE.fullmatch(word)), "")


def _is_overflow(error: object) -> bool:
    if isinstance(error, Mapping):
        said = [error.get(name) for name in ("code", "type", "message", "detail")]
        error = " ".join(word[:QUOTED] for word in said if isinstance(word, str))
    return isinstance(error, str) and _OVERFLOW.search(error[: 2 * QUOTED]) is not None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `Retry-After` in either of its forms; None if there is none that can be read."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
