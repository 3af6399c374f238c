"""A language model over real HTTP: each fault of the endpoint ends in the right reply or in the right error."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from app.domain.chat import Finish
from app.domain.errors import (
    AppError,
    ConfigurationError,
    ContextOverflow,
    ProviderRefused,
    ProviderUnavailable,
    UnusableReply,
)
from app.domain.pieces import Piece
from app.prompts import statements
from app.providers.chat_openai import OpenAIChat
from app.providers.guard import GuardPolicy
from app.providers.guarded import GuardedChat
from app.providers.scripted_chat import ScriptedChat
from app.providers.structured import ask
from app.stub.faults import Fault
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT
from tests.integration.stubbed import KEY, PATIENCE, READY, SECRET, Stub, checked, question, stubbed


@pytest.fixture
async def chat(stub: Stub) -> OpenAIChat:
    """A model that has been found out, at an endpoint where nothing goes wrong yet."""
    chat = stub.chat()
    await chat.capabilities()
    return chat


async def test_reply(stub: Stub, chat: OpenAIChat) -> None:
    reply = await chat.reply(question())
    assert json.loads(reply.text) == READY
    assert reply.finish is Finish.STOP
    assert reply.tokens.read > 0
    assert reply.tokens.written > 0
    body = stub.calls.requests[-1]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["temperature"] == 0
    assert body["max_tokens"] == 200
    assert body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("faults", [set(), {Fault.REFUSE_SCHEMA}, {Fault.REFUSE_SCHEMA, Fault.REFUSE_JSON}])
async def test_a_prompt_of_ours_is_answered_the_same_in_every_form(stub: Stub, faults: set[Fault]) -> None:
    said = ["Anna: I adopted a cat called Miso on 3 May 2024.", "Ben: I have moved to Lisbon."]
    pieces = [Piece(number, text, datetime(2024, 5, 4, tzinfo=UTC)) for number, text in enumerate(said, 1)]
    prompt = statements.render(pieces, {"K1": "Ben: I live in Porto."})
    stub.plan.always(*faults)
    reply = await stub.chat().reply(prompt)
    assert statements.parse(json.loads(reply.text)).noted
    assert reply.text == (await ScriptedChat().reply(prompt)).text


async def test_a_reply_is_heard_while_it_is_written(stub: Stub, chat: OpenAIChat) -> None:
    heard: list[str] = []
    reply = await chat.reply(question(), heard.append)
    assert (json.loads(reply.text), heard[-1], len(heard)) == (READY, reply.text, 4)
    assert reply == await chat.reply(question()), "with the endpoint's own count of tokens"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.CUT, ProviderUnavailable),
        (Fault.ERROR_IN_STREAM, ProviderUnavailable),
        (Fault.REFUSAL, ProviderRefused),
        (Fault.UNAUTHORIZED, ProviderRefused),
        (Fault.NOT_JSON, ProviderUnavailable),
    ],
)
async def test_a_stream_that_fails_is_no_reply(
    stub: Stub, chat: OpenAIChat, fault: Fault, error: type[Exception]
) -> None:
    stub.plan.then(fault)
    with pytest.raises(error) as raised:
        await chat.reply(question(), lambda text: None)
    assert KEY not in str(raised.value)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("fault", [Fault.REFUSE_STREAM, Fault.IGNORE_STREAM, Fault.REASONING_ONLY])
async def test_an_endpoint_that_does_not_stream_is_heard_at_its_end(stub: Stub, chat: OpenAIChat, fault: Fault) -> None:
    stub.plan.always(fault)
    heard: list[str] = []
    for _ in range(2):
        reply = await chat.reply(question(), heard.append)
    assert json.loads(reply.text) == READY
    assert set(heard) <= {reply.text}
    streamed = sum("stream" in body for body in stub.calls.requests)
    assert streamed == (1 if fault is Fault.REFUSE_STREAM else 2), "what it refuses is not asked for again"


async def test_nobody_listens() -> None:
    async with stubbed() as stub:
        chat = stub.chat()
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await stub.chat().reply(question())
    assert chat.name == "tiny"


@pytest.mark.parametrize(
    "fault",
    [Fault.THINKING_TAGS, Fault.REASONING_ONLY, Fault.FENCED, Fault.INNER_BACKTICKS, Fault.TRAILING_COMMA],
)
async def test_odd_forms_are_read(stub: Stub, chat: OpenAIChat, fault: Fault) -> None:
    stub.plan.then(fault)
    found = await ask(chat, question(), checked)
    assert found["ready"] is True
    assert found["word"].endswith("ready")
    assert (stub.plan.waiting, stub.asked) == ((), 4)


@pytest.mark.parametrize(
    "fault",
    [Fault.TRUNCATED, Fault.MISSING_KEYS, Fault.UNEXPECTED_KEY, Fault.SCHEMA_ECHO, Fault.EMPTY_REPLY],
)
async def test_what_cannot_be_used_is_asked_for_once_more_and_then_fails(
    stub: Stub, chat: OpenAIChat, fault: Fault
) -> None:
    stub.plan.then(fault)
    assert await ask(chat, question(), checked) == READY
    assert stub.asked == 5
    stub.plan.always(fault)
    with pytest.raises(UnusableReply) as failure:
        await ask(chat, question(), checked)
    assert stub.asked == 7
    _assert_tells_nothing(failure.value)


async def test_a_reply_that_was_cut_off_says_so(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.then(Fault.TRUNCATED)
    assert (await chat.reply(question())).finish is Finish.LENGTH


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault.BAD_REQUEST, ProviderRefused, "400 (invalid_value)"),
        (Fault.UNAUTHORIZED, ProviderRefused, "401 (invalid_api_key)"),
        (Fault.NOT_FOUND, ProviderRefused, "404 (model_not_found)"),
        (Fault.CONTENT_POLICY, ProviderRefused, "400 (content_policy_violation)"),
        (Fault.REFUSAL, ProviderRefused, "declined"),
        (Fault.CONTENT_FILTER, ProviderRefused, "declined"),
        (Fault.RATE_LIMITED, ProviderUnavailable, "429 (rate_limit_exceeded)"),
        (Fault.SERVER_ERROR, ProviderUnavailable, "500 (server_error)"),
        (Fault.ERROR_WITH_200, ProviderUnavailable, "502"),
        (Fault.NOT_JSON, ProviderUnavailable, "no JSON"),
        (Fault.BROKEN_JSON, ProviderUnavailable, "no JSON"),
        (Fault.HANG, ProviderUnavailable, "in time"),
        (Fault.CUT, ProviderUnavailable, "cut"),
        (Fault.NO_CHOICES, UnusableReply, "no choices"),
        (Fault.OVERFLOW_OPENAI, ContextOverflow, "context_length_exceeded"),
        (Fault.OVERFLOW_VLLM, ContextOverflow, "BadRequestError"),
        (Fault.OVERFLOW_LLAMA_CPP, ContextOverflow, "exceed_context_size_error"),
        (Fault.OVERFLOW_OLLAMA, ContextOverflow, "400"),
        (Fault.TOO_LARGE, ContextOverflow, "413"),
    ],
)
async def test_what_fails_ends_in_the_right_error(
    stub: Stub, chat: OpenAIChat, fault: Fault, kind: type[AppError], said: str
) -> None:
    stub.plan.always(fault)
    with pytest.raises(kind) as failure:
        await chat.reply(question())
    assert said in str(failure.value)
    _assert_tells_nothing(failure.value)
    stub.plan.mend()
    assert json.loads((await chat.reply(question())).text) == READY


async def test_an_empty_text_is_no_reply(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.then(Fault.EMPTY_REPLY)
    with pytest.raises(UnusableReply, match="empty"):
        await chat.reply(question(schema=None))


async def test_a_slow_drip_keeps_a_call_alive_until_its_caller_has_had_enough(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.then(Fault.SLOW_DRIP)
    stub.plan.seconds = 1.5 * PATIENCE.read
    assert json.loads((await chat.reply(question())).text) == READY  # longer than one read may take
    stub.plan.then(Fault.SLOW_DRIP)
    stub.plan.seconds = 30
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await chat.reply(question())


@pytest.mark.parametrize("given", ["7", "7.5", "date", "soon", "-3", ""])
async def test_retry_after(stub: Stub, chat: OpenAIChat, given: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=1000), usegmt=True)
    stub.plan.retry_after = date if given == "date" else given
    stub.plan.then(Fault.RATE_LIMITED)
    with pytest.raises(ProviderUnavailable) as failure:
        await chat.reply(question())
    waits = {"7": 7, "7.5": 7.5, "date": pytest.approx(1000, abs=WAIT), "-3": 0}
    assert failure.value.retry_after == waits.get(given)


async def test_a_form_that_is_refused_later_is_given_up_once(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.always(Fault.REFUSE_SCHEMA, Fault.REFUSE_JSON)
    assert await ask(chat, question(), checked) == READY
    assert stub.asked == 3 + 3
    assert await ask(chat, question(), checked) == READY
    assert stub.asked == 3 + 4
    stub.plan.mend()
    assert await ask(chat, question(schema=question().schema | {"title": "other"}), checked) == READY
    assert "response_format" in stub.calls.requests[-1]


async def test_a_request_refused_in_every_form_changes_nothing(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.always(Fault.BAD_REQUEST)
    with pytest.raises(ProviderRefused):
        await chat.reply(question())
    stub.plan.mend()
    await chat.reply(question())
    assert stub.calls.requests[-1]["response_format"]["type"] == "json_schema"


async def test_a_prompt_longer_than_the_window_is_not_sent(stub: Stub, chat: OpenAIChat) -> None:
    asked = stub.asked
    with pytest.raises(ContextOverflow, match="window"):
        await chat.reply(question("word " * 8000))
    with pytest.raises(ContextOverflow, match="window"):
        await chat.reply(question(max_tokens=8150))
    assert stub.asked == asked
    small = stub.chat(context_tokens=600)
    assert (await small.capabilities()).context_tokens == 525
    assert stub.calls.counts["models"] == 1


async def test_a_model_that_thinks_has_room_for_it(stub: Stub) -> None:
    stub.plan.always(Fault.REASONING_ONLY)
    chat = stub.chat()
    await chat.reply(question(max_tokens=200))
    assert stub.calls.requests[-1]["max_tokens"] == 200 + 4096
    await chat.reply(question("word " * 4000, max_tokens=200))
    assert stub.calls.requests[-1]["max_tokens"] < 8192 - 5000


async def test_scoring(stub: Stub, chat: OpenAIChat) -> None:
    async with chat.scoring("Read.", "Anna: the bike is called Rosinante\nBen: I like tea\n") as scoring:
        bike, tea, none = await scoring.score(["what is the bike called?", "who likes tea?", "quarterly tax form?"])
    assert "Rosinante" in bike.text
    assert "tea" in tea.text
    assert all(scored.logprobs and max(scored.logprobs) <= 0 for scored in (bike, tea, none))
    assert bike.uncertainty < none.uncertainty
    assert bike.tokens.read > 0
    assert len({body["messages"][0]["content"] for body in list(stub.calls.requests)[-3:]}) == 1
    assert stub.calls.requests[-1]["max_tokens"] == 20


async def test_scoring_fails_truly(stub: Stub, chat: OpenAIChat) -> None:
    stub.plan.then(Fault.SERVER_ERROR)
    async with chat.scoring("Read.", "Anna: hello\n") as scoring:
        with pytest.raises(ProviderUnavailable):
            await scoring.score([f"question {number}" for number in range(20)])
        stub.plan.always(Fault.IGNORE_LOGPROBS)  # not for once: a probe that was given up may yet arrive
        with pytest.raises(UnusableReply):
            await scoring.score(["hello?"])
        with pytest.raises(ContextOverflow):
            await scoring.score(["word " * 8000])
    stub.plan.always(Fault.REFUSE_LOGPROBS)
    with pytest.raises(ProviderRefused, match="log-probabilities"):
        async with stub.chat().scoring("Read.", "Anna: hello\n"):
            pass


@pytest.mark.parametrize(
    "fault",
    [Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.CUT, Fault.ERROR_WITH_200, Fault.HANG, Fault.SLOW_DRIP],
)
async def test_what_passes_by_is_tried_again_under_guard(stub: Stub, chat: OpenAIChat, fault: Fault) -> None:
    stub.plan.seconds = 30  # of a slow drip: its bytes come in time, its end does not
    policy = GuardPolicy(call_seconds=2.0, first_delay=0.01, attempts=2)
    guarded = GuardedChat(chat, policy, Metrics(version="0"))
    stub.plan.then(fault)
    assert await ask(guarded, question(), checked) == READY
    assert stub.asked == 3 + 2


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "127.0.0.1:11434/v1"},
        {"base_url": "ftp://models.example/v1"},
        {"base_url": "http://"},
        {"api_key": "sk-äö"},
        {"api_key": "two\nlines"},
    ],
)
async def test_what_cannot_work_is_refused_at_once(stub: Stub, fields: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError) as failure:
        stub.chat(**fields)
    assert fields.get("api_key", KEY) not in str(failure.value)


async def test_no_key_is_needed(stub: Stub) -> None:
    assert (await stub.chat(api_key=None).reply(question())).text


def test_the_key_is_shown_nowhere() -> None:
    stub = Stub("http://127.0.0.1:9/v1", None, None)
    chat, embedder = stub.chat(), stub.embedder()
    assert not any(KEY in repr(vars(found)) + repr(found) for found in (chat, embedder, chat._endpoint))


def _assert_tells_nothing(failure: AppError) -> None:
    """No word of the memory and nothing of the key, also in what is chained and not suppressed."""
    assert failure.__cause__ is None
    assert failure.__suppress_context__ or failure.__context__ is None
    assert not any(word in str(failure) for word in (KEY, KEY[:8], SECRET, "otter"))
