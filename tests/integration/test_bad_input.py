"""Wrong requests: a clear 4xx that names the field, nothing stored, nothing lost. Cases are those of peers' users."""

import json
import re
from typing import Any

import pytest

from tests.conftest import Api
from tests.integration.support import assert_problem, messages_path, rest, route, search, status

JSON = {"content-type": "application/json"}
BLANK = "  \n\t\u3000"
GOOD = {"role": "user", "content": "My bike is called Rosinante."}


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def _refused(api: Api, ada: str, body: Any, code: int = 422, *pointers: str) -> dict[str, Any]:  # noqa: ANN401
    """The batch is refused, nothing of it is stored, and the namespace does not even come into being."""
    content = body if isinstance(body, (str, bytes)) else json.dumps(body)
    problem = assert_problem(await api.post(messages_path(ada), content=content, headers=JSON), code, *pointers)
    assert_problem(await api.get(f"/v1/namespaces/{ada}"), 404)
    return problem


async def _still_works(api: Api, ada: str) -> None:
    """Later writes and reads of the same namespace go well."""
    await api.say(ada, GOOD["content"])
    settled = await api.settle(ada)
    assert (settled["settled"], settled["jobs"]["failed"]) == (True, 0)
    for level in ("episodes", "statements", "themes"):
        await api.all(f"/v1/namespaces/{ada}/{level}")
    assert "Rosinante" in (await search(api, ada, "What is my bike called?"))["context"]


# Messages --------------------------------------------------------------------------------------------------

WRONG_MESSAGES = {
    "empty": ("", "#/messages/1"),
    "blank": (BLANK, "#/messages/1"),
    "null": (None, "#/messages/1/content"),
    "number": (5, "#/messages/1/content"),
    "list": (["tea"], "#/messages/1/content"),
    "too long": ("x" * 1_000_001, "#/messages/1/content"),
}


@pytest.mark.parametrize("case", WRONG_MESSAGES)
async def test_wrong_content(api: Api, ada: str, case: str) -> None:
    """Case 11; a good message in the same batch is not stored either."""
    content, pointer = WRONG_MESSAGES[case]
    problem = await _refused(api, ada, {"messages": [GOOD, {"role": "user", "content": content}]})
    assert any(error["pointer"].startswith(pointer) for error in problem["errors"])
    await _still_works(api, ada)


WRONG_FIELDS = {
    "role": ({"role": "robot"}, "role"),
    "no role": ({"role": None}, "role"),
    "unknown": ({"contents": "x"}, "contents"),
    "external_id": ({"external_id": ""}, "external_id"),
    "long external_id": ({"external_id": "x" * 256}, "external_id"),
    "speaker": ({"speaker": "x" * 201}, "speaker"),
    "metadata": ({"metadata": ["x"]}, "metadata"),
    "large metadata": ({"metadata": {"a": "é" * 8_200}}, "metadata"),
    "image": ({"images": [{"url": "x"}]}, "images/0/caption"),
    "time as number": ({"occurred_at": 1741579200}, "occurred_at"),
    "time as digits": ({"occurred_at": "1741579200"}, "occurred_at"),
    "words": ({"occurred_at": "yesterday"}, "occurred_at"),
    "no such day": ({"occurred_at": "2025-02-30"}, "occurred_at"),
    "before the calendar": ({"occurred_at": "0001-01-01T00:00:00+05:00"}, "occurred_at"),
    "after the calendar": ({"occurred_at": "9999-12-31T23:59:59-05:00"}, "occurred_at"),
    "zone": ({"occurred_at": "2025-03-10T12:00:00+25:00"}, "occurred_at"),
    "boolean time": ({"occurred_at": True}, "occurred_at"),
}


@pytest.mark.parametrize("case", WRONG_FIELDS)
async def test_wrong_fields_of_a_message(api: Api, ada: str, case: str) -> None:
    change, field = WRONG_FIELDS[case]
    await _refused(api, ada, {"messages": [GOOD, GOOD | change]}, 422, f"#/messages/1/{field}")


