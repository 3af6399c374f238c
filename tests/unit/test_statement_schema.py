"""The schema for statements, held by a grammar: even noise cites only messages and statements that were shown."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from app.domain.pieces import Piece
from app.prompts import statements
from app.providers.causal.constraint import Grammars
from tests.unit import tiny_model

SAID_AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
PIECES = [Piece(number, f"Ann: line {number}.", SAID_AT) for number in range(3, 15)]
KNOWN = {"s1": "Ann lives in Bern.", "s2": "Ann likes tea."}
SHORT = 12  # characters of a string: noise seldom ends one before it must
WANTED = 6  # statements


def noise(grammars: Grammars, schema: dict[str, Any], seed: int) -> Any:  # noqa: ANN401
    """A reply of tokens drawn by lot from those that the schema allows."""
    constraint, said, draw = grammars.constraint(schema, 2000), b"", np.random.default_rng(seed)
    while not constraint.complete:
        token = int(draw.choice(np.flatnonzero(constraint.allowed())))
        said += grammars.tokens.decode_bytes([token, *constraint.take(token)])
    return json.loads(constraint.text_of(said.decode(errors="replace"), cut_off=False))


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return Grammars(tiny_model.tokenizer(), tiny_model.VOCABULARY, [0])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("known", [{}, KNOWN], ids=["nothing known", "something known"])
def test_even_noise_cites_only_what_was_shown(grammars: Grammars, known: dict[str, str], seed: int) -> None:
    schema = statements.render(PIECES, known).schema
    assert schema is not None
    noted = schema["properties"]["statements"]
    for field in ("text", "date"):
        noted["items"]["properties"][field]["maxLength"] = SHORT
    only = schema | {"properties": {"statements": noted | {"minItems": WANTED}}, "required": ["statements"]}
    said = noise(grammars, only, seed)["statements"]
    assert len(said) >= WANTED
    for one in said:
        assert one["messages"]
        assert set(one["messages"]) <= set(range(3, 15))
        assert one.get("updates", "none") in {"none", *known}
        assert ("updates" in one) == bool(known)
