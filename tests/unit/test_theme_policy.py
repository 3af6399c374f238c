import logging

import numpy as np
import pytest

from app.container import tell_of_thresholds
from app.domain.theme_policy import CALIBRATED, ThemePolicy, is_calibrated, key_of, policy_for
from app.domain.vectors import unit
from app.providers.embedders import Embedders
from app.providers.protocols import Profile
from app.providers.scripted import ScriptedEmbedder
from tests.benchmarks.calibrate import QUANTILES, present, thresholds


def test_policies_are_found_by_model_name() -> None:
    assert policy_for("sentence-transformers/all-MiniLM-L6-v2") is CALIBRATED["all-minilm-l6-v2"]
    assert policy_for("unheard-of") == ThemePolicy()
    assert is_calibrated("sentence-transformers/all-MiniLM-L6-v2")
    assert not is_calibrated("unheard-of")


def test_a_policy_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ThemePolicy(cap=0)


def test_moving_becomes_cheaper_once_the_memory_is_grown() -> None:
    assert [ThemePolicy().at(statements).stay for statements in (0, 300, 600, 10**6)] == [0.32, 0.32, 0.16, 0.05]
    assert ThemePolicy(stay=0.0).at(100).stay == 0


class Unknown(ScriptedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.profile = Profile("someone/unheard-of", "1", 64)


def test_a_server_with_a_model_that_is_not_calibrated_says_so(caplog: pytest.LogCaptureFixture) -> None:
    tell_of_thresholds(Embedders(ScriptedEmbedder()), "scripted")
    assert not caplog.records
    tell_of_thresholds(Embedders(Unknown()), "hf:someone/unheard-of")
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "not calibrated" in record.message
    assert vars(record)["embedder"] == "hf"


# Calibration ---------------------------------------------------------------------------------------------


def test_thresholds_carry_over_by_rank() -> None:
    """A model whose cosines are all closer together gets thresholds at the same pairs."""
    random = np.random.default_rng(5)
    topics = random.standard_normal((12, 32))
    rows = unit((topics[random.integers(12, size=150)] + 0.8 * random.standard_normal((150, 32))).astype(np.float32))
    narrow = unit(np.concatenate([rows, np.full((150, 1), 1.5, dtype=np.float32)], axis=1))
    wide, close = thresholds(rows), thresholds(narrow)
    for name, cosine in wide.items():
        assert close[name] == pytest.approx((cosine + 1.5**2) / (1 + 1.5**2), abs=1e-3)


def test_thresholds_are_in_the_order_that_themes_need() -> None:
    random = np.random.default_rng(5)
    found = thresholds(unit(random.standard_normal((200, 24)).astype(np.float32)))
    assert found["alone"] < found["attach_small"] < found["attach"] < found["edge"]
    assert found["intra"] < found["merge"] < found["redundant"]
    assert set(found) == set(QUANTILES) == set(present(ThemePolicy()))


def test_a_model_is_named_without_its_owner() -> None:
    assert key_of("sentence-transformers/all-MiniLM-L6-v2") == "all-minilm-l6-v2"
