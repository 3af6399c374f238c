"""What statements claim: which later words end a statement, which repeat it, and which are another matter."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import claim_words
from app.domain.claims import excludes, read
from app.domain.wording import take_apart
from tests.unit import claim_cases

EARLIER = datetime(2025, 1, 6, 12, tzinfo=UTC)
LATER = EARLIER + timedelta(days=100)
LISTED = [
    word for name in dir(claim_words) if isinstance(words := getattr(claim_words, name), frozenset) for word in words
]
WORDS = ["I", "my", "the", "Ann", "to", "from", "3 May 2025", "950", "not", "no", "longer", "up", ",", ".", *LISTED]


def pairs(table: str) -> list[tuple[str, str]]:
    return [(one, other) for line in table.strip().splitlines() for one, _, other in [line.partition(" | ")]]


def essence(text: str) -> str:
    return take_apart(f"Ann: {text}", EARLIER).essence


def ends(earlier: str, later: str) -> bool:
    first, second = (read(take_apart(f"Ann: {text}", at)) for text, at in ((earlier, EARLIER), (later, LATER)))
    return excludes(first, second, EARLIER.date(), LATER.date())


@pytest.mark.parametrize(("earlier", "later"), pairs(claim_cases.UPDATES))
def test_a_change_is_an_update_however_it_is_told(earlier: str, later: str) -> None:
    assert ends(earlier, later)
    assert not ends(earlier, earlier)


@pytest.mark.parametrize(("earlier", "later"), pairs(claim_cases.OTHER_MATTERS))
def test_a_change_of_something_else_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(("one", "other"), pairs(claim_cases.REPEATS))
def test_the_same_in_other_words_has_the_same_essence(one: str, other: str) -> None:
    assert essence(one) == essence(other)
    assert not ends(one, other)


@pytest.mark.parametrize(("one", "other"), pairs(claim_cases.OTHER_WORDS))
def test_a_word_that_matters_makes_another_essence(one: str, other: str) -> None:
    assert essence(one) != essence(other)


def test_whoever_gave_something_up_may_still_like_and_have_some() -> None:
    assert ends("I drink coffee.", "I gave up coffee.")
    assert not ends("I like coffee.", "I gave up coffee.")
    assert not ends("I have coffee at home.", "I gave up coffee.")


def test_a_change_that_did_not_come_changes_nothing() -> None:
    assert not ends("My brother smokes.", "My brother hasn't quit smoking.")
    assert not ends("My rent is 900 francs.", "My rent hasn't gone up to 950 francs.")
    assert not ends("I smoke.", "I haven't stopped smoking.")


def test_what_once_happened_is_not_ended() -> None:
    assert not ends("I used to smoke.", "I smoke again.")
    assert not ends("I quit my job at Lumen.", "I work at Lumen.")


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_words_can_be_read(words: list[str]) -> None:
    claim = read(take_apart("Ann: " + " ".join(words), EARLIER))
    assert not excludes(claim, claim, EARLIER.date(), LATER.date())