@pytest.mark.parametrize("depth", [9, 50, 400, 700, 950, 5_000, 200_000])
@pytest.mark.parametrize("bracket", ["{}", "[]"])
async def test_deep_metadata(api: Api, ada: str, depth: int, bracket: str) -> None:
    opening, closing = bracket
    key = '"a":' if bracket == "{}" else ""
    deep = (opening + key) * depth + "1" + closing * depth
    body = f'{{"messages": [{{"role": "user", "content": "tea", "metadata": {{"x": {deep}}}}}]}}'
    reply = await api.post(messages_path(ada), content=body, headers=JSON)
    assert_problem(reply, 422)
    assert_problem(await api.get(f"/v1/namespaces/{ada}"), 404)
    asked = await api.post(route(ada, "search"), content=f'{{"query": "x", "metadata": {{"x": {deep}}}}}', headers=JSON)
    assert_problem(asked, 422)


async def test_metadata_at_its_limits_is_accepted(api: Api, ada: str) -> None:
    deep: Any = "leaf"
    for _ in range(7):
        deep = {"d": deep}
    for metadata in ({"x": deep}, {"a": "x" * 16_300}):
        [message] = (await api.say(ada, "I like tea.", metadata=metadata))["messages"]
        assert (await api.get(f"/v1/namespaces/{ada}/messages/{message['id']}")).json()["metadata"] == metadata


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"messages": []}, 422, "#/messages"),
        ({"messages": [GOOD] * 1001}, 422, "#/messages"),
        ({"messages": [GOOD], "wait": True}, 422, "#/wait"),
        ({"messages": GOOD}, 422, "#/messages"),
        ({}, 422, "#/messages"),
        ([GOOD], 422, "#"),
        ("null", 422, "#"),
        ("", 422, "#"),
        ('{"messages": [', 422, "#"),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', 422, "#"),
        ('{"messages": [{"role": "user", "content": "x", "metadata": {"a": %s}}]}' % ("9" * 5000), 422, "#"),
    ],
)
async def test_wrong_bodies(api: Api, ada: str, body: Any, code: int, pointer: str | None) -> None:  # noqa: ANN401
    await _refused(api, ada, body, code, *([pointer] if pointer else []))


# NUL and lone surrogates -----------------------------------------------------------------------------------

BROKEN = ("price\\u0000list 40", "broken \\ud83d emoji", "\\udc00", "a\\u0000")


@pytest.mark.parametrize("text", BROKEN)
async def test_broken_characters_in_a_message_are_replaced(api: Api, ada: str, text: str) -> None:
    """Case 12: stored with U+FFFD in their place; no later read breaks."""
    wrong = f'"role": "user", "content": "I sold the {text}", "speaker": "S{text}", "external_id": "e{text}"'
    metadata = f'"metadata": {{"{text}": "{text}", "deep": [{{"{text}": ["{text}"]}}]}}'
    images = f'"images": [{{"caption": "c{text}", "query": "{text}"}}]'
    body = f'{{"messages": [{{{wrong}, {metadata}, {images}}}]}}'
    reply = await api.post(messages_path(ada), content=body, headers=JSON)
    assert reply.status_code == 202, reply.text
    again = await api.post(messages_path(ada), content=body, headers=JSON)
    assert again.json()["duplicates"] == 1
    cleaned = json.loads(f'"{text}"').replace("\0", "\ufffd")
    cleaned = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in cleaned)
    [message] = await api.all(messages_path(ada))
    assert message["content"] == f"I sold the {cleaned}"
    assert message["metadata"] == {cleaned: cleaned, "deep": [{cleaned: [cleaned]}]}
    found = await api.post(
        route(ada, "search"), content=f'{{"query": "sold {text}", "metadata": {{"{text}": "{text}"}}}}', headers=JSON
    )
    assert found.status_code == 200
    assert found.json()["items"]
    await _still_works(api, ada)


