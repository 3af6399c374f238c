"""What a plan of themes is made from, and what it says: values only."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.ids import StatementId, ThemeId
from app.domain.vectors import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A statement and its vector, of length 1."""

    id: StatementId
    vector: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ThemeState:
    """A stored theme with all its members."""

    id: ThemeId
    size: int
    vector_sum: Vector
    members: tuple[Member, ...]


class Action(StrEnum):
    """What changes a theme."""

    OPEN = "open"
    ATTACH = "attach"
    SPLIT = "split"
    MERGE = "merge"
    MOVE = "move"  # one statement went to a theme that it fits better
    SHRINK = "shrink"  # statements left it: they were superseded, edited or deleted
    REBUILD = "rebuild"


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, and why.

    `keys` name the themes that it leaves behind, `ended` the stored themes that it ends. `gain` is what the
    statements of the themes concerned gain in the objective, on average; 0 for opening and shrinking. `similarity`
    is the cosine that was looked at and `threshold` what it was held against, None where there was nothing to
    compare: a statement's to the nearest centroid (open, attach), to its new theme's centroid, held against that
    to its old one's (move), of two centroids (merge), the mean between members (split).
    """

    action: Action
    keys: tuple[int, ...]
    gain: float = 0.0
    similarity: float | None = None
    threshold: float | None = None
    ended: tuple[ThemeId, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PlannedTheme:
    """A theme as it is to be stored. `id` is None for a new one; `key` is its name within the plan.

    `members` are sorted; `vector_sum` is theirs, summed anew. `split_from` is the stored theme that it was
    cut out of, `merged_from` the stored themes that it takes in.
    """

    key: int
    id: ThemeId | None
    members: tuple[StatementId, ...]
    size: int
    vector_sum: Vector
    split_from: ThemeId | None
    merged_from: tuple[ThemeId, ...]


@dataclass(frozen=True, slots=True)
class RemovedTheme:
    """A stored theme that ends: merged into the planned theme `into`, or empty (None)."""

    id: ThemeId
    into: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ThemePlan:
    """All changes, to be applied in one transaction: themes not named here stay as they are."""

    themes: tuple[PlannedTheme, ...]
    removed: tuple[RemovedTheme, ...]
    steps: tuple[Step, ...]
