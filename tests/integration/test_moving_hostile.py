"""Files that lie, break off or want to hurt: refused with the line and the field, and nothing of them is stored."""

import hashlib
import json
from collections.abc import AsyncIterator

import hypothesis
import pytest
from hypothesis import strategies as st

from app.services.transfer import spooling
from app.settings import LimitSettings, Settings
from tests.conftest import Api, serving, settings_for
from tests.integration.conftest import database
from tests.integration.moving import NDJSON, exported, header, imported, lines, live
from tests.integration.support import assert_problem


@pytest.fixture(scope="module")
async def file(request: pytest.FixtureRequest) -> bytes:
    """An exported namespace with something of everything."""
    with database(request, "sqlite") as url:
        async with serving(settings_for(url)) as api:
            await live(api, "ada")
            return await exported(api, "ada", vectors=True)


def _at(file: bytes, kind: str, count: int = 1) -> int:
    """The number of the count-th line of a kind."""
    return [number for number, line in enumerate(lines(file), 1) if line["line"] == kind][count - 1]


def _changed(file: bytes, number: int, change: dict[str, object]) -> bytes:
    parts = file.splitlines(keepends=True)
    line = json.loads(parts[number - 1]) | change
    parts[number - 1] = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    return b"".join(parts)


OTHER = "0190a000-0000-7000-8000-000000000000"
LIES: list[tuple[str, str, object]] = [  # kind of line, field, value that it must not have
    ("header", "version", 2),
    ("header", "format", "zip"),
    ("header", "embedding_profile", "no profile"),
    ("header", "sequence", -1),
    ("header", "namespace", "a/b"),
    ("conversation", "name", "../../etc/passwd"),
    ("conversation", "id", "not-an-id"),
    ("episode", "conversation_id", OTHER),
    ("episode", "last_sequence", 10**30),
    ("episode", "boundary_reason", "boredom"),
    ("message", "conversation_id", OTHER),
    ("message", "sequence", 0),
    ("message", "position", 0),
    ("message", "role", "king"),
    ("message", "content", 7),
    ("message", "content", " "),
    ("message", "occurred_at", "yesterday"),
    ("message", "occurred_at", "2026-02-30T00:00:00.000000Z"),
    ("message", "metadata", {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}),
    ("message", "digest", "short"),
    ("message", "episode_id", OTHER),
    ("message", "surprise", 1),
    ("tombstone", "external_key", "m1"),
    ("theme", "vector_sum", "AAAA"),
    ("theme", "lineage", {"history": "none"}),
    ("statement", "messages", [OTHER]),
    ("statement", "messages", []),
    ("statement", "support", 7),
    ("statement", "theme_id", OTHER),
    ("statement", "superseded_by", 1),
    ("vector", "item_id", OTHER),
    ("vector", "level", "theme"),
    ("vector", "part", 5),
    ("vector", "vector", "!!!"),
    ("vector", "vector", "AADAfw=="),
    ("vector", "words", "AAAA"),
    ("end", "lines", 1),
    ("end", "sha256", "0" * 64),
]


async def test_a_lie_is_named_with_its_line_and_field(shared: Api, file: bytes, ada: str) -> None:
    home = f"/v1/namespaces/{ada}"
    for kind, field, value in LIES:
        number = _at(file, kind)
        reply = await shared.post(f"{home}/import", content=_changed(file, number, {field: value}))
        document = assert_problem(reply, 422)
        assert document["errors"][0]["pointer"].startswith(f"line/{number}"), (kind, field, document)
        assert field in document["errors"][0]["pointer"], (kind, field, document)
    former = next(n for n, one in enumerate(lines(file), 1) if one.get("superseded_by"))
    reply = await shared.post(f"{home}/import", content=_changed(file, former, {"superseded_by": OTHER}))
    assert_problem(reply, 422, f"line/{former}/superseded_by")
    assert_problem(await shared.get(home), 404)  # nothing was stored, not even the namespace


def _swapped(file: bytes, first: int, second: int) -> bytes:
    parts = file.splitlines(keepends=True)
    parts[first - 1], parts[second - 1] = parts[second - 1], parts[first - 1]
    return b"".join(parts)


