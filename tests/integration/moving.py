"""What the tests of moving share: a namespace with something of everything, its file, and what reads of it say."""

import asyncio
import json
from typing import Any

from tests.conftest import WAIT, Api
from tests.integration.support import everything, later, messages_path, search

QUESTIONS = ("Where does Ada live?", "ボブは何が好き？")
NDJSON = {"content-type": "application/x-ndjson"}


async def live(api: Api, namespace: str) -> None:
    """Something of everything: conversations, a correction, erasures, retention, pictures, scripts, an open buffer."""
    ada = [
        {"content": "I live in Berlin.", "external_id": "m1", "metadata": {"b": 1e22, "a": [-0.0, 1.5, {"z": None}]}},
        {"content": "I adopted a cat named Miso.", "images": [{"caption": "a cat", "query": "grey cat"}]},
        {"content": "I work as a nurse. " + "Night shifts are long. " * 120, "external_id": "long"},
        {"content": "My PIN is 4711.", "external_id": "secret"},
        {"content": "I moved to Lisbon last week.", "occurred_at": later(60)},
    ]
    await _post(api, namespace, "chat", [{"speaker": "Ada", "occurred_at": later(at), **m} for at, m in enumerate(ada)])
    bob = ["ボブは寿司が好きです。", 'My sister Eva visited me in spring. \u200f\U0001f600 \\"quoted\\" {braces}']
    await _post(api, namespace, "b", [{"speaker": "Bob", "content": content, "role": "assistant"} for content in bob])
    await api.settle(namespace)
    home = f"/v1/namespaces/{namespace}"
    [cat] = [one for one in await api.all(f"{home}/statements") if "Miso" in one["text"]]
    corrected = await api.patch(f"{home}/statements/{cat['id']}", json={"text": "Ada adopted a cat named Mochi."})
    assert corrected.status_code == 200, corrected.text
    [secret] = [one for one in await api.all(messages_path(namespace)) if one["external_id"] == "secret"]
    assert (await api.delete(f"{home}/messages/{secret['id']}")).status_code in (200, 202)
    nurse = next(one for one in await api.all(f"{home}/statements") if "nurse" in one["text"])
    assert (await api.delete(f"{home}/statements/{nurse['id']}")).status_code == 204
    for kept, days in ((home, 3650), (f"{home}/conversations/b", 36_500)):
        assert (await api.patch(kept, json={"retention_days": days})).status_code == 200
    await api.settle(namespace)
    await _post(api, namespace, "open", [{"speaker": "Ada", "content": "By the way, I have a new bike."}])
    await rest_of(api, namespace)


async def _post(api: Api, namespace: str, conversation: str, messages: list[dict[str, Any]]) -> None:
    body = {"messages": [{"role": "user", **message} for message in messages]}
    reply = await api.post(messages_path(namespace, conversation), json=body)
    assert reply.status_code == 202, reply.text


async def rest_of(api: Api, namespace: str) -> None:
    """Wait, without flushing, until no job is queued or running."""
    async with asyncio.timeout(WAIT):
        while (await api.get(f"/v1/namespaces/{namespace}/status")).json()["pending_jobs"]:
            await asyncio.sleep(0.02)


async def exported(api: Api, namespace: str, **query: object) -> bytes:
    reply = await api.get(f"/v1/namespaces/{namespace}/export", params=query)
    assert reply.status_code == 200, reply.text
    return reply.content


async def imported(api: Api, namespace: str, file: bytes, **query: object) -> dict[str, Any]:
    """Import a file and wait for its job; returns that."""
    reply = await api.post(f"/v1/namespaces/{namespace}/import", content=file, headers=NDJSON, params=query)
    assert reply.status_code == 202, reply.text
    await rest_of(api, namespace)
    job = (await api.get(f"/v1/namespaces/{namespace}/jobs/{reply.json()['job']}")).json()
    assert job["state"] == "succeeded", job
    return job


def lines(file: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.splitlines()]


def header(file: bytes) -> dict[str, Any]:
    """The first line, without what may differ between two services."""
    return {name: value for name, value in lines(file)[0].items() if name not in ("namespace", "revision")}


def after_header(file: bytes) -> bytes:
    return file.partition(b"\n")[2]


async def said(api: Api, namespace: str) -> dict[str, Any]:
    """What reads of a namespace say, word for word."""
    found = await everything(api, namespace)
    home = f"/v1/namespaces/{namespace}"
    for question in QUESTIONS:
        hits = await search(api, namespace, question)
        answer = (await api.post(f"{home}/answer", json={"query": question})).json()
        found[question] = [hits["items"], hits["context"], answer["answer"], answer["citations"], answer["confidence"]]
    found["history"] = await api.all(f"{home}/statements", include="superseded")
    return found
