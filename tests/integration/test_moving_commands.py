"""`xmemory export` and `xmemory import` against a running service, also where connections break off."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.evaluation.errors import BadDataset, Refused, ToolError
from app.transfer import exporting, importing
from app.transfer.exporting import Export
from app.transfer.formats import Format
from app.transfer.importing import Import
from tests.conftest import Api
from tests.integration.moving import after_header, exported, lines, live
from tests.integration.support import everything


@pytest.fixture(scope="module")
async def lived(shared: Api) -> str:
    """A namespace with something of everything."""
    name = f"lived-{uuid4().hex[:8]}"
    await live(shared, name)
    return name


def _export(api: Api, namespace: str, file: Path, url: str | None = None) -> Export:
    return Export(namespace, file, url or str(api.base_url), None, vectors=True)


def _import(api: Api, namespace: str, file: Path, format: Format = Format.AUTO, **more: Any) -> Import:  # noqa: ANN401
    given = {"conflict": "refuse", "only": (), "wait": True} | more
    return Import(file, namespace, format, str(api.base_url), None, **given)


@asynccontextmanager
async def breaking(api: Api, after: int, times: int) -> AsyncIterator[str]:
    """URL of a way to the service that breaks off, so many times, after so many bytes of an answer."""
    left, open_ways = times, set[asyncio.Task[None] | None]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal left
        open_ways.add(asyncio.current_task())
        there, back = await asyncio.open_connection(api.base_url.host, api.base_url.port)
        asking = asyncio.create_task(_pump(reader, back, None))
        left, limit = left - 1, after if left > 0 else None
        try:
            await _pump(there, writer, limit)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            for one in (back, writer):
                one.close()
                with suppress(OSError):
                    await one.wait_closed()

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for way in open_ways:
            assert way is not None
            way.cancel()
        await asyncio.gather(*filter(None, open_ways), return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
    while data := await reader.read(1024 if limit is None else min(1024, limit)):
        writer.write(data)
        await writer.drain()
        if limit is not None and (limit := limit - len(data)) <= 0:
            return


async def test_a_namespace_goes_out_and_in_again(
    shared: Api, lived: str, ada: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, packed = tmp_path / "ada.ndjson", tmp_path / "ada.ndjson.gz"
    await exporting.run(_export(shared, lived, plain))
    await exporting.run(_export(shared, lived, packed))
    assert plain.read_bytes() == gzip.decompress(packed.read_bytes()) == await exported(shared, lived, vectors=True)
    assert not plain.with_name("ada.ndjson.part").exists()
    with pytest.raises(ToolError, match="there already"):
        await exporting.run(_export(shared, lived, plain))
    capsys.readouterr()
    await importing.run(_import(shared, ada, packed))
    assert f"{ada} holds 7 messages" in capsys.readouterr().out
    assert {one["id"] for one in (await everything(shared, ada))["messages"]} == {
        line["id"] for line in lines(plain.read_bytes()) if line["line"] == "message"
    }
    before = await exported(shared, ada)
    await importing.run(_import(shared, ada, plain))  # again: the first answer
    assert await exported(shared, ada) == before
    with pytest.raises(Refused, match="409"):
        await importing.run(_import(shared, lived, plain))
    await importing.run(_import(shared, lived, plain, conflict="skip"))
    assert len((await everything(shared, lived))["messages"]) == 7


async def test_an_export_that_breaks_off_goes_on(
    shared: Api, lived: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exporting, "REST_SECONDS", 0)
    file = tmp_path / "lived.ndjson"
    async with breaking(shared, after=4_000, times=3) as url:
        await exporting.run(_export(shared, lived, file, url))
    whole = file.read_bytes()
    assert whole == await exported(shared, lived, vectors=True)
    file.unlink()
    part = tmp_path / "lived.ndjson.part"
    part.write_bytes(whole[: len(whole) // 2])  # the command was killed
    await exporting.run(_export(shared, lived, file))
    assert file.read_bytes() == whole
    file.unlink()
    head, _, rest = whole.partition(b"\n")
    old = json.dumps(json.loads(head) | {"revision": 1}).encode()
    part.write_bytes(old + b"\n" + rest[:2_000])  # of another revision
    await exporting.run(_export(shared, lived, file))
    assert "beginning anew" in capsys.readouterr().err
    assert after_header(file.read_bytes()) == after_header(whole)
    other = tmp_path / "other.ndjson"
    other.with_name("other.ndjson.part").write_text("something else\n")
    with pytest.raises(ToolError, match="no part of an export"):
        await exporting.run(_export(shared, lived, other))
    with pytest.raises(Refused, match="404"):
        await exporting.run(_export(shared, "nobody", tmp_path / "nobody.ndjson"))
    assert not part.with_name("nobody.ndjson.part").exists()
    monkeypatch.setattr(exporting, "TRIES", 2)
    async with breaking(shared, after=100, times=9) as url:
        with pytest.raises(ToolError, match="broke off"):
            await exporting.run(_export(shared, lived, tmp_path / "never.ndjson", url))


def _session(day: int, *turns: dict[str, Any]) -> dict[str, Any]:
    """The day-th session of a conversation in LoCoMo's format."""
    said = [{"dia_id": f"D{day}:{number}", **turn} for number, turn in enumerate(turns, 1)]
    return {f"session_{day}": said, f"session_{day}_date_time": f"1:56 pm on {day} May, 2023"}


