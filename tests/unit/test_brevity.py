from collections.abc import Callable, Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.brevity import BrevityPolicy
from app.domain.brevity import brief as brief_beside
from app.domain.levels import Level
from app.domain.packing import Item
from tests.unit.test_packing import message, statement

LONG = "Ann: I went to the shelter with my sister on Friday and we came home with a small grey cat named Miso."
SHORT = "Ann: I love tea."


def brief(items: list[Item], policy: BrevityPolicy = BrevityPolicy(), **more: Callable[[str], int]) -> Sequence[Item]:  # noqa: B008
    return brief_beside(items, items, policy, **more)


def test_a_statement_that_is_much_shorter_than_its_message_stays() -> None:
    items = [message(1, LONG), statement(2, "Ann has a cat named Miso.", 0.9, 1)]
    assert brief(items) == items


def test_a_statement_as_long_as_its_message_stands_back_for_it() -> None:
    said = message(1, SHORT)
    assert brief([statement(2, "Ann loves tea.", 0.9, 1), said]) == [said]


def test_a_statement_whose_message_was_not_found_stays_however_long() -> None:
    items = [message(1, SHORT), statement(2, "Ann loves tea.", 0.9, 3), statement(4, "Ann loves tea.", 0.9, 1, 3)]
    assert brief(items) == items


def test_a_statement_whose_message_cannot_be_handed_out_stays() -> None:
    items = [message(1, SHORT), statement(2, "Ann loves tea.", 0.9, 1)]
    assert brief_beside(items, items[1:]) == items


def test_all_messages_it_rests_on_count() -> None:
    told = statement(9, "Ann loves tea and has a cat named Miso since Friday.", 0.9, 1, 2)
    both = [message(1, LONG), message(2, LONG), told]
    assert brief(both) == both
    assert brief([message(1, SHORT), message(2, SHORT), told]) == [message(1, SHORT), message(2, SHORT)]


def test_a_share_of_nothing_lets_no_statement_beside_its_messages() -> None:
    assert brief([message(1, LONG), statement(2, "Cat.", 0.9, 1)], BrevityPolicy(share=0.0)) == [message(1, LONG)]


TEXTS = st.text(alphabet="ab ", min_size=1, max_size=60)


@given(st.lists(TEXTS, max_size=5), st.lists(st.tuples(TEXTS, st.sets(st.integers(1, 6), min_size=1)), max_size=5))
def test_only_statements_go_their_order_stays_and_all_they_rest_on_is_there(
    said: list[str], told: list[tuple[str, set[int]]]
) -> None:
    messages = [message(number, text) for number, text in enumerate(said, 1)]
    statements = [statement(100 + number, text, 0.5, *cited) for number, (text, cited) in enumerate(told)]
    items: list[Item] = [*statements, *messages]
    kept = brief(items)
    assert [item for item in items if item in kept] == kept
    gone = [item for item in items if item not in kept]
    assert {item.level for item in gone} <= {Level.STATEMENT}
    for item in gone:
        assert {UUID(int=id_.int) for id_ in item.messages} <= {one.id for one in messages}


@pytest.mark.parametrize("words", [1, 5, 9])
def test_the_border_is_the_share(words: int) -> None:
    told = statement(2, "x " * words, 0.9, 1)
    kept = brief([message(1, "x " * 10), told], count=lambda text: len(text.split()))
    assert (told in kept) is (words <= 5)
