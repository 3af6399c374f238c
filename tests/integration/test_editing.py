"""Statements over time: what replaced what, how the past is read, and what clients bring, correct and delete."""

from typing import Any

import pytest

from tests.conftest import Api
from tests.integration.support import assert_whole


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def tell(api: Api, namespace: str, content: str, day: str, **fields: object) -> None:
    await api.say(namespace, content, speaker="Ada", occurred_at=f"{day}T10:00:00Z", **fields)
    await api.settle(namespace)


async def statements(api: Api, namespace: str, **query: str) -> list[dict[str, Any]]:
    return await api.all(f"/v1/namespaces/{namespace}/statements", **query)


async def moves(api: Api, namespace: str) -> dict[str, dict[str, Any]]:
    """Three homes, told out of order, and something else."""
    await tell(api, namespace, "I live in Nordhagen.", "2024-06-01")
    await tell(api, namespace, "I live in Quillhaven.", "2025-06-01")
    await tell(api, namespace, "I live in Velmar.", "2023-06-01")
    await tell(api, namespace, "My sister Ines is allergic to peanuts.", "2023-06-02")
    found = await statements(api, namespace, include="superseded")
    return {statement["text"].removeprefix("Ada: "): statement for statement in found}


async def test_the_newest_event_holds_and_the_past_stays_readable(api: Api, ada: str) -> None:
    told = await moves(api, ada)
    await assert_whole(api, ada)
    velmar, nordhagen = told["I live in Velmar."], told["I live in Nordhagen."]
    quillhaven = told["I live in Quillhaven."]
    assert velmar["superseded_by"] == nordhagen["id"]
    assert nordhagen["superseded_by"] == quillhaven["id"]
    assert (velmar["valid_to"], nordhagen["valid_to"]) == ("2024-06-01T10:00:00Z", "2025-06-01T10:00:00Z")
    assert (velmar["theme"], quillhaven["superseded_by"], quillhaven["valid_to"]) == (None, None, None)
    for one in (velmar, nordhagen, quillhaven):
        history = (await api.get(f"/v1/namespaces/{ada}/statements/{one['id']}/history")).json()["items"]
        assert [version["id"] for version in history] == [velmar["id"], nordhagen["id"], quillhaven["id"]]


async def test_a_correction_is_handed_out_beside_what_it_corrects(api: Api, ada: str) -> None:
    """The message stays as it was said; without the correction beside it, the old word would be the last one."""
    await tell(api, ada, "My sister Ines is allergic to peanuts.", "2023-06-02")
    [told] = await statements(api, ada)
    right = "Ines, the sister of Ada, is allergic to walnuts and not to peanuts."
    await api.patch(f"/v1/namespaces/{ada}/statements/{told['id']}", json={"text": right})
    await api.settle(ada)
    for more in ({}, {"gate": "off"}, {"strategy": "hybrid"}):
        body = {"query": "What is Ines allergic to?", "levels": ["statement", "message"], **more}
        found = (await api.post(f"/v1/namespaces/{ada}/search", json=body)).json()
        assert {item["text"] for item in found["items"]} == {right, "Ada: My sister Ines is allergic to peanuts."}


@pytest.mark.parametrize(
    ("as_of", "homes"),
    [
        ("2023-05-01", []),
        ("2023-07-01", ["Velmar"]),
        ("2024-06-01T10:00:00Z", ["Nordhagen"]),
        ("2025-05-31", ["Nordhagen"]),
        ("2026-01-01", ["Quillhaven"]),
    ],
)
async def test_as_of_lists_and_searches_what_held_then(api: Api, ada: str, as_of: str, homes: list[str]) -> None:
    await moves(api, ada)
    listed = [one["text"] for one in await statements(api, ada, as_of=as_of) if "live" in one["text"]]
    assert listed == [f"Ada: I live in {home}." for home in homes]
    body = {"query": "Where does Ada live?", "as_of": as_of, "levels": ["statement"]}
    items = (await api.post(f"/v1/namespaces/{ada}/search", json=body)).json()["items"]
    assert [item["text"] for item in items if "live" in item["text"]] == listed


async def test_what_is_told_to_last_until_a_time_ends_there_and_stays_current(api: Api, ada: str) -> None:
    told = (
        "I'm staying with my aunt until March.",
        "I have played the cello since 2016.",
        "I moved to Velmar in 2019.",
    )
    for text in told:
        await tell(api, ada, text, "2023-11-08")
    found = {one["text"]: one for one in await statements(api, ada)}
    spans = {text: (one["valid_from"], one["valid_to"]) for text, one in found.items()}
    assert spans == {
        "Ada: I'm staying with my aunt until March (2024).": (None, "2024-03-31T23:59:59.999999Z"),
        "Ada: I have played the cello since 2016.": ("2016-01-01T00:00:00Z", None),
        "Ada: I moved to Velmar in 2019.": ("2019-01-01T00:00:00Z", None),
    }
    assert {one["text"] for one in await statements(api, ada, as_of="2024-06-01")} == found.keys()
    await tell(api, ada, "I stopped staying with my aunt.", "2023-12-08")
    await assert_whole(api, ada)