@pytest.mark.parametrize("text", BROKEN)
async def test_broken_characters_elsewhere_are_no_server_error(api: Api, ada: str, text: str) -> None:
    await api.say(ada, GOOD["content"])
    for path, body in (
        (messages_path(ada), '{"messages": [{"role": "%s", "content": "x"}]}'),
        (messages_path(ada), '{"messages": [{"role": "user", "content": "x", "%s": 1}]}'),
        (messages_path(ada), '{"messages": [{"role": "user", "content": "x", "occurred_at": "%s"}]}'),
        (messages_path(ada), '{"messages": [], "%s": 1}'),
        (route(ada, "search"), '{"query": "x", "levels": ["%s"]}'),
        (route(ada, "search"), '{"query": "x", "strategy": "%s"}'),
        (route(ada, "search"), '{"query": "x", "top_k": {"%s": 1}}'),
        (route(ada, "search"), '{"query": "x", "from": "%s"}'),
        (route(ada, "flush"), '{"conversation": "%s"}'),
        (route(ada, "flush"), '{"%s": 1}'),
    ):
        assert_problem(await api.post(path, content=body % text, headers=JSON), 422)
    assert (await status(api, ada))["messages"] == 1


NAMES = ("a%00b", "a%20b", "a%0Ab", "%09", "%20", "%2E%2E", ".hidden", "a%5Cb", "a%7Fb", "x" * 201, "%E3%80%80")


@pytest.mark.parametrize("name", NAMES)
async def test_names_that_are_refused(api: Api, ada: str, name: str) -> None:
    body = {"messages": [GOOD]}
    assert_problem(await api.post(messages_path(name), json=body), 422, "path/namespace")
    assert_problem(await api.post(messages_path(ada, name), json=body), 422, "path/conversation")
    assert_problem(await api.get(route(name, "status")), 422, "path/namespace")
    assert_problem(await api.delete(f"/v1/namespaces/{name}"), 422, "path/namespace")
    assert_problem(await api.get(f"/v1/namespaces/{ada}"), 404)


async def test_a_slash_never_reaches_into_a_name(api: Api, ada: str) -> None:
    for name in (f"{ada}%2Fb", f"{ada}/b", f"%2F{ada}", ""):
        assert_problem(await api.post(messages_path(name), json={"messages": [GOOD]}), 404)
    assert not [one["name"] for one in await api.all("/v1/namespaces") if ada in one["name"] or not one["name"]]


@pytest.mark.parametrize(
    "name", ["ada@example.org", "Ünï-код_名前:1", "*", "';DROPTABLEmessages;--", "%25", "null", "İ"]
)
async def test_names_that_are_taken_as_they_are(api: Api, name: str) -> None:
    reply = await api.post(messages_path(name, name), json={"messages": [GOOD]})
    assert reply.status_code == 202, reply.text
    expected = "%" if name == "%25" else name
    assert (reply.json()["namespace"], reply.json()["conversation"]) == (expected, expected)
    assert (await api.get(f"/v1/namespaces/{name}")).json()["name"] == expected
    assert [message["conversation"] for message in await api.all(messages_path(name, name))] == [expected]


# Metadata --------------------------------------------------------------------------------------------------


async def test_odd_metadata_comes_back_as_sent_and_harms_nothing(api: Api, ada: str) -> None:
    """Case 19."""
    odd = {"ocr": None, "n": 3, "ok": True, "tags": ["a,b", "c|d", "é"], "deep": {"x": [1, {"y": "z"}]}}
    more = {"": "", "f": 0.1, "big": 10**30, "-": -0.5, "$where": "1", "a.b": {"'": '"'}, "e": [[], {}], "😀": "İ"}
    await api.say(ada, "I like tea.", metadata=odd)
    await api.say(ada, "I like coffee.", metadata=more)
    await api.say(ada, "I like water.")
    assert [m["metadata"] for m in await api.all(messages_path(ada))] == [odd, more, {}]
    await api.settle(ada)
    for part in (odd, {"ocr": None}, {"tags": ["é"]}, {"deep": {"x": [{"y": "z"}]}}, {"ok": True}):
        found = await search(api, ada, "What do I like?", metadata=part, levels=["message"])
        assert [item["messages"][0]["sequence"] for item in found["items"]] == [1], part
    for part in (more, {"a.b": {}}, {"e": []}, {"": ""}):
        found = await search(api, ada, "What do I like?", metadata=part, levels=["message"])
        assert [item["messages"][0]["sequence"] for item in found["items"]] == [2], part
    for part in ({"ok": 1}, {"n": "3"}, {"tags": "é"}, {"ocr": False}, {"no": None}):
        assert (await search(api, ada, "What do I like?", metadata=part, levels=["message"]))["items"] == [], part
    await _still_works(api, ada)


