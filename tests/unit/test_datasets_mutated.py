"""Whatever a data set's file holds: it is read, with every fault named and counted, or refused with the place."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluation import journal, jsonlines, locomo, longmemeval, manifest
from app.evaluation.datasets import Dataset, Wrong
from app.evaluation.errors import BadDataset
from app.evaluation.plan import Plan
from app.evaluation.wire import message_body
from tests.unit.test_datasets import ASKED, OWN

SAMPLE = json.loads((Path(__file__).parents[2] / "app/evaluation/data/sample.json").read_text())
PLAN = Plan(("bm25", "full"), (500,), answers=True)
PLACE = re.compile(r"(conversation|line|question) \d+(, .*)?")
EXAMPLES = 120  # of each format: some two seconds together

NEW_YEARS = ("11:59 pm on 31 December, 9999", "9999/12/31 23:59", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00+14:00")
ODD = ("", " ", "\ud800", "a\x00b", "D1:1", "m1", "late", "session_" + "9" * 5000, 10**400, 1.5, *NEW_YEARS)
SIMPLE = st.none() | st.booleans() | st.integers(-1, 9) | st.sampled_from(ODD) | st.text(max_size=5)
VALUES = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "id"]), inner),
    max_leaves=4,
)


def places(part: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that is in a document, however deep."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def mutated(document: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401  (JSON)
    """The document with up to three parts taken out, doubled, renamed or replaced."""
    at = st.sampled_from(sorted(places(document), key=len))
    changes = st.tuples(at, st.sampled_from(["drop", "double", "rename", "replace"]), VALUES)
    return st.lists(changes, min_size=1, max_size=3).map(lambda all_changes: changed(document, all_changes))


def changed(document: Any, changes: Sequence[tuple[tuple[Any, ...], str, Any]]) -> Any:  # noqa: ANN401  (JSON)
    made = copy.deepcopy(document)
    for (*path, last), how, value in changes:
        holder = made
        try:
            for key in path:
                holder = holder[key]
            old = holder.pop(last)
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took it away
        if how == "drop":
            continue
        kept = {"double": [old, old], "rename": [old], "replace": [value]}[how]
        if isinstance(holder, list):
            holder[last:last] = kept
        else:
            holder[value if how == "rename" and isinstance(value, str) else last] = kept[0]
    return made


def read(load: Callable[[Path], Dataset], path: Path, content: str) -> Dataset | None:
    """The data set, ready to be measured on; None if it is refused, with the place or with what the file lacks."""
    path.write_text(content)
    found, said = attempt(load, path)
    if found is None:
        assert PLACE.match(said) or re.match(r"the |.* is not JSON|.* holds no", said)
        said.encode()
        return None
    for conversation in found.conversations:
        cases = PLAN.cases(conversation)
        assert len({request.key for request in PLAN.requests(cases)}) == len(PLAN.requests(cases))
        journal.lines(case.written() for case in cases)
        json.dumps([message_body(message) for message in conversation.messages], ensure_ascii=False).encode()
    told = manifest.faults(found)
    json.dumps(told, ensure_ascii=False).encode()
    assert sum(told["flaw_counts"].values()) == len(found.faults)
    assert all(PLACE.fullmatch(fault.place) for fault in found.faults)
    return found


def attempt(load: Callable[[Path], Dataset], path: Path) -> tuple[Dataset | None, str]:
    try:
        return load(path), ""
    except BadDataset as refused:
        return None, str(refused)


def unreadable(found: Dataset) -> int:
    return sum(fault.kind is Wrong.UNREADABLE_QUESTION for fault in found.faults)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data") / "data"


@settings(max_examples=EXAMPLES)
@given(document=mutated(SAMPLE))
def test_locomo(file: Path, document: list[Any]) -> None:
    found = read(locomo.load, file, json.dumps(document))
    if found is not None:
        asked = sum(len(one["qa"]) for one in document)
        assert sum(len(one.questions) for one in found.conversations) + unreadable(found) == asked


@settings(max_examples=EXAMPLES)
@given(document=mutated([ASKED]))
def test_longmemeval(file: Path, document: list[Any]) -> None:
    found = read(longmemeval.load, file, json.dumps(document))
    if found is not None:
        assert sum(len(one.questions) for one in found.conversations) + unreadable(found) == len(document)


@settings(max_examples=EXAMPLES)
@given(document=mutated(OWN))
def test_conversations_of_ones_own(file: Path, document: dict[str, Any]) -> None:
    found = read(jsonlines.load, file, json.dumps(document))
    if found is not None:
        [one] = found.conversations
        assert len(one.questions) + unreadable(found) == len(document["questions"])


@settings(max_examples=EXAMPLES)
@given(cut=st.integers(0, len(json.dumps([ASKED]))))
def test_files_that_end_too_soon(file: Path, cut: int) -> None:
    text = json.dumps([ASKED])[:cut]
    for load in (locomo.load, longmemeval.load, jsonlines.load):
        read(load, file, text)


def with_own(**changes: object) -> str:
    """OWN with other fields in its first message and its first question."""
    made = copy.deepcopy(OWN)
    made["messages"][0] |= {name: value for name, value in changes.items() if name in ("content", "occurred_at")}
    made["questions"][0] |= {name: value for name, value in changes.items() if name in ("evidence", "asked_at")}
    return json.dumps(made)


@pytest.mark.parametrize(
    ("changes", "refused", "faults"),
    [
        ({"content": "half a \ud800 character"}, False, 0),
        ({"evidence": ["\ud800"]}, False, 1),  # no such message
        ({"evidence": [["m1"]]}, False, 0),  # the question is left out, and with it what was wrong with its evidence
        ({"occurred_at": "0001-01-01T00:00+14:00"}, True, 0),
        ({"occurred_at": "9999-12-31T23:59:59-14:00"}, True, 0),
        ({"asked_at": "0001-01-01T00:00+14:00"}, False, 0),
    ],
)
def test_what_once_was_a_crash(file: Path, changes: dict[str, object], refused: bool, faults: int) -> None:
    usual = read(jsonlines.load, file, with_own())
    found = read(jsonlines.load, file, with_own(**changes))
    assert (found is None) is refused
    assert usual is not None
    if found is not None:
        assert len(found.faults) == len(usual.faults) + faults


def test_sessions_with_impossible_numbers_and_times(file: Path) -> None:
    for name, value in (("session_" + "9" * 5000, []), ("session_1_date_time", "11:59 pm on 31 December, 9999")):
        document = copy.deepcopy(SAMPLE)
        document[0]["conversation"][name] = value
        found = read(locomo.load, file, json.dumps(document))
        assert (found is None) is (value != [])