async def test_conversations_of_locomo_come_in_once(
    shared: Api, ada: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kite = {"speaker": "Ines", "text": "Look!", "blip_caption": "a red kite", "query": "kite", "img_url": ["x"]}
    first = _session(2, {"speaker": "Tom", "text": "I moved to Lund last week."}, kite) | _session(10, kite)
    second = _session(1, {"speaker": "Ada", "text": "I adopted a cat named Miso."}) | {"session_2": []}
    samples = [
        {"sample_id": name, "conversation": {"speaker_a": "Ines", **said}, "qa": []}
        for name, said in (("conv-7", first), ("conv-8", second))
    ]
    file = tmp_path / "talks.json.gz"
    file.write_bytes(gzip.compress(json.dumps(samples).encode()))
    await importing.run(_import(shared, ada, file))
    assert "Messages accepted: 4." in capsys.readouterr().out
    await importing.run(_import(shared, ada, file, Format.LOCOMO))
    assert "Messages accepted: 0, 4 were there already." in capsys.readouterr().out
    found = await everything(shared, ada)
    told = [(one["conversation"], one["external_id"], one["speaker"], one["role"]) for one in found["messages"]]
    assert sorted(told) == [
        ("conv-7", "D10:1", "Ines", "user"),
        ("conv-7", "D2:1", "Tom", "user"),
        ("conv-7", "D2:2", "Ines", "user"),
        ("conv-8", "D1:1", "Ada", "user"),
    ]
    [picture] = [one for one in found["messages"] if one["external_id"] == "D2:2"]
    assert (picture["images"][0]["caption"], picture["images"][0]["query"]) == ("a red kite", "kite")
    assert picture["occurred_at"].startswith("2023-05-02T13:56:01")
    [move] = [one for one in found["statements"] if "Lund" in one["text"]]
    assert move["valid_from"].startswith("2023-04-2"), "last week is the one before that day"


async def test_chat_logs_come_in_once(
    shared: Api, ada: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "chat.jsonl"
    said = [
        {"role": "user", "content": f"I have {number} bikes.", "conversation": f"c {number % 2}", "created_at": 1.7e9}
        for number in range(4)
    ]
    file.write_text("\n".join(map(json.dumps, said)) + '\n{"role": "king", "content": "x"}\n')
    await importing.run(_import(shared, ada, file))
    printed = capsys.readouterr().out
    assert "Messages accepted: 4." in printed
    assert "cannot be read: 1." in printed
    assert "line 5: its role" in printed
    await importing.run(_import(shared, ada, file, wait=False))
    assert "Messages accepted: 0, 4 were there already." in capsys.readouterr().out
    found = await everything(shared, ada)
    assert sorted((one["conversation"], one["content"]) for one in found["messages"]) == [
        ("c-0", "I have 0 bikes."),
        ("c-0", "I have 2 bikes."),
        ("c-1", "I have 1 bikes."),
        ("c-1", "I have 3 bikes."),
    ]
    file.write_text("\n".join(json.dumps({**one, "id": one["conversation"]}) for one in said[:2]))
    await importing.run(_import(shared, ada, file, only=(2,)))
    changed = [{**one, "id": one["conversation"], "content": "another"} for one in said[:2]]
    file.write_text("\n".join(map(json.dumps, changed)))
    await importing.run(_import(shared, ada, file, Format.JSONL))
    printed = capsys.readouterr()
    assert "see above: 1." in printed.out
    assert "Messages accepted: 1" in printed.out
    assert "c-1: The request contradicts what is stored (409)" in printed.err
    for wrong in (Format.XMEMORY, Format.LOCOMO):
        with pytest.raises(BadDataset):
            await importing.run(_import(shared, ada, file, wrong))
    with pytest.raises(BadDataset, match="no conversation 3"):
        await importing.run(_import(shared, ada, file, only=(3,)))
