"""`python -m app.stub`: the endpoint on this machine."""

from typing import Annotated

import typer
import uvicorn

from app.stub.application import create_stub
from app.stub.faults import Plan, Unsteady

HOST = "127.0.0.1"  # it asks for no key: nobody else may reach it


def main(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on, on this machine only.")] = 8001,
    unsteady: Annotated[
        tuple[int, float] | None, typer.Option(metavar="SEED SHARE", help="A share of the calls fails at random.")
    ] = None,
) -> None:
    """Serve the scripted models as an OpenAI-compatible endpoint that fails on demand."""
    plan = Plan(unsteady=None if unsteady is None else Unsteady(*unsteady))
    uvicorn.run(create_stub(plan), host=HOST, port=port, log_level="warning")


if __name__ == "__main__":
    typer.run(main)
