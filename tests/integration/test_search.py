"""Search: truthful, within its budget, limited exactly, fresh, and blind to other namespaces."""

import asyncio

import pytest

from app.domain.text import count_tokens
from app.providers.scripted import ScriptedEmbedder
from app.settings import ReadSettings, Settings
from tests.conftest import Api, serving
from tests.integration.support import FOUND, assert_problem, later, messages_path, rest, route, search

STRATEGIES = ("adaptive", "paper", "norlift", "hybrid", "bm25", "vector")
FACTS = (
    "I moved to Lisbon in the spring.",
    "My sister Ines is allergic to peanuts.",
    "I bought a red bicycle from a neighbour.",
    "The cello lessons take place every Thursday.",
    "Our cat Minka sleeps on the piano.",
    "I planted tomatoes behind the shed.",
    "The car failed its inspection because of the brakes.",
    "Grandfather repaired clocks in a small workshop.",
    "We watched a documentary about whales.",
    "I want to hike across the Pyrenees next summer.",
)  # unlike each other


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def _remember(api: Api, namespace: str, *contents: str) -> None:
    await api.say(namespace, *contents, speaker="Ada")
    await api.settle(namespace)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_every_strategy_gives_the_same_shape_and_puts_an_exact_match_first(
    api: Api, ada: str, strategy: str
) -> None:
    await _remember(api, ada, *FACTS)
    found = await search(api, ada, FACTS[4], strategy=strategy, max_tokens=2000)
    assert found.keys() == FOUND
    assert (found["query"], found["strategy"], found["sequence"]) == (FACTS[4], strategy, 10)
    assert found["gate"].keys() == {"measure", "probes", "expanded", "failed"}
    assert found["trace"] is None
    items = found["items"]
    for item in items:
        assert item.keys() == {
            *("id", "level", "text", "score", "occurred_at", "valid_from", "valid_to", "theme", "messages"),
            *("tokens", "degraded"),
        }
        assert item["level"] in ("statement", "episode", "message")
        assert item["tokens"] == count_tokens(item["text"])
        assert " ".join(item["text"].split()) in found["context"]
        assert (item["messages"] == []) == (item["level"] == "episode")
    scores = [item["score"] for item in items]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) > 1
    assert "Minka" in items[0]["text"]
    assert scores[0] > 0.5
    kept = await search(api, ada, FACTS[4], strategy=strategy, min_score=0.5)
    assert "Minka" in kept["items"][0]["text"]
    assert all(item["score"] >= 0.5 for item in kept["items"])
    absent = await search(api, ada, "quarterly tax form of the moon base", strategy=strategy)
    assert all(item["score"] < 0.5 for item in absent["items"])


# The budget ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_context_never_exceeds_its_budget(api: Api, ada: str, strategy: str) -> None:
    await _remember(
        api, ada, *(f"{fact} {filler}" for fact in FACTS for filler in ("And so it is.", "合同编号是七。" * 9))
    )
    for budget in (64, 65, 100, 256, 700, 2000):
        found = await search(
            api, ada, "What is in Lisbon with Ines and the red bicycle?", max_tokens=budget, strategy=strategy
        )
        assert found["tokens"] == count_tokens(found["context"]) <= budget
        assert found["items"]
    assert (await search(api, ada, "Lisbon"))["tokens"] <= 2000


async def test_top_k_is_honoured(api: Api, ada: str) -> None:
    await _remember(api, ada, *FACTS)
    none = await search(api, ada, "Lisbon", top_k=0)
    assert (none["items"], none["context"], none["tokens"]) == ([], "", 0)
    assert (await api.get(route(ada, "search"), params={"q": "Lisbon", "top_k": 0})).json()["items"] == []
    for most in (1, 3):
        assert len((await search(api, ada, "Ada moved, bought and planted", top_k=most))["items"]) == most
    by_level = await search(
        api, ada, "Ada moved, bought and planted", top_k={"statement": 0, "message": 2, "episode": 1}
    )
    levels = [item["level"] for item in by_level["items"]]
    assert levels.count("statement") == 0
    assert levels.count("message") <= 2
    assert levels.count("episode") <= 1
    assert levels


async def test_levels_are_honoured(api: Api, ada: str) -> None:
    await _remember(api, ada, *FACTS)
    for level in ("statement", "episode", "message"):
        found = await search(api, ada, "Minka the cat on the piano", levels=[level])
        assert {item["level"] for item in found["items"]} == {level}
    asked = [("q", "Minka the cat"), ("levels", "message"), ("levels", "episode")]
    found = (await api.get(route(ada, "search"), params=asked)).json()
    assert {item["level"] for item in found["items"]} <= {"message", "episode"}
    assert found["items"]


