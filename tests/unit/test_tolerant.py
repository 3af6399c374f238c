"""Reading the JSON object in a reply: whatever stands around it, the same object; where something is lost, a fault."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import UnusableReply
from app.providers.tolerant import DEEPEST, LONGEST, read_object

SCHEMA = {
    "title": "Statements",
    "type": "object",
    "properties": {"title": {"type": "string"}, "statements": {"type": "array"}},
    "required": ["title", "statements"],
}
WANTED = {"title": "A trip", "statements": [{"text": "Ann moved.", "messages": [1, 2]}]}
JSON = json.dumps(WANTED)

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(words, values, max_size=4)
prose = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}[]<>"))


def _schema_of(value: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {key: {} for key in value}}


def _with_trailing_commas(value: object) -> str:
    if isinstance(value, dict) and value:
        return "{" + "".join(f"{json.dumps(key)}: {_with_trailing_commas(item)}, " for key, item in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + "".join(f"{_with_trailing_commas(item)}\n,\n" for item in value) + "]"
    return json.dumps(value)


@st.composite
def wrapped(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """An object, and a reply that holds it among other things."""
    value = draw(objects)
    plain = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2])))
    text = draw(st.sampled_from([plain, _with_trailing_commas(value)]))
    text = draw(st.sampled_from(["{}", "```json\n{}\n```", "```\n{}```", "~~~\n{}\n~~~"])).replace("{}", text)
    text = draw(prose) + text + draw(prose)
    thought = draw(st.sampled_from(["", "<think>{}</think>", "{}</think>", "<think>{}", "<thinking>{}</thinking>\n"]))
    return value, "\ufeff" * draw(st.booleans()) + thought.replace("{}", draw(prose)) + text


@given(wrapped())
def test_whatever_stands_around_an_object_it_is_read_as_it_is(case: tuple[dict[str, Any], str]) -> None:
    value, text = case
    assert read_object(text, _schema_of(value)) == value


@given(objects, st.data())
def test_an_object_that_is_cut_is_never_read(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(UnusableReply):
        read_object(text[:cut], _schema_of(value))


@given(st.text())
def test_any_text_is_an_object_or_a_fault(text: str) -> None:
    for reply in (text, "{" + text + "}", f"<think>{text}</think>{JSON}"):
        try:
            assert isinstance(read_object(reply, SCHEMA), dict)
        except UnusableReply:
            continue


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f'<think>{{"title": "a draft", "statements": [</think>\n{JSON}', id="a draft in a thought"),
        pytest.param(f'<think>{{"title": "x", "statements": []}}</think>{JSON}', id="a whole draft in a thought"),
        pytest.param(f"<think>\nSo far: {{the}} names [1].\n{JSON}", id="a thought without an end"),
        pytest.param(f"So {{it}} is.\n</think>\n\n{JSON}", id="a thought without a beginning"),
        pytest.param(f"{json.dumps(SCHEMA)}\n\n{JSON}", id="the schema first"),
        pytest.param(f"{JSON}\n{JSON}", id="said twice"),
        pytest.param(f"{{}} or {JSON}", id="an empty one first"),
        pytest.param(f'{{"note": 1}}\n{JSON}', id="another one first"),
        pytest.param(JSON.replace('"', "'"), id="single quotes"),
        pytest.param(JSON.replace('"title"', "title").replace('"text"', "text"), id="keys without quotes"),
        pytest.param(JSON.replace(', "statements"', ' "statements"'), id="a comma missing"),
        pytest.param(JSON.replace("}]}", "}],,}"), id="two commas"),
    ],
)
def test_replies_of_small_models(reply: str) -> None:
    assert read_object(reply, SCHEMA) == WANTED


@pytest.mark.parametrize(
    "content",
    ["```json\n{}\n```", "</think> {}", "a\nb\tc\x0b\x1b", '{"title": "no"}', "<think>", '5 "tall" men', "a,]b,}c"],
)
def test_what_stands_in_a_string_stays(content: str) -> None:
    value = {"title": content, "statements": []}
    assert read_object(json.dumps(value), SCHEMA) == value
    raw = (
        json.dumps(value)
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\u000b", "\x0b")
        .replace("\\u001b", "\x1b")
    )
    assert read_object(f"```json\n{raw}\n```", SCHEMA) == value


def test_what_no_store_can_keep_is_replaced() -> None:
    assert read_object(r'{"title": "a\u0000b\ud83d", "\u0000": ["\udc00"]}', SCHEMA) == {
        "title": "a\ufffdb\ufffd",
        "\ufffd": ["\ufffd"],
    }


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot help with that.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        (f"<think>{JSON}</think>", "no JSON object"),
        (f"[{JSON}]", "a list"),
        (f"```json\n[{JSON}, {JSON}]\n```", "a list"),
        (json.dumps(SCHEMA), "repeats the schema"),
        (json.dumps({"$defs": {}, "properties": {"title": "x"}}), "repeats the schema"),
        ('{"title": "a", "statements": [], "title": "b"}', "same key twice"),
        ('{"title": "a", "statements": [{"text": "x", "text": "y"}]}', "same key twice"),
        ('{"title": "a", "statements": []}\n{"title": "b", "statements": []}', "several"),
        (JSON[:-1], "ends before"),
        (JSON[:-3], "ends before"),
        (JSON[:25], "ends before"),
        (f"{JSON}\n{JSON[:-1]}", "ends before"),
        ('{"title": NaN, "statements": []', "ends before"),
        ('{"title": "a" "b" } } ]', "broken"),
        ("{:::}", "no JSON object"),
        ('{"a": ' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1), "ends before"),
        ("x" * (LONGEST + 1), "longer than asked"),
    ],
)
def test_what_cannot_be_used_says_why(reply: str, fault: str) -> None:
    with pytest.raises(UnusableReply, match=fault):
        read_object(reply, SCHEMA)


def test_mending_that_drops_what_was_said_is_refused() -> None:
    with pytest.raises(UnusableReply, match="broken"):
        read_object('{"title": "a", "statements": [] /* and so much more that was to be kept */}', SCHEMA)


@pytest.mark.parametrize(
    "piece",
    ['{"', "{a: ", "[{", '{"a":1}', "{}", '"', "</think>", "{a:}", ",]", "{}</think>", "{</think>", '{"a":</think>'],
)
def test_reading_is_linear(piece: str) -> None:
    """What is quadratic would take minutes of this process, however busy the machine is."""
    begun = time.process_time()
    with suppress(UnusableReply):
        read_object(piece * (LONGEST // len(piece)), SCHEMA)
    assert time.process_time() - begun < 60
