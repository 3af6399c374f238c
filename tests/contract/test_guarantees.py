"""What docs/guarantees.md promises is there: its tests, its rows, and the places where the service is broken."""

import ast
import re

import pytest

from tests.benchmarks.break_list import BREAKS, Break
from tests.contract.source import ROOT, functions, trees

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
FAULTS = [*range(1, 14), *range(18, 33)]  # of the published design: E1, E3, E4


def _exists(file: str, test: str) -> bool:
    tree = trees("tests").get(f"tests/{file}", ast.Module([], []))
    return test.startswith("test_") and test in {function.name for function in functions(tree)}


def test_every_test_that_is_named_exists() -> None:
    named = sorted(set(NAMED.findall(PAGE)))
    assert len(named) > 50
    assert [f"{file}::{test}" for file, test in named if not _exists(file, test)] == []


def test_every_guarantee_and_every_fault_has_tests() -> None:
    sections = re.findall(r"^### (\d+)\. .*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert [int(number) for number in sections] == [*range(1, 13)]
    for section in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        assert NAMED.search(section), section
    rows = re.findall(r"^\| (\d+) \|(.*)$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == FAULTS
    assert [number for number, row in rows if not NAMED.search(row)] == []


@pytest.mark.parametrize("one", BREAKS, ids=lambda one: one.name)
def test_every_break_still_applies(one: Break) -> None:
    assert one.applied() != (ROOT / one.path).read_text(encoding="utf-8")
    ast.parse(one.applied())
    for test in one.tests:
        assert _exists(*test.split("::")), test


def test_breaks_have_names_of_their_own() -> None:
    assert len({one.name for one in BREAKS}) == len(BREAKS) >= 14
    assert all(f"| {one.name} |" in PAGE for one in BREAKS), "docs/guarantees.md shows what the command printed"
