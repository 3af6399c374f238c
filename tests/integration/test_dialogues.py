"""The labelled dialogues that the rules of admission were built by, through a whole service."""

import pytest

from tests.benchmarks.dialogues import needs_more, run, tally
from tests.dialogues.loading import load

EMBEDDER = "scripted"  # hash vectors: what only likeness of meaning tells is left out
ALL = 0.97  # least precision and recall over all decisions
UPDATES = 0.98  # least precision of updates: a wrong one hides what is true
ONE_IN = 3  # dialogues are run here; `python -m tests.benchmarks.dialogues` runs all
EACH = 0.95  # least recall of every kind of decision


@pytest.mark.slow
async def test_admission_decides_as_people_labelled() -> None:
    able = [dialogue for dialogue in load(held_out=False) if not needs_more(dialogue, EMBEDDER)]
    decided = await run(able[::ONE_IN], EMBEDDER)
    everything = tally(decided)
    assert everything.precision is not None
    assert everything.recall is not None
    assert min(everything.precision, everything.recall) >= ALL
    updates = tally(decided, "updates")
    assert updates.precision is not None
    assert updates.precision >= UPDATES
    recalls = {kind: tally(decided, kind).recall or 0.0 for kind in ("new", "reinforces", "updates", "refused")}
    assert min(recalls.values()) >= EACH, recalls
