"""The section on the runs themselves: what each measured, with what, and what to know before comparing them. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from app.evaluation.reporting.parts import NOTHING, Cell, Section, Table, whole, words
from app.evaluation.run_folder import RunFolder

SHORT = 10  # letters of a hash that tell it from others here
COMPLETE = "complete"
QUESTIONS = ("dataset", "sha256")  # of a configuration: what was asked, and about what


def overview(runs: Sequence[RunFolder]) -> Section:
    """Every run in a row, and warnings."""
    caption = (
        "Asked: questions whose evidence is searched for; the commit is that of the tool that measured, with a + where "
        "files differed from it."
    )
    heads = ("", "commit", "data", "conversations", "asked", "embedding", "chat model", "requests", "minutes")
    table = Table(caption, heads, [_row(run) for run in runs])
    return Section("runs", "What was measured", warnings=warnings(runs), tables=[table])


def setup(runs: Sequence[RunFolder]) -> Section:
    """All that the runs were made with, side by side."""
    parts = [{**run.manifest.configuration, **service(run), **run.manifest.machine} for run in runs]
    names = list(dict.fromkeys(name for part in parts for name in part))
    rows = [words(name, *(_value(part.get(name)) for part in parts)) for name in names]
    return Section(
        "setup",
        "How it was made",
        notes=["With which service and on which machine. Made again, all figures but times are the same."],
        tables=[Table("From manifest.json of each run.", ("", *(run.name for run in runs)), rows)],
    )


def warnings(runs: Sequence[RunFolder]) -> list[str]:
    """What keeps figures from being taken as they stand."""
    found = [
        f"{run.name} is not complete: this is what was measured so far."
        for run in runs
        if run.manifest.state != COMPLETE
    ]
    found += [f"{run.name} was measured with several versions of the code." for run in runs if len(commits(run)) > 1]
    failed = {run.name: sum(row.error is not None for row in run.rows) for run in runs}
    found += [f"{count} requests of {name} failed; they are in no figure." for name, count in failed.items() if count]
    if len({identity(run) for run in runs}) > 1:
        found.append("These runs asked different questions: their figures must not be compared.")
    return found


def identity(run: RunFolder) -> tuple[str, ...]:
    """What two runs must share to be compared."""
    return tuple(str(run.manifest.configuration.get(name)) for name in QUESTIONS)


def differences(first: RunFolder, second: RunFolder) -> list[str]:
    """How the configurations and the services of two runs differ: `budgets: [500], [1000]`.

    What only one of two services told of itself is no difference: older ones tell less.
    """
    left, right = first.manifest.configuration, second.manifest.configuration
    before, after = service(first), service(second)
    return [
        *_different(left, right, left.keys() | right.keys()),
        *_different(before, after, before.keys() & after.keys()),
    ]


def service(run: RunFolder) -> dict[str, object]:
    """What a run's service told of itself, with its settings beside the rest."""
    told = dict(run.manifest.service)
    settings = told.pop("settings", None)
    return {**told, **settings} if isinstance(settings, dict) else told


def commits(run: RunFolder) -> list[str]:
    """The versions of the code that measured, each once; a + where files differed."""
    return list(dict.fromkeys(f"{s.commit[:SHORT]}{'+' * s.dirty}" for s in run.manifest.starts if s.commit))


def _different(left: Mapping[str, object], right: Mapping[str, object], names: Iterable[str]) -> list[str]:
    return [
        f"{name}: {left.get(name)}, {right.get(name)}" for name in sorted(names) if left.get(name) != right.get(name)
    ]


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return NOTHING if value is None else str(value)


def _row(run: RunFolder) -> list[Cell]:
    manifest = run.manifest
    configuration: Mapping[str, object] = manifest.configuration
    data = f"{configuration.get('dataset', NOTHING)} {str(configuration.get('sha256', ''))[:SHORT]}"
    conversations = {row.conversation for row in run.rows}
    told = service(run)
    return [
        *words(run.name, ", ".join(commits(run)) or NOTHING, data),
        whole(len(conversations)),
        whole(len({row.key for row in run.searched})),
        *words(told.get("embedding_profile", NOTHING), told.get("chat", NOTHING)),
        whole(len(run.rows)),
        Cell(NOTHING if manifest.seconds is None else f"{manifest.seconds / 60:,.1f}"),
    ]