async def test_an_order_that_is_not_an_exports_is_refused(shared: Api, file: bytes, ada: str) -> None:
    parts = file.splitlines(keepends=True)
    message, statement = _at(file, "message"), _at(file, "statement")
    wrong = {
        b"": 1,
        b"\n": 1,
        b"[]\n": 1,
        b"\xff\xfe\n": 1,
        b"[" * 100_000: 1,
        b"".join(parts[1:]): 1,
        parts[0] + file: 2,
        file + parts[-1]: len(parts) + 1,
        file + b"\n": len(parts) + 1,
        _swapped(file, message, message + 1): message + 1,
        _swapped(file, message, statement): message,
        b"".join([*parts[:message], parts[message - 1], *parts[message:]]): message + 1,  # a sequence twice
        b"".join([*parts[: message - 1], *parts[message:]]): None,  # a message is missing
        file.replace(b"Mochi", b"Mocha"): len(parts),  # not what was exported
        file[: len(file) // 2]: None,
        file[:-40]: len(parts),
        b"".join(parts[:-1]): len(parts),
        b"".join(parts[:3]): 4,
    }
    for content, number in wrong.items():
        document = assert_problem(await shared.post(f"/v1/namespaces/{ada}/import", content=content), 422)
        if number is not None:
            assert document["errors"][0]["pointer"].split("/")[:2] == ["line", str(number)], document
    assert_problem(await shared.get(f"/v1/namespaces/{ada}"), 404)


async def test_what_was_said_is_never_quoted(shared: Api, file: bytes, ada: str) -> None:
    number = _at(file, "message")
    broken = _changed(file, number, {"content": ["top secret"], "role": "top secret"})
    reply = await shared.post(f"/v1/namespaces/{ada}/import", content=broken)
    assert_problem(reply, 422, f"line/{number}/content", f"line/{number}/role")
    assert "top secret" not in reply.text


async def test_a_file_may_be_written_otherwise(shared: Api, file: bytes, ada: str) -> None:
    """Other spaces, escapes and ends of lines, broken text: read, if the checksum is of these bytes."""
    data = [json.dumps(line, indent=None, ensure_ascii=True).encode() + b" \r\n" for line in lines(file)[1:-1]]
    end = {"line": "end", "lines": len(data) + 1, "sha256": hashlib.sha256(b"".join(data)).hexdigest()}
    again = file.splitlines(keepends=True)[0] + b"".join(data) + json.dumps(end).encode()
    await imported(shared, ada, again)
    assert header(await exported(shared, ada, vectors=True)) == header(file)


async def test_limits_hold_declared_or_not(settings: Settings, file: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def pieces(content: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(content), 700):
            yield content[start : start + 700]

    small = settings.model_copy(update={"limits": LimitSettings(body_bytes=1_000, import_bytes=len(file))})
    async with serving(small) as api:
        path = "/v1/namespaces/ada/import"
        assert_problem(await api.post(path, content=file + b" ", headers=NDJSON), 413)
        assert_problem(await api.post(path, content=pieces(file + b" "), headers=NDJSON), 413)
        with monkeypatch.context() as patch:
            patch.setattr(spooling, "LINE_BYTES", 2_000)
            document = assert_problem(
                await api.post(path, content=pieces(file.replace(b"\n", b" ")), headers=NDJSON), 422
            )
            assert document["errors"][0]["pointer"] == "line/1"
        assert_problem(await api.post(path, params={"conflict": "overwrite"}, content=file), 422, "query/conflict")
        assert_problem(await api.get("/v1/namespaces/ada"), 404)
        assert (await api.post(path, content=pieces(file), headers=NDJSON)).status_code == 202


@hypothesis.settings(max_examples=40)
@hypothesis.given(data=st.data())
async def test_no_damage_is_a_crash(shared: Api, file: bytes, data: st.DataObject) -> None:
    """Bytes removed, exchanged or put in anywhere: refused, never an error of ours."""
    start = data.draw(st.integers(0, len(file)))
    stop = data.draw(st.integers(start, min(len(file), start + 50)))
    damaged = file[:start] + data.draw(st.binary(max_size=20)) + file[stop:]
    hypothesis.assume(damaged != file)
    reply = await shared.post("/v1/namespaces/damaged/import", content=damaged)
    if reply.status_code == 202:  # only the header was touched, and still is one
        assert damaged.partition(b"\n")[2] == file.partition(b"\n")[2]
        await shared.delete("/v1/namespaces/damaged")
    else:
        assert_problem(reply, 422)
