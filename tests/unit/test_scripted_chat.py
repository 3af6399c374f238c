"""The scripted model: every reply has the form that was asked for, says what it was shown, and is always the same."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from app.domain.chat import Prompt, Stage
from app.domain.errors import ContextOverflow, ProviderUnavailable, UnusableReply
from app.domain.pieces import Piece
from app.prompts import answer, boundary, episode, label, predict, statements
from app.providers.scripted_chat import WINDOW, ScriptedChat
from app.providers.structured import ask

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
SAID = [
    ("Ann", "I have adopted two dogs from the shelter in Bern."),
    ("Ben", "Lovely! What are the two dogs called?"),
    ("Ann", "The dogs are called Rex and Luna. I walked the dogs yesterday."),
    ("Ben", "I love dogs. My shelter visit was last year."),
    ("Ann", "My violin teacher retired. I need another violin teacher."),
    ("Ben", "Violin lessons cost 40 francs at the music school."),
    ("Ann", "The music school has violin lessons on Friday."),
    ("Ben", "I will join the music school for piano lessons."),
]
PIECES = [
    Piece(number, f"{who}: {text}", MONDAY + timedelta(minutes=number)) for number, (who, text) in enumerate(SAID, 1)
]
KNOWN = {"s1": "Ben: Violin lessons cost 30 francs at the music school."}
CONTEXT = ["Monday, 8 May 2023", *(f"{piece.number} {piece.text}" for piece in PIECES)]
STAGES: list[tuple[Prompt, Callable[[object], object]]] = [
    (boundary.render(PIECES), boundary.parse),
    (episode.render(PIECES), episode.parse),
    (statements.render(PIECES, {}), statements.parse),
    (statements.render(PIECES, KNOWN), statements.parse),
    (predict.render(KNOWN, "Ann and Ben: dogs", ["Ann", "Ben"], MONDAY), predict.parse),
    (label.render([["Ann has two dogs.", "Ann walks her dogs."], ["Ben likes tea."]]), label.parse),
    (answer.render("How many dogs has Ann adopted?", CONTEXT, MONDAY), answer.parse),
]


@pytest.mark.parametrize(("prompt", "parse"), STAGES, ids=lambda value: getattr(value, "name", ""))
async def test_each_stage_gets_a_reply_in_its_form(prompt: Prompt, parse: Callable[[object], object]) -> None:
    chat = ScriptedChat()
    reply = await chat.reply(prompt)
    jsonschema.validate(json.loads(reply.text), prompt.schema)
    assert parse(json.loads(reply.text)) == await ask(chat, prompt, parse), "the same each time"
    assert reply.tokens.read > chat.count_tokens(prompt.system + prompt.user)
    assert reply.tokens.written == chat.count_tokens(reply.text)


async def test_statements_are_sentences_with_their_message_date_and_what_they_update() -> None:
    account = await ask(ScriptedChat(), statements.render(PIECES, KNOWN), statements.parse)
    by_text = {noted.text: noted for noted in account.noted}
    dogs = by_text["Ann: I have adopted two dogs from the shelter in Bern."]
    assert (dogs.messages, dogs.date, dogs.updates) == ((1,), "", "")
    walk = next(noted for noted in account.noted if "walked" in noted.text)
    assert (walk.messages, walk.date, walk.kind) == ((3,), "2023-05-07", "event")
    lessons = next(noted for noted in account.noted if "cost 40" in noted.text)
    assert lessons.updates == "s1"
    assert not any("What are" in text for text in by_text), "questions are no statements"


async def test_what_was_predicted_is_not_noted_again() -> None:
    predicted = " ".join(piece.text for piece in PIECES[:4])
    account = await ask(ScriptedChat(), statements.render(PIECES, KNOWN, predicted), statements.parse)
    assert account.noted
    assert min(number for noted in account.noted for number in noted.messages) > 4


async def test_a_border_stands_where_the_words_change() -> None:
    assert await ask(ScriptedChat(), boundary.render(PIECES), boundary.parse) == [5]


async def test_an_answer_is_a_line_of_the_context_or_none() -> None:
    said = await ask(ScriptedChat(), STAGES[-1][0], answer.parse)
    assert (said.answer, said.lines) == (SAID[0][1], (1,))
    unknown = answer.render("Where is the submarine?", CONTEXT, MONDAY)
    assert (await ask(ScriptedChat(), unknown, answer.parse)).reason == "no_evidence"


async def test_other_schemas_get_something_that_fits() -> None:
    schema = {"title": "check", "properties": {"ready": {"type": "boolean"}, "word": {"type": "string"}}}
    reply = await ScriptedChat().reply(Prompt(Stage.CHECK, "1", "", "Are you there?", schema, 20))
    assert json.loads(reply.text) == {"ready": True, "word": "ready"}


async def test_its_window_is_bounded() -> None:
    with pytest.raises(ContextOverflow):
        await ScriptedChat().reply(episode.render([Piece(1, "Ann: " + "word " * WINDOW, MONDAY)]))


async def test_it_fails_hangs_and_babbles_as_told() -> None:
    chat, prompt = ScriptedChat(), episode.render(PIECES)
    chat.faults.fail(ProviderUnavailable("down"), times=1)
    with pytest.raises(ProviderUnavailable):
        await chat.reply(prompt)
    chat.faults.babble()
    with pytest.raises(UnusableReply):
        await ask(chat, prompt, episode.parse)
    chat.faults.hang()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(chat.reply(prompt), 0.05)
    chat.faults.mend()
    assert (await ask(chat, prompt, episode.parse)).title
    assert chat.faults.calls == 5


async def test_made_up_probabilities_are_the_same_each_time_and_lower_where_nothing_fits() -> None:
    chat = ScriptedChat()
    async with chat.scoring("Answer.", "\n".join(CONTEXT)) as session:
        fits, alien = await session.score(["How many dogs has Ann adopted?", "Which submarine sank?"])
        again, _ = await session.score(["How many dogs has Ann adopted?", "Which submarine sank?"])
    assert fits == again
    assert fits.uncertainty < alien.uncertainty
    assert all(logprob <= 0 for logprob in (*fits.logprobs, *alien.logprobs))
    assert 0 < len(fits.logprobs) <= 20
