"""The sections on answers: how good they are, and whether the service knows when to give none. Pure."""

from collections.abc import Sequence

from app.evaluation.intervals import Interval, auroc_interval, mean_interval, risk_coverage
from app.evaluation.metrics import mean
from app.evaluation.reporting.charts import Axes, Line, Point, line_chart
from app.evaluation.reporting.parts import NOTHING, Cell, Section, Table, interval, optional, share, whole
from app.evaluation.reporting.series import Series, score
from app.evaluation.run_folder import Answered, Judged

METRICS = ("f1", "squad_f1", "bleu", "rouge_l", "date_match", "cited_evidence")
COVERAGES = (0.25, 0.5, 0.75)
CURVE_POINTS = 200  # of a line; more cannot be seen


def answers(all_series: Sequence[Series]) -> Section:
    """How near the answers come to the expected ones."""
    caption = (
        "Means with 95 % intervals over the answerable questions; an abstention counts 0. F1: of the different words, "
        "as LoCoMo's memory papers count it; SQuAD F1: of all words, without articles; BLEU-1 and ROUGE-L as "
        "published; dates: share of the answers with exactly the expected date, where one is expected; cited: share of "
        "the evidence messages that are cited; judge: share that the judge took for correct; vague: share of made-up "
        "vague answers that it took for correct, which should be none."
    )
    heads = ("questions", "F1", "SQuAD F1", "BLEU-1", "ROUGE-L", "dates", "cited", "judge", "vague")
    rows = [_answers(series) for series in all_series if series.answered]
    return Section("answers", "Answers", tables=[Table(caption, ("", *heads), rows)])


def abstention(all_series: Sequence[Series]) -> Section:
    """Whether confidence tells what can be answered from what cannot."""
    caption = (
        "AUROC: how often an answerable question has a higher confidence than an unanswerable one (0.5 is chance), "
        "with a 95 % interval; abstained: share of the answerable questions that got no answer; refused: share of the "
        "unanswerable ones; answered: share of all questions that got an answer. Risk: mean loss of the surest "
        "quarter, half, three quarters of all questions, and of all that were answered; the loss is 1 − F1, and 1 for "
        "an answer to a question that has none."
    )
    heads = ("answerable", "unanswerable", "AUROC", "abstained", "refused", "answered")
    risks = (*(f"risk {coverage:.0%}" for coverage in COVERAGES), "all")
    answered = [series for series in all_series if series.answered]
    axes = Axes(
        "Coverage and risk: as the service answers more of the questions, surest first. A line ends where it abstained",
        "coverage: share of all questions that are answered",
        "risk",
        (0, 0.2, 0.4, 0.6, 0.8, 1),
    )
    lines = [Line(series.label, _curve_points(series), marked=False) for series in answered]
    return Section(
        "abstention",
        "Knowing when not to answer",
        charts=[line_chart(axes, lines)],
        tables=[Table(caption, ("", *heads, *risks), [_abstention(series) for series in answered])],
    )


def answerable(series: Series) -> list[Answered]:
    """The answers to questions that have one."""
    return [row for row in series.answered if row.answerable]


def auroc(rows: Sequence[Answered]) -> Interval | None:
    """How well confidence tells answerable questions from unanswerable ones."""
    return auroc_interval(
        [row.confidence for row in rows if not row.answerable], [row.confidence for row in rows if row.answerable]
    )


def risk_curve(rows: Sequence[Answered]) -> list[tuple[float, float]]:
    """(coverage, risk) of the questions that were answered, surest first."""
    given = [row for row in rows if not row.abstained and (not row.answerable or row.scores.get("f1") is not None)]
    losses = [1 - (row.scores.get("f1") or 0.0) if row.answerable else 1.0 for row in given]
    return risk_coverage([row.confidence for row in given], losses, len(rows))


def _answers(series: Series) -> list[Cell]:
    rows = answerable(series)
    vague = [row for row in series.run.judged if row.subject == "vague" and row.error is None]
    return [
        Cell(series.label),
        whole(len(rows)),
        *(interval(score(rows, name)) for name in METRICS),
        interval(_correct([row for row in series.judged if row.subject == "answer"])),
        interval(_correct(vague)),
    ]


def _correct(verdicts: Sequence[Judged]) -> Interval | None:
    return mean_interval([float(row.correct) for row in verdicts if row.correct is not None])


def _abstention(series: Series) -> list[Cell]:
    rows = series.answered
    traps = [row for row in rows if not row.answerable]
    return [
        Cell(series.label),
        whole(len(answerable(series))),
        whole(len(traps)),
        interval(auroc(rows)),
        optional(mean([float(row.abstained) for row in answerable(series)])),
        optional(mean([float(row.abstained) for row in traps])),
        optional(mean([float(not row.abstained) for row in rows])),
        *_risks(risk_curve(rows)),
    ]


def _risks(curve: Sequence[tuple[float, float]]) -> list[Cell]:
    """At each of COVERAGES, if so many were answered, and at the end."""
    at = [next((risk for reached, risk in curve if reached >= coverage), None) for coverage in COVERAGES]
    return [*(Cell(NOTHING) if risk is None else Cell(share(risk)) for risk in (*at, curve[-1][1] if curve else None))]


def _curve_points(series: Series) -> list[Point]:
    curve = risk_curve(series.answered)
    every = max(len(curve) // CURVE_POINTS, 1)
    kept = [*curve[::every], *curve[-1:]]
    return [Point(coverage, risk, f"{share(risk)} at {coverage:.0%}") for coverage, risk in kept]
