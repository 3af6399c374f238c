"""Counting, folding, analysing and cutting text."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import text as subject
from app.domain.text import clean, content_words, count_tokens, normalise, sentences, split_long, terms

HOSTILE = {
    "one word": "a" * 1_000_000,
    "one number": "7" * 1_000_000,
    "dots": "." * 1_000_000 + "a",
    "spaces": "a" + " " * 1_000_000 + "b",
    "lines": " \t\n" * 300_000 + "x",
    "dashes": "a-1" * 300_000,
    "apostrophes": "n't" * 300_000,
    "closing": '.)"' * 300_000,
    "combining marks": "a" + "\u0301\u0316" * 400_000,
    "Chinese": "猫" * 500_000,
    "emoji": ".😀" * 300_000,
}


def without_space(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("猫猫", 2),
        ("abc猫", 2),
        ("안녕", 2),
        ("ねこ", 2),
        ("é😀", 1),
    ],
)
def test_tokens_are_quarter_characters_and_whole_cjk_characters(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_clean_replaces_only_what_a_store_cannot_keep() -> None:
    assert clean("price\x00list 40") == "price\ufffdlist 40"
    assert clean("broken \ud83d emoji") == "broken \ufffd emoji"
    assert clean("tab\t, line\n, 😀 and é stay") == "tab\t, line\n, 😀 and é stay"


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("Bu akşam İSTANBUL'a gidiyorum", "ıstanbul"),
        ("istanbul", "İstanbul"),
        ("ISTANBUL", "ıstanbul"),
        ("She adopted three dogs", "adopting a dog"),
        ("The contract is QX-7741.", "qx-7741"),
        ("The contract is QX-7741.", "7741"),
        ("The contract is QX-7741.", "QX7741"),
        ("合同编号是QX-7741，签约方是青竹公司。", "青竹公司"),
        ("合同编号是QX-7741，签约方是青竹公司。", "QX-7741"),
        ("契約番号はＱＸ－７７４１です", "契約番号"),
        ("契約番号はＱＸ－７７４１です", "qx-7741"),
        ("저는 서울에 살아요", "서울"),
        ("我养了一只猫", "一只猫"),
        ("हिन्दी की किताब", "किताब"),
        ("We met in Zürich", "zurich"),
        ("Moved on May 7th", "7 May"),
        ("It costs 9,077 francs", "9077"),
        ("Rosa’s bike", "Rosa bikes"),
        ("Mr O'Brien called", "obrien"),
        ("she moved to the U.S. in May", "US"),
    ],
)
def test_document_and_query_share_terms(document: str, query: str) -> None:
    assert set(terms(document)) & set(terms(query))


def test_terms_repeat_and_leave_out_stop_words() -> None:
    assert terms("The dog and the dogs of the town") == ["dog", "dog", "town"]
    assert terms("the of and") == []
    assert terms("??? | / \\ 😀") == []


def test_a_single_cjk_character_is_a_term_and_runs_give_pairs() -> None:
    assert terms("猫 and 東京都") == ["猫", "東京", "京都"]


def test_decimals_and_whole_numbers_stay_apart() -> None:
    assert "35" not in terms("it weighs 3.5 kg")


def test_content_words_are_whole_words_with_negation() -> None:
    assert content_words("She doesn't like running to the café") == ["not", "like", "running", "cafe"]
    assert content_words("code QX-7741") == ["code", "qx-7741"]


def test_normalise_ignores_case_spaces_and_loose_punctuation_only() -> None:
    assert normalise("  Hello,\n WORLD!! ") == normalise("hello world")
    assert normalise("It’s “fine”…") == normalise("it's fine")
    for left, right in [("I like C", "I like C++"), ("3.5", "35"), ("-5 degrees", "5 degrees"), ("😀", "👍")]:
        assert normalise(left) != normalise(right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Smith paid 3.5 dollars, e.g. for tea. Fine!",
            ["Dr. Smith paid 3.5 dollars, e.g. for tea.", "Fine!"],
        ),
        ("I live in the U.S. and work. We left.", ["I live in the U.S. and work.", "We left."]),
        ("I lived in the U.S. Then I left.", ["I lived in the U.S.", "Then I left."]),
        ("J. R. Smith came.", ["J. R. Smith came."]),
        ("So did I. Then we ate.", ["So did I.", "Then we ate."]),
        ("No. I took No. 7 home.", ["No.", "I took No. 7 home."]),
        ("Well... maybe. Well... Yes", ["Well... maybe.", "Well...", "Yes"]),
        ('"Really?" she said. "Go!" We left.', ['"Really?" she said.', '"Go!"', "We left."]),
        ("Great! 😀 We left.😊 I was happy", ["Great! 😀", "We left.😊", "I was happy"]),
        ("Great! :) We left.", ["Great! :)", "We left."]),
        ("1. milk\n2. eggs\n\nthanks", ["1. milk", "2. eggs", "thanks"]),
        ("a line that\ngoes on", ["a line that\ngoes on"]),
        ("i went home. then i slept.", ["i went home.", "then i slept."]),
        ("今天很好。我们走吧！「好吗？」他说。", ["今天很好。", "我们走吧！", "「好吗？」", "他说。"]),
        ("see example.com/a.b or v1.2.3", ["see example.com/a.b or v1.2.3"]),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_split_long_prefers_sentences_then_words_then_characters() -> None:
    assert split_long("One two three. Four five six.", 4) == ["One two three.", "Four five six."]
    assert split_long("alpha beta gamma", 3) == ["alpha beta", "gamma"]
    assert split_long("x" * 10, 1) == ["xxxx", "xxxx", "xx"]
    assert split_long("猫" * 3, 2) == ["猫猫", "猫"]
    assert split_long("short", 10) == ["short"]
    with pytest.raises(ValueError, match="at least 1"):
        split_long("text", 0)


@given(st.text(), st.integers(1, 12))
def test_split_long_loses_only_white_space_and_keeps_its_bound(text: str, max_tokens: int) -> None:
    parts = split_long(text, max_tokens)
    assert all(0 < count_tokens(part) <= max_tokens for part in parts)
    assert without_space("".join(parts)) == without_space(text)


@given(st.text(alphabet=st.sampled_from("aB. !?…\n\"')1😀。猫-:")))
def test_sentences_lose_only_white_space(text: str) -> None:
    assert without_space("".join(sentences(text))) == without_space(text)


@given(st.text())
def test_any_text_can_be_analysed(text: str) -> None:
    assert all(0 < len(term) <= subject.MAX_TERM for term in terms(text))
    assert "\x00" not in clean(text)
    assert all(content_words(text))
    assert normalise(normalise(text)) == normalise(text) or not text.isascii()


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("function", [terms, normalise, sentences, lambda text: split_long(text, 128)])
def test_time_is_linear(name: str, function: Callable[[str], object]) -> None:
    """A quarter of the text; quadratic work would take minutes."""
    text = HOSTILE[name]
    started = time.process_time()
    function(text[: len(text) // 4] + text[-1])
    assert time.process_time() - started < 2
