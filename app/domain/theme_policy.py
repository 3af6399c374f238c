"""When themes change: thresholds, and the one table of what they are for each embedding model.

Cosines mean little by themselves: two statements about nothing in common have one of 0.1 with one embedding model and
of 0.7 with another. `docs/themes.md` tells how a model is calibrated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.domain.objective import Balance, Form

LEAST_STAY = 0.05  # of the objective's sum; five times the least gain that a move is made for

MINILM = Balance(alone=0.45, redundant=0.85)
"""Chosen with the thresholds below on the statements of five long conversations, arriving sitting by sitting; what
becomes of themes with them, docs/themes.md shows.
"""


@dataclass(frozen=True, slots=True)
class ThemePolicy:
    """When themes change. Cosines belong to one embedding model; the defaults are all-MiniLM-L6-v2's."""

    attach_small: float = 0.52  # cosine to a theme's centroid from which a statement, or another theme, may join it
    attach: float = 0.62  # in the published form, the one that a single statement, or a theme nearly full, asks for
    merge: float = 0.78  # in the published form, cosine of two centroids from which merging is tried
    edge: float = 0.66  # cosine from which two statements hang together when a theme is split
    intra: float = 0.72  # mean cosine between members below which a split is tried
    cap: int = 12  # statements of a theme, never more
    neighbours: int = 10  # nearest themes that a gain is measured among
    stay: float = 0.32  # what moving the oldest statement costs, in the objective's sum, until memory is grown
    grown: int = 300  # statements of a namespace, from which on moving them becomes cheaper
    form: Form = "balanced"
    balance: Balance = MINILM

    def __post_init__(self) -> None:
        """Raise ValueError where no theme could hold a statement."""
        if self.cap < 1 or self.neighbours < 1:
            raise ValueError("cap and neighbours of a theme policy must be at least 1")

    def at(self, statements: int) -> "ThemePolicy":
        """The policy for a namespace of so many statements: in a grown memory moving one becomes cheaper.

        There, what is new touches few of the themes, so that most ids last even if more is moved around it.
        """
        share = max(statements / self.grown, 1.0)
        return replace(self, stay=max(self.stay / share, min(self.stay, LEAST_STAY)))


CALIBRATED: Mapping[str, ThemePolicy] = MappingProxyType({"all-minilm-l6-v2": ThemePolicy()})
"""The one table of calibrations: embedding model, in lower case and without its owner → its policy."""


def key_of(model: str) -> str:
    """An embedding model's name in the table."""
    return model.rpartition("/")[2].lower()


def is_calibrated(model: str) -> bool:
    """Whether the thresholds are those of this embedding model; a double that makes hash vectors needs none."""
    return key_of(model) in CALIBRATED or key_of(model) == "scripted"


def policy_for(model: str) -> ThemePolicy:
    """The policy calibrated for an embedding model; for an unknown one, the defaults."""
    return CALIBRATED.get(key_of(model), ThemePolicy())
