"""Reports and comparisons of runs, from a small run folder whose figures are worked out by hand."""

import json
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from app.evaluation.errors import ToolError
from app.evaluation.reporting import commands, markdown, report
from app.evaluation.reporting.comparing import check, compare, one_strategy, table
from app.evaluation.run_folder import load

HOSTILE = '<script>alert("1")</script> | `a` *b* \x07\u202e & "c"'
VOID = {"meta", "br", "hr", "img", "input", "link"}
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "temporal", 4: "unanswerable"}
RECALLS = {  # of questions 1 to 3
    ("adaptive", 500): (0.5, 0.5, 0.5),
    ("adaptive", 1000): (0.5, 1.0, 1.0),
    ("bm25", 500): (0.25, 0.25, 0.25),
    ("bm25", 1000): (0.5, 0.0, 0.5),
}
USED = {"calls": 4, "tokens_in": 90, "tokens_out": 10}
MANIFEST: Mapping[str, Any] = {
    "state": "complete",
    "configuration": {"dataset": "sample", "sha256": "ab" * 32, "strategies": ["adaptive", "bm25"], "budgets": [500]},
    "service": {"embedding_profile": "scripted/8", "chat": "extractive", "database": "sqlite"},
    "starts": [{"at": "2026-01-02T03:04:05Z", "commit": "0123456789abcdef", "dirty": True}],
    "seconds": 120,
    "machine": {"cores": 2},
    "stored": {
        "sample-one": {"messages": 10, "usage": {"statements": {"calls": 4, "tokens_in": 90, "tokens_out": 10}}}
    },
    "ingest": {"sample-one": {"seconds": 3.4}},
    "flaws": [{"place": "one/3", "kind": "no such message", "detail": "D9:9"}],
}


def asked(question: int) -> dict[str, Any]:
    return {
        "conversation": "one",
        "question": question,
        "category": CATEGORIES[question],
        "answerable": question != 4,
    }


def searches() -> list[dict[str, Any]]:
    return [
        {
            "kind": "search",
            **asked(number),
            "strategy": strategy,
            "budget": budget,
            "milliseconds": 10.0 * number,
            "tokens": budget - 100 * number,
            "scores": {"recall": recall, "strict": recall / 2, "precision": 0.25},
            "items": 2,
        }
        for (strategy, budget), recalls in RECALLS.items()
        for number, recall in enumerate(recalls, start=1)
    ]


def answers() -> list[dict[str, Any]]:
    said = [(0.9, 1.0, False), (0.8, 0.5, False), (0.3, 0.0, True), (0.6, None, False)]
    return [
        {
            "kind": "answer",
            **asked(number),
            "strategy": "adaptive",
            "budget": 1000,
            "tokens": 800,
            "scores": {} if f1 is None else {"f1": f1},
            "abstained": abstained,
            "confidence": confidence,
            "usage": {"answer": {"calls": 1, "tokens_in": 900, "tokens_out": 20}},
        }
        for number, (confidence, f1, abstained) in enumerate(said, start=1)
    ]


def write(folder: Path, rows: Sequence[Mapping[str, Any]], **manifest: object) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({**MANIFEST, **manifest}))
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    question = {**asked(1), "text": HOSTILE, "expected": "no", "evidence": [{"id": "D1:1", "text": HOSTILE}]}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    candidate = {"level": "message", "id": "0-1", "cosine": 0.5, "late": None, "score": 0.7, "fate": "packed"}
    probe = {"level": "message", "id": "0-1", "before": 0.9, "after": 0.4, "reason": "taken"}
    traced = {
        **asked(1),
        "strategy": "adaptive",
        "budget": 1000,
        "text": HOSTILE,
        "recall": 0.5,
        "evidence": ["D1:1", "D1:2"],
        "missing": ["D1:1"],
        "items": [{"level": "message", "score": 0.5, "tokens": 9, "text": HOSTILE, "messages": ["D1:2"]}],
        "trace": {"candidates": [candidate], "gate": {"probes": [probe]}},
    }
    (folder / "traces.jsonl").write_text(json.dumps(traced) + "\n")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    failed = {"kind": "search", **asked(2), "strategy": "bm25", "budget": 2000, "error": HOSTILE}
    return write(tmp_path / "run", [*searches(), *answers(), failed])


