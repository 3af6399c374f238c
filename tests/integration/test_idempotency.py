"""`Idempotency-Key`: a request that is sent again takes effect once, and gets its first answer."""

import asyncio
import json
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import update

from app.container import Container, utc_now
from app.domain.segmentation import SegmentPolicy
from app.services.once import KEPT
from app.services.upkeep import Upkeep
from app.settings import Settings
from app.storage.tables import idempotency_keys
from tests.conftest import WAIT, Api
from tests.integration.support import assert_problem, assert_whole, messages_path, over_http, rows, status

KEY = "5b0c7f52-9d1e-4a53-8a53-0c6c4a1f2f6e"
TEA = {"messages": [{"role": "user", "content": "I like tea.", "external_id": "m1"}, {"role": "user", "content": "ok"}]}
MILK = {"messages": [{"role": "user", "content": "I like milk."}]}


async def _post(api: Api, namespace: str, body: object, key: str | None = KEY, **kwargs: str) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await api.post(messages_path(namespace, **kwargs), json=body, headers=headers)


async def _admitted(api: Api) -> int:
    """How often an episode of ada's was admitted."""
    return sum(job["kind"] == "admit" for job in await api.all("/v1/namespaces/ada/jobs"))


async def _model_calls(api: Api, namespace: str) -> int:
    jobs = await api.all(f"/v1/namespaces/{namespace}/jobs")
    return sum(used["calls"] for job in jobs for used in (job["usage"] or {}).values())


async def test_case_5_the_same_request_gets_the_first_answer_byte_by_byte(api: Api) -> None:
    first = await _post(api, "ada", TEA)
    again = await _post(api, "ada", TEA)
    await api.settle("ada")
    later = await _post(api, "ada", TEA)
    assert (first.status_code, first.json()["accepted"]) == (202, 2)
    assert first.json()["job"]
    for reply in (again, later):
        assert (reply.status_code, reply.content) == (first.status_code, first.content)
        assert reply.headers["content-type"] == first.headers["content-type"]
    assert (await status(api, "ada"))["messages"] == 2
    assert await _admitted(api) == 1


async def test_the_answer_is_that_of_a_request_without_a_key(api: Api) -> None:
    with_key, without = await _post(api, "ada", TEA), await _post(api, "bob", TEA, None)
    assert with_key.json().keys() == without.json().keys()
    assert with_key.headers["content-type"] == without.headers["content-type"]
    assert with_key.json()["messages"][0].keys() == without.json()["messages"][0].keys()


async def test_case_5_twenty_at_once_are_one(api: Api) -> None:
    """Case 5: a lost acknowledgement, and a client that does not wait."""
    replies = await asyncio.gather(*(_post(api, "ada", TEA) for _ in range(20)))
    assert {reply.status_code for reply in replies} == {202}
    assert len({reply.content for reply in replies}) == 1
    assert len({reply.json()["job"] for reply in replies}) == 1
    await api.settle("ada")
    assert len((await assert_whole(api, "ada"))["messages"]) == 2
    assert await _admitted(api) == 1
    await _post(api, "bob", TEA)
    await api.settle("bob")
    assert await _model_calls(api, "ada") == await _model_calls(api, "bob")


async def test_case_5_another_request_under_the_same_key_is_refused(api: Api) -> None:
    first = await _post(api, "ada", TEA)
    for refused in (await _post(api, "ada", MILK), await _post(api, "ada", TEA, conversation="another")):
        document = assert_problem(refused, 409, "header/Idempotency-Key")
        assert "Idempotency-Key" in document["detail"]
    assert (await status(api, "ada"))["messages"] == 2
    assert (await _post(api, "ada", TEA)).content == first.content


async def test_how_the_json_is_laid_out_does_not_matter(api: Api) -> None:
    first = await _post(api, "ada", TEA)
    sent = json.dumps({"messages": [dict(reversed(message.items())) for message in TEA["messages"]]}, indent=4)
    headers = {"Idempotency-Key": KEY, "Content-Type": "application/json"}
    again = await api.post(messages_path("ada"), content=sent, headers=headers)
    assert again.content == first.content


