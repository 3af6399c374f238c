"""A step with a long backlog stops now and then: the rest of its namespace, and others, get their turn."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from app.container import Container, utc_now
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, Job, JobState, Step, Unfinished
from app.domain.segmentation import SegmentPolicy
from app.jobs import handlers
from app.jobs.registry import JobKind
from app.services import embedding, segmentation
from app.services.segmentation import Segmentation
from tests.conftest import WAIT
from tests.integration.support import claim, drain, job, kinds, namespace_id, post, rows, runner, succeed

SLICE = 30  # messages: more than an episode has
BACKLOG = [f"I keep note n{number} in drawer d{number}." for number in range(2 * SLICE + 25)]


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "READ_AT_ONCE", SLICE)


def _impatient(built: Container) -> Mapping[Step, JobKind]:
    """The real handlers; segmentation steps back after each slice."""
    cutting = Segmentation(built.storage, built.embedders, utc_now, SegmentPolicy(), turn_seconds=0.0)
    return {**kinds(built), Step.SEGMENT: handlers.segment(cutting)}


async def _backlog(built: Container, *contents: str) -> tuple[NamespaceId, Job]:
    """A namespace whose one job has many messages to cut, and is to leave none open."""
    await post(built, "ada", *contents)
    await built.services.flush.flush("ada", None, 0)
    [waiting] = await built.services.work.page("ada", None, None, 10)
    return await namespace_id(built, "ada"), waiting


async def _attempt(built: Container, ada: NamespaceId) -> tuple[Attempt, Mapping[str, Any] | Unfinished] | None:
    """Run the next job; None if there is none."""
    attempt = await claim(built, ada)
    if attempt is None:
        return None
    result = await _impatient(built)[attempt.job.kind].run(attempt)
    await succeed(built, attempt, result)
    return attempt, result


async def test_what_is_cut_is_admitted_before_the_next_is_cut(built: Container) -> None:
    ada, segment = await _backlog(built, *BACKLOG)
    order, covered = [], []
    while done := await _attempt(built, ada):
        order.append((done[0].job.kind, isinstance(done[1], Unfinished)))
        covered.append((await job(built, ada, segment.id)).first_sequence)
    *early, last = [stepped_back for kind, stepped_back in order if kind is Step.SEGMENT]
    assert (len(early) >= 2, set(early), last) == (True, {True}, False)
    cuts = [place for place, (kind, _) in enumerate(order) if kind is Step.SEGMENT]
    for cut, following in pairwise(cuts):
        assert Step.ADMIT in {kind for kind, _ in order[cut:following]}
    assert covered == sorted(covered), "what was cut is no longer waited for"
    assert covered[-1] > SLICE
    found = await job(built, ada, segment.id)
    status = await built.services.namespaces.status("ada")
    assert (found.state, found.result) == (JobState.SUCCEEDED, {"episodes": status.episodes, "buffered": 0})
    assert (status.messages, status.buffered, status.statements) == (len(BACKLOG), 0, len(BACKLOG))


async def test_long_messages_are_embedded_a_few_at_a_time(built: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "SLICE_CHARACTERS", 10)
    ada, _ = await _backlog(built, *BACKLOG[:4])
    made = []
    while isinstance((done := await _attempt(built, ada) or ({}, {}))[1], Unfinished):
        assert done[1] == Unfinished({"episodes": 0}, 1)
        made.append((await rows(built))["embeddings"])
    assert made == [1, 2, 3], "each attempt gets further, and none begins anew"
    assert done[1] == {"episodes": 1, "buffered": 0}


async def test_a_backlog_that_is_cancelled_stops_and_goes_on_when_it_is_retried(built: Container) -> None:
    ada, segment = await _backlog(built, *BACKLOG)
    await _attempt(built, ada)
    await built.services.work.cancel("ada", segment.id)
    await drain(built, "ada")
    left = (await built.services.namespaces.status("ada")).buffered
    assert 0 < left < len(BACKLOG)
    await built.services.work.retry("ada", segment.id)
    await drain(built, "ada")
    status = await built.services.namespaces.status("ada")
    assert (status.buffered, status.statements) == (0, len(BACKLOG))
    found = await job(built, ada, segment.id)
    assert found.result == {"episodes": status.episodes, "buffered": 0}, "of both attempts"


async def test_another_namespace_does_not_wait_for_a_backlog(built: Container) -> None:
    ada, segment = await _backlog(built, *BACKLOG)
    await post(built, "bob", "I like tea.")
    async with runner(built, *_impatient(built).values(), side_by_side=1, turn_seconds=0.01):
        assert (await built.services.flush.flush("bob", None, WAIT)).settled
        assert (await built.services.flush.flush("ada", None, WAIT)).settled
    theirs = await built.services.work.page("bob", None, None, 10)
    ours = await job(built, ada, segment.id)
    assert max(one.finished_at for one in theirs if one.finished_at) < ours.finished_at
