"""The short form of the crash run: what `python -m tests.benchmarks.crash` does at length."""

from pathlib import Path

import pytest

from app.container import Container
from app.domain.messages import Draft, Role
from tests.e2e.crash import Plan, crash
from tests.e2e.judging import judge

BRISK = {"largest_gap": 0.5, "longest_aim": 4.0}  # seconds


@pytest.mark.slow
async def test_nothing_is_lost_or_doubled_when_processes_are_killed(database_url: str, tmp_path: Path) -> None:
    sqlite = database_url.startswith("sqlite")
    shape = {"servers": 1} if sqlite else {"servers": 2, "workers": 2}
    plan = Plan(database_url, messages=140, kills=3 if sqlite else 4, namespaces=2, conversations=2, **BRISK, **shape)
    report = await crash(plan, tmp_path)
    print(report)
    assert report.sound, report
    assert report.acknowledged == plan.messages
    assert report.kills["all"] == plan.kills


@pytest.mark.slow
async def test_nothing_is_lost_or_doubled_when_models_are_unsteady_too(database_url: str, tmp_path: Path) -> None:
    """A third of the calls to both models fails, hangs or is answered with rubbish."""
    workers = 0 if database_url.startswith("sqlite") else 1
    plan = Plan(
        database_url, messages=40, kills=2, namespaces=2, conversations=1, workers=workers, unsteady=0.3, **BRISK,
    )  # fmt: skip
    report = await crash(plan, tmp_path)
    print(report)
    assert report.sound, report
    assert report.acknowledged == plan.messages
    assert min(report.model_calls.values()) > 0


async def test_the_judge_sees_what_is_wrong(built: Container, database_url: str) -> None:
    """A harness that could not find anything would prove nothing."""
    for number in (0, 2, 1, 3):
        draft = Draft(Role.USER, f"Note {number}.", external_id=f"n-c-{number}")
        await built.services.ingest.append("n", "c", [draft])
    told = {"n-c-0": 1, "n-c-1": 3, "n-c-2": 2, "n-c-9": 9}
    found = await judge(database_url, built.storage.engines, {("n", "c"): told})
    assert found.lost == ["n-c-9"]
    assert found.doubled == ["n-c-3"]  # nobody was told of it
    assert found.disordered == ["('n', 'c'): 2 before 1"]
    assert len(found.orphans) == 4  # all are in the buffer
    assert len([*found.wrong()]) == 7
