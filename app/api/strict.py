"""JSON as it is meant to be: UTF-8, every name once, finite numbers, nested no deeper than can be read."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from app.domain.errors import FieldError

THREAD_ABOVE = 256 * 1024  # bytes: reading more would hold up the event loop
LONGEST_NAME = 100  # characters of a name that an error shows

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class WrongBody(HTTPException):
    """A body that is no JSON of ours. (FastAPI lets no other error out of where it reads a body.)"""

    def __init__(self, detail: str) -> None:
        super().__init__(422, f"the body {detail}")
        self.fields = (FieldError("#", detail),)


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:  # noqa: ANN401
        """The body's value. Raises WrongBody."""
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = await asyncio.to_thread(parse, body) if len(body) > THREAD_ABOVE else parse(body)
        return self._json


class StrictRoute(APIRoute):
    """A route that takes JSON, and no other JSON than that."""

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, given a request that reads strictly."""
        handle = super().get_route_handler()
        takes_json = self.body_field is not None

        async def handle_strictly(request: Request) -> Response:
            if takes_json and _other_form(request):
                raise HTTPException(415, "the body must be JSON: send Content-Type: application/json")
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


def _other_form(request: Request) -> bool:
    """Whether there is a body, and it says that it is something else than JSON."""
    headers = request.headers
    there = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return there and kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json"))


def parse(body: bytes) -> Any:  # noqa: ANN401
    """The value of a JSON text in UTF-8. Raises WrongBody, which quotes no more than a name."""
    try:
        return json.loads(body.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise WrongBody(f"is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise WrongBody(f"is no JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise WrongBody("is nested too deeply") from None
    except ValueError:  # of int(): the digits are more than Python reads
        raise WrongBody("has a number with too many digits") from None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise WrongBody(f"has the name {json.dumps(twice[:LONGEST_NAME])} twice in one object")
    return found


def _no_number(constant: str) -> NoReturn:
    raise WrongBody(f"is no JSON: {constant} is no number of its")