async def test_get_and_post_agree(api: Api, ada: str) -> None:
    await _remember(api, ada, *FACTS)
    wanted = {"max_tokens": 300, "top_k": 5, "strategy": "hybrid", "min_score": 0.01, "from": "2026-01-01"}
    by_post = await search(api, ada, "Where did I move?", explain=True, **wanted)
    by_get = (
        await api.get(route(ada, "search"), params={"q": "Where did I move?", "explain": "true", **wanted})
    ).json()
    assert by_get == by_post
    assert by_get["items"]


async def test_the_trace_tells_what_led_to_the_choice(api: Api, ada: str) -> None:
    await _remember(api, ada, *FACTS)
    found = await search(api, ada, "Minka the cat", explain=True, top_k=3)
    candidates = found["trace"]["candidates"]
    packed = {(one["level"], one["id"]) for one in candidates if one["packed"]}
    assert packed == {(item["level"], item["id"]) for item in found["items"]}
    assert len(candidates) > len(packed)
    assert all(0 <= one["score"] <= 1 for one in candidates)
    fates = {(one["level"], one["id"]): one["fate"] for one in candidates}
    assert {key for key, fate in fates.items() if fate == "packed"} == packed
    known = {"packed", "over_count", "passed_over", "taken", "not_read", "spelled_out"}
    assert set(fates.values()) <= known
    assert "spelled_out" in fates.values(), "the statements of these messages are hardly shorter"
    probes = found["trace"]["gate"]["probes"]
    assert len(probes) == found["gate"]["probes"] >= found["gate"]["expanded"] >= len(packed)
    assert {(one["level"], one["id"]) for one in probes} >= packed
    for one in probes:
        assert one["measure"] == found["gate"]["measure"] == "evidence"
        assert 0 <= one["after"] <= one["before"] <= 1
        assert one["tokens"] > 0
        assert one["reason"] == "taken", "so little is handed out whether or not the reader is sure"


# Limits ----------------------------------------------------------------------------------------------------


async def test_filters_are_exact_also_where_few_rows_remain(api: Api, ada: str) -> None:
    """300 messages that fit the question; few of them have the metadata, the time or the past that is asked for."""
    marked = {120: {"place": {"city": "Porto"}, "tags": ["x", "rare"]}, 250: {"tags": ["rare"], "n": 1}}
    messages = [
        {
            "role": "user",
            "content": f"A tea, {number}."
            if number in marked
            else f"Green tea and black tea, cup {number} of green tea.",
            "metadata": marked.get(number, {"tags": ["x"], "n": number}),
            "occurred_at": later(number),
        }
        for number in range(300)
    ]
    assert (await api.post(messages_path(ada), json={"messages": messages})).status_code == 202
    await api.settle(ada)
    for strategy in STRATEGIES:

        async def sequences(strategy: str = strategy, **limits: object) -> list[int]:
            wide = {"levels": ["message"], "max_tokens": 32_000, "strategy": strategy}
            found = await search(api, ada, "green tea", **wide, **limits)
            return sorted(message["sequence"] for item in found["items"] for message in item["messages"])

        assert await sequences(metadata={"tags": ["rare"]}) == [121, 251], strategy
        assert await sequences(metadata={"place": {"city": "Porto"}}) == [121], strategy
        assert await sequences(metadata={"n": True}) == [], strategy
        assert await sequences(metadata={"n": 1}) == [2, 251], strategy
        assert await sequences(**{"from": later(120), "to": later(120)}) == [121], strategy
        assert await sequences(**{"from": later(298)}) == [299, 300], strategy
        assert await sequences(as_of=later(1)) == [1, 2], strategy
        assert await sequences(metadata={"tags": ["rare"]}, top_k=1) in ([121], [251]), strategy
    day = await search(api, ada, "green tea", to="2026-03-02", levels=["message"], max_tokens=32_000)
    assert len(day["items"]) == 100, "a date alone means all of its day"


async def test_filters_are_exact_for_what_only_vectors_find(api: Api, ada: str) -> None:
    """The two messages that fit share no word with the question, and 300 others are nearer to it."""
    embedder = ScriptedEmbedder()
    question = (await embedder.embed_query("green tea")).vector
    words = ("harbour", "violin", "lantern", "copper", "meadow", "saddle", "ribbon", "anchor")
    near = [word for word in words if float((await embedder.embed([f"Ada: {word}"])).vectors[0] @ question) > 0.02][:2]
    assert len(near) == 2
    others = [{"role": "user", "content": "Green tea, green tea.", "occurred_at": later(n)} for n in range(300)]
    rare = [
        {"role": "user", "speaker": "Ada", "content": word, "metadata": {"rare": True}, "occurred_at": later(500 + n)}
        for n, word in enumerate(near)
    ]
    assert (await api.post(messages_path(ada), json={"messages": others + rare})).status_code == 202
    await api.settle(ada)
    for strategy in ("adaptive", "hybrid", "vector"):
        for limits in ({"metadata": {"rare": True}}, {"from": later(400)}):
            found = await search(api, ada, "green tea", strategy=strategy, levels=["message"], **limits)
            assert {item["messages"][0]["sequence"] for item in found["items"]} == {301, 302}, strategy


