"""docs/dependencies.md names every package of pyproject.toml, in the same groups, with its reason and licence."""

import re
import tomllib

from tests.contract.source import ROOT

NAME = re.compile(r"[A-Za-z0-9._-]+")


def _asked_for() -> dict[str, list[str]]:
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = read["project"]
    groups = {"service": project["dependencies"], **project["optional-dependencies"]}
    groups["build"] = read["build-system"]["requires"]
    return {group: _sorted(NAME.match(line)[0] for line in lines) for group, lines in groups.items()}  # type: ignore[index]


def _sorted(names: object) -> list[str]:
    return sorted(names, key=str.lower)  # type: ignore[call-overload, no-any-return]


def _listed() -> dict[str, list[list[str]]]:
    """Rows by the last word of the heading above them, as far as it names a group."""
    found: dict[str, list[list[str]]] = {}
    group = ""
    for line in (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = next(name for name in ("service", "local", "test", "build") if name in line.split(":")[0])
        elif line.startswith("| ") and not line.startswith("| package "):
            found.setdefault(group, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_list_is_complete() -> None:
    listed = _listed()
    assert {group: _sorted(row[0] for row in rows) for group, rows in listed.items()} == _asked_for()
    assert all(len(row) == 3 and all(row) for rows in listed.values() for row in rows)
