"""Answers with a language model: from the context that is handed out, cited word for word, or none."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest

from app.container import Container, build
from app.domain.errors import ProviderRefused, ProviderUnavailable
from app.domain.levels import Level
from app.providers.guarded import GuardedChat
from app.services.answer import Answered, Answering
from app.services.composing import Composing
from app.services.search import Ask
from app.settings import Settings
from tests.conftest import Api, settings_for
from tests.integration.conftest import database
from tests.integration.support import assert_problem, over_http
from tests.integration.writing import DOGS, MUSIC, faults, say, work
from tests.unit.models import ActingChat

QUESTION = "How much do violin lessons cost an hour?"


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest) -> Iterator[Settings]:
    with database(request) as url:
        yield settings_for(url).model_copy(update={"chat": "scripted"})


@pytest.fixture(scope="module")
async def remembering(settings: Settings) -> AsyncIterator[Container]:
    """A service that remembers two matters; these tests only read."""
    async with build(settings) as built:
        assert isinstance(built.chat, GuardedChat)
        await say(built, *DOGS, *MUSIC)
        await work(built, built.chat)
        yield built


@pytest.fixture
def told(remembering: Container) -> Iterator[Container]:
    yield remembering
    assert isinstance(remembering.chat, GuardedChat)
    faults(remembering.chat).mend()


async def ask(built: Container, chat: ActingChat, question: str = QUESTION, **values: object) -> Answered:
    composing = Composing(built.storage, chat)
    answering = Answering(built.services.search, built.services.answering.clock, composing)
    return await answering.answer("ada", Ask(question, **{"max_tokens": 1000, **values}))


def reply(answer: str = "40 francs an hour", *lines: int, abstained: bool = False, reason: str = "") -> str:
    return json.dumps({"answer": answer, "lines": lines, "abstained": abstained, "reason": reason})


def line_of(chat: ActingChat, words: str) -> int:
    """The number that the model saw before these words."""
    [line] = [line for line in chat.prompts[-1].user.splitlines() if words in line and line[0].isdigit()]
    return int(line.split()[0])


async def test_an_answer_over_http_is_cited_and_counted(told: Container, settings: Settings) -> None:
    async with over_http(told, settings) as api:
        found = (await api.get("/v1/namespaces/ada/answer", params={"q": QUESTION})).json()
    assert (found["abstained"], found["reason"]) == (False, None)
    assert "40 francs" in found["answer"]
    [citation] = found["citations"]
    assert citation["quote"] == "Violin lessons cost 40 francs an hour."
    assert 0 < found["confidence"] <= 1
    assert found["usage"]["stages"]["answer"]["calls"] == 1


async def test_nothing_relevant_is_an_abstention(told: Container, settings: Settings) -> None:
    async with over_http(told, settings) as api:
        found = (await api.get("/v1/namespaces/ada/answer", params={"q": "Which submarine sank?"})).json()
    assert (found["answer"], found["abstained"], found["reason"], found["citations"]) == (
        None,
        True,
        "no_evidence",
        [],
    )


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ProviderUnavailable("down", retry_after=7), 503, "provider_unavailable"),
        (ProviderRefused("not this"), 502, "provider_refused"),
        (None, 502, "unusable_reply"),
    ],
)
async def test_a_model_that_fails_is_an_error_and_never_an_answer(
    told: Container, settings: Settings, error: Exception | None, status: int, code: str
) -> None:
    assert told.chat is not None
    if error is None:
        faults(told.chat).babble()
    else:
        faults(told.chat).fail(error)
    async with over_http(told, settings) as api:
        refused = await api.get("/v1/namespaces/ada/answer", params={"q": QUESTION})
    assert assert_problem(refused, status)["type"] == f"/problems/{code}"
    assert "answer" not in refused.json()
    assert (refused.headers.get("retry-after") is not None) is (status == 503)


async def test_search_needs_no_language_model(told: Container, settings: Settings) -> None:
    assert told.chat is not None
    faults(told.chat).hang()
    async with over_http(told, settings) as api:
        assert await _found(api)


async def _found(api: Api) -> list[object]:
    reply = await api.get("/v1/namespaces/ada/search", params={"q": QUESTION})
    items: list[object] = reply.json()["items"]
    return items


async def test_the_model_sees_the_context_that_the_caller_gets(told: Container) -> None:
    chat = ActingChat(reply("", abstained=True))
    answered = await ask(told, chat)
    shown = chat.prompts[-1].user
    for line in answered.found.context.splitlines():
        assert line in shown
    assert (answered.abstained, answered.reason) == (True, "no_evidence")


async def test_lines_that_do_not_exist_are_no_citations(told: Container) -> None:
    chat = ActingChat(reply("40 francs", 1, 999, 0, -1))
    answered = await ask(told, chat)
    assert answered.answer == "40 francs"
    assert len({cited.citation.message for cited in answered.citations}) == len(answered.citations) == 1
    only_wrong = ActingChat(reply("40 francs", 999), reply("40 francs", 1))
    assert (await ask(told, only_wrong)).citations
    assert len(only_wrong.prompts) == 2, "it is asked once more"


async def test_quotes_are_words_of_the_cited_messages(told: Container) -> None:
    chat = ActingChat(reply("40 francs an hour", *range(1, 12)))
    answered = await ask(told, chat)
    async with told.storage.read("ada") as unit:
        messages = await unit.messages.many(cited.citation.message for cited in answered.citations)
    for cited in answered.citations:
        assert cited.citation.quote in messages[cited.citation.message].content


async def test_an_answer_from_an_episode_cites_the_message_behind_it(told: Container) -> None:
    chat = ActingChat(reply("Violin lessons cost 40 francs", 1, 2))
    answered = await ask(told, chat, levels=frozenset({Level.EPISODE}))
    assert "Violin lessons cost 40 francs an hour." in {cited.citation.quote for cited in answered.citations}
    assert len(answered.citations) <= 2


async def test_an_answer_from_a_theme_cites_a_message_of_one_of_its_statements(told: Container) -> None:
    chat = ActingChat(reply("Violin lessons cost 40 francs", 1))
    answered = await ask(told, chat, levels=frozenset({Level.THEME}))
    assert len(answered.citations) == 1


async def test_evidence_that_is_too_long_for_the_window_is_cut_from_its_end(told: Container) -> None:
    chat = ActingChat(reply("40 francs", 1), window=1000)
    answered = await ask(told, chat)
    [prompt] = chat.prompts
    assert prompt.max_tokens + chat.count_tokens(prompt.system + prompt.user) <= 1000
    assert answered.found.hits[0].item.text in prompt.user, "the best stays"
    assert len(answered.found.hits) > 5


async def test_without_evidence_nothing_is_asked(told: Container) -> None:
    chat = ActingChat(reply())
    answered = await ask(told, chat, top_k=0)
    assert (answered.reason, answered.abstained, chat.prompts) == ("no_evidence", True, [])
