"""The command line: `xmemory serve | worker | migrate | doctor | demo | export | import | eval | keys | …`."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console

from app import __version__, checkup, telemetry
from app.domain.errors import ConfigurationError, StoreUnavailable
from app.evaluation import commands, eval_commands, keys, reembedding
from app.jobs.runner import Worker
from app.main import configured, create_app, keep_what_is_loaded, migrate_database, run_worker
from app.model_tools import commands as model_commands
from app.settings import Settings
from app.transfer import commands as transfer_commands

app = typer.Typer(
    help="Long-term memory for AI agents, as an HTTP service.", no_args_is_help=True, add_completion=False
)
commands.register(app)
transfer_commands.register(app)
eval_commands.register(app)
reembedding.register(app)
keys.register(app)
model_commands.register(app, lambda: _settings())
errors = Console(stderr=True)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
REQUEST_SECONDS = 5  # a stopping server waits so long for requests that still run


class _Server(uvicorn.Server):
    """uvicorn, with signals left to us: it would end the process before our own clean-up."""

    def __init__(self, config: uvicorn.Config, worker: Worker | None) -> None:
        super().__init__(config)
        self._worker = worker

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A first signal ends gently, a second one at once; also after this, while the worker stops."""
        _on_signals(self._stop, self._stop_now)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Requests that are cut have an end, too, before what they use is taken down."""
        await super().shutdown(sockets)
        cut = set(self.server_state.tasks)
        for task in cut if self.force_exit else ():  # else they were cancelled when their time was over
            task.cancel()
        if cut:
            await asyncio.wait(cut, timeout=REQUEST_SECONDS)

    def _stop(self) -> None:
        self.should_exit = True

    def _stop_now(self) -> None:
        self.force_exit = True
        if self._worker is not None:
            self._worker.hurry()


def _on_signals(first: Callable[[], None], second: Callable[[], None]) -> None:
    """SIGINT and SIGTERM: what the first does, and the second; a third ends the process."""
    loop, left = asyncio.get_running_loop(), [first, second]

    def heard() -> None:
        left.pop(0)()
        if not left:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, heard)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Run the service. Settings come from XMEMORY_… variables and .env; an SQLite file migrates itself."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = _settings(**given)
    telemetry.configure(settings.log_level)
    with _configuration_errors():
        asyncio.run(_serve(settings))


@app.command()
def worker() -> None:
    """Run background work only (Postgres): any number of such processes, on any machine."""
    settings = _settings()
    telemetry.configure(settings.log_level)
    with _configuration_errors():
        asyncio.run(run_worker(settings, _started))


@app.command()
def migrate() -> None:
    """Bring the database up to this version's schema."""
    settings = _settings()
    telemetry.configure(settings.log_level)
    migrate_database(settings)
    typer.echo("The database is up to date.")


@app.command()
def doctor(
    *,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild what can be rebuilt; an SQLite file must not be served.")
    ] = False,
    find: Annotated[
        str | None, typer.Option(help="Do nothing but look for this text, in every table and column of all namespaces.")
    ] = None,
) -> None:
    """Check every invariant of the database, beside a running server. Status 0: all is well; 1: something is off.

    With --find: 0 if the text stands nowhere, 1 if it does.
    """
    if find is not None and (namespace is not None or repair):
        raise typer.BadParameter(
            "--find looks through the whole database: neither --namespace nor --repair goes with it"
        )
    settings = _settings()
    telemetry.configure(settings.log_level)
    with _configuration_errors():
        looking = checkup.run(settings, namespace, repair=repair) if find is None else checkup.find(settings, find)
        sound = asyncio.run(looking)
    raise typer.Exit(0 if sound else 1)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def _started(worker: Worker) -> None:
    _on_signals(worker.stop, worker.hurry)
    typer.echo(f"xMemory {__version__} works", err=True)


async def _serve(settings: Settings) -> None:
    application = create_app(settings)
    where = {"host": settings.host, "port": settings.port}
    config = configured(application, settings, **where, timeout_graceful_shutdown=REQUEST_SECONDS)
    async with application.router.lifespan_context(application):
        keep_what_is_loaded()
        typer.echo(f"xMemory {__version__} on http://{settings.host}:{settings.port} (API: /docs)", err=True)
        await _Server(config, getattr(application.state, "worker", None)).serve()


def _settings(**given: object) -> Settings:
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        for problem in error.errors():
            name = "__".join(str(part).upper() for part in problem["loc"])
            told = problem["msg"].removeprefix("Value error, ")
            errors.print(f"XMEMORY_{name}: {told}" if name else told, markup=False)
        raise typer.Exit(2) from error


@contextmanager
def _configuration_errors() -> Iterator[None]:
    try:
        yield
    except (ConfigurationError, StoreUnavailable) as error:
        errors.print(str(error), markup=False, style="red")
        raise typer.Exit(2) from error


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
