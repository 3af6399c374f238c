"""Fifty writers at once over two namespaces: every row is in its own, once and in order."""

import asyncio

from tests.conftest import Api
from tests.integration.keyed import make_key, showing
from tests.integration.support import assert_whole, messages_path

WRITERS, POSTS = 50, 1


async def test_every_row_is_in_its_own(locked: Api, ada: str, bob: str) -> None:
    keys = {name: (await make_key(locked, name, scopes="write read"))["key"] for name in (ada, bob)}
    words = {ada: "Lisbon", bob: "Kyoto"}

    async def write(client: Api, namespace: str, writer: int) -> None:
        for number in range(POSTS):
            content = f"I visited {words[namespace]} with friend number {writer} on day {number + 1} of May."
            message = {"role": "user", "content": content, "external_id": f"{writer}-{number}"}
            reply = await client.post(messages_path(namespace), json={"messages": [message]})
            assert reply.status_code == 202, reply.text

    async with showing(locked, keys[ada]) as first, showing(locked, keys[bob]) as second:
        clients = {ada: first, bob: second}
        names = [ada, bob] * (WRITERS // 2)
        await asyncio.gather(*(write(clients[name], name, writer) for writer, name in enumerate(names)))
        for name, other in ((ada, bob), (bob, ada)):
            await clients[name].settle(name)
            memory = await assert_whole(clients[name], name)
            assert len(memory["messages"]) == WRITERS // 2 * POSTS
            assert len({one["external_id"] for one in memory["messages"]}) == len(memory["messages"])
            assert all(words[name] in one["content"] for one in memory["messages"])
            assert memory["statements"]
            assert words[other] not in str(memory)
            asked = {"query": f"Who went to {words[other]} in May?", "strategy": "hybrid", "max_tokens": 2000}
            assert (
                words[other]
                not in (await clients[name].post(f"/v1/namespaces/{name}/search", json=asked)).json()["context"]
            )
