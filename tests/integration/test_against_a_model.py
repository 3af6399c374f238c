"""Posts, deletions, exports, imports and reads in any order, held against a simple model of what must be there."""

import json
from dataclasses import dataclass, field
from uuid import uuid4

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import Api
from tests.integration.support import everything, messages_path, rest, route, search

EXAMPLES = 6
CONVERSATIONS = st.sampled_from(["chat", "mail"])
IDS = st.integers(0, 5)  # of the client; few, so that they come again
STEPS = st.one_of(
    st.tuples(st.just("post"), CONVERSATIONS, st.lists(IDS, min_size=1, max_size=4, unique=True)),
    st.tuples(st.just("post"), CONVERSATIONS, st.lists(IDS, min_size=1, max_size=4, unique=True)),
    st.tuples(st.just("clash"), CONVERSATIONS, IDS),
    st.tuples(st.just("delete message"), CONVERSATIONS, IDS),
    st.tuples(st.just("delete conversation"), CONVERSATIONS, st.none()),
    st.tuples(st.just("delete namespace"), st.none(), st.none()),
    st.tuples(st.just("move"), st.none(), st.none()),
    st.tuples(st.just("read"), CONVERSATIONS, st.none()),
)


WORDS = {
    "chat": ("heron", "trombone", "lantern", "walnut", "kayak", "saffron"),
    "mail": ("pelican", "bassoon", "thimble", "almond", "sleigh", "paprika"),
}


def said(conversation: str, number: int) -> str:
    """What a message says; no other has its word."""
    return f"I keep the {WORDS[conversation][number]} on my desk in Oslo."


@dataclass
class World:
    """The service's namespace beside the model of it: what is there, and which ids are spent."""

    api: Api
    namespace: str = field(default_factory=lambda: f"world-{uuid4().hex[:12]}")
    there: dict[str, dict[int, str]] = field(default_factory=dict)  # by conversation: the client's ids, and ours
    spent: set[tuple[str, int]] = field(default_factory=set)

    @property
    def exists(self) -> bool:
        """Whether anything was posted since it was last deleted."""
        return bool(self.there or self.spent)

    async def post(self, conversation: str, ids: list[int]) -> None:
        """Each is new, known or deleted, as the model says."""
        messages = [{"role": "user", "external_id": str(id_), "content": said(conversation, id_)} for id_ in ids]
        reply = await self.api.post(messages_path(self.namespace, conversation), json={"messages": messages})
        assert reply.status_code == 202, reply.text
        known = self.there.setdefault(conversation, {})
        for id_, told in zip(ids, reply.json()["messages"], strict=True):
            spent = (conversation, id_) in self.spent
            assert told["status"] == ("deleted" if spent else "duplicate" if id_ in known else "accepted")
            if not spent:
                known.setdefault(id_, told["id"])

    async def clash(self, conversation: str, id_: int) -> None:
        """Another content under a known id is refused."""
        if id_ in self.there.get(conversation, {}):
            message = {"role": "user", "external_id": str(id_), "content": "Something else."}
            path = messages_path(self.namespace, conversation)
            assert (await self.api.post(path, json={"messages": [message]})).status_code == 409

    async def delete_message(self, conversation: str, id_: int) -> None:
        """It is gone at once, and its id is spent."""
        found = self.there.get(conversation, {}).pop(id_, None)
        if found is None:
            return
        path = route(self.namespace, f"messages/{found}")
        assert (await self.api.delete(path)).status_code == 202
        assert (await self.api.get(path)).status_code == 404
        self.spent.add((conversation, id_))

    async def delete_conversation(self, conversation: str, _: None) -> None:
        """All of its messages are gone at once."""
        if conversation not in self.there:
            return
        path = route(self.namespace, f"conversations/{conversation}")
        assert (await self.api.delete(path)).status_code == 202
        self.spent |= {(conversation, id_) for id_ in self.there.pop(conversation)}

    async def delete_namespace(self, *_: None) -> None:
        """Its name is free at once, and nothing is spent any more."""
        reply = await self.api.delete(f"/v1/namespaces/{self.namespace}")
        assert reply.status_code == (202 if self.exists else 404)
        self.there, self.spent = {}, set()

    async def move(self, *_: None) -> None:
        """Out as a file and in under another name: the same is there."""
        if not self.exists:
            return
        await rest(self.api, self.namespace)
        file = await self.api.get(route(self.namespace, "export"))
        assert file.status_code == 200, file.text
        self.namespace = f"world-{uuid4().hex[:12]}"
        taken = await self.api.post(route(self.namespace, "import"), content=file.content)
        assert taken.status_code == 202, taken.text
        await rest(self.api, self.namespace)
        for conversation, known in self.there.items():
            path = messages_path(self.namespace, conversation)
            held = await self.api.all(path) if known else []
            self.there[conversation] = {int(one["external_id"]): one["id"] for one in held}

    async def read(self, conversation: str, _: None) -> None:
        """Lists and searches tell of what is there, and of nothing else."""
        if not self.exists:
            return
        known = self.there.get(conversation)
        if known:
            held = await self.api.all(messages_path(self.namespace, conversation))
            assert {int(one["external_id"]): one["id"] for one in held} == known
        for id_ in (0, 3):
            word = WORDS[conversation][id_]
            found = await search(self.api, self.namespace, word, strategy="bm25")
            assert any(word in item["text"] for item in found["items"]) is (id_ in (known or {}))

    async def settle(self) -> None:
        """At rest it is whole, and no spent word is anywhere in it."""
        if not self.exists:
            return
        await self.api.settle(self.namespace)
        assert await self.api.all(route(self.namespace, "jobs"), state="failed") == []
        memory = json.dumps(await everything(self.api, self.namespace))
        for conversation, id_ in self.spent:
            assert WORDS[conversation][id_] not in memory


@given(steps=st.lists(STEPS, min_size=3, max_size=12))
@settings(max_examples=EXAMPLES, phases=[Phase.generate])  # to make a failure smaller takes minutes
async def test_any_order_of_steps_leaves_what_the_model_says(shared: Api, steps: list[tuple]) -> None:
    world = World(shared)
    for name, where, what in steps:
        await getattr(world, name.replace(" ", "_"))(where, what)
    for conversation in ("chat", "mail"):
        await world.read(conversation, None)
    await world.settle()
