"""Of many statements those that stand for the others are handed out, and the trace tells of the rest."""

from dataclasses import replace

from app.container import Container
from app.services.search import Ask
from tests.integration.support import drain, post

KEPT = 2
PLACES = ((3, "garden"), (5, "cellar"), (7, "attic"), (9, "barn"))


async def test_no_more_statements_than_representatives_are_read(built: Container) -> None:
    await post(built, "ada", *(f"I have {count} red bikes in the {place}." for count, place in PLACES))
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    search = replace(built.services.search, policy=replace(built.services.search.policy, backbone=KEPT))
    found = await search.search("ada", Ask("Which bikes does Ada have?", 2000, explain=True))
    assert found.trace is not None
    fates = [one["fate"] for one in found.trace["candidates"] if one["level"] == "statement"]
    assert len(found.trace["representatives"]) == KEPT < len(fates)
    assert fates.count("not_representative") == len(fates) - KEPT
