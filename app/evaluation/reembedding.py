"""`xmemory reembed`: change the embedding model of a running service, a few namespaces at a time."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Annotated

import typer

from app.evaluation import wire
from app.evaluation.client import STALLED_SECONDS, Client, connect
from app.evaluation.commands import DEFAULT_URL, Key, Url
from app.evaluation.errors import Refused, ToolError
from app.evaluation.terminal import err, out, progress, run

AT_ONCE = 8  # namespaces under way: enough for a few workers, and few enough to look at them all the time
LOOK_SECONDS = 0.2  # between two looks at them
GONE, CONTRADICTED = 404, 409  # statuses of a refusal that concerns one namespace only


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("reembed")(reembed)


def reembed(
    *,
    namespace: Annotated[list[str] | None, typer.Option(help="Only this one; repeatable. Default: all.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="The profile to change to. Default: that of XMEMORY_EMBEDDER_NEXT.")
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Change the embedding model of a running service, which goes on answering meanwhile.

    Also makes what an older version did not make of texts: the vectors of their words.

    The service has the present model as XMEMORY_EMBEDDER and the new one as XMEMORY_EMBEDDER_NEXT. The command may be
    stopped and started again at any time: the work goes on where it was.
    """
    run(_change(tuple(namespace or ()), profile, connect(url, key)))


async def _change(only: Sequence[str], profile: str | None, service: AbstractAsyncContextManager[Client]) -> None:
    async with service as client:
        version = await client.version()
        wanted = profile or version.embedding_profile_next or version.embedding_profile
        found = [await client.namespace(name) for name in only] or await client.namespaces()
        outcome = await _Reembedding(client, wanted, deque(one.name for one in found)).work()
        if outcome.kept == len(found):
            out.print(f"{_namespaces(len(found))}, all with vectors of {wanted}: nothing to do.", markup=False)
        else:
            _conclude(outcome, wanted)
        if not only:
            out.print(_what_is_next(version, wanted), markup=False)


@dataclass(slots=True)
class _Outcome:
    """What became of the namespaces: `kept` ones lacked nothing, `gone` ones were deleted meanwhile, `failed` ones
    have a cause.
    """

    done: int = 0
    kept: int = 0
    gone: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.done + self.kept + self.gone + len(self.failed)


@dataclass(slots=True)
class _Reembedding:
    """The work in hand. Sizes are in texts: those of a namespace are estimated until its job tells them."""

    client: Client
    profile: str
    waiting: deque[str]
    open: dict[str, str] = field(default_factory=dict)  # job by namespace
    ready: dict[str, int] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    outcome: _Outcome = field(default_factory=_Outcome)

    async def work(self) -> _Outcome:
        """Do all, with a bar on standard error. Raises ToolError if nothing moves for STALLED_SECONDS."""
        clock, count = asyncio.get_running_loop().time, len(self.waiting)
        with progress("texts") as bar:
            task = bar.add_task("Counting", total=None)
            for name in self.waiting:
                self.total[name] = await self._size(name)
            moved, before = clock(), (-1, -1)
            while self.waiting or self.open:
                await self._begin_some()
                await self._look()
                far = (sum(self.ready.values()), len(self.outcome))
                title = f"Re-embedding, {far[1]} of {_namespaces(count)} done"
                bar.update(task, description=title, completed=far[0], total=sum(self.total.values()))
                moved, before = (clock(), far) if far != before else (moved, before)
                if clock() - moved > STALLED_SECONDS:
                    raise ToolError(f"nothing has moved for {STALLED_SECONDS:.0f} s. Does a worker run?")
                await asyncio.sleep(LOOK_SECONDS if self.open else 0)
        return self.outcome

    async def _size(self, name: str) -> int:
        try:
            status = await self.client.status(name)
        except Refused as refused:
            if refused.status != GONE:
                raise
            return 0
        return status.messages + status.episodes + status.statements

    async def _begin_some(self) -> None:
        while self.waiting and len(self.open) < AT_ONCE:
            name = self.waiting.popleft()
            try:
                ordered = await self.client.reembed(name, self.profile)
            except Refused as refused:
                self._refused(name, refused)
                continue
            if ordered.job is None:
                self.ready[name] = self.total[name]
                self.outcome.kept += 1
            else:
                self.open[name] = ordered.job

    async def _look(self) -> None:
        for name, id_ in list(self.open.items()):
            try:
                job = await self.client.job(name, id_)
            except Refused as refused:
                self._refused(name, refused)
                continue
            if job.result is not None:
                self.ready[name], self.total[name] = job.result["done"], job.result["total"]
            if job.state == "succeeded":
                self._close(name)
            elif job.state in ("failed", "cancelled"):
                cause = job.error or {}
                self._fail(name, ": ".join(filter(None, (job.state, cause.get("code"), cause.get("detail")))))

    def _close(self, name: str) -> None:
        self.open.pop(name, None)
        self.ready[name] = self.total[name]
        self.outcome.done += 1

    def _refused(self, name: str, refused: Refused) -> None:
        if refused.status == GONE:
            self.open.pop(name, None)
            self.ready[name] = self.total[name] = 0
            self.outcome.gone += 1
        elif refused.status == CONTRADICTED:
            self._fail(name, str(refused))
        else:
            raise refused

    def _fail(self, name: str, cause: str) -> None:
        self.open.pop(name, None)
        self.outcome.failed[name] = cause


def _conclude(outcome: _Outcome, profile: str) -> None:
    """Print what became of it. Raises ToolError if something failed."""
    gone = f"; {outcome.gone} deleted meanwhile" if outcome.gone else ""
    out.print(f"{_namespaces(outcome.done)} re-embedded for {profile}{gone}.", markup=False)
    for name, cause in outcome.failed.items():
        err.print(f"{name}: {cause}", style="red", markup=False)
    if outcome.failed:
        raise ToolError(f"{_namespaces(len(outcome.failed))} failed: run it again to go on where it stopped")


def _what_is_next(version: wire.Version, profile: str) -> str:
    if version.embedding_profile_next is None:
        return "The service has one embedding model. To change it, start it with the new one as XMEMORY_EMBEDDER_NEXT."
    if profile != version.embedding_profile_next:
        return "New namespaces still use the other model: start the service without XMEMORY_EMBEDDER_NEXT."
    return "Now start the service with the new model as XMEMORY_EMBEDDER and without XMEMORY_EMBEDDER_NEXT."


def _namespaces(count: int) -> str:
    return f"{count:,} namespace{'' if count == 1 else 's'}"
