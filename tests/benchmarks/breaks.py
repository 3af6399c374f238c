"""Breaks the service on purpose, one mistake at a time, and requires that tests notice.

    python -m tests.benchmarks.breaks [--only NAME] [--list]

Works in a temporary copy of the tree. First all the tests in question must be green there; then each break
(break_list.py) is applied, and every test that is named for it must be red. Prints a table; status 1 if one
stayed green.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.break_list import BREAKS, ROOT, Break
from tests.servers import postgres_server

COPIED = ("app", "migrations", "tests", "alembic.ini", "pyproject.toml")
SECONDS = 900  # longest run of the tests
WAIT_SECONDS = "30"  # of one for what a break keeps from coming
RED = re.compile(r"^FAILED tests/(\S+?)(\[.*?\])?(?: - |$)", re.MULTILINE)


def copy_tree(into: Path) -> None:
    """What the tests need of the repository."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, into / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, into / name)


def red(tree: Path, tests: Sequence[str], postgres: str) -> set[str]:
    """Which of these tests fail in this tree. Raises RuntimeError if they could not be run."""
    # Few tests at a time: more processes than one would only take longer to start.
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-q", "--tb=no", "-p", "no:cacheprovider", "-rf"]
    environment = {
        **os.environ,
        "TEST_POSTGRES_URL": postgres,
        "TEST_WAIT_SECONDS": WAIT_SECONDS,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(
            [*command, *(f"tests/{test}" for test in tests)],
            cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"the tests did not end within {SECONDS} s") from late
    found = {match[1] for match in RED.finditer(done.stdout)}
    if done.returncode != bool(found):
        raise RuntimeError(f"the tests did not run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return found


def attempt(one: Break, tree: Path, postgres: str) -> set[str]:
    """The tests that are red with this break in the tree, which is whole again afterwards."""
    place = tree / one.path
    whole = place.read_text(encoding="utf-8")
    place.write_text(one.applied(tree), encoding="utf-8")
    try:
        return red(tree, one.tests, postgres)
    finally:
        place.write_text(whole, encoding="utf-8")


def run(chosen: Sequence[Break]) -> int:
    """Apply each break and print which tests noticed. Returns how many were not noticed as they should."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="xm-breaks-") as folder, postgres_server() as postgres:
        tree = Path(folder)
        copy_tree(tree)
        before = red(tree, sorted({test for one in chosen for test in one.tests}), postgres)
        if before:
            raise RuntimeError(f"red without any break: {sorted(before)}")
        print("| break | red tests |\n|---|---|", flush=True)
        for one in chosen:
            noticed = attempt(one, tree, postgres)
            green = [test for test in one.tests if test not in noticed]
            missed += bool(green)
            shown = [f"`{test}`" for test in one.tests if test in noticed] + [f"GREEN: `{test}`" for test in green]
            print(f"| {one.name} | {', '.join(shown)} |", flush=True)
    return missed


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", help="breaks whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names and do nothing")
    given = parser.parse_args()
    chosen = [one for one in BREAKS if given.only is None or given.only in one.name]
    if given.list:
        print("\n".join(one.name for one in chosen))
        return 0
    if not chosen:
        parser.error(f"no break is called {given.only!r}")
    missed = run(chosen)
    print(f"\n{len(chosen) - missed} of {len(chosen)} breaks were noticed by every test named for them.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
