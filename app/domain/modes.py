"""How statements are drawn from episodes."""

from enum import StrEnum


class AdmitMode(StrEnum):
    """`ADMIT__MODE`."""

    OFF = "off"  # no statements
    EXTRACTIVE = "extractive"  # the messages' own sentences, without a model
    DIRECT = "direct"  # a model reads the messages
    PREDICT = "predict"  # a model first says what it expects, then notes what that misses or has wrong

    @property
    def asks_model(self) -> bool:
        """Whether a language model draws them; then it writes title and narrative in the same call."""
        return self in (AdmitMode.DIRECT, AdmitMode.PREDICT)
