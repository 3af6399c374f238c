"""Replies that go wrong below the model: HTTP errors in several servers' words, slow bytes, cut connections.

The errors quote the key and the prompt, as some servers do: a client must not pass either on.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Set
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.stub.faults import Fault, Plan

DRIP_SECONDS = 0.05  # between two bytes of a slow drip


class CutShort(Response):
    """Promises more bytes than it sends; the server then closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send one half."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})


def error(status: int, message: str, *, param: str | None = None, **fields: str | int) -> Response:
    """An error as OpenAI writes it."""
    body = {"message": message, "type": "invalid_request_error", "param": param, "code": None} | fields
    return json_response({"error": body}, status)


def json_response(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON in which NaN may stand, as some servers write it."""
    return Response(json.dumps(body, ensure_ascii=False), status, headers, media_type="application/json")


def refused(faults: Set[Fault], body: Mapping[str, Any]) -> Response | None:
    """The error with which a request is refused for what the endpoint lacks; None if it is not."""
    form = (body.get("response_format") or {}).get("type")
    roles = {message.get("role") for message in body.get("messages", [])}
    asked = {
        Fault.REFUSE_SCHEMA: ("response_format", form == "json_schema"),
        Fault.REFUSE_BOUNDS: ("response_format", '"maxLength"' in json.dumps(body.get("response_format"))),
        Fault.REFUSE_JSON: ("response_format", form == "json_object"),
        Fault.REFUSE_LOGPROBS: ("logprobs", bool(body.get("logprobs"))),
        Fault.REFUSE_STREAM: ("stream", bool(body.get("stream"))),
        Fault.REFUSE_MAX_TOKENS: ("max_tokens", "max_tokens" in body),
        Fault.REFUSE_TEMPERATURE: ("temperature", "temperature" in body),
        Fault.REFUSE_SYSTEM: ("messages", "system" in roles),
        Fault.REFUSE_DIMENSIONS: ("dimensions", "dimensions" in body),
    }
    for fault in sorted(faults & asked.keys()):
        param, concerned = asked[fault]
        if concerned:
            return error(400, f"Unsupported parameter: {param}", param=param, code="unsupported_parameter")
    return None


async def broken(faults: Set[Fault], plan: Plan, request: Request, body: Mapping[str, Any]) -> Response | None:
    """The reply of an endpoint that fails; None if it does not."""
    if Fault.HANG in faults:
        with plan.being_stuck():
            while (await request.receive())["type"] != "http.disconnect":
                continue
        return Response(status_code=499)  # nobody reads it
    if Fault.RATE_LIMITED in faults:
        limited = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}
        return json_response(limited, 429, {"Retry-After": plan.retry_after})
    if Fault.NOT_JSON in faults:
        return Response("<html>Sign in</html>", media_type="text/html")
    if Fault.BROKEN_JSON in faults:
        return Response('{"choices": [', media_type="application/json")
    quoted = f"{request.headers.get('authorization', '')} {json.dumps(body, ensure_ascii=False)}"
    found = faults & _ERRORS.keys()
    if not found:
        return None
    status, fields = _ERRORS[min(found)]
    if isinstance(fields, str):
        return json_response({"error": fields}, status)
    return json_response({"error": {"message": f"Wrong: {quoted}", "param": None, **fields}}, status)


def delivered(payload: object, faults: Set[Fault], plan: Plan) -> Response:
    """`payload` on its way to the client."""
    whole = json_response(payload)
    if Fault.CUT in faults:
        return CutShort(whole.body, media_type="application/json")
    if Fault.SLOW_DRIP in faults:
        return StreamingResponse(_drip(bytes(whole.body), plan.seconds), media_type="application/json")
    return whole


async def _drip(payload: bytes, seconds: float) -> AsyncIterator[bytes]:
    """Spaces, which mean nothing in JSON, one at a time; then the payload."""
    for _ in range(max(1, round(seconds / DRIP_SECONDS))):
        yield b" "
        await asyncio.sleep(DRIP_SECONDS)
    yield payload


_INVALID = {"type": "invalid_request_error"}
_TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
_ERRORS: Mapping[Fault, tuple[int, Mapping[str, Any] | str]] = {
    Fault.BAD_REQUEST: (400, _INVALID | {"code": "invalid_value"}),
    Fault.UNAUTHORIZED: (401, _INVALID | {"code": "invalid_api_key"}),
    Fault.NOT_FOUND: (404, _INVALID | {"code": "model_not_found"}),
    Fault.CONTENT_POLICY: (400, _INVALID | {"code": "content_policy_violation"}),
    Fault.SERVER_ERROR: (500, {"type": "server_error", "code": None}),
    Fault.ERROR_WITH_200: (200, {"code": 502}),
    Fault.TOO_LARGE: (413, _INVALID | {"code": None}),
    Fault.OVERFLOW_OPENAI: (400, _INVALID | {"message": _TOO_LONG, "code": "context_length_exceeded"}),
    Fault.OVERFLOW_VLLM: (400, {"message": f"{_TOO_LONG} None", "type": "BadRequestError", "code": 400}),
    Fault.OVERFLOW_LLAMA_CPP: (
        400,
        {
            "message": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
            "type": "exceed_context_size_error",
            "code": 400,
            "n_prompt_tokens": 9000,
            "n_ctx": 8192,
        },
    ),
    Fault.OVERFLOW_OLLAMA: (400, "the input length exceeds the context length"),
}
