"""What holds a reply to a schema: bounds for what has none, loops, and what is left of a reply that was cut off."""

import json
from typing import Any

import pytest

from app.providers.causal.constraint import Constraint, Grammars, bounded
from app.providers.causal.watch import loops
from tests.unit import tiny_model

FACTS = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "cites": {"type": "array", "items": {"type": "integer"}},
                    "kind": {"enum": ["fact", "plan"]},
                    "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["text", "cites", "kind", "when"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["title", "facts"],
    "additionalProperties": False,
}
WHOLE = (
    '{"title": "a, \\"b\\" {c}", "facts": [{"text": "x]", "cites": [1, 22], "kind": "fact", "when": null}, '
    '{"text": "y", "cites": [], "kind": "plan", "when": "2024"}]}'
)


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return Grammars(tiny_model.tokenizer(), tiny_model.VOCABULARY, [0])


def _follow(constraint: Constraint, text: str) -> str:
    """Say `text` byte by byte; what can only follow comes by itself. Returns what was said."""
    said = b""
    while len(said) < len(text.encode()) and not constraint.complete:
        token = next(
            token
            for token in constraint._tokens.tokenize_bytes(text.encode()[len(said) :])
            if constraint.allowed()[token]
        )
        followers = constraint.take(token)
        said += constraint._tokens.decode_bytes([token, *followers])
    return said.decode()


def test_a_whole_reply_is_followed_to_its_end(grammars: Grammars) -> None:
    constraint = grammars.constraint(FACTS, 400)
    assert _follow(constraint, WHOLE) == WHOLE
    assert constraint.complete


def test_what_can_only_follow_comes_by_itself(grammars: Grammars) -> None:
    constraint = grammars.constraint(FACTS, 400)
    first = int(constraint.allowed().argmax())
    said = constraint._tokens.decode_bytes([first, *constraint.take(first)])
    assert said.startswith(b'{"title": ')


@pytest.mark.parametrize("end", range(len(WHOLE) + 1))
def test_a_reply_that_was_cut_off_keeps_whole_parts(grammars: Grammars, end: int) -> None:
    cut = WHOLE[:end]
    closed = grammars.constraint(FACTS, 400).text_of(cut, cut_off=True)
    facts = json.loads(WHOLE)["facts"]
    kept = sum(cut.startswith(WHOLE[: WHOLE.index(mark) + len(mark)]) for mark in ("null}", '"2024"'))
    if kept:
        assert json.loads(closed)["facts"] == facts[:kept]
    else:
        assert closed == cut  # an empty list would look as if there were nothing


def test_a_string_that_goes_round_in_circles_is_ended(grammars: Grammars) -> None:
    constraint = grammars.constraint({"type": "string", "maxLength": 1000}, 2000)
    [quote] = constraint._tokens.tokenize_bytes(b'"')
    constraint.take(quote)
    said = 0
    [a] = constraint._tokens.tokenize_bytes(b"a")
    while constraint.allowed()[a]:
        constraint.take(a)
        said += 1
    assert said < 30
    assert constraint.allowed().nonzero()[0].tolist() == [quote]
    constraint.take(quote)
    assert constraint.complete


def _fact(text: str, *cites: int, kind: str = "fact", when: str = "null") -> str:
    return f'{{"text": "{text}", "cites": {list(cites)}, "kind": "{kind}", "when": {when}}}'


def _facts(*facts: str) -> str:
    return f'{{"title": "x", "facts": [{", ".join(facts)}]}}'


def test_a_list_that_goes_round_in_circles_is_ended(grammars: Grammars) -> None:
    different = [_fact("ran 5 km", 1), _fact("ran 7 km", 1), _fact("ran 5 km", 1, kind="plan"), _fact("}, {", 1)]
    constraint = grammars.constraint(FACTS, 400)
    said = _follow(constraint, _facts(*different, _fact("ran 7 km", 1, 22), _fact("more", 2)))
    assert constraint.complete
    assert "22" in said
    assert constraint.text_of(said, cut_off=False) == _facts(*different)


def test_a_list_goes_on_where_the_reply_cannot_end(grammars: Grammars) -> None:
    item = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    properties = {"items": {"type": "array", "items": item}, "last": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["items", "last"], "additionalProperties": False}
    whole = '{"items": [{"a": "x"}, {"a": "x"}], "last": 7}'
    constraint = grammars.constraint(schema, 100)
    assert _follow(constraint, whole) == whole
    assert constraint.text_of(whole, cut_off=False) == whole


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ([], False),
        ([1] * 24, True),
        ([1] * 23, False),
        ([*range(50), *([7, 8] * 12)], True),
        ([*range(50), *([7, 8] * 12), 9], False),
        ([*range(20)] * 4, True),
        ([*range(20)] * 3, False),
        ([*range(30)] * 4, False),
    ],
)
def test_loops(tokens: list[int], found: bool) -> None:
    assert loops(tokens) is found


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string", "maxLength": 50}),
        ({"type": "string", "minLength": 80}, {"type": "string", "minLength": 80, "maxLength": 80}),
        ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 9}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"], "maxLength": 50}),
        ({"type": "integer", "enum": [1]}, {"type": "integer", "enum": [1]}),
        ({"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 0, "maximum": 10**9}),
        ({"type": "integer", "minimum": 10**12}, {"type": "integer", "minimum": 10**12, "maximum": 10**12}),
        ({"const": {"type": "string"}}, {"const": {"type": "string"}}),
    ],
)
def test_what_has_no_bounds_gets_some(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bounded(schema, 50) == expected
    nested = {"type": "object", "properties": {"type": {"anyOf": [schema]}}, "$defs": {"x": {"items": schema}}}
    found = bounded(nested, 50)
    assert found["properties"]["type"]["anyOf"] == [expected]
    assert found["$defs"]["x"]["items"] == expected
