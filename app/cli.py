"""The command line: `xmemory serve | migrate | demo | import | eval`."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console

from app import __version__, telemetry
from app.domain.errors import ConfigurationError
from app.evaluation import commands
from app.main import create_app, migrate_database
from app.settings import Settings

app = typer.Typer(
    help="Long-term memory for AI agents, as an HTTP service.", no_args_is_help=True, add_completion=False
)
commands.register(app)
errors = Console(stderr=True)


class _Server(uvicorn.Server):
    """uvicorn, with signals left to us: it would end the process before our own clean-up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A first signal ends gently, a second one at once."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


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
def migrate() -> None:
    """Bring the database up to this version's schema."""
    settings = _settings()
    telemetry.configure(settings.log_level)
    migrate_database(settings)
    typer.echo("The database is up to date.")


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


async def _serve(settings: Settings) -> None:
    application = create_app(settings)
    config = uvicorn.Config(
        application, host=settings.host, port=settings.port, lifespan="off", log_config=None, access_log=False
    )
    async with application.router.lifespan_context(application):
        typer.echo(f"xMemory {__version__} on http://{settings.host}:{settings.port} (API: /docs)", err=True)
        await _Server(config).serve()


def _settings(**given: object) -> Settings:
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        for problem in error.errors():
            name = "__".join(str(part).upper() for part in problem["loc"])
            errors.print(f"XMEMORY_{name}: {problem['msg']}" if name else problem["msg"], markup=False)
        raise typer.Exit(2) from error


@contextmanager
def _configuration_errors() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        errors.print(str(error), markup=False, style="red")
        raise typer.Exit(2) from error


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
