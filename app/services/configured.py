"""What results depend on beside the models, so that a measurement can say how it was made. No secrets, no places."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain import (
    answers,
    brevity,
    confidence,
    expansion,
    norlift,
    paper_selection,
    selection,
    theme_policy,
    uncertainty,
)
from app.domain.modes import AdmitMode
from app.domain.segmentation import SegmentPolicy
from app.services import backbone, candidates, ranking
from app.services.search import ReadPolicy

SHOWN = 12  # hex digits of the digest
CONSTANTS = (
    SegmentPolicy(),
    theme_policy.CALIBRATED,
    ranking.POLICIES,
    (candidates.POOL, candidates.COMPARED, ranking.LOADED, backbone.BACKBONE),
    (selection.DEFAULT, brevity.DEFAULT, paper_selection.DEFAULT, norlift.DEFAULT),
    (uncertainty.DEFAULT, expansion.EVIDENCE, expansion.MODEL),
    (answers.DEFAULT, confidence.WITH_VECTORS, confidence.WITHOUT_VECTORS),
)
"""The numbers by which episodes are cut, themes made, and every strategy ranks, selects, opens and answers."""


@dataclass(frozen=True, slots=True)
class Configured:
    """A service's settings for writing and reading; `max_tokens` is the budget of a request that names none."""

    admit: AdmitMode
    borders_by_model: bool
    segment: SegmentPolicy
    read: ReadPolicy
    max_tokens: int

    def shown(self) -> Mapping[str, str | float]:
        """By the names of the settings; `constants` is a digest of CONSTANTS, which nobody sets."""
        return {
            "admit_mode": self.admit.value,
            "segment_mode": "model" if self.borders_by_model else "signals",
            "segment_gap_seconds": self.segment.gap_seconds,
            "segment_idle_close_seconds": self.segment.idle_close_seconds,
            "segment_max_messages": self.segment.max_messages,
            "segment_max_tokens": self.segment.max_tokens,
            "read_gate": self.read.gate.value,
            "read_probes": self.read.bounds.probes,
            "read_gate_seconds": self.read.bounds.seconds,
            "read_max_tokens": self.max_tokens,
            "constants": hashlib.sha256(repr(CONSTANTS).encode()).hexdigest()[:SHOWN],
        }