async def test_what_a_limit_leaves_out_still_speaks_for_its_neighbours(api: Api, ada: str) -> None:
    """A score means the same whatever was filtered: a reply is found by the question before it, and by all signals."""
    said = (("Where does Minka the cat sleep?", {}), ("On the piano.", {"kept": True}), ("Whales are large.", {}))
    messages = [
        {"role": "user", "content": content, "metadata": metadata, "occurred_at": later(number)}
        for number, (content, metadata) in enumerate(said)
    ]
    assert (await api.post(messages_path(ada), json={"messages": messages})).status_code == 202
    await api.settle(ada)
    asked = {"levels": ["message"], "explain": True}
    every = (await search(api, ada, "Minka the cat", **asked))["trace"]["candidates"]
    found = await search(api, ada, "Minka the cat", metadata={"kept": True}, **asked)
    assert [item["text"] for item in found["items"]] == ["User: On the piano."]
    signals = ("cosine", "words", "score")
    few = {one["id"]: [one[name] for name in signals] for one in found["trace"]["candidates"]}
    assert few == {one["id"]: [one[name] for name in signals] for one in every}
    assert {one["fate"] for one in found["trace"]["candidates"]} == {"packed", "filtered"}


async def test_limits_hold_for_every_level(api: Api, ada: str) -> None:
    for day, content in (("2026-03-02", "I moved to Lisbon."), ("2026-05-02", "I moved to Madrid.")):
        await api.say(ada, content, occurred_at=f"{day}T10:00:00Z", metadata={"day": day})
        await api.settle(ada)
    for limits in ({"from": "2026-04-01"}, {"metadata": {"day": "2026-05-02"}}):
        found = await search(api, ada, "Where did I move?", **limits)
        assert "Madrid" in found["context"]
        assert "Lisbon" not in found["context"]
    for limits in ({"to": "2026-04-01"}, {"as_of": "2026-04-01"}, {"metadata": {"day": "2026-03-02"}}):
        found = await search(api, ada, "Where did I move?", **limits)
        assert "Lisbon" in found["context"]
        assert "Madrid" not in found["context"]