# Questions -------------------------------------------------------------------------------------------------

ODD_QUERIES = (
    "???",
    "a | b / c \\ d",
    "`rm -rf`",
    "the of and",
    'NEAR("x") AND OR NOT *',
    "'; DROP TABLE facts;--",
    "%",
    "_",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\u202e\u0301\u0301",
    "x" * 10_000,
    "\ufdfa" * 2_000,
)


@pytest.mark.parametrize("query", ODD_QUERIES)
async def test_odd_queries_find_or_do_not_find(api: Api, ada: str, query: str) -> None:
    """Case 14."""
    await api.say(ada, "I like tea | coffee / milk.", metadata={"tag": "x"})
    await api.settle(ada)
    for strategy in ("adaptive", "hybrid", "bm25", "vector"):
        await search(api, ada, query, strategy=strategy, metadata={"tag": "x"})
    assert (await api.get(route(ada, "search"), params={"q": query})).status_code == 200
    assert (await api.post(route(ada, "answer"), json={"query": query})).status_code == 200
    assert (await status(api, ada))["messages"] == 1


async def test_blank_and_missing_queries(api: Api, ada: str) -> None:
    await api.say(ada, GOOD["content"])
    for path in (route(ada, "search"), route(ada, "answer")):
        for query in ("", " " * 300, BLANK):
            assert_problem(await api.post(path, json={"query": query}), 422, "#/query")
            assert_problem(await api.get(path, params={"q": query}), 422, "query/q")
        assert_problem(await api.post(path, json={}), 422, "#/query")
        assert_problem(await api.post(path, json={"query": "x" * 10_001}), 422, "#/query")
        assert_problem(await api.get(path), 422, "query/q")


WRONG_READS = {
    "top_k": [-1, 10**9, "ten", None, 1.5, [], {"message": -1}, {"messages": 1}],
    "max_tokens": [0, 63, 32_001, "many", -5],
    "min_score": [2, -0.1, "high"],
    "min_sequence": [-1, 2**63, "now"],
    "strategy": ["best", None, 1],
    "levels": [[], ["word"], "message", None],
    "from": [5, "soon", "2025-02-30", "2025-13-01T00:00:00Z"],
    "to": [True, "0001-01-01T00:00:00+05:00"],
    "as_of": [{}, "9999-12-31T23:59:59-05:00"],
    "metadata": [[], "x", {"a": "x" * 17_000}],
    "explain": ["perhaps"],
}


@pytest.mark.parametrize("field", WRONG_READS)
async def test_wrong_parameters_of_a_read(api: Api, ada: str, field: str) -> None:
    """Case 20."""
    await api.say(ada, GOOD["content"])
    for path in (route(ada, "search"), route(ada, "answer")):
        for value in WRONG_READS[field]:
            problem = assert_problem(await api.post(path, json={"query": "bike", field: value}), 422)
            for error in problem["errors"]:
                place = error["pointer"].split("/")
                assert place[:2] == ["#", field], (value, problem)
                assert all(part.isalnum() for part in place[2:]), problem
            if isinstance(value, (str, int, float)) and field not in ("metadata", "levels"):
                wrong = await api.get(path, params={"q": "bike", field: value})
                if wrong.status_code != 200:  # a query string holds no types: "true" may be a word
                    assert_problem(wrong, 422, f"query/{field}")


async def test_the_allowed_range_is_named(api: Api, ada: str) -> None:
    await api.say(ada, GOOD["content"])
    for field, value, limit in (
        ("top_k", -1, "0"),
        ("top_k", 10**9, "100"),
        ("max_tokens", 63, "64"),
        ("min_score", 2, "1"),
    ):
        problem = assert_problem(
            await api.get(route(ada, "search"), params={"q": "x", field: value}), 422, f"query/{field}"
        )
        assert limit in problem["errors"][0]["detail"]
    hint = assert_problem(await api.get(route(ada, "search"), params={"q": "x", "from": "soon"}), 422, "query/from")
    assert "RFC 3339" in hint["errors"][0]["detail"]