async def test_case_27_an_update_that_looks_like_a_duplicate(api: Api, ada: str) -> None:
    await tell(api, ada, "I have worked at Lumen for 5 years.", "2024-01-01")
    await tell(api, ada, "I have worked at Lumen for 5 years.", "2024-01-02")
    [twice] = await statements(api, ada)
    assert (twice["support"], [one["sequence"] for one in twice["messages"]]) == (2, [1, 2])
    await tell(api, ada, "I have worked at Lumen for 6 years now.", "2024-10-27")
    [current] = await statements(api, ada)
    assert "6 years" in current["text"]
    both = await statements(api, ada, include="superseded")
    assert [one["superseded_by"] for one in both] == [current["id"], None]
    assert [one["id"] for one in await statements(api, ada, as_of="2024-04-10")] == [twice["id"]]
    for limits, years, others in (({}, "6", "5"), ({"as_of": "2024-04-10"}, "5", "6")):
        for question in ("How long has Ada worked at Lumen?", "How many years has Ada worked at Lumen?"):
            answered = (await api.post(f"/v1/namespaces/{ada}/answer", json={"query": question, **limits})).json()
            assert years in answered["answer"], (question, limits)
            assert others not in answered["answer"], (question, limits)


async def test_a_client_brings_statements_through_the_same_rule(api: Api, ada: str) -> None:
    await tell(api, ada, "I live in Velmar. My bike is red.", "2024-01-01", external_id="one", conversation="c")
    await tell(api, ada, "We went to see the new flat in Nordhagen.", "2025-01-01", external_id="two", conversation="c")
    two = [{"conversation": "c", "external_id": "two"}]
    sent = [
        {"text": "Ada: I live in Nordhagen.", "messages": two},
        {"text": "Ada: My bike is red!", "messages": [{"conversation": "c", "external_id": "one"}]},
        {"text": "Ada owns three yachts in Monaco.", "messages": two},
        {"text": "Ada: I live in Nordhagen.", "messages": [{"conversation": "c", "external_id": "none"}]},
    ]
    path, key = f"/v1/namespaces/{ada}/statements", {"Idempotency-Key": "once"}
    reply = await api.post(path, json={"statements": sent}, headers=key)
    assert reply.status_code == 200, reply.text
    done = reply.json()["statements"]
    outcomes = [(one["outcome"], one["reason"]) for one in done]
    assert outcomes[1:] == [("reinforced", None), ("refused", "not_supported"), ("refused", "unknown_message")]
    assert outcomes[0] == ("new", None)
    assert done[0]["statement"]["origin"] == "client"
    assert done[0]["statement"]["occurred_at"] == "2025-01-01T10:00:00Z"
    assert (await api.post(path, json={"statements": sent}, headers=key)).json() == reply.json()
    await api.settle(ada)
    await assert_whole(api, ada)
    current = {one["text"] for one in await statements(api, ada)}
    assert "Ada: I live in Nordhagen." in current
    assert "Ada: I live in Velmar." not in current


async def test_a_users_version_takes_the_old_ones_place_for_good(api: Api, ada: str) -> None:
    await tell(api, ada, "I live in Velmar.", "2024-01-01")
    [old] = await statements(api, ada)
    path = f"/v1/namespaces/{ada}/statements/{old['id']}"
    version = (await api.patch(path, json={"text": "Ada: I live in Velmar Old Town."})).json()
    assert (version["origin"], version["messages"]) == ("user", old["messages"])
    await tell(api, ada, "I live in Nordhagen.", "2025-01-01")
    await assert_whole(api, ada)
    assert {one["text"] for one in await statements(api, ada)} == {version["text"], "Ada: I live in Nordhagen."}
    history = (await api.get(f"{path}/history")).json()["items"]
    assert [one["text"] for one in history] == ["Ada: I live in Velmar.", version["text"]]
    assert version["text"] in {one["text"] for one in await statements(api, ada, as_of="2024-02-01")}
    assert old["text"] not in {one["text"] for one in await statements(api, ada, as_of="2024-02-01")}
    assert (await api.patch(path, json={"text": "Ada: again"})).status_code == 422
    same = {"text": version["text"]}
    assert (await api.patch(f"/v1/namespaces/{ada}/statements/{version['id']}", json=same)).status_code == 422


async def test_a_deleted_statement_is_gone_and_what_it_replaced_holds_again(api: Api, ada: str) -> None:
    told = await moves(api, ada)
    middle, newest = told["I live in Nordhagen."], told["I live in Quillhaven."]
    for one in (middle, newest):
        path = f"/v1/namespaces/{ada}/statements/{one['id']}"
        assert (await api.delete(path)).status_code == 204
        assert (await api.get(path)).status_code == 404
        assert (await api.delete(path)).status_code == 404
        await api.settle(ada)
        await assert_whole(api, ada)
    [velmar] = [one for one in await statements(api, ada) if "live" in one["text"]]
    assert (velmar["text"], velmar["valid_to"]) == ("Ada: I live in Velmar.", None)
    assert velmar["theme"] is not None


async def test_deleting_a_users_version_deletes_what_it_corrected(api: Api, ada: str) -> None:
    await tell(api, ada, "I live in Velmar.", "2024-01-01")
    [old] = await statements(api, ada)
    reply = await api.patch(f"/v1/namespaces/{ada}/statements/{old['id']}", json={"text": "Ada: I live in Esker Bay."})
    assert (await api.delete(f"/v1/namespaces/{ada}/statements/{reply.json()['id']}")).status_code == 204
    await api.settle(ada)
    await assert_whole(api, ada)
    assert await statements(api, ada, include="superseded") == []
