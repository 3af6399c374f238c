"""Who made a derived text: recorded with every title, narrative, statement, label and vector."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MadeBy:
    """`model` and `revision` of what wrote a text; `prompt` is the prompt module's version, if one was used."""

    model: str
    revision: str
    prompt: str | None = None


EXTRACTIVE = MadeBy("extractive", "1")
"""The deterministic form that needs no language model."""
