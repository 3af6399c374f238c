"""The themes of long conversations: how they grow, how stable they are, and what they are worth.

    python -m tests.benchmarks.themes --data FILE [--conversations 1,2] [--embedder minilm|scripted]
        [--database FILE] [--without-references]

The conversations are posted session by session to the service in this process, without a language model; `--database`
keeps its SQLite file, and a later run uses what is there. The statements that the service admitted then go through
`domain.themes.plan`, admission by admission, as maintenance does it (tests/theme_store.py): so every form of the
objective is measured on the same statements, and after every session. "service" is how far the themes that the service
itself stored are the same (adjusted mutual information, 1: the same partition).

Increments are sessions. "moved" is the share of statements that an increment put into another theme; "kept", of those
that were there ten increments before, the share that have the same theme still. "calls" are those that naming the
changed themes takes of a language model, labels.MOST themes each. "small" and "alone" are the mean size of themes and
the share of statements that are a theme by themselves, after the sessions that left 20 to 100 statements. "sessions"
and "events" are the adjusted mutual information of the themes with the data's sessions and its event annotations;
"together" is how many times as often as by chance two facts of one multi-hop question share a theme.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import adjusted_mutual_info_score

from app.container import Container, build
from app.domain.ids import StatementId, ThemeId
from app.domain.namespaces import model_of
from app.domain.naming import NAMED_FROM
from app.domain.theme_policy import ThemePolicy, policy_for
from app.domain.themes import ThemePlan
from app.evaluation import locomo
from app.prompts.label import MOST
from tests.benchmarks import theme_reference as reference
from tests.benchmarks.theme_data import Event, Told, event_vectors, events, settings, tell, working
from tests.theme_store import ThemeStore

INCREMENTS = 10  # that ids should outlast
SMALL = range(20, 101)  # statements of a memory that people look through by eye
WIDTH = 160  # columns


@dataclass(frozen=True)
class Grown:
    """A conversation's themes as they grew. `homes` are the themes of all statements after each session."""

    told: Told
    store: ThemeStore
    homes: Sequence[Mapping[StatementId, ThemeId]]
    calls: Sequence[int]
    rebuilt: float
    small: Sequence[tuple[float, float]]

    @property
    def moved(self) -> list[float]:
        """The share of statements that each session put into another theme."""
        return [_share(sooner, later, same=False) for sooner, later in pairwise(self.homes)]

    @property
    def kept(self) -> list[tuple[float, int]]:
        """The share that kept its theme over ten sessions, and of how many, for each session that has ten more."""
        return [
            (_share(sooner, later, same=True), len(sooner.keys() & later.keys()))
            for sooner, later in zip(self.homes, self.homes[INCREMENTS:], strict=False)
        ]


def _share(sooner: Mapping[StatementId, ThemeId], later: Mapping[StatementId, ThemeId], *, same: bool) -> float:
    common = sooner.keys() & later.keys()
    return fmean((sooner[id_] == later[id_]) == same for id_ in common)


