"""Thresholds of themes for an embedding model, from how its cosines spread over statements.

    python -m tests.benchmarks.calibrate --data FILE [--embedder minilm|openai|hf:NAME@REVISION|…]
        [--conversations 1,2] [--database FILE]

A threshold says how alike two statements must be compared with others, so it carries over from one model to another by
rank. Each is the cosine that a certain share (QUANTILES) of all pairs of statements of a conversation, or of all
statements' nearest others, stays below. The shares are those at which the thresholds of all-MiniLM-L6-v2 lie, which
were chosen by what becomes of the themes of five long conversations (tests/benchmarks/themes.py).

Prints each threshold, its least and greatest value over the conversations, and what the table has for the model now.
The statements are those that the service admits with that model; `--database` keeps them. The last lines go into
`app/domain/theme_policy.py`. A model is well calibrated with statements of the kind that it will see: two hundred or
more of one namespace.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from app.container import build
from app.domain.namespaces import model_of
from app.domain.objective import Floats
from app.domain.theme_policy import CALIBRATED, ThemePolicy, key_of, policy_for
from app.domain.vectors import Matrix
from app.evaluation import locomo
from tests.benchmarks.theme_data import settings, tell, working

QUANTILES: Mapping[str, tuple[str, float]] = {
    "attach": ("pairs", 0.943),
    "attach_small": ("pairs", 0.816),
    "edge": ("pairs", 0.971),
    "alone": ("pairs", 0.688),
    "intra": ("nearest", 0.302),
    "merge": ("nearest", 0.588),
    "redundant": ("nearest", 0.882),
}
"""Of which cosines, and the share of them that is below the threshold. Few pairs are as near as the last three."""

WIDTH = 100  # columns


def thresholds(vectors: Matrix) -> dict[str, float]:
    """The thresholds for unit vectors of statements, (n, dimension), n >= 2."""
    similar = (vectors @ vectors.T).astype(np.float64)
    spread: dict[str, Floats] = {"pairs": similar[np.triu_indices(len(vectors), 1)]}
    np.fill_diagonal(similar, -1.0)
    spread["nearest"] = similar.max(axis=1)
    return {name: float(np.quantile(spread[which], share)) for name, (which, share) in QUANTILES.items()}


def present(policy: ThemePolicy) -> dict[str, float]:
    """The thresholds of a policy."""
    return {name: getattr(policy.balance if hasattr(policy.balance, name) else policy, name) for name in QUANTILES}


async def measure(
    data: Path, numbers: Sequence[int], embedder: str, database: Path
) -> tuple[str, Sequence[dict[str, float]]]:
    """The embedding model's name, and the thresholds that each conversation gives."""
    found = []
    async with build(settings(database, embedder)) as built, working(built):
        for conversation in locomo.load(data).pick(numbers):
            told = await tell(built, conversation)
            found.append(thresholds(np.stack([told.vectors[one.id].vector for one in told.current])))
        return model_of(str(built.embedder.profile)), found


def show(model: str, found: Sequence[Mapping[str, float]], console: Console) -> None:
    """Print the thresholds, and the entry of the table."""
    table = Table(title=f"Themes with {model}")
    for head in ("threshold", "share below", "of", "cosine", "least", "greatest", "in the table"):
        table.add_column(head, justify="right" if head not in ("threshold", "of") else "left")
    now = present(policy_for(model)) if key_of(model) in CALIBRATED else {}
    means = {name: fmean(one[name] for one in found) for name in QUANTILES}
    for name, (which, share) in QUANTILES.items():
        values = [one[name] for one in found]
        cells = (f"{means[name]:.3f}", f"{min(values):.3f}", f"{max(values):.3f}")
        table.add_row(name, f"{share:.3f}", which, *cells, f"{now[name]:.2f}" if now else "-")
    console.print(table)
    of_policy = ", ".join(f"{name}={means[name]:.2f}" for name in ("attach", "attach_small", "merge", "edge", "intra"))
    balance = ", ".join(f"{name}={means[name]:.2f}" for name in ("alone", "redundant"))
    entry = f'"{key_of(model)}": ThemePolicy({of_policy}, balance=Balance({balance})),'
    console.print(entry, markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="minilm", help="as in XMEMORY_EMBEDDER")
    parser.add_argument("--conversations", default="", help="numbers, with commas; all by default")
    parser.add_argument("--database", type=Path, help="an SQLite file to keep; by default a temporary one")
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",") if number]
    with tempfile.TemporaryDirectory(prefix="xm-calibrate-") as folder:
        database = given.database or Path(folder) / "memory.db"
        model, found = asyncio.run(measure(given.data, numbers, given.embedder, database))
    show(model, found, Console(width=WIDTH))


if __name__ == "__main__":
    main()
