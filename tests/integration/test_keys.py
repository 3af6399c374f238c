"""Keys over HTTP: made, shown once, recognised, expired, revoked, noted; and the audit log of it."""

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import CursorResult, select

from app.container import Container, build, utc_now
from app.domain.access import Scope
from app.domain.errors import InvalidInput, Unauthenticated
from app.evaluation import keys as key_commands
from app.evaluation.client import connect
from app.evaluation.errors import Refused, ToolError
from app.services.keys import digest
from app.settings import Settings
from app.storage.access_tables import keys as key_table
from tests.conftest import Api
from tests.integration.faults import no_database
from tests.integration.keyed import ADMIN_KEY, asking_for_keys, make_key, showing
from tests.integration.support import assert_problem, over_http

REALM = 'Bearer realm="xmemory"'


async def test_a_key_is_shown_once_and_opens_what_it_says(locked: Api, ada: str) -> None:
    made = await make_key(locked, ada, scopes="read write")
    assert made["key"].startswith(f"xm_{made['id'].replace('-', '')}_")
    listed = {one["id"]: one for one in await locked.all("/v1/keys")}
    assert listed[made["id"]] == {**{k: v for k, v in made.items() if k != "key"}, "last_used_at": None}
    assert made["key"].split("_", 2)[2] not in str(listed)
    async with showing(locked, made["key"]) as client:
        await client.say(ada, "I like tea.")
        assert (await client.settle(ada))["settled"]
        assert "tea" in (await client.get(f"/v1/namespaces/{ada}/search", params={"q": "tea"})).json()["context"]
        assert_problem(await client.delete(f"/v1/namespaces/{ada}"), 403)
        assert_problem(await client.get("/v1/keys"), 403)
    assert next(one for one in await locked.all("/v1/keys") if one["id"] == made["id"])["last_used_at"] is not None


WRONG: dict[str, tuple[str | None, str]] = {
    "none": (None, REALM),
    "empty": ("", f'{REALM}, error="invalid_token"'),
    "no scheme": ("{key}", f'{REALM}, error="invalid_token"'),
    "another scheme": ("Basic {key}", f'{REALM}, error="invalid_token"'),
    "another secret": ("Bearer {other}", f'{REALM}, error="invalid_token"'),
    "one character more": ("Bearer {key}x", f'{REALM}, error="invalid_token"'),
    "a secret alone": ("Bearer {secret}", f'{REALM}, error="invalid_token"'),
    "an id that nobody has": ("Bearer xm_" + "0" * 32 + "_{secret}", f'{REALM}, error="invalid_token"'),
    "not ASCII": ("Bearer größe", f'{REALM}, error="invalid_token"'),
    "very long": ("Bearer " + "k" * 20_000, f'{REALM}, error="invalid_token"'),
}


async def test_what_is_no_key_is_told_the_same(locked: Api, ada: str) -> None:
    made = await make_key(locked, ada)
    secret = made["key"].split("_", 2)[2]
    values = {"key": made["key"], "secret": secret, "other": made["key"][:-43] + "A" * 43}
    async with showing(locked, None) as stranger:
        for header, challenge in WRONG.values():
            headers = {} if header is None else {"Authorization": header.format(**values).encode()}
            reply = await stranger.get(f"/v1/namespaces/{ada}", headers=headers)
            problem = assert_problem(reply, 401)
            assert reply.headers["www-authenticate"] == challenge
            assert problem["detail"] in ("send a key: Authorization: Bearer KEY", "this is no key of this service")
        twice = [("Authorization", f"Bearer {made['key']}"), ("Authorization", "Bearer x")]
        assert_problem(await stranger.get("/v1/namespaces", headers=twice), 401)
        lower = {"Authorization": f"bearer  {made['key']}"}
        assert (await stranger.get("/v1/namespaces", headers=lower)).status_code == 200
        # A body is not even read.
        assert_problem(await stranger.post(f"/v1/namespaces/{ada}/search", content=b"{"), 401)


async def test_revoked_at_once_on_every_replica(settings: Settings, ada: str) -> None:
    """Two services on one Postgres; an SQLite file has one."""
    asking = asking_for_keys(settings).model_copy(update={"worker": "off"})
    async with AsyncExitStack() as stack:
        replicas = []
        for _ in range(1 if settings.database_url.startswith("sqlite") else 2):
            built = await stack.enter_async_context(build(asking))
            replicas.append(await stack.enter_async_context(over_http(built, asking)))
        replicas[0].headers["Authorization"] = f"Bearer {ADMIN_KEY}"
        made = await make_key(replicas[0], ada)
        shown = {"Authorization": f"Bearer {made['key']}"}
        for replica in replicas:
            assert (await replica.get(f"/v1/namespaces/{ada}", headers=shown)).status_code == 404
        for _ in range(2):  # safe to repeat
            assert (await replicas[0].delete(f"/v1/keys/{made['id']}")).status_code == 204
        for replica in replicas:
            problem = assert_problem(await replica.get(f"/v1/namespaces/{ada}", headers=shown), 401)
            assert problem["detail"] == "the key was revoked"
        assert_problem(await replicas[0].delete(f"/v1/keys/{uuid4()}"), 404)
        [listed] = await replicas[0].all("/v1/keys")
        assert listed["revoked_at"] is not None
        acts = [(line["act"], line["object"]) for line in await replicas[0].all("/v1/audit")]
        assert acts == [("revoke_key", made["id"]), ("create_key", made["id"])]  # once more did nothing


