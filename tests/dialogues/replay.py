"""Dialogues posted to a running service, one namespace each, and what became of them."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.conftest import WAIT, Api
from tests.dialogues.loading import Batch, Dialogue, Said
from tests.dialogues.matching import Row
from tests.dialogues.scoring import Score, score

AT_ONCE = 8  # dialogues under way, so that the service is never idle
LONGEST_WAIT = 600  # seconds, for one batch
RECALLED_TOKENS = 500  # of context where a message repeats what was handed out

_RECALL = re.compile(r"\{recall ([^}]*)\}")


async def measure(api: Api, dialogues: Sequence[Dialogue]) -> list[Score]:
    """Post every dialogue and score what is remembered, in their order. Raises AssertionError if a job failed."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(dialogue: Dialogue) -> Score:
        async with room:
            return score(dialogue, await replay(api, dialogue))

    return await asyncio.gather(*(one(dialogue) for dialogue in dialogues))


async def replay(api: Api, dialogue: Dialogue) -> list[Row]:
    """Post a dialogue batch by batch, each when all before it has settled; returns all its statements."""
    for batch in dialogue.batches:
        messages = [await _body(api, dialogue, message) for message in batch.messages]
        await _post(api, dialogue, batch, messages)
        await _settle(api, dialogue.id)
    return [_row(item) for item in await api.all(f"/v1/namespaces/{dialogue.id}/statements", include="superseded")]


async def _post(api: Api, dialogue: Dialogue, batch: Batch, messages: list[dict[str, Any]]) -> None:
    path = f"/v1/namespaces/{dialogue.id}/conversations/{batch.conversation}/messages"
    reply = await api.post(path, json={"messages": messages})
    assert reply.status_code == 202, reply.text
    numbers = [message["sequence"] for message in reply.json()["messages"]]
    assert numbers == [message.number for message in batch.messages], dialogue.id


async def _settle(api: Api, namespace: str) -> None:
    """Wait until all is remembered, however busy the machine is with others."""
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            reply = await api.post(f"/v1/namespaces/{namespace}/flush", json={"wait_seconds": WAIT})
            flushed = reply.json()
            if flushed["settled"]:
                assert flushed["jobs"]["failed"] == 0, f"{namespace}: a job failed"
                return


async def _body(api: Api, dialogue: Dialogue, message: Said) -> dict[str, Any]:
    images = [{"caption": message.caption, "query": message.query}] if message.caption else []
    return {
        "role": message.role,
        "speaker": message.speaker,
        "content": await _with_recalled(api, dialogue.id, message.content),
        "occurred_at": message.occurred_at.isoformat(),
        "images": images,
    }


async def _with_recalled(api: Api, namespace: str, content: str) -> str:
    """`content` with what the service hands out in place of `{recall QUESTION}`."""
    for question in set(_RECALL.findall(content)):
        body = {"query": question, "max_tokens": RECALLED_TOKENS}
        reply = await api.post(f"/v1/namespaces/{namespace}/search", json=body)
        context = reply.json()["context"]
        assert context, f"{namespace}: nothing to recall for {question!r}"
        content = content.replace(f"{{recall {question}}}", context)
    return content


def _row(item: Mapping[str, Any]) -> Row:
    return Row(
        id=item["id"],
        text=item["text"],
        cites=frozenset(message["sequence"] for message in item["messages"]),
        support=item["support"],
        kind=item["kind"],
        occurred_at=datetime.fromisoformat(item["occurred_at"]),
        valid_from=_time(item["valid_from"]),
        valid_to=_time(item["valid_to"]),
        superseded_by=item["superseded_by"],
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
