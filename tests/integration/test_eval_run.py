"""A whole run against the service: what it leaves in its folder, interrupted or not.

On one database only: a run speaks HTTP, and what it asks for is tested on both elsewhere.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.evaluation.errors import ToolError
from app.evaluation.loading import Format, load
from app.evaluation.plan import Plan, limited
from app.evaluation.run_folder import RunFolder
from app.evaluation.run_folder import load as read
from app.evaluation.running import Order, Reached, run
from app.stub.faults import Fault
from tests.conftest import Api, serving, settings_for
from tests.integration.conftest import database
from tests.integration.stubbed import Stub

PLAN = Plan(
    ("adaptive", "bm25", "full"), budgets=(100, 500), answers=True, sessions=True, noted=True, prefix="measured"
)
SAMPLE = load(Format.SAMPLE, None)
ASKED = 3  # questions of one conversation: all of them can be answered
REQUESTS = ASKED * (2 + 2 + 1) + ASKED * 2


@pytest.fixture(scope="module")
async def api(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    with database(request, "sqlite") as url:
        async with serving(settings_for(url)) as client:
            yield client


def order(api: Api, plan: Plan = PLAN, judge: str | None = None) -> Order:
    conversations, left_out = limited(SAMPLE.conversations[:1], ASKED, {})
    reached = Reached(str(api.base_url), judge_url=judge)
    return Order(plan, SAMPLE, conversations, left_out, {"limit": ASKED}, reached)


def same(folder: Path) -> list[dict[str, Any]]:
    """The results without what no two runs have in common."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "milliseconds"} for row in rows]


async def interrupted(api: Api, folder: Path, lines: int) -> None:
    """A run that ends, as if killed, once so many requests are done; the last line is torn."""
    path, running = folder / "results.jsonl", asyncio.create_task(run(order(api), folder))
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert not running.done()
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    path.write_bytes(path.read_bytes()[:-30])


def check(told: RunFolder) -> None:
    assert told.document["state"] == "complete"
    assert told.document["questions"] == {"asked": ASKED, "without_evidence": 0, "unanswerable": 0, "left_out": 0}
    assert (told.document["flaws"], told.document["failed"]) == ([], [])
    stored = told.document["stored"]["measured-made-up-1"]
    assert (stored["messages"], stored["buffered"], stored["failed_jobs"]) == (24, 0, 0)
    noted = told.document["ingest"]["measured-made-up-1"]["noted"]
    assert sum(noted[outcome] for outcome in ("new", "reinforced") if outcome in noted) == 8
    assert len(told.questions) == ASKED
    assert all(row.tokens <= row.budget for row in told.searched if row.budget)
    assert all(row.scores["recall"] == 1 for row in told.searched if row.strategy == "full")
    assert {row.confidence > 0 for row in told.answered if not row.abstained} == {True}
    assert all(trace.missing and trace.trace for trace in told.traces)


async def test_a_run_that_is_interrupted_ends_as_one_that_is_not(api: Api, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    await run(order(api), whole)
    check(read(whole))
    assert len(same(whole)) == REQUESTS

    await interrupted(api, broken, 5)
    await interrupted(api, broken, 12)
    with pytest.raises(ToolError, match=r"budgets: \[100, 500\] there, \[500\] now"):
        await run(order(api, Plan(PLAN.strategies, (500,), prefix="measured")), broken)
    await run(order(api), broken)
    assert same(broken) == same(whole)
    assert len(read(broken).manifest.starts) == 3
    assert read(broken).questions == read(whole).questions


async def test_what_cannot_be_measured_is_refused_before_anything_is_asked(api: Api, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="strategy"):
        await run(order(api, Plan(("magic",), (500,))), tmp_path / "a")
    assert (tmp_path / "a" / "results.jsonl").read_bytes() == b""
    assert "ingest" not in read(tmp_path / "a").document
    await api.post(
        "/v1/namespaces/taken-made-up-1/conversations/x/messages",
        json={"messages": [{"role": "user", "content": "Hi"}]},
    )
    with pytest.raises(ToolError, match="taken-made-up-1 holds 25 messages, and the conversation has 24"):
        await run(order(api, Plan(("bm25",), (500,), prefix="taken")), tmp_path / "b")


async def test_failed_questions_are_counted_named_and_tried_again(api: Api, tmp_path: Path) -> None:
    # A budget below the service's least makes each search a refusal.
    with pytest.raises(ToolError, match="3 requests failed; they are in no figure: run it again"):
        await run(order(api, Plan(("bm25",), (10, 100), prefix="failing")), tmp_path)
    told = read(tmp_path)
    assert len(told.document["failed"]) == ASKED
    assert {row.budget for row in told.searched if row.error is not None} == {10}
    assert all(not row.scores for row in told.searched if row.error is not None)
    with pytest.raises(ToolError, match="3 requests failed"):
        await run(order(api, Plan(("bm25",), (10, 100), prefix="failing")), tmp_path)
    assert len(same(tmp_path)) == 2 * ASKED


async def test_a_judge_is_asked_over_http(api: Api, stub: Stub, tmp_path: Path) -> None:
    plan = Plan(("bm25",), (500,), answers=True, judge="tiny", prefix="measured")
    stub.plan.always(Fault.UNAUTHORIZED)
    with pytest.raises(ToolError, match=r"the judge tiny cannot be asked at .*: .* status 401"):
        await run(order(api, plan, stub.url), tmp_path)
    assert not read(tmp_path).rows

    stub.plan.mend()
    stub.plan.always(Fault.REFUSE_SCHEMA, Fault.FENCED, Fault.REFUSE_MAX_TOKENS)
    await run(order(api, plan, stub.url), tmp_path)
    told = read(tmp_path)
    assert len(told.judged) == 2 * ASKED
    assert {row.correct for row in told.judged if row.subject == "vague"} == {False}
    assert any(row.correct for row in told.judged if row.subject == "answer")

    stub.plan.mend()
    stub.plan.always(Fault.MISSING_KEYS)
    judged_badly = tmp_path / "bad"
    with pytest.raises(ToolError, match=r"\d requests failed; they are in no figure"):
        await run(order(api, plan, stub.url), judged_badly)
    failed = [row for row in read(judged_badly).judged if row.error is not None]
    assert all((row.error or "").startswith("the judge: ") for row in failed)
    stub.plan.mend()
    await run(order(api, plan, stub.url), judged_badly)  # answers are kept, verdicts asked for again
    assert [row.correct for row in read(judged_badly).judged] == [row.correct for row in told.judged]