async def test_expiry(built: Container) -> None:
    now = utc_now()
    keys = replace(built.services.keys, required=True, clock=lambda: now)
    key, text = await keys.create("short", frozenset({Scope.READ}), ["ada"], now + timedelta(hours=1))
    assert (await keys.caller(text)).id == key.id
    now += timedelta(minutes=59, seconds=59)
    assert (await keys.caller(text)).covers("ada")
    now += timedelta(seconds=1)
    with pytest.raises(Unauthenticated, match="the key has expired"):
        await keys.caller(text)
    with pytest.raises(InvalidInput):
        await keys.create("late", frozenset({Scope.READ}), ["ada"], now)


async def test_whoever_asks_for_keys_and_has_none_is_told(built: Container, caplog: pytest.LogCaptureFixture) -> None:
    now = utc_now()
    keys = replace(built.services.keys, required=True, clock=lambda: now)

    async def told() -> bool:
        caplog.clear()
        await keys.warn_if_nobody_may()
        return "XMEMORY_ADMIN_KEY=" in caplog.text

    assert await told()
    await keys.create("short", frozenset({Scope.READ}), ["ada"], now + timedelta(hours=1))
    assert not await told()
    now += timedelta(hours=1)
    assert await told(), "it has expired"
    key, _ = await keys.create("x", frozenset({Scope.READ}), ["ada"], None)
    assert not await told()
    await keys.revoke(key.id)
    assert await told()
    await replace(keys, required=False).warn_if_nobody_may()
    await replace(keys, admin_digest=digest(ADMIN_KEY)).warn_if_nobody_may()
    assert len(caplog.records) == 1


async def test_only_a_digest_is_kept(built: Container) -> None:
    _, text = await built.services.keys.create("x", frozenset({Scope.READ}), ["ada"], None)
    secret = text.split("_", 2)[2]
    [row] = (await rows_of(built)).all()
    assert row.digest == digest(secret) != digest(text)
    assert secret not in repr(row)
    assert secret not in repr(built.services.keys)


async def test_last_use_is_written_beside_requests(built: Container, settings: Settings) -> None:
    """A request writes nothing; uses are written in one go, at most every minute, and not lost with the database."""
    now = utc_now()
    keys = replace(built.services.keys, required=True, clock=lambda: now)
    key, text = await keys.create("x", frozenset({Scope.READ}), ["ada"], None)
    begun = now
    await keys.caller(text)
    assert [row.last_used_at for row in await rows_of(built)] == [None]
    async with no_database(built, settings):
        await keys.note_uses()
    await keys.note_uses()
    assert [row.last_used_at for row in await rows_of(built)] == [begun]
    now += timedelta(seconds=59)
    await keys.caller(text)
    await keys.note_uses()
    assert [row.last_used_at for row in await rows_of(built)] == [begun]  # to the minute
    now += timedelta(seconds=1)
    await keys.caller(text)
    assert (await keys.page(None, 10))[0].last_used_at == now  # also before it is written
    await keys.note_uses()
    assert [row.last_used_at for row in await rows_of(built)] == [now]
    async with keys.noting_uses():
        now += timedelta(minutes=5)
        await keys.caller(text)
    assert [row.last_used_at for row in await rows_of(built)] == [now]  # a process that stops leaves nothing behind
    assert key.last_used_at is None


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.1.5"])
async def test_without_keys_a_web_page_cannot_lead_a_browser_here(shared: Api, ada: str, host: str) -> None:
    """Its own name may point to this machine (DNS rebinding), but the browser sends that name."""
    await shared.say(ada, "I like tea.")
    path, elsewhere = f"/v1/namespaces/{ada}/search", {"Host": host}
    problem = assert_problem(await shared.get(path, params={"q": "tea"}, headers=elsewhere), 403)
    assert "XMEMORY_AUTH=keys" in problem["detail"]
    assert (await shared.get("/health/live", headers=elsewhere)).status_code == 200
    for here in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert (await shared.get(path, params={"q": "tea"}, headers={"Host": here})).status_code == 200


async def test_with_keys_any_name_will_do(locked: Api) -> None:
    assert (await locked.get("/v1/namespaces", headers={"Host": "memory.example"})).status_code == 200


async def test_the_commands(locked: Api, ada: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = str(locked.base_url)
    order = {"name": "[b]agent", "scopes": ["read"], "namespaces": [ada], "expires_at": "2999-01-01T00:00:00Z"}
    await key_commands._create(connect(url, ADMIN_KEY), order)
    key = capsys.readouterr().out.strip()  # alone: fit for KEY=$(xmemory keys create …)
    async with connect(url, key) as client:
        assert await client.namespaces() == []
    id_ = next(one["id"] for one in await locked.all("/v1/keys") if one["namespaces"] == [ada])
    await key_commands._revoke(connect(url, ADMIN_KEY), id_)
    await key_commands._list(connect(url, ADMIN_KEY))
    printed = capsys.readouterr().out
    assert f"{id_} is revoked." in printed
    assert "[b]agent" in printed
    assert key.split("_", 2)[2] not in printed
    async with connect(url, key) as client:
        with pytest.raises(Refused, match=r"revoked.*--key or XMEMORY_KEY"):
            await client.namespaces()
    async with connect(url) as client:
        with pytest.raises(Refused, match="send a key"):
            await client.namespaces()
    with pytest.raises(ToolError, match="characters that no key has"):
        async with connect(url, "two words"):
            pass


async def rows_of(built: Container) -> CursorResult[Any]:
    async with built.storage.engines.read.connect() as connection:
        return await connection.execute(select(key_table))
