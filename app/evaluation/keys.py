"""`xmemory keys`: make, list and revoke the keys of a running service."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from app.evaluation import wire
from app.evaluation.client import Client, connect
from app.evaluation.commands import DEFAULT_URL, Url
from app.evaluation.terminal import err, out, run

Service = AbstractAsyncContextManager[Client]

AdminKey = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar=["XMEMORY_ADMIN_KEY", "XMEMORY_KEY"],
        help="A key with admin, better given by the environment: others on this machine see a command line.",
        metavar="KEY",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    keys = typer.Typer(help="Make, list and revoke keys of a running service.", no_args_is_help=True)
    keys.command("create")(create)
    keys.command("list")(list_keys)
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="keys")


def create(
    name: Annotated[str, typer.Argument(help="Who or what will use it; the audit log shows it.")],
    *,
    scope: Annotated[list[str], typer.Option(help="read, write, delete, admin or metrics; repeatable.")],
    namespace: Annotated[
        list[str] | None, typer.Option(help="One that it opens: a name, or a prefix that ends in *; repeatable.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0, max=36_500, help="It expires after so many. Default: never.")
    ] = None,
    url: Url = DEFAULT_URL,
    key: AdminKey = None,
) -> None:
    """Make a key. It is printed this once, on standard output and alone, so that it can be put where it belongs."""
    expires_at = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()
    order = {"name": name, "scopes": scope, "namespaces": namespace or [], "expires_at": expires_at}
    run(_create(connect(url, key), order))


def list_keys(*, url: Url = DEFAULT_URL, key: AdminKey = None) -> None:
    """List keys, oldest first. What opens anything is not kept, and not shown."""
    run(_list(connect(url, key)))


def revoke(
    id: Annotated[str, typer.Argument(help="The key's id, as `xmemory keys list` shows it.")],
    *,
    url: Url = DEFAULT_URL,
    key: AdminKey = None,
) -> None:
    """Revoke a key: from then on it opens nothing."""
    run(_revoke(connect(url, key), id))


async def _create(service: Service, order: Mapping[str, object]) -> None:
    async with service as client:
        made = await client.create_key(order)
    err.print(f"Key {made.id}. It is not shown again:", markup=False)
    typer.echo(made.key)


async def _list(service: Service) -> None:
    async with service as client:
        found = await client.keys()
    for one in found:
        out.print(_line(one), markup=False, soft_wrap=True)  # not cut: ids are there to be copied
    if not found:
        out.print("There are no keys.")


async def _revoke(service: Service, id_: str) -> None:
    async with service as client:
        await client.revoke_key(id_)
    out.print(f"{id_} is revoked.", markup=False)


def _line(key: wire.Key) -> str:
    opens = " ".join(key.scopes) + (f" on {' '.join(key.namespaces)}" if key.namespaces else "")
    used = "never used" if key.last_used_at is None else f"last used {_day(key.last_used_at)}"
    return f"{key.id}  {key.name}: {opens}; {_state(key)}, {used}"


def _state(key: wire.Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {_day(key.revoked_at)}"
    if key.expires_at is None:
        return "valid"
    verb = "expired" if key.expires_at <= datetime.now(UTC) else "expires"
    return f"{verb} {_day(key.expires_at)}"


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")