def lines_under(text: str, title: str) -> list[str]:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0].strip().splitlines()


def test_the_markdown_has_the_figures_that_we_worked_out(folder: Path, tmp_path: Path) -> None:
    page, written = report.write(report.build([load(folder)], None, 10), tmp_path / "out")
    assert (page.name, written.name) == ("report.html", "report.md")
    text = written.read_text()
    found = lines_under(text, "Evidence found")
    assert found[0] == "|  | 500 tokens | 1,000 tokens |"
    assert found[2].startswith("| adaptive | .500 (.500–.500) | .833 (.500–1.000) |")
    assert found[3].startswith("| bm25 | .250 (.250–.250) | .333 (.000–.500) |")
    assert found[-9:-5] == [
        "| adaptive | 500 | 3 | .500 | .250 | .000 | .250 | – | 300 | 0 |",
        "| adaptive | 1,000 | 3 | .833 | .417 | .667 | .250 | – | 800 | 0 |",
        "| bm25 | 500 | 3 | .250 | .125 | .000 | .250 | – | 300 | 0 |",
        "| bm25 | 1,000 | 3 | .333 | .167 | .000 | .250 | – | 800 | 0 |",
    ] or "\n".join(found)
    assert lines_under(text, "Recall by category at 1,000 tokens")[:3] == [
        "|  | multi-hop (1) | temporal (2) |",
        "| :-- | --: | --: |",
        "| adaptive | .500 (.500–.500) | 1.000 (1.000–1.000) |",
    ]
    # bm25 loses two of three questions by 1 and by .5: of 4 sign patterns 2 are as extreme.
    assert lines_under(text, "Side by side")[2] == "| bm25 | 3 | -.500 (-1.000, .000) | 0 | 2 | .500 | .500 |"
    assert lines_under(text, "Answers")[2].startswith("| adaptive | 3 | .500 (.000–1.000) |")
    # Of 3 answerable questions two are surer than the trap. Losses, surest first: 0, 1/2, 1.
    row = lines_under(text, "Knowing when not to answer")[2].split(" | ")
    assert row[1:3] == ["3", "1"]
    assert row[3].startswith(".667 (")
    assert row[4:] == [".333", ".000", ".750", ".000", ".250", ".500", ".500 |"]
    assert lines_under(text, "Latency")[2] == "| adaptive | search | 500 | 3 | 20 | 30 |"
    assert lines_under(text, "Cost")[2:4] == [
        "| adaptive | context |  | 800 |  |",
        "| adaptive | answer | 1.00 | 920 | 0.0 |",
    ]
    assert "| run | 10 | 3 | statements | 4 | 100 | 10 | 0 |" in text
    assert lines_under(text, "Failures")[0] == "1 of 17 requests failed. A request that failed is in no figure."
    assert "| one/3 | no such message | D9:9 |" in text
    assert "| embedding\\_profile | scripted/8 |" in text


