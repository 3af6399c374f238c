"""Asking for a value: a faulty reply is asked for once more, then told by its form and never by its words."""

import json
from dataclasses import replace

import pytest

from app.domain.chat import Finish, Reply, Tokens
from app.domain.errors import ContextOverflow, CutOff, ProviderUnavailable, UnusableReply
from app.providers.structured import EXCERPT, ask, size_of
from tests.unit.models import ActingChat, prompt

SCHEMA = {"title": "Title", "type": "object", "properties": {"title": {"type": "string"}, "names": {"type": "array"}}}
PROMPT = prompt(schema=SCHEMA)
GOOD = '{"title": "A trip", "names": []}'


def _title(data: object) -> str:
    assert isinstance(data, dict)
    if "title" not in data:
        raise UnusableReply("`title` is missing")
    return data["title"]


async def test_a_good_reply_costs_one_call() -> None:
    model = ActingChat(f"<think>so</think>\n```json\n{GOOD}\n```")
    assert await ask(model, PROMPT, _title) == "A trip"
    assert model.prompts == [PROMPT]


async def test_a_faulty_reply_is_asked_for_once_more_with_what_was_wrong() -> None:
    model = ActingChat('{"name": "Zanzibar ~~~~"}', GOOD)
    assert await ask(model, PROMPT, _title) == "A trip"
    _, again = model.prompts
    assert replace(again, user=PROMPT.user) == PROMPT, "all else is as it was, so a server's prefix cache still works"
    assert again.user.startswith(PROMPT.user)
    assert "`title` is missing" in again.user
    fenced = again.user.split("~~~~~")
    assert fenced[2].strip() == '{"name": "Zanzibar ~~~~"}', "as data, in a fence that it cannot close"
    assert "cut off" not in again.user


async def test_a_second_faulty_reply_fails_and_tells_its_form_alone() -> None:
    model = ActingChat('{"names": ["Zanzibar"], "Zanzibar": 1}', "Zanzibar!")
    with pytest.raises(UnusableReply) as caught:
        await ask(model, PROMPT, _title)
    assert len(model.prompts) == 2
    assert str(caught.value) == (
        "`title` is missing (statements/1: 38 characters, ended by stop, keys names, others 1); "
        "asked again: it holds no JSON object (statements/1: 9 characters, ended by stop)"
    )
    assert caught.value.__cause__ is None


async def test_a_reply_that_was_cut_is_asked_for_in_fewer_words() -> None:
    cut = Reply(json.dumps({"title": "A trip", "names": ["Ann", "Bob"]})[:-6], Finish.LENGTH, Tokens(50, 100))
    model = ActingChat(cut, GOOD)
    assert await ask(model, PROMPT, _title) == "A trip"
    assert "cut off after 100 tokens" in model.prompts[1].user


async def test_a_reply_that_was_closed_at_its_limit_is_not_taken_for_whole() -> None:
    closed = Reply(json.dumps({"title": "A trip", "names": ["Ann"]}), Finish.LENGTH, Tokens(50, 100))
    model = ActingChat(closed, GOOD)
    assert await ask(model, PROMPT, _title) == "A trip"
    assert "cut off after 100 tokens" in model.prompts[1].user
    with pytest.raises(CutOff, match=r"closed before it was complete .* ended by length after 100 tokens"):
        await ask(ActingChat(closed), PROMPT, _title)


@pytest.mark.parametrize("end", ["}", ""])
async def test_who_can_ask_about_less_is_told_at_once_that_a_reply_was_cut(end: str) -> None:
    cut = Reply(f'{{"title": "A trip", "names": ["Ann"]{end}', Finish.LENGTH, Tokens(50, 100))
    model = ActingChat(cut, GOOD)
    with pytest.raises(CutOff):
        await ask(model, PROMPT, _title, divisible=True)
    assert len(model.prompts) == 1
    faulty = ActingChat("Zanzibar", GOOD)
    assert await ask(faulty, PROMPT, _title, divisible=True) == "A trip", "another fault is asked again"


async def test_a_whole_object_before_the_cut_is_whole() -> None:
    model = ActingChat(Reply(f"{GOOD}\nI hope this helps and", Finish.LENGTH, Tokens(50, 100)))
    assert await ask(model, PROMPT, _title) == "A trip"


@pytest.mark.parametrize(("window", "calls", "shown"), [(600, 2, True), (260, 2, False), (170, 1, False)])
async def test_the_second_prompt_keeps_to_the_window(window: int, calls: int, shown: bool) -> None:
    model = ActingChat("Zanzibar " * 400, GOOD, window=window)
    if calls == 1:
        with pytest.raises(UnusableReply, match="no JSON object"):
            await ask(model, PROMPT, _title)
    else:
        assert await ask(model, PROMPT, _title) == "A trip"
    assert len(model.prompts) == calls
    again = model.prompts[-1]
    assert size_of(model, again) + again.max_tokens <= window
    assert ("Zanzibar" in again.user) is shown
    assert len(again.user) < len(PROMPT.user) + EXCERPT + 500, "a long reply is not shown whole"


async def test_a_second_prompt_that_the_model_finds_too_long_is_no_reason_to_split() -> None:
    with pytest.raises(UnusableReply, match="no JSON object"):
        await ask(ActingChat("no", ContextOverflow("too long")), PROMPT, _title)
    with pytest.raises(ContextOverflow):
        await ask(ActingChat(ContextOverflow("too long")), PROMPT, _title)


async def test_a_reply_that_its_own_side_found_unusable_is_asked_for_again() -> None:
    model = ActingChat(UnusableReply("the reply is no JSON"), GOOD)
    assert await ask(model, PROMPT, _title) == "A trip"


async def test_an_outage_is_not_asked_again() -> None:
    model = ActingChat(ProviderUnavailable("down"))
    with pytest.raises(ProviderUnavailable):
        await ask(model, PROMPT, _title)
    assert len(model.prompts) == 1
