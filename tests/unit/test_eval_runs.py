"""A run's folder: the journal that a kill cannot hurt, the manifest, the plan, the judge."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.domain.errors import UnusableReply
from app.evaluation import journal, judging, locomo, manifest
from app.evaluation.asking import answered, ask, searched, side_by_side
from app.evaluation.client import Client
from app.evaluation.datasets import Dataset
from app.evaluation.errors import ToolError, Unreachable
from app.evaluation.judging import Judge, vague_answer, verdict
from app.evaluation.loading import Format, load
from app.evaluation.plan import Case, Plan, Request, key_of, limited
from app.evaluation.run_folder import Answered, Judged, Searched
from app.evaluation.wire import Answer, Found, Version
from app.providers.scripted_chat import ScriptedChat

SAMPLE = load(Format.SAMPLE, None)
PLAN = Plan(("adaptive", "bm25:message+statement", "full"), budgets=(250, 500), answers=True)
CASES = [case for conversation in SAMPLE.conversations for case in PLAN.cases(conversation)]
VERSION = Version(
    version="1",
    embedding_profile="x",
    embedding_profile_next=None,
    chat="extractive",
    chat_model=None,
    chat_revision=None,
    database="sqlite",
)
FOUND: dict[str, Any] = {
    "items": [
        {
            "level": "statement",
            "text": "Nadia adopted a grey dog, Moss.",
            "score": 0.9,
            "tokens": 8,
            "messages": [{"external_id": "D2:5", "sequence": 5}, {"external_id": "D2:4", "sequence": 4}],
        },
        {"level": "episode", "text": "A talk.", "score": 0.5, "tokens": 2, "messages": []},
    ],
    "context": "Thursday, 2 May 2024\nNadia adopted a grey dog, Moss.\nA talk.",
    "tokens": 16,
    "tokenizer": "characters",
    "gate": {"measure": "evidence", "probes": 3},
}
SAID: dict[str, Any] = {
    **FOUND,
    "answer": "Moss.",
    "abstained": False,
    "reason": None,
    "confidence": 0.8,
    "citations": [{"external_id": "D2:5", "occurred_at": "2024-05-02T18:49:00Z", "quote": "Moss"}],
    "usage": {"stages": {"answer": {"calls": 1, "tokens_in": 20, "tokens_out": 3, "model": "m"}}},
}


def case(text: str) -> Case:
    """The first question of the sample with these words."""
    return next(case for case in CASES if text in case.question.text)


def row(question: int, **more: object) -> Searched:
    asked = {"conversation": "c", "question": question, "category": "x", "answerable": True}
    return Searched(**asked, strategy="bm25", budget=500, **more)


# The journal ---------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_cut_off_and_what_failed_is_not_done(tmp_path: Path) -> None:
    with journal.keep(tmp_path) as kept:
        kept.add(row(2, scores={"recall": 1.0}))
        kept.add(row(1, error="it broke"))
    path = tmp_path / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    with journal.keep(tmp_path) as kept:
        assert path.read_bytes() == whole
        assert kept.has(key_of(row(2)))
        assert not kept.has(key_of(row(1)))
        kept.add(row(1, scores={"recall": 0.5}))
        assert [one.question for one in kept.finish([key_of(row(1)), key_of(row(2))])] == [1, 2]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["question"], line["error"], line["scores"]) for line in lines] == [
        (1, None, {"recall": 0.5}),
        (2, None, {"recall": 1.0}),
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"]


def test_a_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    with journal.keep(tmp_path), pytest.raises(ToolError, match="another run writes to"), journal.keep(tmp_path):
        pass


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"kind": "diary"}\n')
    with pytest.raises(ToolError, match="line 1 is no result of a run"), journal.keep(tmp_path):
        pass


# The manifest --------------------------------------------------------------------------------------------


async def test_a_run_goes_on_only_as_it_began(tmp_path: Path) -> None:
    names = [conversation.name for conversation in SAMPLE.conversations]
    configured = manifest.configuration(PLAN, SAMPLE, names, {"limit": None})
    written = await manifest.begin(tmp_path, configured, VERSION)
    written.spent(1.5)
    written.save(ingest={"eval-made-up-1": {"messages": 24}})
    again = await manifest.begin(tmp_path, configured, VERSION)
    assert again.document["ingest"] == {"eval-made-up-1": {"messages": 24}}
    assert (again.document["seconds"], len(again.document["starts"])) == (1.5, 2)
    begun = datetime.fromisoformat(again.document["starts"][1]["at"]).timestamp()
    after_a_kill = await manifest.begin(tmp_path, configured, VERSION, worked_at=begun + 20)
    after_a_kill.spent(2.0)
    assert [start["seconds"] for start in after_a_kill.document["starts"]] == [1.5, 20.0, 2.0]
    assert after_a_kill.document["seconds"] == 23.5
    changed = {**configured, "budgets": [500], "limit": 3}
    with pytest.raises(ToolError) as caught:
        await manifest.begin(tmp_path, changed, VERSION.model_copy(update={"version": "2"}))
    assert "budgets: [250, 500] there, [500] now\n  limit: None there, 3 now" in str(caught.value)
    assert "version: 1 there, 2 now" in str(caught.value)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ToolError, match="is no manifest"):
        await manifest.begin(tmp_path, configured, VERSION)


async def test_another_setting_of_the_service_is_another_run(tmp_path: Path) -> None:
    told = VERSION.model_copy(update={"settings": {"read_gate": "evidence", "constants": "1a"}})
    await manifest.begin(tmp_path, {}, told)
    await manifest.begin(tmp_path, {}, told)
    changed = VERSION.model_copy(update={"settings": {"read_gate": "off", "constants": "2b"}})
    with pytest.raises(ToolError, match=r"settings\.read_gate: evidence there, off now\n  settings\.constants: 1a th"):
        await manifest.begin(tmp_path, {}, changed)
    with pytest.raises(ToolError, match=r"settings\.read_gate: evidence there, None now"):
        await manifest.begin(tmp_path, {}, VERSION)  # it became an older one, which does not tell


async def test_a_folder_of_an_older_version_goes_on_without_what_it_does_not_know(tmp_path: Path) -> None:
    written = await manifest.begin(tmp_path, {}, VERSION)
    del written.document["service"]["settings"]
    written.save()
    again = await manifest.begin(tmp_path, {}, VERSION.model_copy(update={"settings": {"read_gate": "off"}}))
    assert "settings" not in again.document["service"]  # nobody knows what the first requests were made with


def test_faults_are_named_and_counted() -> None:
    data = json.loads((Path(__file__).parents[2] / "app/evaluation/data/sample.json").read_text())
    data[0]["qa"][0]["evidence"] = ["D9:9"]
    conversations, faults = locomo.parse(data)
    told = manifest.faults(Dataset("locomo", conversations, "", faults))
    assert told["flaw_counts"] == {"evidence_not_there": 1, "no_evidence": 1}
    here = "conversation 1, question 1"
    assert told["flaws"][0] == {"place": here, "kind": "evidence_not_there", "detail": "D9:9"}


# The plan ------------------------------------------------------------------------------------------------


def test_every_question_is_asked_in_every_way() -> None:
    requests = PLAN.requests(CASES)
    assert len({request.key for request in requests}) == len(requests)
    searches = [request for request in requests if request.kind == "search"]
    assert len(searches) == 20 * (2 + 2 + 1)  # the four unanswerable ones have nothing to be found
    assert {request.budget for request in searches if request.strategy == "full"} == {0}
    assert len(requests) - len(searches) == 24 * 2  # but they are asked for answers, at the largest budget


def test_wrong_answers_are_left_out_of_the_first_questions() -> None:
    kept, left_out = limited(SAMPLE.conversations, 3, {"made-up-1": {1, 9}, "other": {1}})
    assert [[question.number for question in conversation.questions] for conversation in kept] == [[2, 3], [1, 2, 3]]
    assert left_out == 1


# Asking --------------------------------------------------------------------------------------------------


def test_a_search_is_scored() -> None:
    asked = case("the name of Nadia's dog")
    scored = searched(Request("search", asked, "bm25", 500), Found.model_validate(FOUND), 12.5)
    assert scored.scores["recall"] == 1.0
    assert scored.scores["strict"] == 0.0  # the statement's words are not the message's
    assert scored.scores["precision"] == 0.5
    assert (scored.tokens, scored.items, scored.tokens_to_evidence, scored.probes) == (16, 2, 8, 3)
    assert (scored.scores["covered"], scored.blocks_to_cover, scored.tokens_to_cover) == (1.0, 1, 8)


def test_an_answer_is_scored_by_its_words_its_dates_and_its_citations() -> None:
    asked = case("the name of Nadia's dog")
    scored = answered(Request("answer", asked, "bm25", 500), Answer.model_validate(SAID), 12.5)
    assert (scored.scores["f1"], scored.scores["date_match"], scored.scores["cited_evidence"]) == (1.0, None, 1.0)
    assert scored.usage["answer"].tokens == 23
    trap = answered(Request("answer", case("Pekka's dog"), "bm25", 500), Answer.model_validate(SAID), 12.5)
    assert trap.scores == {}


async def test_the_whole_conversation_is_a_baseline_that_costs_no_request() -> None:
    asked = case("When did Nadia launch")
    full = await ask(Client(httpx.AsyncClient(base_url="http://nobody")), Request("search", asked, "full", 0))
    assert isinstance(full, Searched)
    assert (full.scores["recall"], full.scores["precision"]) == (1.0, round(1 / 24, 6))
    assert full.tokens == asked.tokens > 400


async def test_a_refusal_is_a_failed_question_and_no_service_the_end() -> None:
    def client(reply: Callable[[httpx.Request], httpx.Response]) -> Client:
        return Client(httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(reply)))

    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    request = Request("answer", CASES[0], "bm25", 500)
    busy = httpx.Response(500, json={"title": "Broken"})
    failed = await ask(client(lambda _: busy), request)
    assert isinstance(failed, Answered)
    assert (failed.error, failed.scores) == ("Broken (500)", {})
    with pytest.raises(Unreachable):
        await ask(client(gone), request)


async def test_jobs_are_done_side_by_side_until_one_cannot() -> None:
    done: list[int] = []

    async def work(job: int) -> None:
        if job == 5:
            raise Unreachable("gone")
        done.append(job)

    await side_by_side(range(4), work, 3)
    assert sorted(done) == [0, 1, 2, 3]
    with pytest.raises(Unreachable, match="gone"):
        await side_by_side(range(4, 9), work, 1)
    assert sorted(done) == [0, 1, 2, 3, 4]


# The judge -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{"correct": "true"}, {"correct": None}, {}, [], None])
def test_a_verdict_is_yes_or_no(data: object) -> None:
    assert verdict({"correct": True}) is True
    assert verdict({"correct": False}) is False
    with pytest.raises(UnusableReply, match="no verdict"):
        verdict(data)


async def test_a_judge_sees_both_answers_and_never_an_abstention() -> None:
    model = ScriptedChat()
    judge, request = Judge(model), Request("verdict", CASES[0], "bm25", 500, "answer")
    assert (await judge.judge(request, "On 1 March 2024, in the rain.")).correct is True
    assert (await judge.judge(request, "In March.")).correct is False
    assert (await judge.judge(request, None)).correct is False
    model.faults.babble()
    failed = await judge.judge(request, "1 March 2024")
    assert (failed.subject, failed.correct) == ("answer", None)
    assert (failed.error or "").startswith("the judge: ")


def test_all_answers_and_a_vague_one_to_each_question_are_judged() -> None:
    asked = CASES[3]
    rows = [
        Answered(**Request("answer", asked, "bm25", 500).asked, answer="Moss"),
        Answered(**Request("answer", asked, "hybrid", 500).asked, answer=None, abstained=True),
        Answered(**Request("answer", asked, "vector", 500).asked, error="it broke"),
        Answered(**Request("answer", case("Pekka's dog"), "bm25", 500).asked, answer="Moss"),
    ]
    told = judging.requests(CASES, rows)
    answers = [(request.strategy, answer) for request, answer in told if request.subject == "answer"]
    assert answers == [("bm25", "Moss"), ("hybrid", None)]
    assert sum(request.subject == "vague" for request, _ in told) == 20
    assert vague_answer("When did it rain?") == "Around that time, some while ago."
    assert vague_answer("Is it so?") == judging.VAGUE_OTHERWISE
    assert key_of(Judged(**told[0][0].asked, subject="answer")) == told[0][0].key
