"""A service that stops while clients wait for it: each is told, and nothing breaks."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from pydantic import SecretStr

from app.main import configured, create_app
from app.settings import JobSettings, Settings
from app.stub.faults import Fault
from tests.conftest import WAIT, Api
from tests.integration.stubbed import KEY, Stub
from tests.integration.support import assert_problem, route, until
from tests.integration.writing import MUSIC

QUESTION = {"query": "How much do violin lessons cost an hour?"}


@asynccontextmanager
async def stopped_in_the_middle(settings: Settings) -> AsyncIterator[tuple[Api, uvicorn.Server]]:
    """A service, with a server that waits for no request once it is told to stop."""
    app = create_app(settings)
    server = uvicorn.Server(configured(app, settings, timeout_graceful_shutdown=0))
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        async with app.router.lifespan_context(app):
            running = asyncio.create_task(server.serve([listener]))
            async with Api(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=WAIT) as client:
                try:
                    yield client, server
                finally:
                    server.should_exit = True
                    await running


async def test_whoever_waits_is_told(settings: Settings, stub: Stub, caplog: pytest.LogCaptureFixture) -> None:
    model = {"chat": "openai", "chat_model": "tiny", "chat_api_key": SecretStr(KEY), "chat_base_url": stub.url}
    hasty = settings.model_copy(update={**model, "jobs": JobSettings(stop_seconds=0)})
    async with stopped_in_the_middle(hasty) as (api, server):
        await api.say("ada", *MUSIC, speaker="Ada")
        await api.settle("ada")
        stub.plan.always(Fault.HANG)
        await api.say("ada", "I adopted a dog.")
        flush = asyncio.create_task(api.post(route("ada", "flush"), json={"wait_seconds": WAIT}))
        answer = asyncio.create_task(api.post(route("ada", "answer"), json=QUESTION))
        stream = asyncio.create_task(api.post(route("ada", "answer/stream"), json=QUESTION))
        await until(lambda: stub.plan.stuck == 3)
        server.should_exit = True
        for waiting in (flush, answer):
            reply = await waiting
            assert assert_problem(reply, 503)["detail"] == "the service is stopping"
            assert int(reply.headers["retry-after"]) > 0
        last = (await stream).text.strip().rpartition("\n\n")[2]
        assert last.startswith("event: error\n")
        assert "the service is stopping" in last
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
