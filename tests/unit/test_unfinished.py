"""A string of a JSON object that is still being written."""

import json

import pytest

from app.providers.unfinished import string_so_far

SAID = 'He said "hi" \\ 😀 in Köln\n, then left'


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("before", ["", "Sure:\n```json\n", '<think>"answer": "no"</think>\n'])
def test_it_only_grows_and_is_whole_in_the_end(before: str, ascii_only: bool) -> None:
    reply = before + json.dumps({"answer": SAID, "lines": [1], "note": "answer"}, ensure_ascii=ascii_only)
    seen = [string_so_far(reply[:end], "answer") for end in range(len(reply) + 1)]
    assert all(SAID.startswith(part) for part in seen)
    assert [len(part) for part in seen] == sorted(len(part) for part in seen)
    assert (seen[0], seen[-1]) == ("", SAID)


@pytest.mark.parametrize("text", ["", "no JSON", '{"answer": null', '{"answer": [1', '<think>"answer": "x"'])
def test_what_is_no_string_yet_is_empty(text: str) -> None:
    assert string_so_far(text, "answer") == ""


def test_what_no_store_can_keep_is_replaced_and_a_wrong_escape_ends_it() -> None:
    assert string_so_far('{"answer": "a\\ud800b \\q c"', "answer") == "a\ufffdb "