async def test_keys_of_namespaces_have_nothing_to_do_with_each_other(api: Api) -> None:
    ada, bob = await _post(api, "ada", TEA), await _post(api, "bob", MILK)
    assert (ada.status_code, bob.status_code) == (202, 202)
    assert ada.json()["job"] != bob.json()["job"]


async def test_a_request_whose_messages_were_all_known_is_answered_the_same_again(api: Api) -> None:
    body = {"messages": TEA["messages"][:1]}
    await _post(api, "ada", body, "first")
    second = await _post(api, "ada", body, "second")
    assert (second.json()["duplicates"], second.json()["job"]) == (1, None)
    await _post(api, "ada", MILK, "third")
    assert (await _post(api, "ada", body, "second")).content == second.content


async def test_a_request_that_failed_leaves_its_key_free(api: Api) -> None:
    await _post(api, "ada", TEA, "first")
    clash = {"messages": [{"role": "user", "content": "something else", "external_id": "m1"}]}
    assert_problem(await _post(api, "ada", clash), 409, "#/messages/0/external_id")
    assert_problem(await _post(api, "ada", {"messages": []}), 422, "#/messages")
    assert (await _post(api, "ada", MILK)).status_code == 202


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\u00e9", "a\tb", "\u00a0"])
async def test_a_key_that_is_none_is_refused(shared: Api, ada: str, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1")), (b"Content-Type", b"application/json")]
    reply = await shared.post(messages_path(ada), content=json.dumps(TEA), headers=headers)
    document = assert_problem(reply, 422, "header/Idempotency-Key")
    assert "printable ASCII" in document["detail"]
    assert_problem(await shared.get(f"/v1/namespaces/{ada}"), 404)


@pytest.mark.parametrize("key", ["x", "x" * 255, "a b !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])
async def test_any_printable_key_will_do(shared: Api, ada: str, key: str) -> None:
    first, again = await _post(shared, ada, TEA, key), await _post(shared, ada, TEA, key)
    assert first.status_code == 202
    assert again.content == first.content


async def test_a_key_is_free_after_a_day(built: Container, settings: Settings) -> None:
    upkeep = Upkeep(built.storage, utc_now, SegmentPolicy())
    async with over_http(built, settings) as api:
        first = await _post(api, "ada", TEA)
        await upkeep.run()
        assert (await _post(api, "ada", TEA)).content == first.content
        await _age(built, KEPT)
        changed = await _post(api, "ada", MILK)  # the row is still there, but no longer counts
        assert (changed.status_code, changed.json()["sequence"]) == (202, 3)
        await _age(built, KEPT)
        await upkeep.run()
    assert (await rows(built))["idempotency_keys"] == 0


async def _age(built: Container, by: timedelta) -> None:
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(update(idempotency_keys).values(created_at=utc_now() - by))


async def test_keys_go_with_their_namespace(api: Api) -> None:
    first = await _post(api, "ada", TEA)
    receipt = (await api.delete("/v1/namespaces/ada")).json()
    again = await _post(api, "ada", TEA)  # a new namespace, which knows nothing of the old one's keys
    assert (again.status_code, again.json()["accepted"]) == (202, 2)
    assert again.json()["job"] != first.json()["job"]
    async with asyncio.timeout(WAIT):
        while (found := (await api.get(f"/v1/receipts/{receipt['id']}")).json())["state"] != "done":
            await asyncio.sleep(0.02)
    assert found["erased"]["idempotency_keys"] == 1


async def test_the_header_is_documented(api: Api) -> None:
    document = (await api.get("/openapi.json")).json()
    operation = document["paths"]["/v1/namespaces/{namespace}/conversations/{conversation}/messages"]["post"]
    [header] = [parameter for parameter in operation["parameters"] if parameter["in"] == "header"]
    assert (header["name"], header["required"]) == ("Idempotency-Key", False)
    assert "24 hours" in header["description"]
    assert {"409", "422"} <= operation["responses"].keys()
    assert operation["responses"]["202"]["content"]["application/json"]["schema"]["$ref"].endswith("/IngestedOut")
