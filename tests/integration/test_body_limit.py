"""Bodies over the limit are refused before they fill the memory."""

import json
from collections.abc import AsyncIterator

from app.settings import LimitSettings, Settings
from tests.conftest import serving
from tests.integration.support import assert_problem, messages_path

JSON = {"content-type": "application/json"}
GOOD = {"role": "user", "content": "My bike is called Rosinante."}


async def test_a_body_over_the_limit_is_refused_declared_or_not(settings: Settings) -> None:
    small = settings.model_copy(update={"limits": LimitSettings(body_bytes=5_000)})
    body = json.dumps({"messages": [GOOD | {"content": "tea " * 2_000}]}).encode()

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 512):
            yield body[start : start + 512]

    async with serving(small) as api:
        assert_problem(await api.post(messages_path("ada"), content=body, headers=JSON), 413)
        assert_problem(await api.post(messages_path("ada"), content=chunks(), headers=JSON), 413)
        assert_problem(await api.get("/v1/namespaces/ada"), 404)
        assert (await api.post(messages_path("ada"), json={"messages": [GOOD]})).status_code == 202
        settled = await api.settle("ada")
        assert (settled["settled"], settled["jobs"]["failed"]) == (True, 0)
    assert settings.limits.body_bytes == 8 * 1024 * 1024