LISTS = ("conversations", "conversations/chat/messages", "episodes", "statements", "themes", "jobs")


@pytest.mark.parametrize("name", ["", *LISTS])
async def test_wrong_paging(api: Api, ada: str, name: str) -> None:
    await api.say(ada, GOOD["content"])
    path = route(ada, name) if name else "/v1/namespaces"
    for limit in (-5, 0, 101, "ten", ""):
        assert_problem(await api.get(path, params={"limit": limit}), 422, "query/limit")
    for cursor in ("made-up", "zzz", "%", "😀", "0", "LTE", "x" * 201, "'; DROP TABLE jobs;--", "\0"):
        assert_problem(await api.get(path, params={"cursor": cursor}), 422, "query/cursor")
    assert_problem(await api.get(path, params={"page": 2}), 422, "query/page")
    assert (await api.get(path)).status_code == 200


async def test_unknown_parameters_are_refused_everywhere(api: Api, ada: str) -> None:
    await api.say(ada, GOOD["content"])
    await rest(api, ada)
    document = (await api.get("/openapi.json")).json()
    found = {
        name: await api.all(f"/v1/namespaces/{ada}/{name}") for name in ("jobs", "statements", "episodes", "themes")
    }
    assert found["jobs"]
    for path, methods in document["paths"].items():
        real = path.replace("{namespace}", ada).replace("{conversation}", "chat")
        if "{" in real:
            real = re.sub(r"{\w+}", found["jobs"][0]["id"], real)
        for method in methods:
            reply = await api.request(method, f"{real}?colour=red", **({"json": {}} if method == "post" else {}))
            assert_problem(reply, 422, "query/colour")
    assert (await status(api, ada))["messages"] == 1
    for path in (route(ada, "search"), route(ada, "answer")):
        assert_problem(await api.post(path, json={"query": "x", "topk": 1}), 422, "#/topk")


# Around the routes -----------------------------------------------------------------------------------------


async def test_a_parameter_given_twice_is_refused_unless_it_is_a_list(api: Api, ada: str) -> None:
    await api.say(ada, GOOD["content"])
    path = f"/v1/namespaces/{ada}/search"
    assert_problem(await api.get(f"{path}?q=bike&q=boat"), 422, "query/q")
    assert (await api.get(f"{path}?q=bike&levels=message&levels=statement")).status_code == 200


async def test_what_is_not_there(api: Api, ada: str) -> None:
    assert_problem(await api.get("/nowhere"), 404)
    assert_problem(await api.get(f"/v1/namespaces/{ada}/status/"), 404)
    assert_problem(await api.get(f"/v1/namespaces/{ada}"), 404)
    wrong = await api.put(f"/v1/namespaces/{ada}")
    assert_problem(wrong, 405)
    assert "allow" in wrong.headers
    for noun in ("messages", "episodes", "statements", "themes", "jobs"):
        assert_problem(await api.get(f"/v1/namespaces/{ada}/{noun}/not-an-id"), 422)
        assert_problem(await api.get(f"/v1/namespaces/{ada}/{noun}/01a22a70-eaae-771f-ac93-d5f335c0ed07"), 404)
    assert_problem(await api.get("/v1/receipts/01a22a70-eaae-771f-ac93-d5f335c0ed07"), 404)


async def test_every_reply_has_an_id_of_its_own(api: Api, ada: str) -> None:
    replies = [await api.get(path) for path in ("/health/live", "/nowhere", "/v1/namespaces?limit=0", "/version")]
    assert len({reply.headers["x-request-id"] for reply in replies}) == 4


async def test_dates_at_the_edges_of_the_calendar_do_no_harm(api: Api, ada: str) -> None:
    content = "I was in Rome yesterday and last week; tomorrow and in two years I travel to Porto."
    for moment in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31", "2000-02-29"):
        await api.say(ada, content, occurred_at=moment)
    await _still_works(api, ada)
    for limit in ("0001-01-01", "9999-12-31T23:59:59Z"):
        for field in ("from", "to", "as_of"):
            await search(api, ada, "Where was I yesterday?", **{field: limit})