class Checked(HTMLParser):
    """Fails where tags do not match, or where the page asks for anything from elsewhere, or could run a script."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        for name, value in attrs:
            assert name not in {"src", "srcset", "data", "action", "xlink:href"}, (tag, name)
            assert not name.startswith("on"), (tag, name)
            assert name != "href" or (value or "").startswith("#"), value
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> Checked:
    parser = Checked()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def test_the_page_is_whole_and_asks_for_nothing_from_elsewhere(folder: Path) -> None:
    page = report.page(report.build([load(folder)], None, 10))
    parser = checked(page)
    assert {"svg", "polyline", "table", "details"} <= parser.seen
    assert parser.seen.isdisjoint({"script", "img", "link", "iframe", "object", "embed", "form", "base"})
    assert "url(" not in page
    assert "@import" not in page
    assert "0123456789abcdef" in parser.text
    assert "prefers-color-scheme: dark" in page


def test_hostile_text_is_shown_and_never_run(folder: Path, tmp_path: Path) -> None:
    hostile = [{**row, "strategy": HOSTILE, "category": HOSTILE} for row in [*searches()[:3], *answers()]]
    other = write(
        tmp_path / HOSTILE.replace("/", "|").replace("\x07", ""), hostile, configuration={"dataset": HOSTILE + "\ud800"}
    )
    made = report.build([load(folder), load(other)], None, 10)
    parser = checked(report.page(made))
    assert "script" not in parser.seen
    assert '<script>alert("1")</script> | `a` *b* \N{REPLACEMENT CHARACTER}' in parser.text
    assert "These runs asked different questions" in parser.text
    assert "Side by side" not in parser.text
    _, written = report.write(made, tmp_path / "out")
    assert "<script" not in written.read_text()


def test_worst_questions_come_with_their_traces(folder: Path) -> None:
    made = report.build([load(folder)], 1000, 2)
    adaptive, bm25 = made.worst
    (only,) = adaptive.questions
    assert (only.place, only.recall, only.expected) == ("one/1", ".500", "no")
    assert [(clue.id, clue.fate) for clue in only.evidence] == [("D1:1", "missed"), ("D1:2", "found")]
    assert [table.heads[-1] for table in only.traces] == ["text", "fate", "reason"]
    assert [(one.place, one.recall, list(one.traces)) for one in bm25.questions] == [
        ("one/2", ".000", []),
        ("one/1", ".500", []),
    ]


def test_runs_are_compared_question_by_question(folder: Path, tmp_path: Path) -> None:
    better = [
        {**row, "scores": {**row["scores"], "recall": 1.0}} if row["category"] == "multi-hop" else row
        for row in searches()
    ]
    second = load(write(tmp_path / "second", better))
    compared = compare(one_strategy(load(folder), "adaptive"), one_strategy(second, "adaptive"))
    overall = next(one for one in compared if (one.metric, one.budget, one.category) == ("recall", 1000, "all"))
    assert overall.first == pytest.approx(2.5 / 3)
    assert overall.second == 1.0
    assert overall.result.difference.value == pytest.approx(0.5 / 3)
    assert (overall.result.won, overall.result.lost, overall.result.p) == (1, 0, 1.0)
    assert {one.metric for one in compared} == {
        "recall", "strict", "precision", "all evidence", "tokens to evidence"
    }  # fmt: skip


def test_confidence_and_tokens_are_compared_too(folder: Path, tmp_path: Path) -> None:
    other_trap = {**answers()[3], "question": 5, "confidence": 0.4}
    needed = {1: 100, 2: 900}  # of question 3 some evidence never is in
    before = [{**row, "tokens_to_evidence": needed.get(row["question"])} for row in searches()]
    before += [*answers(), other_trap]
    after = [{**row, "tokens_to_evidence": 50} for row in searches()]
    after += [{**row, "confidence": row["confidence"] / (1 if row["answerable"] else 8)} for row in before[12:]]
    runs = [load(write(tmp_path / name, rows)) for name, rows in (("before", before), ("after", after))]
    compared = compare(*(one_strategy(run, "adaptive") for run in runs))
    [area] = [one for one in compared if one.metric == "AUROC"]
    # Surest first: .9 .8 | .6 .4 | .3; then the two traps come last.
    assert (area.first, area.second) == (pytest.approx(4 / 6), 1.0)
    assert (area.result.won, area.result.lost, area.result.difference.count) == (3, 0, 5)
    tokens = next(one for one in compared if (one.metric, one.budget) == ("tokens to evidence", 1000))
    assert (tokens.first, tokens.second) == (pytest.approx((100 + 900 + 1000) / 3), 50)
    cells = [[cell.text for cell in row] for row in table(compared).rows]
    assert ["all", "3", "667", "50", "-617", "0:3", ".250"] in [row[:7] for row in cells]
    found = lines_under(markdown.document("", report.build([runs[0]], None, 10).sections), "Density and redundancy")
    assert found[2].startswith("| adaptive | 1,000 | 3 | .667 (.000–1.000) | 500 (100–900) | 667 (100–1,000) |")


def test_runs_over_other_questions_are_refused(folder: Path, tmp_path: Path) -> None:
    first = load(folder)
    other = load(write(tmp_path / "other", searches(), configuration={"dataset": "sample", "sha256": "cd"}))
    with pytest.raises(ToolError, match="different data"):
        check(first, other)
    fewer = load(write(tmp_path / "fewer", [row for row in searches() if row["question"] != 2]))
    with pytest.raises(ToolError, match=r"only run: 1 \(one/2\)"):
        check(first, fewer)
    check(first, load(write(tmp_path / "same", [*searches(), *answers()])))


def test_the_commands_speak_plainly(folder: Path, tmp_path: Path) -> None:
    app, terminal = Typer(), CliRunner()
    commands.register(app)
    ran = terminal.invoke(app, ["report", str(folder), "--out", str(tmp_path / "new" / "out")])
    assert (ran.exit_code, (tmp_path / "new" / "out" / "report.html").exists()) == (0, True)
    service = {"chat": "openai"}
    again = write(tmp_path / "again", searches() + answers(), service=service, state="running")
    ran = terminal.invoke(app, ["compare", str(folder), str(again), "--strategy", "adaptive", "--against", "bm25"])
    assert ran.exit_code == 0
    assert "run, adaptive to again, bm25" in ran.stdout
    assert "chat: extractive, openai" in ran.stderr
    assert "again is not complete" in ran.stderr
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert "…" not in ran.stdout
    ran = terminal.invoke(app, ["compare", str(folder), str(again), "--strategy", "adaptive", "--markdown"])
    assert "| all | 3 | .500 | .500 | .000 (.000, .000) | 0:0 | 1.000 | 1.000 |" in ran.stdout.splitlines()
    ran = terminal.invoke(app, ["report", str(folder), "--out", str(folder / "manifest.json" / "out")])
    assert (ran.exit_code, "cannot be written to: Not a directory" in ran.stderr) == (1, True)
    ran = terminal.invoke(app, ["compare", str(folder), str(again)])
    assert (ran.exit_code, ran.stderr.strip()) == (1, "run has several strategies: choose one of adaptive, bm25")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("manifest.json", None, "is no folder of `xmemory eval run`: it has no manifest.json"),
        ("manifest.json", "[]", "holds no JSON object"),
        ("manifest.json", '{"configuration": {}}', r"manifest.json: state: Field required"),
        ("results.jsonl", "{}\n", "line 1: the whole: Unable to extract tag"),
        ("results.jsonl", "\n", "line 1: no JSON"),
        ("questions.jsonl", '{"text": 5}\n', "line 1: conversation: Field required"),
    ],
)
def test_what_is_no_run_is_told(folder: Path, file: str, text: str | None, message: str) -> None:
    if text is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(text)
    with pytest.raises(ToolError, match=message):
        load(folder)


def test_a_run_that_was_killed_can_be_read(folder: Path) -> None:
    whole = load(folder)
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"kind": "sear')
    assert load(folder).rows == whole.rows


def test_answers_alone_make_a_report_too(tmp_path: Path) -> None:
    made = report.build([load(write(tmp_path / "answers", answers()))], None, 10)
    assert [section.anchor for section in made.sections][:3] == ["runs", "answers", "answer-categories"]
    assert list(made.worst) == []
    checked(report.page(made))


def test_nothing_measured_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="nothing was measured at 700 tokens: choose one of 500, 1000"):
        report.build([load(folder)], 700, 10)
    with pytest.raises(ToolError, match="nothing was measured"):
        report.build([load(write(tmp_path / "empty", []))], None, 10)
