"""The tools' client and the figures that they draw."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from app.evaluation import demo, report
from app.evaluation.client import Client, connect
from app.evaluation.errors import Refused, ToolError, Unreachable
from app.evaluation.outcomes import Answered, Asked, Searched, answer_figures, search_figures

CATEGORIES = {1: "multi-hop", 4: "single-hop"}
ONE, TWO, TRAP = Asked("conv-1", 1, 1), Asked("conv-1", 2, 4), Asked("conv-1", 3, 5)


def client(reply: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client(httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(reply)))


async def test_a_problem_is_shown_with_its_fields() -> None:
    problem = {
        "title": "The request is not valid",
        "detail": "one is wrong",
        "errors": [{"pointer": "#/a", "detail": "no"}],
    }
    with pytest.raises(Refused) as caught:
        await client(lambda request: httpx.Response(422, json=problem)).version()
    assert str(caught.value) == "The request is not valid (422): one is wrong\n  #/a: no"
    assert caught.value.status == 422


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", '"x"', '{"title": 1, "errors": [5]}'])
async def test_an_error_that_is_no_problem_document_is_shown_all_the_same(body: str) -> None:
    with pytest.raises(Refused, match=r"\(502\)"):
        await client(lambda request: httpx.Response(502, text=body)).version()


@pytest.mark.parametrize("body", ["<html>Welcome</html>", '{"other": 1}'])
async def test_another_service_at_the_url_is_told_apart(body: str) -> None:
    with pytest.raises(ToolError, match=r"instead of JSON|a form we do not know: version"):
        await client(lambda request: httpx.Response(200, text=body)).version()


async def test_names_are_written_safely_into_the_path() -> None:
    def reply(request: httpx.Request) -> httpx.Response:
        assert request.url.raw_path == b"/v1/namespaces/a%3Fb%23c/themes?limit=100"
        return httpx.Response(200, json={"items": [], "next_cursor": None})

    assert await client(reply).themes("a?b#c") == []


async def test_lists_are_read_to_their_last_page() -> None:
    def reply(request: httpx.Request) -> httpx.Response:
        page = int(request.url.params.get("cursor", "0"))
        items = [{"label": f"label {page}", "size": page}]
        return httpx.Response(200, json={"items": items, "next_cursor": None if page == 2 else str(page + 1)})

    assert [theme.size for theme in await client(reply).themes("a")] == [0, 1, 2]


async def test_time_outs_and_broken_connections_are_told() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("gone", request=request)

    with pytest.raises(ToolError, match="no reply from http://service/version within 60 s"):
        await client(slow).version()
    with pytest.raises(Unreachable, match="broke off"):
        await client(broken).version()


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", "http://", "http://a:b", ""])
async def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(ToolError, match="is no URL"):
        async with connect(url):
            pass


def test_search_figures_by_hand() -> None:
    outcomes = [
        Searched(ONE, "adaptive", 500, recall=0.5, strict=0.25, density=0.1, tokens=400, milliseconds=10),
        Searched(TWO, "adaptive", 500, recall=1.0, strict=0.75, density=0.3, tokens=501, milliseconds=30),
        Searched(TWO, "bm25", 500, error="it broke"),
    ]
    adaptive, bm25 = search_figures(outcomes, list(CATEGORIES))
    assert (adaptive.questions, adaptive.recall, adaptive.strict, adaptive.density) == (2, 0.75, 0.5, 0.2)
    assert adaptive.by_category == {1: 0.5, 4: 1.0}
    assert (adaptive.mean_tokens, adaptive.max_tokens, adaptive.over_budget) == (450.5, 501, 1)
    assert (adaptive.p50, adaptive.p95) == (10, 30)
    assert (bm25.questions, bm25.recall, bm25.max_tokens) == (0, None, 0)  # a failure is never scored as wrong


def test_answer_figures_by_hand() -> None:
    outcomes = [
        Answered(ONE, "adaptive", 500, f1=0.5, milliseconds=10),
        Answered(TWO, "adaptive", 500, abstained=True, f1=0.0, milliseconds=20),
        Answered(TRAP, "adaptive", 500, abstained=True, milliseconds=30),
        Answered(TRAP, "adaptive", 500, milliseconds=40),
        Answered(TRAP, "adaptive", 500, error="it broke"),
    ]
    (figures,) = answer_figures(outcomes)
    assert (figures.questions, figures.f1, figures.abstained) == (2, 0.25, 0.5)
    assert (figures.unanswerable, figures.refused) == (2, 0.5)
    assert (figures.f1_by_category[1], figures.f1_by_category[4]) == (0.5, 0.0)
    assert figures.auroc == 0.5  # no confidence was given, and ties are chance


def test_the_tables_fit_eighty_columns_and_name_failures() -> None:
    outcomes = [
        Searched(ONE, "adaptive", 32_000, recall=1.0, strict=1.0, tokens=31_999, milliseconds=1234),
        Searched(TWO, "adaptive", 32_000, error="it broke"),
    ]
    answers = [Answered(ONE, "adaptive", 32_000, f1=1.0, bleu=1.0, milliseconds=1234)]
    console = Console(file=io.StringIO(), width=80)
    console.print(report.search_table(search_figures(outcomes, list(CATEGORIES)), CATEGORIES))
    console.print(report.answer_table(answer_figures(answers)))
    console.print(report.category_table(answer_figures(answers), CATEGORIES))
    report.print_failures([outcomes[1]], console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    assert " 1.000 " in text
    assert "conv-1, question 2 (adaptive at 32000): it broke" in text


def test_results_and_manifest_are_written(tmp_path: Path) -> None:
    outcomes: list[Searched | Answered] = [
        Searched(ONE, "bm25", 500, recall=0.5),
        Answered(TRAP, "bm25", 500, abstained=True),
    ]
    report.write(tmp_path / "new" / "folder", outcomes, {"failed": 0})
    lines = (tmp_path / "new" / "folder" / "results.jsonl").read_text().splitlines()
    search, answer = map(json.loads, lines)
    assert (search["kind"], search["conversation"], search["recall"]) == ("search", "conv-1", 0.5)
    assert (answer["kind"], answer["category"], answer["abstained"]) == ("answer", 5, True)
    assert json.loads((tmp_path / "new" / "folder" / "manifest.json").read_text()) == {"failed": 0}


def test_the_demo_is_a_complete_script() -> None:
    script = demo.load()
    ids = [message.external_id for message in script.messages]
    times = [message.occurred_at for message in script.messages if message.occurred_at]
    assert ids == [f"m{number}" for number in range(1, len(ids) + 1)]
    assert times == sorted(times)
    assert len(times) == len(ids)
    assert len({message.speaker for message in script.messages}) == 2
    assert len(script.questions) == 5