def grow(told: Told, policy: ThemePolicy) -> Grown:
    """Let the themes of a conversation grow session by session, then rebuild a copy."""
    store, homes, calls, small = ThemeStore(policy), [], [], []
    for sitting in told.sittings:
        named: set[ThemeId] = set()
        for batch in sitting:
            store.remove(batch.gone)
            store.add(batch.new)
            named |= set(_changed(store, store.maintain()))
        large = [theme for theme in named if theme in store.themes and store.themes[theme].size >= NAMED_FROM]
        homes.append(dict(store.home))
        calls.append(-(-len(large) // MOST))
        if len(store.home) in SMALL:
            small.append(_sizes(store))
    again = ThemeStore(policy)
    again.add(store.members.values())
    again.maintain()
    return Grown(told, store, homes, calls, again.value, small)


def _sizes(store: ThemeStore) -> tuple[float, float]:
    """Mean size of themes, and the share of statements that are one by themselves."""
    sizes = [theme.size for theme in store.themes.values()]
    return fmean(sizes), sizes.count(1) / sum(sizes)


def _changed(store: ThemeStore, made: ThemePlan) -> Iterator[ThemeId]:
    for planned in made.themes:
        yield store.home[planned.members[0]]


async def measure(
    data: Path, numbers: Sequence[int], embedder: str, database: Path, console: Console, *, references: bool
) -> None:
    """Measure and print."""
    annotated = events(data)
    async with build(settings(database, embedder)) as built, working(built):
        policy = policy_for(model_of(str(built.embedder.profile)))
        grown, found = [], []
        for conversation in locomo.load(data).pick(numbers):
            told = await tell(built, conversation)
            grown.append(grow(told, policy))
            of_event = await _of_events(built, told, annotated[conversation.number])
            found.append(_compared(grown[-1], of_event, references=references))
    console.print(_growth(grown))
    console.print(_references(found))


async def _of_events(built: Container, told: Told, annotated: Sequence[Event]) -> Mapping[StatementId, int]:
    if not annotated:
        return {}
    return reference.event_of(told, annotated, await event_vectors(built, annotated))


def _compared(
    grown: Grown, of_event: Mapping[StatementId, int], *, references: bool
) -> Mapping[str, reference.Quality]:
    """The same statements in themes of both forms, and grouped in other ways."""
    told, ids = grown.told, [one.id for one in grown.told.current]
    ways: dict[str, Mapping[StatementId, object]] = {"balanced": grown.store.home}
    rebuilt = ThemeStore(grown.store.policy)
    rebuilt.add(grown.store.members.values())
    rebuilt.maintain()
    ways["balanced, rebuilt"] = rebuilt.home
    if references:
        ways["paper"] = grow(told, replace(grown.store.policy, form="paper")).store.home
        vectors = np.stack([told.vectors[id_].vector for id_ in ids])
        ways["k-means"] = dict(zip(ids, reference.k_means(vectors, len(grown.store.themes)), strict=True))
        ways["HDBSCAN"] = dict(zip(ids, reference.hdbscan(vectors), strict=True))
    return {name: reference.quality(told, groups, of_event) for name, groups in ways.items()}


# Tables --------------------------------------------------------------------------------------------------


def _growth(grown: Sequence[Grown]) -> Table:
    table = Table(title="Session by session (balanced)")
    for head in ("", "sessions", "statements", "themes", "mean", "max", "single", "f", "of rebuild", "moved", "most"):
        table.add_column(head, justify="right")
    for head in ("kept", "least", "calls", "small", "alone", "service"):
        table.add_column(head, justify="right")
    for one in grown:
        table.add_row(one.told.conversation.name, *_growth_cells(one), end_section=one is grown[-1])
    pooled = [pair for one in grown for pair in one.kept]
    moved = [share for one in grown for share in one.moved]
    value = fmean(one.store.value / one.rebuilt for one in grown)
    kept = fmean(share for share, _ in pooled)
    weighted = sum(share * count for share, count in pooled) / sum(count for _, count in pooled)
    size, alone = (fmean(values) for values in zip(*(pair for one in grown for pair in one.small), strict=True))
    table.caption = (
        f"means: f of rebuild {value:.3f}, moved {fmean(moved):.3f}, kept over {INCREMENTS} sessions {kept:.3f}, "
        f"each statement counted alike {weighted:.3f}; small memories: size {size:.2f}, alone {alone:.3f}"
    )
    return table


def _growth_cells(one: Grown) -> tuple[str, ...]:
    sizes = [theme.size for theme in one.store.themes.values()]
    kept = [share for share, _ in one.kept]
    own = [one.told.themes[id_] for id_ in sorted(one.store.home)]
    replayed = [one.store.home[id_] for id_ in sorted(one.store.home)]
    same = adjusted_mutual_info_score([str(id_) for id_ in own], [str(id_) for id_ in replayed])
    return (
        str(len(one.homes)),
        str(sum(sizes)),
        str(len(sizes)),
        f"{fmean(sizes):.2f}",
        str(max(sizes)),
        str(sizes.count(1)),
        f"{one.store.value:.3f}",
        f"{one.store.value / one.rebuilt:.3f}",
        f"{fmean(one.moved):.3f}",
        f"{max(one.moved):.3f}",
        f"{fmean(kept):.3f}" if kept else "-",
        f"{min(kept):.3f}" if kept else "-",
        f"{fmean(one.calls):.1f}",
        *(f"{fmean(values):.2f}" for values in zip(*one.small, strict=True)),
        f"{same:.3f}",
    )


def _references(found: Sequence[Mapping[str, reference.Quality]]) -> Table:
    table = Table(title="Means over the conversations")
    for head in ("", "groups", "mean", "max", "single", "tight", "sessions", "events", "together"):
        table.add_column(head, justify="right")
    for name in found[0]:
        rows = [one[name] for one in found]
        table.add_row(
            name,
            f"{fmean(row.groups for row in rows):.0f}",
            f"{fmean(row.mean for row in rows):.2f}",
            str(max(row.largest for row in rows)),
            f"{fmean(row.single for row in rows):.0f}",
            f"{fmean(row.tight for row in rows):.3f}",
            f"{fmean(row.of_sessions for row in rows):.3f}",
            f"{fmean(row.of_events for row in rows):.3f}",
            f"{fmean(row.together for row in rows):.1f}",
        )
    return table


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", default="", help="numbers, with commas; all by default")
    parser.add_argument("--embedder", choices=["minilm", "scripted"], default="minilm")
    parser.add_argument("--database", type=Path, help="an SQLite file to keep; by default a temporary one")
    parser.add_argument("--without-references", action="store_true")
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",") if number]
    with tempfile.TemporaryDirectory(prefix="xm-themes-") as folder:
        database = given.database or Path(folder) / "memory.db"
        asyncio.run(
            measure(
                given.data,
                numbers,
                given.embedder,
                database,
                Console(width=WIDTH),
                references=not given.without_references,
            )
        )


if __name__ == "__main__":
    main()
