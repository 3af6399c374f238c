"""`manifest.json`: how a run was made, so that it can be made again, and nothing else goes on under its name."""

import asyncio
import json
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.evaluation.datasets import Dataset
from app.evaluation.errors import ToolError
from app.evaluation.intervals import SEED
from app.evaluation.journal import replace
from app.evaluation.plan import Plan, Row
from app.evaluation.run_folder import MANIFEST
from app.evaluation.wire import Version

SCHEMA = 1
COMPLETE, RUNNING = "complete", "running"
SERVICE = "service"
SAME = ("schema", "configuration", SERVICE)
"""What must not change while a run is under way. The code may: `starts` has the commit of every start. What a folder
does not know of its service, because an older version wrote it, is not held against it."""


@dataclass(slots=True)
class Manifest:
    """A run's manifest, and where it stands. `document` is what is in the file."""

    folder: Path
    document: dict[str, Any] = field(default_factory=dict)

    def save(self, **changes: object) -> None:
        """Write it down with these changes, whole or not at all. Blocking."""
        self.document.update(changes)
        text = json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"
        replace(self.folder / MANIFEST, text.encode())

    def spent(self, seconds: float) -> None:
        """How long this start took; `seconds` of the manifest is of all of them."""
        starts = self.document["starts"]
        starts[-1]["seconds"] = round(seconds, 1)
        self.document["seconds"] = round(sum(start["seconds"] for start in starts), 1)


def configuration(
    plan: Plan, dataset: Dataset, conversations: Sequence[str], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """What is measured, and how. `asked` are choices that the plan does not hold."""
    return {
        "dataset": dataset.name,
        "sha256": dataset.sha256,
        "conversations": list(conversations),
        **asdict(plan),
        "strategies": list(plan.strategies),
        "budgets": list(plan.budgets),
        **asked,
    }


async def begin(folder: Path, configured: Mapping[str, Any], version: Version, worked_at: float = 0.0) -> Manifest:
    """The manifest of a run that begins, or goes on in its folder, where results were last written at `worked_at`.

    Raises ToolError if the folder holds another run: it names what differs.
    """
    path = folder / MANIFEST
    wanted = {"schema": SCHEMA, "configuration": dict(configured), "service": version.model_dump()}
    document = _read(path) if path.exists() else {}
    if document:
        _compare(document, wanted, folder)
    manifest = Manifest(folder, {**wanted, **document})
    starts = [_ended(start, path, worked_at) for start in document.get("starts", ())]
    manifest.save(state=RUNNING, starts=[*starts, await _start()], seeds={"resampling": SEED}, machine=_machine())
    return manifest


def failures(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The requests that failed, by name."""
    named = ("kind", "conversation", "question", "strategy", "budget", "error")
    return [{name: getattr(row, name) for name in named} for row in rows if row.error is not None]


def faults(dataset: Dataset) -> dict[str, Any]:
    """What is wrong with the data, named and counted."""
    named = [{"place": fault.place, "kind": fault.kind.value, "detail": fault.detail} for fault in dataset.faults]
    return {"flaws": named, "flaw_counts": dict(Counter(fault.kind.value for fault in dataset.faults))}


def _compare(there: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    before, now = (
        {(part, *key): value for part in SAME for key, value in _flat(one.get(part))} for one in (there, wanted)
    )
    known = [key for key in dict.fromkeys([*before, *now]) if key in before or key[0] != SERVICE]
    changed = [key for key in known if before.get(key) != now.get(key)]
    if changed:
        named = "\n".join(
            f"  {'.'.join(key[1:]) or key[0]}: {before.get(key)} there, {now.get(key)} now" for key in changed
        )
        raise ToolError(
            f"{folder} holds a run that was made otherwise; choose another --out, or ask as there:\n{named}"
        )


def _ended(start: dict[str, Any], path: Path, worked_at: float) -> dict[str, Any]:
    """A start with the time that it took; one that was killed ended with the last that it wrote."""
    if "seconds" in start:
        return start
    begun = datetime.fromisoformat(start["at"]).timestamp()
    return {**start, "seconds": round(max(0.0, max(path.stat().st_mtime, worked_at) - begun), 1)}


def _flat(value: object) -> list[tuple[tuple[str, ...], object]]:
    """An object's fields with their names, those of objects in it too; another value without one."""
    if not isinstance(value, dict):
        return [((), value)]
    return [((name, *names), inner) for name, one in value.items() for names, inner in _flat(one)]


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise ToolError(f"{path} is no manifest")
    return document


async def _start() -> dict[str, object]:
    commit = await _git("rev-parse", "HEAD")
    changed = await _git("status", "--porcelain", "--", "app", "migrations")
    return {"at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit or None, "dirty": bool(changed)}


async def _git(*arguments: str) -> str:
    """What git says of the project's tree; nothing where there is no git, or no tree."""
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            "-C",
            str(Path(__file__).parents[2]),
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ""
    output, _ = await process.communicate()
    return output.decode().strip()


def _machine() -> dict[str, object]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
    }
