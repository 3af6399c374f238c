"""`xmemory doctor --find`: where a text stands, in every table and column, and nothing of what stands beside it."""

import pytest
from typer.testing import CliRunner

from app import checkup
from app.cli import app
from app.container import Container
from app.domain.messages import Draft, Image, Role
from app.settings import Settings
from app.storage.engine import sqlite_path
from tests.integration.support import drain


async def test_it_says_where_and_nothing_else(
    built: Container, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Draft(
        Role.USER,
        "My Zörblat sleeps beside the stove.",
        speaker="Ada",
        images=(Image("a zörblat asleep"),),
        metadata={"pet": {"kind": ["zörblat"]}},
    )
    await built.services.ingest.append("ada", "chat", [said])
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    assert await checkup.find(settings, "ZÖRBLAT") is False
    told = capsys.readouterr().out
    columns = ("messages.content", "messages.images", "messages.metadata", "episodes.narrative", "statements.text")
    for place in (*columns, "themes.label", "postings.term"):
        assert place in told
    assert ("file memory.db" in told) is (sqlite_path(settings.database_url) is not None)
    assert "stove" not in told
    assert "sleeps" not in told
    assert await checkup.find(settings, "quenzophone") is True
    assert "stands nowhere" in capsys.readouterr().out


@pytest.mark.parametrize("besides", [["--repair"], ["--namespace", "ada"]])
def test_it_looks_through_all_of_the_database(besides: list[str]) -> None:
    ended = CliRunner().invoke(app, ["doctor", "--find", "something", *besides])
    assert ended.exit_code == 2
    assert "looks through the whole database" in ended.output.replace("\n", " ")
