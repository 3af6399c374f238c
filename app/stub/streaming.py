"""A chat completion as server-sent events, a few words at a time."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Set
from typing import Any

from fastapi import Response
from fastapi.responses import StreamingResponse

from app.stub.breakage import DRIP_SECONDS
from app.stub.faults import Fault, Plan

_PIECE = re.compile(r"\s*\S+\s*")
_DONE = "data: [DONE]\n\n"


def streamed(payload: Mapping[str, Any], faults: Set[Fault], plan: Plan) -> Response:
    """`payload`, a whole completion, on its way to the client in parts."""
    return StreamingResponse(_sent(payload, faults, plan), media_type="text/event-stream")


async def _sent(payload: Mapping[str, Any], faults: Set[Fault], plan: Plan) -> AsyncIterator[str]:
    parts = list(_parts(payload))
    kept = len(parts) // 2 if faults & {Fault.CUT, Fault.STUCK, Fault.ERROR_IN_STREAM} else len(parts)
    for part in parts[:kept]:
        yield f"data: {json.dumps(part, ensure_ascii=False)}\n\n"
        if Fault.SLOW_DRIP in faults:
            await asyncio.sleep(DRIP_SECONDS)
    if Fault.STUCK in faults:
        with plan.being_stuck():
            await asyncio.get_running_loop().create_future()  # until the client goes
    if Fault.ERROR_IN_STREAM in faults:
        yield f"data: {json.dumps({'error': {'message': 'overloaded', 'type': 'server_error', 'code': None}})}\n\n"
    if kept == len(parts):
        yield _DONE


def _parts(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The completion's chunks; the last one counts tokens."""
    rest = {**payload, "object": "chat.completion.chunk", "usage": None}
    for choice in payload["choices"]:
        for name, text in choice["message"].items():
            for piece in _PIECE.findall(text or "") if name != "role" else ():
                yield {**rest, "choices": [{"index": 0, "delta": {name: piece}, "finish_reason": None}]}
        yield {**rest, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**rest, "choices": [], "usage": payload["usage"]}
