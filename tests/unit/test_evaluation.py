"""The tools' client, the figures of a run, and its tables."""

import io
from collections.abc import Callable

import httpx
import pytest
from rich.console import Console

from app.evaluation import demo, tables, terminal
from app.evaluation.client import Client, connect
from app.evaluation.errors import Refused, ToolError, Unreachable
from app.evaluation.figures import accepted, answer_figures, search_figures
from app.evaluation.run_folder import Answered, Judged, Searched


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


def search(question: int, category: str, strategy: str, budget: int, recall: float | None, **more: object) -> Searched:
    scores = {"recall": recall, "strict": recall and recall / 2, "density": recall and recall / 5}
    asked = {"conversation": "conv-1", "question": question, "category": category, "answerable": True}
    return Searched(**asked, strategy=strategy, budget=budget, scores=scores, **more)


def answer(question: int, *, category: str = "single-hop", answerable: bool = True, **more: object) -> Answered:
    asked = {"conversation": "conv-1", "question": question, "category": category, "answerable": answerable}
    return Answered(**asked, strategy="adaptive", budget=500, **more)


def test_search_figures_by_hand() -> None:
    rows = [
        search(1, "multi-hop", "adaptive", 500, 0.5, tokens=400, milliseconds=10),
        search(2, "single-hop", "adaptive", 500, 1.0, tokens=501, milliseconds=30),
        search(2, "single-hop", "bm25", 500, None, error="it broke"),
        search(2, "single-hop", "full", 0, 1.0, tokens=9000),
    ]
    adaptive, bm25, full = search_figures(rows)
    assert (adaptive.questions, adaptive.recall, adaptive.strict, adaptive.complete) == (2, 0.75, 0.375, 0.5)
    assert adaptive.density == pytest.approx(0.15)
    assert adaptive.by_category == {"multi-hop": 0.5, "single-hop": 1.0}
    assert (adaptive.mean_tokens, adaptive.max_tokens, adaptive.over_budget) == (450.5, 501, 1)
    assert (adaptive.p50, adaptive.p95) == (10, 30)
    assert (bm25.questions, bm25.recall, bm25.max_tokens) == (0, None, 0)  # a failure is never scored as wrong
    assert full.over_budget == 0


def test_answer_figures_by_hand() -> None:
    rows = [
        answer(1, category="multi-hop", scores={"f1": 0.5, "date_match": None}, confidence=0.9),
        answer(2, scores={"f1": 0.0, "date_match": 1.0}, abstained=True, confidence=0.2),
        answer(3, answerable=False, category="unanswerable", abstained=True, confidence=0.2),
        answer(4, answerable=False, category="unanswerable", confidence=0.5),
        answer(5, answerable=False, category="unanswerable", error="it broke"),
    ]
    asked = {"conversation": "conv-1", "category": "single-hop", "answerable": True}
    judged = [
        Judged(**asked, question=1, strategy="adaptive", budget=500, subject="answer", correct=True),
        Judged(**asked, question=2, strategy="adaptive", budget=500, subject="answer", correct=False),
        Judged(**asked, question=3, strategy="adaptive", budget=500, subject="answer", error="it broke"),
        Judged(**asked, question=1, strategy="", budget=0, subject="vague", correct=True),
    ]
    (figures,) = answer_figures(rows, judged)
    assert (figures.questions, figures.f1, figures.date_match, figures.abstained) == (2, 0.25, 1.0, 0.5)
    assert (figures.unanswerable, figures.refused) == (2, 0.5)
    assert figures.f1_by_category == {"multi-hop": 0.5, "single-hop": 0.0}
    assert figures.auroc == (1 + 1 + 0 + 0.5) / 4
    assert (figures.judged, accepted(row for row in judged if row.subject == "vague")) == (0.5, 1.0)


def test_the_tables_fit_eighty_columns_and_name_failures() -> None:
    rows = [
        search(1, "multi-hop", "adaptive", 32_000, 1.0, tokens=31_999, milliseconds=1234),
        search(2, "open-domain", "adaptive", 32_000, None, error="it broke"),
        search(3, "single-hop", "adaptive", 32_000, 1.0),
        search(4, "temporal", "adaptive", 32_000, 1.0),
        *(answer(n, category=name, scores={"f1": 1.0}) for n, name in enumerate(("temporal", "open-domain"))),
    ]
    asked = {"conversation": "conv-1", "question": 1, "category": "temporal", "answerable": True}
    judged = Judged(**asked, strategy="", budget=0, subject="vague", correct=True)
    console = Console(file=io.StringIO(), width=80)
    tables.print_all([*rows, judged], console)
    tables.print_failures([rows[1]] * 12, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    assert " 1.000 " in text
    assert "conv-1, question 2 (adaptive at 32000): it broke" in text
    assert "... and 2 more" in text
    assert "took 100.0% of the vague answers for right" in text
    assert "0 of 4 contexts were over their budget" in text


def test_the_demo_is_a_complete_script() -> None:
    script = demo.load()
    ids = [message.external_id for message in script.messages]
    times = [message.occurred_at for message in script.messages if message.occurred_at]
    assert ids == [f"m{number}" for number in range(1, len(ids) + 1)]
    assert times == sorted(times)
    assert len(times) == len(ids)
    assert len({message.speaker for message in script.messages}) == 2
    assert len(script.questions) == 5


def test_a_log_is_told_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.progress("requests") as bar:
        bar.advance(bar.add_task("Asking", total=4))  # too soon for a line
    monkeypatch.setattr(terminal, "TOLD_SECONDS", 0.0)
    with terminal.progress("kB") as bar:
        task = bar.add_task("Sending", total=None)
        bar.update(task, completed=2000)
        bar.update(task, total=4000)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if ":" in line.split(" ")[0]] == ["Sending: 2,000 kB", "Sending: 2,000 of 4,000 kB"]