async def test_case_32_times_of_any_zone_bound_a_search(api: Api, ada: str) -> None:
    """Also where the sign of an offset stands unescaped in a query string."""
    times = ("2025-03-09T23:30:00-05:00", "2025-03-10T04:45:00Z", "2025-03-10T12:00:00")
    body = [{"role": "user", "content": f"tea number {n}", "occurred_at": at} for n, at in enumerate(times, start=1)]
    assert (await api.post(messages_path(ada), json={"messages": body})).status_code == 202
    listed = await api.all(messages_path(ada))
    assert [m["occurred_at"] for m in listed] == [
        "2025-03-10T04:30:00Z",
        "2025-03-10T04:45:00Z",
        "2025-03-10T12:00:00Z",
    ]
    for wrong in (1741579200, "2025-02-30", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"):
        reply = await api.post(messages_path(ada), json={"messages": [{**body[0], "occurred_at": wrong}]})
        assert_problem(reply, 422, "#/messages/0/occurred_at")
    await api.settle(ada)
    for since in ("2025-03-10T04:40:00Z", "2025-03-09T23:40:00-05:00", "2025-03-10T05:40:00+01:00"):
        reply = await api.get(f"/v1/namespaces/{ada}/search?q=tea&levels=message&from={since}")
        assert sorted(i["messages"][0]["sequence"] for i in reply.json()["items"]) == [2, 3], since


# Fresh -----------------------------------------------------------------------------------------------------


async def test_a_message_is_found_by_its_words_before_any_job_ran(settings: Settings) -> None:
    async with serving(settings.model_copy(update={"worker": "off"})) as api:
        await api.say("ada", *FACTS)
        for strategy in ("adaptive", "hybrid", "bm25"):
            found = await search(api, "ada", "Minka the cat on the piano", strategy=strategy)
            assert "Minka" in found["items"][0]["text"], strategy
            assert (found["pending"], found["buffered"]) == (1, len(FACTS))
        answered = (await api.get("/v1/namespaces/ada/answer", params={"q": "Where does our cat Minka sleep?"})).json()
        assert "piano" in answered["answer"]


async def test_what_memory_has_not_read_yet_is_told(api: Api, ada: str) -> None:
    """Jobs and the buffer are apart: an open tail waits for more messages, and no job tells of it."""
    await api.say(ada, *FACTS)
    assert (await rest(api, ada))["buffered"] == len(FACTS)
    for path, question in (("search", {"query": "Minka"}), ("answer", {"query": "Where does Minka sleep?"})):
        found = (await api.post(route(ada, path), json=question)).json()
        assert (found["pending"], found["buffered"]) == (0, len(FACTS))
    await api.settle(ada)
    found = await search(api, ada, "Minka")
    assert (found["pending"], found["buffered"]) == (0, 0)


async def test_a_read_can_ask_to_be_as_fresh_as_a_sequence(settings: Settings) -> None:
    impatient = settings.model_copy(update={"read": ReadSettings(wait_seconds=0.2), "worker": "off"})
    async with serving(impatient) as api:
        await api.say("ada", "I live in Rome.")
        assert_problem(await api.post(route("ada", "search"), json={"query": "Rome", "min_sequence": 1}), 409)
        assert_problem(await api.get(route("ada", "search"), params={"q": "Rome", "min_sequence": 1}), 409)
        assert_problem(await api.get("/v1/namespaces/ada/answer", params={"q": "Rome?", "min_sequence": 1}), 409)
        assert (await api.get(route("ada", "search"), params={"q": "Rome", "min_sequence": 0})).status_code == 200
        assert_problem(
            await api.post(route("ada", "search"), json={"query": "Rome", "min_sequence": -1}), 422, "#/min_sequence"
        )


async def test_a_read_waits_for_the_sequence_it_asks_for(api: Api, ada: str) -> None:
    sent = await api.say(ada, *(f"{fact} {number}" for number in range(10) for fact in FACTS))
    found = await search(api, ada, "Minka the cat", min_sequence=sent["sequence"])
    assert found["items"]
    status = (await api.get(f"/v1/namespaces/{ada}/status")).json()
    assert status["settled_sequence"] == 100


async def test_what_is_written_is_read_at_once(api: Api, ada: str) -> None:
    """No cache outlives a write."""
    for number, fact in enumerate(FACTS[:4], start=1):
        await _remember(api, ada, fact)
        found = await search(api, ada, fact)
        assert fact.split()[-1].strip(".") in found["items"][0]["text"]
        assert found["sequence"] == number


# Isolation -------------------------------------------------------------------------------------------------


async def test_other_namespaces_change_neither_results_nor_scores(api: Api, ada: str, bob: str) -> None:
    await asyncio.gather(*(_remember(api, name, *FACTS) for name in (ada, bob)))

    async def scores(name: str, strategy: str) -> list[tuple[str, float]]:
        found = await search(api, name, "Where does our cat Minka sleep?", strategy=strategy)
        return [(item["text"], item["score"]) for item in found["items"]]

    before = {strategy: await scores(ada, strategy) for strategy in STRATEGIES}
    for strategy in STRATEGIES:
        assert [score for _, score in before[strategy]] == [score for _, score in await scores(bob, strategy)]
    await _remember(api, bob, *(f"Our cat Minka sleeps and sleeps, day {number}." for number in range(200)))
    for strategy in STRATEGIES:
        assert await scores(ada, strategy) == before[strategy]
        assert await scores(bob, strategy) != before[strategy]
    assert "day 117" not in (await search(api, ada, "day 117"))["context"]
    assert_problem(await api.post("/v1/namespaces/nobody/search", json={"query": "cat"}), 404)


async def test_ids_of_one_namespace_open_nothing_in_another(api: Api, ada: str, bob: str) -> None:
    await _remember(api, ada, *FACTS[:2])
    await _remember(api, bob, FACTS[5])
    for level, path in (("episodes", "episodes"), ("statements", "statements"), ("themes", "themes")):
        for one in await api.all(f"/v1/namespaces/{ada}/{level}"):
            assert (await api.get(f"/v1/namespaces/{ada}/{path}/{one['id']}")).json()["id"] == one["id"]
            assert_problem(await api.get(f"/v1/namespaces/{bob}/{path}/{one['id']}"), 404)
    for message in await api.all(messages_path(ada)):
        assert_problem(await api.get(f"/v1/namespaces/{bob}/messages/{message['id']}"), 404)
    moved = await api.post(
        messages_path(bob),
        json={"messages": [{"role": "user", "content": "tea", "metadata": {"namespace": ada, "namespace_id": ada}}]},
    )
    assert moved.json()["namespace"] == bob
    assert len(await api.all(messages_path(ada))) == 2
