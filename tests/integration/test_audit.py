"""The audit log: every act that counts leaves its line, with the act or not at all; and who may read it."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from app.container import Container, utc_now
from app.domain.audit import Act, Outcome
from app.domain.errors import NotFound
from app.domain.ids import StatementId
from app.services.retention import Retention
from tests.conftest import Api
from tests.integration.keyed import ADMIN_KEY, make_key, showing
from tests.integration.support import assert_problem, drain, post

WORD = "Rosinante"


async def _lines(admin: Api, namespace: str) -> list[dict[str, str]]:
    """What is written about a namespace, oldest first."""
    return (await admin.all("/v1/audit", namespace=namespace))[::-1]


async def test_acts_leave_lines(locked: Api, ada: str) -> None:
    made = await make_key(locked, ada)
    home = f"/v1/namespaces/{ada}"
    said = (f"My bike is called {WORD}.", f"I sold {WORD} last week.", "I moved to Lisbon in May.")
    async with showing(locked, made["key"]) as client:
        posted = [await client.say(ada, content, conversation=f"c{n}") for n, content in enumerate(said)]
        await client.settle(ada)
        statement = (await client.all(f"{home}/statements"))[-1]["id"]
        message = posted[0]["messages"][0]["id"]
        conversation = next(one for one in await client.all(f"{home}/conversations") if one["name"] == "c1")["id"]
        acts = [
            ("export_namespace", await client.get(f"{home}/export"), None),
            ("export_themes", await client.get(f"{home}/themes/export"), None),
            ("delete_statement", await client.delete(f"{home}/statements/{statement}"), statement),
            ("delete_message", await client.delete(f"{home}/messages/{message}"), message),
            ("delete_conversation", await client.delete(f"{home}/conversations/c1"), conversation),
            ("update_namespace", await client.patch(home, json={"retention_days": 30}), None),
            ("reembed_namespace", await client.post(f"{home}/reembed"), None),
            ("delete_namespace", await client.delete(home), "receipt"),
        ]
    assert all(reply.is_success or act == "reembed_namespace" for act, reply, _ in acts)
    lines = await _lines(locked, ada)
    assert [line["act"] for line in lines] == [act for act, _, _ in acts]
    for line, (act, reply, object_id) in zip(lines, acts, strict=True):
        assert (line["key"], line["actor"], line["namespace"]) == (made["id"], "a test", ada)
        assert line["request"] == reply.headers["x-request-id"]
        assert line["outcome"] == ("refused" if act == "reembed_namespace" else "done")
        assert line["object"] == (reply.json()["id"] if object_id == "receipt" else object_id)
    assert WORD not in str(lines)


async def test_what_fails_leaves_none(locked: Api, ada: str) -> None:
    home = f"/v1/namespaces/{ada}"
    await locked.say(ada, "I like tea.")
    for path in (f"messages/{uuid4()}", "conversations/other", f"statements/{uuid4()}"):
        assert_problem(await locked.delete(f"{home}/{path}"), 404)
    assert await _lines(locked, ada) == []


async def test_what_is_rolled_back_was_never_written_down(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    await drain(built, "ada")
    with pytest.raises(NotFound):
        await built.services.editing.remove("ada", StatementId(uuid4()))
    async with built.storage.write("ada") as unit:
        await unit.audit.record(Act.DELETE_NAMESPACE, unit.namespace.created_at)
    assert await built.services.audit.page(None, 10, None) == []


async def test_who_acts_without_a_request(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    await built.services.forgetting.retire("ada")
    [line] = await built.services.audit.page(None, 10, "ada")
    assert (line.actor, line.key, line.request, line.outcome) == ("xmemory", None, None, Outcome.DONE)


async def test_refusals_are_written_down(locked: Api, ada: str, bob: str) -> None:
    reader = await make_key(locked, ada, scopes="read")
    async with showing(locked, reader["key"]) as client:
        for path, namespace in ((f"/v1/namespaces/{ada}", ada), (f"/v1/namespaces/{bob}", bob)):
            reply = await client.delete(path)
            assert_problem(reply, 403)
            [line] = await _lines(locked, namespace)
            assert (line["act"], line["outcome"], line["key"]) == ("delete_namespace", "refused", reader["id"])
            assert line["request"] == reply.headers["x-request-id"]
        assert_problem(await client.get(f"/v1/namespaces/{bob}/search", params={"q": "x"}), 403)
        assert len(await _lines(locked, bob)) == 1  # questions are not acts
        assert_problem(await client.delete(f"/v1/namespaces/{'x' * 900}%00{bob}"), 403)
        assert_problem(await client.post("/v1/keys", json={"name": "more", "scopes": ["admin"]}), 403)
    newest = (await locked.get("/v1/audit", params={"limit": 1})).json()["items"][0]
    assert (newest["act"], newest["outcome"], newest["namespace"]) == ("create_key", "refused", None)


async def test_lines_go_when_their_time_is_over(built: Container) -> None:
    acts = [(Act.EXPORT, 100), (Act.EXPORT, 90.5), (Act.REEMBED, 89)]
    for act, days in acts:
        await built.storage.record(act, utc_now() - timedelta(days=days), "ada")

    async def left(kept: float | None) -> list[str]:
        await Retention(built.storage, utc_now, None if kept is None else timedelta(days=kept)).run()
        return [line.act for line in await built.services.audit.page(None, 10, None)][::-1]

    assert await left(None) == await left(100) == ["export_namespace", "export_namespace", "reembed_namespace"]
    assert await left(90) == ["reembed_namespace", "shorten_audit"]
    assert await left(88.5) == ["reembed_namespace", "shorten_audit"], "a hundredth longer: not each goes by itself"
    assert await left(88) == ["shorten_audit", "shorten_audit"]


async def test_reading_the_log(locked: Api, ada: str) -> None:
    made = [await make_key(locked, ada, scopes="read") for _ in range(3)]
    page = (await locked.get("/v1/audit", params={"limit": 2})).json()
    assert [line["object"] for line in page["items"]] == [made[2]["id"], made[1]["id"]]  # newest first
    following = (await locked.get("/v1/audit", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert following["items"][0]["object"] == made[0]["id"]
    assert {line["actor"] for line in page["items"]} == {"XMEMORY_ADMIN_KEY"}
    assert page["items"][0]["key"] is None
    assert UUID(page["items"][0]["request"])
    assert ADMIN_KEY not in str(page)
    async with showing(locked, made[0]["key"]) as client:
        assert_problem(await client.get("/v1/audit"), 403)
        assert_problem(await client.get("/v1/audit", params={"namespace": ada}), 403)
    admin = await make_key(locked, "*", scopes="admin")
    async with showing(locked, admin["key"]) as client:
        await make_key(client, ada)
        assert (await client.get("/v1/audit", params={"limit": 1})).json()["items"][0]["key"] == admin["id"]
