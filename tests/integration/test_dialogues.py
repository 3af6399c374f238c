"""The labelled dialogues that the rules of admission were built by, through a whole service."""

from tests.benchmarks.dialogues import Groups, tally
from tests.conftest import Api
from tests.dialogues.loading import load
from tests.dialogues.replay import measure

EMBEDDER = "scripted"  # hash vectors: what only likeness of meaning tells is left out
ALL = 0.97  # least precision and recall over all decisions
UPDATES = 0.98  # least precision of updates: a wrong one hides what is true
EACH = 0.95  # least recall of every kind of decision


async def test_admission_decides_as_people_labelled(shared: Api) -> None:
    able = Groups(await measure(shared, load(held_out=False)), EMBEDDER).open
    everything = tally(able)
    assert everything.precision is not None
    assert everything.recall is not None
    assert min(everything.precision, everything.recall) >= ALL
    updates = tally(able, "updates")
    assert updates.precision is not None
    assert updates.precision >= UPDATES
    recalls = {kind: tally(able, kind).recall or 0.0 for kind in ("new", "reinforces", "updates", "refused")}
    assert min(recalls.values()) >= EACH, recalls
