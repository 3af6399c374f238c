"""Where a theme comes from and why it is as it is, as it is stored with it and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.ids import ThemeId
from app.domain.theme_plan import PlannedTheme, Step

REMEMBERED = 20  # changes of a theme, and themes that ended in it; what is older is forgotten
DECIMALS = 6  # of gains and cosines


@dataclass(frozen=True, slots=True)
class Change:
    """A step that changed a theme; `others` are the other stored themes concerned."""

    step: Step
    others: tuple[ThemeId, ...]


def continued(
    before: Mapping[str, Any] | None, planned: PlannedTheme, changes: Sequence[Change], now: datetime
) -> dict[str, Any]:
    """The lineage of a theme once it is as planned; `before` is what is stored, None for a new theme."""
    known = before or {}
    split_from = known.get("split_from") or (planned.split_from and str(planned.split_from))
    merged_from = [*known.get("merged_from", ()), *map(str, planned.merged_from)]
    history = [*known.get("history", ()), *(_entry(change, planned.size, now) for change in changes)]
    return {
        "split_from": split_from,
        "merged_from": list(dict.fromkeys(merged_from))[-REMEMBERED:],
        "history": history[-REMEMBERED:],
    }


def _entry(change: Change, size: int, now: datetime) -> dict[str, Any]:
    step = change.step
    return {
        "at": now.isoformat(),
        "action": step.action.value,
        "size": size,
        "gain": round(step.gain, DECIMALS),
        "similarity": _rounded(step.similarity),
        "threshold": _rounded(step.threshold),
        "themes": [str(theme) for theme in change.others],
    }


def _rounded(cosine: float | None) -> float | None:
    return None if cosine is None else round(cosine, DECIMALS)
