"""Answer: what the messages say, cited, or an abstention with a reason."""

import pytest

from app.domain.text import count_tokens
from tests.conftest import Api
from tests.integration.support import FOUND, assert_problem, messages_path, route
from tests.integration.test_search import FACTS, STRATEGIES


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


CHAT = (
    ("D1:1", "Caroline", "Hey Mel! Good to see you! How have you been?"),
    ("D1:2", "Melanie", "Hey Caroline! I'm swamped with the kids and work."),
    ("D1:3", "Caroline", "I went to a LGBTQ support group yesterday and it was so powerful."),
    ("D1:4", "Melanie", "Wow, that's cool! I ran a charity race for mental health last Saturday."),
)


async def _chat(api: Api, ada: str) -> dict[str, str]:
    messages = [
        {"role": "user", "speaker": who, "content": text, "external_id": name, "occurred_at": "2023-05-08T13:56:00Z"}
        for name, who, text in CHAT
    ]
    assert (await api.post(messages_path(ada), json={"messages": messages})).status_code == 202
    await api.settle(ada)
    return {name: text for name, _, text in CHAT}


async def test_yesterday_is_the_day_before_it_was_said(api: Api, ada: str) -> None:
    contents = await _chat(api, ada)
    reply = await api.post(route(ada, "answer"), json={"query": "When did Caroline go to the LGBTQ support group?"})
    assert reply.status_code == 200
    answered = reply.json()
    assert answered.keys() == {
        *FOUND,
        *("answer", "abstained", "reason", "confidence", "citations", "data", "usage"),
    }
    assert "7 May 2023" in answered["answer"]
    assert (answered["abstained"], answered["reason"], answered["data"]) == (False, None, None)
    assert 0 < answered["confidence"] <= 1
    assert answered["citations"]
    for citation in answered["citations"]:
        assert citation["quote"] in contents[citation["external_id"]], "word for word"
        assert (citation["conversation"], citation["occurred_at"]) == ("chat", "2023-05-08T13:56:00Z")
    assert answered["citations"][0]["external_id"] == "D1:3"
    assert answered["usage"]["context_tokens"] == answered["tokens"] == count_tokens(answered["context"])


async def test_case_34_yesterday_is_relative_to_the_message(api: Api, ada: str) -> None:
    await api.say(ada, "I went to the support group yesterday.", speaker="Ada", occurred_at="2023-05-08T10:00:00Z")
    await api.settle(ada)
    for question in ("When did I go?", "When did Ada go to the support group?"):
        answered = (await api.post(route(ada, "answer"), json={"query": question})).json()
        assert "7 May 2023" in answered["answer"], question
        assert answered["citations"][0]["quote"] == "I went to the support group yesterday."


async def test_get_and_post_agree(api: Api, ada: str) -> None:
    await _chat(api, ada)
    wanted = {"max_tokens": 500, "question_date": "2023-06-01T00:00:00Z"}
    question = "When did Melanie run a charity race for mental health?"
    by_post = (await api.post(route(ada, "answer"), json={"query": question, **wanted})).json()
    by_get = (await api.get(route(ada, "answer"), params={"q": question, **wanted})).json()
    for answered in (by_post, by_get):
        assert answered["usage"]["stages"]["embedder"].pop("seconds") > 0
    assert by_get == by_post
    assert by_get["citations"]


async def test_dates_of_a_question_count_from_the_day_it_is_asked(api: Api, ada: str) -> None:
    await _chat(api, ada)
    for date in ("2023-05-09", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        for question in ("What did Caroline do two days ago?", "What will she do in two years, next week?"):
            reply = await api.post(route(ada, "answer"), json={"query": question, "question_date": date})
            assert reply.status_code == 200, (date, question, reply.text)
    for wrong in ("2023-02-30", 5, "soon"):
        assert_problem(
            await api.post(route(ada, "answer"), json={"query": "tea?", "question_date": wrong}), 422, "#/question_date"
        )


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_nobody_spoke_of_is_not_answered(api: Api, ada: str, strategy: str) -> None:
    await api.say(ada, *FACTS)
    await api.settle(ada)
    body = {"query": "quarterly tax form of the moon base", "strategy": strategy}
    answered = (await api.post(route(ada, "answer"), json=body)).json()
    assert (answered["answer"], answered["abstained"], answered["citations"]) == (None, True, [])
    assert answered["reason"] == "no_evidence"
    assert answered["data"] is None


async def test_an_empty_context_gives_no_answer(api: Api, ada: str) -> None:
    await _chat(api, ada)
    reply = await api.post(
        route(ada, "answer"), json={"query": "When did Caroline go to the support group?", "top_k": 0}
    )
    assert (reply.json()["abstained"], reply.json()["items"], reply.json()["tokens"]) == (True, [], 0)
    assert_problem(await api.post("/v1/namespaces/nobody/answer", json={"query": "tea?"}), 404)


async def test_what_is_known_of_another_time_only_is_said_to_be(api: Api, ada: str) -> None:
    await _chat(api, ada)
    body = {"query": "When did Caroline go to the LGBTQ support group?"}
    for limits in ({"to": "2023-05-01T00:00:00Z"}, {"as_of": "2023-05-01T00:00:00Z"}, {"from": "2023-06-01T00:00:00Z"}):
        answered = (await api.post(route(ada, "answer"), json={**body, **limits})).json()
        assert (answered["answer"], answered["reason"], answered["items"]) == (None, "outside_time", []), limits
    nowhere = {"query": "quarterly tax form of the moon base", "to": "2023-05-01T00:00:00Z"}
    assert (await api.post(route(ada, "answer"), json=nowhere)).json()["reason"] == "no_evidence"
