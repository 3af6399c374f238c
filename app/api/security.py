"""Who may call what: one table, and the one place in front of every route that reads it.

401: no key, or none that is valid. 403: a valid key that does not open this; decided before anything is looked up, so
a namespace that is another's and one that nobody has are told apart by nothing. 404: no such thing in a namespace that
the key does open.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Request, Response

from app.api.dependencies import Services
from app.api.schemas.common import NAME_LENGTH
from app.api.strict import StrictRoute
from app.domain.access import ANYBODY, Caller, Scope, is_loopback
from app.domain.audit import Act
from app.domain.errors import Forbidden
from app.domain.text import clean
from app.telemetry.acting import Actor, acting

Needed = frozenset[Scope]
"""The scopes of which a key must have one; none: the operation is open to everybody."""

OPEN: Needed = frozenset()
READ: Needed = frozenset({Scope.READ})
WRITE: Needed = frozenset({Scope.WRITE})
DELETE: Needed = frozenset({Scope.DELETE})
ADMIN: Needed = frozenset({Scope.ADMIN})

NEEDS: Mapping[str, Needed] = {
    **dict.fromkeys(("check_live", "check_ready", "get_version"), OPEN),
    "get_metrics": frozenset({Scope.METRICS}),
    **dict.fromkeys(("list_namespaces", "get_namespace", "get_status"), READ),
    **dict.fromkeys(("search_by_query", "search_memory"), READ),
    **dict.fromkeys(("answer_by_query", "answer_question", "answer_stream"), READ),
    **dict.fromkeys(("list_conversations", "list_messages", "get_message"), READ),
    **dict.fromkeys(("list_episodes", "get_episode", "list_themes", "get_theme", "export_themes"), READ),
    **dict.fromkeys(("list_statements", "get_statement", "get_statement_history"), READ),
    **dict.fromkeys(("list_jobs", "get_job", "export_namespace"), READ),
    **dict.fromkeys(("append_messages", "flush_namespace", "import_namespace"), WRITE),
    **dict.fromkeys(("add_statements", "correct_statement"), WRITE),
    **dict.fromkeys(("retry_job", "cancel_job", "rebuild_themes"), WRITE),
    **dict.fromkeys(("delete_namespace", "delete_conversation", "delete_message", "delete_statement"), DELETE),
    **dict.fromkeys(("update_namespace", "update_conversation"), DELETE),  # retention takes memory away
    "get_receipt": READ | DELETE,  # whoever deletes may see that it is done
    "reembed_namespace": ADMIN,  # what the service runs on is not a client's to change
    **dict.fromkeys(("create_key", "list_keys", "revoke_key", "list_audit"), ADMIN),
}
"""By operation id. What is missing here is open to administrators only, and fails a test."""


class Guarded(StrictRoute):
    """A route that runs for callers whose key opens it. Asked before the body is read: strangers cost little."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, behind the guard."""
        handle = super().get_route_handler()
        operation = self.operation_id or ""

        async def guarded(request: Request) -> Response:
            needed = NEEDS.get(operation, ADMIN)
            caller = ANYBODY if needed == OPEN else await _recognise(request)
            request.state.caller = caller
            refusal = _refusal(caller, needed, request)
            await request.app.state.rate(request, opens=refusal is None)
            with acting(Actor(caller.id, caller.name, UUID(request.state.request_id))):
                if refusal is not None:
                    await _note_refusal(operation, request)
                    raise Forbidden(refusal)
                return await handle(request)

        return guarded


async def _recognise(request: Request) -> Caller:
    """Whoever sends a request. Raises Unauthenticated; Forbidden where nobody is asked and it comes from elsewhere."""
    if request.app.state.local_only:
        _require_local_name(request)
    services: Services = request.app.state.services
    return await services.keys.caller(_shown(request))


def _refusal(caller: Caller, needed: Needed, request: Request) -> str | None:
    """Why the caller may not; None if it may."""
    namespace = request.path_params.get("namespace")
    if needed != OPEN and not caller.may(needed):
        return f"the key has none of the scopes that open this: {', '.join(sorted(needed))}"
    if namespace is not None and not caller.covers(namespace):
        return "the key does not open this namespace"
    return None


def _shown(request: Request) -> str | None:
    """The key in the Authorization header; empty for what is no key, None without the header."""
    headers = request.headers.getlist("authorization")
    if not headers:
        return None
    scheme, _, key = headers[0].partition(" ")
    return key.strip() if len(headers) == 1 and scheme.lower() == "bearer" else ""


def _require_local_name(request: Request) -> None:
    """Without keys, a web page could have its own name lead a browser here, and read. It cannot change that name."""
    if not is_loopback(request.url.hostname or ""):
        raise Forbidden(
            "nothing asks for a key here, so only this machine's own names are answered, such as 127.0.0.1: "
            "set XMEMORY_AUTH=keys, or XMEMORY_ALLOW_UNAUTHENTICATED_BIND=true behind something that asks"
        )


async def _note_refusal(operation: str, request: Request) -> None:
    """Write down that an act of those that are written down was refused."""
    if operation not in {act.value for act in Act}:
        return
    namespace = request.path_params.get("namespace")
    named = None if namespace is None else clean(namespace)[:NAME_LENGTH]  # nobody has checked it yet
    services: Services = request.app.state.services
    await services.audit.refused(Act(operation), named)


async def known_caller(request: Request) -> Caller:
    """Whoever the guard let in."""
    caller: Caller = request.state.caller
    return caller


Who = Annotated[Caller, Depends(known_caller)]
