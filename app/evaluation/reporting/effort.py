"""The sections on what it took: tokens and calls by stage, times, failures, and faults of the data. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.evaluation.metrics import mean, percentile
from app.evaluation.reporting.parts import UNBOUND, Cell, Section, Table, whole, words
from app.evaluation.reporting.series import Series, by_size
from app.evaluation.run_folder import Measured, RunFolder, Used

NAMED = 50  # failures and faults that are named one by one; the counts have all


def times(all_series: Sequence[Series]) -> Section:
    """How long replies took."""
    caption = (
        "Milliseconds until the client has the reply, with other questions under way at the same time: half of the "
        "replies were faster than p50, 95 % faster than p95. They tell of this machine under this load."
    )
    rows = [
        [*words(series.label, kind, f"{budget:,}"), *_times(some)]
        for series in all_series
        for kind, rows in (("search", series.searched), ("answer", series.answered))
        for budget, some in _by_budget(rows).items()
        if budget != UNBOUND  # no request was made
    ]
    heads = ("", "request", "budget", "requests", "p50", "p95")
    return Section("times", "Latency", tables=[Table(caption, heads, rows)])


def cost(runs: Sequence[RunFolder], all_series: Sequence[Series]) -> Section:
    """What was used of models, and how long building took."""
    asking = Table(
        "For one answer, on average: tokens of the context, and what was used of models at each stage. Tokens are "
        "those read and written, as the model's side counts them; texts got a vector.",
        ("", "stage", "calls", "tokens", "texts"),
        [row for series in all_series if series.answered for row in _asking(series)],
    )
    building = Table(
        "Building the memory: seconds until all was remembered, and what was used of models, in all and a message.",
        ("", "messages", "seconds", "stage", "calls", "tokens", "tokens a message", "texts"),
        [row for run in runs for row in _building(run)],
    )
    return Section("cost", "Cost", tables=[table for table in (asking, building) if table.rows])


def failures(runs: Sequence[RunFolder]) -> Section:
    """Requests that failed, counted and named."""
    failed = [(run, row) for run in runs for row in run.rows if row.error is not None]
    counts = Counter((run.name, row.kind, row.error) for run, row in failed)
    by_cause = Table(
        "How often each cause occurred.",
        ("run", "request", "cause", "requests"),
        [words(*cause, count) for cause, count in counts.most_common(NAMED)],
    )
    named = Table(
        f"The requests that failed{f': the first {NAMED}' if len(failed) > NAMED else ''}.",
        ("run", "request", "question", "strategy", "budget"),
        [
            words(run.name, row.kind, f"{row.conversation}/{row.question}", row.strategy, row.budget)
            for run, row in failed[:NAMED]
        ],
    )
    asked = sum(len(run.rows) for run in runs)
    note = f"{len(failed):,} of {asked:,} requests failed. A request that failed is in no figure."
    return Section("failures", "Failures", notes=[note], tables=[by_cause, named] if failed else [])


def flaws(runs: Sequence[RunFolder]) -> Section:
    """What is wrong with the data, for each data set once."""
    sets = {str(run.manifest.configuration.get("sha256")): run for run in runs}
    found = [flaw for run in sets.values() for flaw in run.manifest.flaws]
    counts = Counter(flaw.kind for flaw in found)
    by_kind = Table("How often.", ("fault", "places"), [words(*kind) for kind in counts.most_common()])
    named = Table(
        f"Where{f': the first {NAMED}' if len(found) > NAMED else ''}.",
        ("place", "fault", "detail"),
        [words(flaw.place, flaw.kind, flaw.detail) for flaw in found[:NAMED]],
    )
    note = f"{len(found):,} faults were found in the data; what they touch is left out, the rest is measured."
    return Section("flaws", "Faults of the data", notes=[note], tables=[by_kind, named] if found else [])


def _by_budget(rows: Sequence[Measured]) -> dict[int, list[Measured]]:
    budgets = sorted({row.budget for row in rows}, key=by_size)
    return {budget: [row for row in rows if row.budget == budget] for budget in budgets}


def _times(rows: Sequence[Measured]) -> list[Cell]:
    took = [row.milliseconds for row in rows]
    return [whole(len(rows)), whole(percentile(took, 0.50)), whole(percentile(took, 0.95))]


def _asking(series: Series) -> list[list[Cell]]:
    rows = series.answered
    context = [*words(series.label, "context", ""), whole(mean([row.tokens for row in rows])), Cell("")]
    return [context, *_stages(series.label, _summed(row.usage for row in rows), len(rows))]


def _stages(label: str, used: Mapping[str, Used], count: int) -> list[list[Cell]]:
    return [
        [*words(label, stage, f"{one.calls / count:.2f}"), whole(one.tokens / count), Cell(f"{one.texts / count:.1f}")]
        for stage, one in sorted(used.items())
    ]


def _building(run: RunFolder) -> list[list[Cell]]:
    messages = sum(int(counts.get("messages", 0)) for counts in run.manifest.stored.values())
    seconds = sum(float(one.get("seconds", 0)) for one in run.manifest.ingest.values())
    head = [Cell(run.name), whole(messages), whole(seconds)]
    used = _summed(stored_usage(run))
    return [
        [*head, Cell(stage), *map(whole, (one.calls, one.tokens, one.tokens / max(messages, 1), one.texts))]
        for stage, one in sorted(used.items())
    ] or [[*head, *words("no model", 0, 0, 0, 0)]]


def stored_usage(run: RunFolder) -> list[Mapping[str, Used]]:
    """What building used, for each namespace."""
    stored = [counts.get("usage") or {} for counts in run.manifest.stored.values()]
    return [{stage: Used.model_validate(used) for stage, used in usage.items()} for usage in stored]


def _summed(usages: Iterable[Mapping[str, Used]]) -> dict[str, Used]:
    total: dict[str, Used] = {}
    for usage in usages:
        for stage, used in usage.items():
            before = total.get(stage, Used())
            total[stage] = Used(
                calls=before.calls + used.calls,
                tokens_in=before.tokens_in + used.tokens_in,
                tokens_out=before.tokens_out + used.tokens_out,
                texts=before.texts + used.texts,
            )
    return total
