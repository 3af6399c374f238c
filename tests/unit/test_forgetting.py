"""What may stay of a statement when a message that it rested on is erased; what a kept answer may still tell."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.backing import Backing
from app.domain.forgetting import may_stay
from app.domain.ids import ConversationId, MessageId, StatementId
from app.domain.messages import Message, Role
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Origin, Statement
from app.domain.replies import mentions, redacted

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ERASED, LEFT, OTHER = (MessageId(UUID(int=number)) for number in (1, 2, 3))


def message(id_: MessageId, content: str) -> Message:
    return Message(id_, ConversationId(UUID(int=9)), 1, Role.USER, content, NOON, NOON, speaker="Ada")


def statement(text: str, origin: Origin, *cited: MessageId) -> Statement:
    id_ = StatementId(UUID(int=5))
    return Statement(
        id_, text, "fact", origin, len(cited), None, NOON, None, None, None, EXTRACTIVE, NOON, tuple(cited)
    )


@pytest.mark.parametrize(
    ("erased", "left", "text", "origin", "stays"),
    [
        ("I live in Velmar.", "I live in Velmar.", "Ada: I live in Velmar.", Origin.EXTRACTIVE, True),
        ("I have 2 cats.", "I have two cats.", "Ada: I have 2 cats.", Origin.EXTRACTIVE, True),  # numbers are words
        ("I've got a kitten.", "I have a cat.", "Ada: I've got a kitten.", Origin.EXTRACTIVE, False),
        ("My dog is Rex.", "He is brown.", "Ada's dog Rex is brown.", Origin.MODEL, False),
        ("I live in Velmar.", "I moved to Velmar.", "Ada lives in Velmar.", Origin.MODEL, False),
        ("I like tea.", "I drink tea with milk.", "Ada drinks tea with milk.", Origin.MODEL, True),
        ("Hello.", "I like my doctor.", "Ada's physician treats rare diseases.", Origin.MODEL, False),  # not carried
        ("Hello.", "I like my doctor.", "Ada's physician treats rare diseases.", Origin.USER, True),  # by hand
        ("The zorblat is ill.", "It is ill.", "Ada's zorblat is ill.", Origin.USER, False),
    ],
)
def test_a_statement_stays_in_the_words_of_what_is_left(
    erased: str, left: str, text: str, origin: Origin, stays: bool
) -> None:
    backing = Backing({ERASED: message(ERASED, erased), LEFT: message(LEFT, left)}, rephrased=True)
    assert may_stay(statement(text, origin, LEFT), [ERASED], backing) is stays


def test_a_statement_that_cites_nothing_goes() -> None:
    backing = Backing({ERASED: message(ERASED, "I live in Velmar.")}, rephrased=True)
    assert not may_stay(statement("Ada: I live in Velmar.", Origin.USER), [ERASED], backing)


def test_a_kept_answer_tells_only_that_a_message_was_deleted() -> None:
    body = json.dumps(
        {
            "conversation": "chat",
            "accepted": 2,
            "messages": [
                {"id": str(ERASED), "external_id": "é1", "sequence": 1, "status": "accepted"},
                {"id": str(LEFT), "external_id": "é2", "sequence": 2, "status": "accepted"},
            ],
        }
    )
    assert mentions(body, {str(ERASED)})
    assert not mentions(body, {str(OTHER)})
    told = json.loads(redacted(body, {str(ERASED)}, {"chat"}))
    assert told["messages"][0] == {"id": str(ERASED), "external_id": None, "sequence": 1, "status": "deleted"}
    assert (told["messages"][1]["external_id"], told["conversation"], told["accepted"]) == ("é2", "", 2)
    assert json.loads(redacted(body, {str(OTHER)}, frozenset())) == json.loads(body)


def test_a_kept_answer_has_no_statement_that_is_gone_or_cites_what_is() -> None:
    cited = {"id": str(OTHER), "text": "A fact.", "messages": [{"id": str(ERASED)}]}
    body = json.dumps({"statements": [{"outcome": "new", "reason": None, "statement": cited}]})
    for gone in (ERASED, OTHER):
        [told] = json.loads(redacted(body, {str(gone)}, frozenset()))["statements"]
        assert told == {"outcome": "new", "reason": None, "statement": None}
