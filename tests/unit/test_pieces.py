"""Messages in as many parts as a model's window makes necessary, and no more."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.chat import Finish, Prompt, Reply, Stage, Tokens
from app.domain.errors import ContextOverflow, CutOff, UnusableReply
from app.domain.ids import ConversationId, MessageId
from app.domain.messages import Message, Role
from app.domain.pieces import Piece, halves, number, split
from app.domain.text import count_tokens
from app.prompts import wording
from app.services.asking import ask_in_parts
from tests.unit.models import ActingChat

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)


def piece(place: int, words: int) -> Piece:
    return Piece(place, "Ann: " + " ".join(f"w{place}x{at}." for at in range(words)), NOON)


def test_messages_are_numbered_from_one() -> None:
    message = Message(
        MessageId(UUID(int=7)), ConversationId(UUID(int=1)), 70, Role.USER, "Hello.", NOON, NOON, speaker="Ann"
    )
    assert number([message, message]) == [Piece(1, "Ann: Hello.", NOON), Piece(2, "Ann: Hello.", NOON)]


def test_the_parts_of_a_long_message_share_its_number_and_speaker() -> None:
    whole = piece(3, 400)
    parts = split(whole, 100)
    assert len(parts) > 4
    assert {part.number for part in parts} == {3}
    assert all(part.text.startswith("Ann: ") and count_tokens(part.text) <= 100 for part in parts)
    said = " ".join(part.text.removeprefix("Ann: ") for part in parts)
    assert f"Ann: {said}" == whole.text


def test_halves_end_where_nothing_is_left_to_cut() -> None:
    assert halves([piece(1, 5), piece(2, 5), piece(3, 5)]) == [[piece(1, 5)], [piece(2, 5), piece(3, 5)]]
    first, second = halves([piece(1, 200)])
    assert " ".join(part.text.removeprefix("Ann: ") for part in (*first, *second)) in piece(1, 200).text
    assert halves([piece(1, 2)]) == [[piece(1, 2)]]
    assert halves([]) == [[]]


# Asking ----------------------------------------------------------------------------------------------------


def _render(pieces: list[Piece]) -> Prompt:
    return Prompt(Stage.EPISODE, "1", "Tell.", wording.messages(pieces), {"title": "episode"}, 200)


def _seen(chat: ActingChat) -> str:
    return " ".join(prompt.user for prompt in chat.prompts)


async def test_what_fits_is_one_call() -> None:
    chat = ActingChat('{"title": "x"}')
    said = await ask_in_parts(chat, [piece(at, 20) for at in range(1, 20)], _render, lambda data: data)
    assert (len(said), len(chat.prompts)) == (1, 1)


async def test_a_small_window_is_never_passed_and_nothing_is_left_out() -> None:
    chat = ActingChat('{"title": "x"}', window=600)
    pieces = [piece(1, 10), piece(2, 500), piece(3, 10)]
    said = await ask_in_parts(chat, pieces, _render, lambda data: data)
    assert len(said) == len(chat.prompts) > 3
    for prompt in chat.prompts:
        assert prompt.max_tokens == 200
        assert count_tokens(prompt.system + prompt.user) + prompt.max_tokens <= 600
    assert all(f"w2x{at}." in _seen(chat) for at in range(500))


async def test_an_overflow_halves_the_input_until_it_fits() -> None:
    overflow = ContextOverflow("too long")
    chat = ActingChat(overflow, '{"title": "x"}', overflow, '{"title": "y"}')
    said = await ask_in_parts(chat, [piece(at, 20) for at in range(1, 9)], _render, lambda data: data["title"])
    assert said == ["x", "y", "y"]
    assert all(f"w{at}x19." in " ".join(p.user for p in chat.prompts[1:]) for at in range(1, 9))


async def test_an_overflow_that_no_cut_helps_is_raised() -> None:
    with pytest.raises(ContextOverflow):
        await ask_in_parts(ActingChat(ContextOverflow("too long")), [piece(1, 100)], _render, lambda data: data)


CLOSED = Reply('{"title": "x"}', Finish.LENGTH, Tokens(300, 200))


async def test_what_one_reply_has_no_room_for_is_said_in_two() -> None:
    chat = ActingChat(CLOSED, '{"title": "x"}', '{"title": "y"}')
    pieces = [piece(at, 20) for at in range(1, 9)]
    assert await ask_in_parts(chat, pieces, _render, lambda data: data["title"]) == ["x", "y"]
    assert [prompt.user for prompt in chat.prompts] == [_render(part).user for part in (pieces, *halves(pieces))]


async def test_a_model_that_never_ends_is_not_asked_without_end() -> None:
    chat = ActingChat(CLOSED)
    with pytest.raises(CutOff, match="after 200 tokens"):
        await ask_in_parts(chat, [piece(at, 20) for at in range(1, 9)], _render, lambda data: data)
    assert len(chat.prompts) == 3, "for all, for a half, and for that half in fewer words"


async def test_a_reply_that_cannot_be_used_is_no_answer() -> None:
    with pytest.raises(UnusableReply):
        await ask_in_parts(ActingChat("well, well"), [piece(1, 5)], _render, lambda data: data)
