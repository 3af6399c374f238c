"""Memory text and secrets are in no log, no error, no metric: a word is told, errors are provoked, all is searched."""

import json
import logging
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from app import telemetry
from app.settings import Settings
from app.stub.faults import Fault
from app.telemetry.logs import Fields
from tests.conftest import Api, serving
from tests.integration.keyed import ADMIN_KEY, asking_for_keys, make_key, showing
from tests.integration.stubbed import KEY, Stub
from tests.integration.support import messages_path

WORD = "Zwingulbert"  # memory
PASSWORD = "hunter2-of-the-database"
JSON = {"content-type": "application/json"}
SAID = (f"My cat is called {WORD}.", f"I moved to {WORD} in May 2021.", f"{WORD} likes fish.")


class _Lines(logging.Handler):
    """Keeps every line as the service would write it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(Fields("%(levelname)s %(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """All that is logged meanwhile, at the level that tells most."""
    root, kept = logging.getLogger(), _Lines()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logging.root.manager.loggerDict}
    telemetry.configure("debug")
    root.handlers = [kept]
    yield kept.lines
    root.handlers = handlers
    root.setLevel(level)
    for name in logging.root.manager.loggerDict:
        logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))


@pytest.fixture
def secretive(settings: Settings, stub: Stub) -> Settings:
    """A service that asks for keys, and asks a language model with one."""
    chat = {"chat": "openai", "chat_model": "tiny", "chat_base_url": stub.url, "chat_api_key": SecretStr(KEY)}
    return asking_for_keys(settings).model_copy(update={**chat, "log_level": "debug"})


async def _provoke(api: Api, home: str) -> list[str]:
    """Wrong requests of all kinds, each with the word in it; returns the answers."""
    path, quoted = messages_path("ada"), json.dumps(WORD)
    bodies = [
        (path, f'{{"messages": [{{"role": {quoted}, "content": {quoted}}}]}}'),
        (path, f'{{"messages": [{{"role": "user", "content": [{quoted}]}}]}}'),
        (path, f'{{"messages": [{{"role": "user", "content": {quoted}, "occurred_at": {quoted}}}]}}'),
        (path, f'{{"messages": [{{"role": "user", "content": {quoted}, "external_id": "m0", "metadata": {quoted}}}]}}'),
        (path, f'{{"messages": [{{"role": "user", "content": "another, {WORD}", "external_id": "m0"}}]}}'),
        (path, f'{{"messages": {quoted}'),
        (f"{home}/search", f'{{"query": {quoted}, "strategy": {quoted}}}'),
        (f"{home}/search", f'{{"query": {quoted}, "metadata": {quoted}}}'),
        (f"{home}/answer", f'{{"query": {quoted}, "max_tokens": {quoted}}}'),
        (f"{home}/statements", f'{{"statements": [{{"text": {quoted}, "messages": {quoted}}}]}}'),
        (f"{home}/flush", f'{{"wait_seconds": {quoted}}}'),
        (f"{home}/reembed", f'{{"profile": {quoted}}}'),
        (f"{home}/import", f'{{"kind": {quoted}, "content": {quoted}}}\n'),
    ]
    replies = [await api.post(place, content=body, headers=JSON) for place, body in bodies]
    replies.append(await api.get(f"{home}/search", params={"q": "x", "from": WORD}))
    replies.append(await api.get(f"{home}/statements", params={"cursor": WORD}))
    replies.append(await api.get(f"{home}/statements/{WORD}"))
    replies.append(await api.get("/v1/namespaces", headers={"Authorization": f"Bearer {WORD}"}))
    replies.append(await api.post(path, content=WORD.encode("utf-16"), headers=JSON))
    assert all(400 <= reply.status_code < 500 for reply in replies), [reply.text for reply in replies]
    return [reply.text + str(reply.headers) for reply in replies]


async def _live(api: Api, stub: Stub, home: str) -> list[str]:
    """What a namespace goes through: told, asked, its model failing and mended, corrected, deleted."""
    for index, content in enumerate(SAID):
        await api.say("ada", content, external_id=f"m{index}", speaker=WORD, metadata={"about": WORD})
    await api.settle("ada")
    asked = {"query": f"Where did {WORD} move?", "explain": True}
    assert WORD in (await api.post(f"{home}/search", json=asked)).text
    shown = await _provoke(api, home)
    stub.plan.always(Fault.SERVER_ERROR)
    await api.say("ada", f"{WORD} sleeps.")
    shown.append((await api.post(f"{home}/flush", json={"wait_seconds": 1})).text)
    shown.append((await api.post(f"{home}/answer", json={"query": WORD})).text)
    shown += [json.dumps(job) for job in await api.all(f"{home}/jobs")]
    stub.plan.mend()
    one, *_ = await api.all(f"{home}/statements")
    assert (await api.delete(f"{home}/statements/{one['id']}")).status_code == 204
    shown.append((await api.get("/metrics")).text)
    shown += [json.dumps(line) for line in await api.all("/v1/audit")]
    shown += [(await api.get(place)).text for place in ("/health/ready", "/version", f"{home}/status")]
    assert (await api.delete(home)).status_code == 202
    return shown


async def test_logs_errors_and_metrics(secretive: Settings, stub: Stub, logged: list[str]) -> None:
    async with serving(secretive) as client, showing(client, ADMIN_KEY) as admin:
        made = await make_key(admin, "ada")
        shown = await _live(admin, stub, "/v1/namespaces/ada")
        async with showing(admin, made["key"]) as other:
            shown.append((await other.get("/v1/namespaces/bob")).text)
            await admin.delete(f"/v1/keys/{made['id']}")
            shown.append((await other.get("/v1/namespaces/ada")).text)
    assert len(logged) > 20
    secrets = (WORD, WORD.lower(), ADMIN_KEY, KEY, made["key"].split("_", 2)[2])
    for secret in secrets:
        assert [text for text in (*logged, *shown) if secret in text] == []


def test_settings_never_show_a_secret() -> None:
    settings = Settings(
        _env_file=None,
        database_url=f"postgresql+psycopg://ada:{PASSWORD}@db/memory",
        auth="keys",
        admin_key=ADMIN_KEY,
        chat_api_key=KEY,
        embedder_api_key=KEY,
    )
    for secret in (PASSWORD, ADMIN_KEY, KEY):
        assert secret not in repr(settings)
        assert secret not in str(settings)
