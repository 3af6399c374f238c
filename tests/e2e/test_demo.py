"""The tools against a real server in a process of its own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.messages import Draft, Image, Role
from app.evaluation.client import BATCH, connect
from app.evaluation.errors import Refused, ServerDied, Unreachable
from app.evaluation.server import embedded

SCRIPTED = {"EMBEDDER": "scripted"}


async def test_a_conversation_makes_the_round_trip() -> None:
    start = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
    drafts = [
        Draft(
            Role.USER,
            f"My locker at the pool has the number {number}.",
            external_id=f"m{number}",
            speaker="Ines",
            occurred_at=start + timedelta(seconds=number),
            images=(Image("a locker", "locker"),) if number == 0 else (),
        )
        for number in range(BATCH + 5)
    ]
    posted: list[int] = []
    async with embedded(settings=SCRIPTED) as url, connect(url) as client:
        first = await client.append("ines", "pool", drafts, posted.append)
        again = await client.append("ines", "pool", drafts)
        status = await client.settle("ines")
        stored = await client.messages("ines", "pool")
        found = await client.search("ines", "Which number has the locker?", strategy="bm25", max_tokens=500)
        failed = await client.failed_jobs("ines")
        await client.delete_namespace("ines")
        with pytest.raises(Refused, match=r"Not found \(404\)"):
            await client.status("ines")
    assert posted == [BATCH, 5]
    assert (first.accepted, first.duplicates) == (len(drafts), 0)
    assert (again.accepted, again.duplicates) == (0, len(drafts))
    assert (status.messages, status.buffered, status.pending_jobs) == (len(drafts), 0, 0)
    assert [message.external_id for message in stored] == [draft.external_id for draft in drafts]
    assert [message.occurred_at for message in stored] == [draft.occurred_at for draft in drafts]
    assert found.items
    assert found.tokens <= 500
    assert failed == []


async def test_a_server_that_cannot_start_shows_its_log() -> None:
    with pytest.raises(ServerDied, match=r"ended with status 2:\nXMEMORY_EMBEDDER: .*must be minilm"):
        async with embedded(settings={"EMBEDDER": "nonsense"}):
            pass


async def test_nothing_stays_behind(tmp_path: Path) -> None:
    database = f"sqlite+aiosqlite:///{tmp_path}/kept.db"
    async with embedded(database, SCRIPTED) as url, connect(url) as client:
        await client.append("ines", "pool", [Draft(Role.USER, "Hello", external_id="m1")])
    async with connect(url) as client:
        with pytest.raises(Unreachable, match="xmemory serve"):
            await client.version()
    async with embedded(database, SCRIPTED) as url, connect(url) as client:
        assert [message.content for message in await client.messages("ines", "pool")] == ["Hello"]
