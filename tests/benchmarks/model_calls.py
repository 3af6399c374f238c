"""What the write path asks of a language model: calls and tokens a message, by stage.

    python -m tests.benchmarks.model_calls --data FILE [--mode direct|predict] [--stream 2] [--embedder minilm]

Builds the service in this process on a fresh SQLite file, with a scripted model that answers plausibly, posts
the conversations (all at once, or `--stream` messages at a time, waiting for the work in between), flushes, and
prints what was used. Tokens are characters/4; the schema of a reply counts as read with every call.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from app.container import Container, build
from app.evaluation.datasets import Conversation
from app.evaluation.locomo import load
from app.settings import AdmitSettings, Settings

WAIT_SECONDS = 1800
TARGETS = {"direct": (0.25, 250), "predict": (0.35, None)}  # calls and tokens a message


@asynccontextmanager
async def _service(arguments: argparse.Namespace):
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            _env_file=None,
            database_url=f"sqlite+aiosqlite:///{folder}/memory.db",
            embedder=arguments.embedder,
            chat="scripted",
            admit=AdmitSettings(mode=arguments.mode),
            log_level="warning",
        )
        async with build(settings) as built:
            work = asyncio.create_task(built.worker.run())
            yield built
            built.worker.stop()
            await work


async def _rest(built: Container, namespace: str) -> None:
    """Wait until no job is queued or running."""
    while True:
        status = await built.services.namespaces.status(namespace)
        if not status.jobs.pending:
            return
        await built.services.flush.progress.expect(status.namespace.id).wait(WAIT_SECONDS)


async def _write(built: Container, conversation: Conversation, at_once: int | None) -> None:
    messages = conversation.messages
    step = at_once or 500
    for start in range(0, len(messages), step):
        await built.services.ingest.append(conversation.name, conversation.name, messages[start : start + step])
        if at_once:
            await _rest(built, conversation.name)
    flushed = await built.services.flush.flush(conversation.name, None, WAIT_SECONDS)
    assert flushed.settled, flushed


async def _used(built: Container, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Usage by stage, summed over namespaces."""
    sums: dict[str, dict[str, Any]] = {}
    for name in names:
        async with built.storage.read(name) as unit:
            for stage, counts in (await unit.usage.by_stage()).items():
                into = sums.setdefault(stage, {})
                for key in ("calls", "tokens_in", "tokens_out", "seconds"):
                    into[key] = into.get(key, 0) + counts.get(key, 0)
    return sums


def _table(used: Mapping[str, Mapping[str, Any]], messages: int, title: str) -> tuple[Table, float, float]:
    table = Table(title=title)
    for column in ("stage", "calls", "a message", "tokens in", "tokens out", "tokens a message"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    calls = tokens = 0
    for stage, counts in sorted(used.items()):
        if stage == "embedder":
            continue
        both = counts["tokens_in"] + counts["tokens_out"]
        calls, tokens = calls + counts["calls"], tokens + both
        numbers = (counts["calls"], counts["calls"] / messages, counts["tokens_in"], counts["tokens_out"])
        table.add_row(stage, *_shown(*numbers, both / messages))
    table.add_section()
    table.add_row("all", *_shown(calls, calls / messages, "", "", tokens / messages))
    return table, calls / messages, tokens / messages


def _shown(*numbers: float | str) -> list[str]:
    return [f"{number:.3f}" if isinstance(number, float) else str(number) for number in numbers]


async def _measure(arguments: argparse.Namespace) -> bool:
    conversations = load(arguments.data).pick(arguments.conversations)
    async with _service(arguments) as built:
        for conversation in conversations:
            await _write(built, conversation, arguments.stream)
        names = [conversation.name for conversation in conversations]
        used = await _used(built, names)
        statuses = [await built.services.namespaces.status(name) for name in names]
    messages = sum(len(conversation.messages) for conversation in conversations)
    held = f"{sum(s.episodes for s in statuses)} episodes, {sum(s.statements for s in statuses)} statements"
    form = f"{arguments.stream} at a time" if arguments.stream else "all at once"
    title = f"{arguments.mode}, {messages} messages {form} -> {held}"
    table, calls, tokens = _table(used, messages, title)
    Console(width=120).print(table)
    most_calls, most_tokens = TARGETS[arguments.mode]
    return calls <= most_calls and (most_tokens is None or tokens <= most_tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a file in the LoCoMo format")
    parser.add_argument("--conversations", type=int, nargs="*", default=[], help="their numbers; all without it")
    parser.add_argument("--mode", choices=sorted(TARGETS), default="direct")
    parser.add_argument("--stream", type=int, help="post so many messages at a time, as a live conversation")
    parser.add_argument("--embedder", default="minilm")
    arguments = parser.parse_args()
    if not asyncio.run(_measure(arguments)):
        raise SystemExit("over the target")


if __name__ == "__main__":
    main()
