"""What routes are given: the services, and the check that no query parameter is unknown."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from app.domain.errors import FieldError, InvalidInput
from app.services.answer import Answering
from app.services.audit import Audit
from app.services.editing import Editing
from app.services.flush import Flush
from app.services.forgetting import Forgetting
from app.services.health import Health
from app.services.ingest import Ingest
from app.services.keys import Keys
from app.services.memory import Memory
from app.services.namespaces import Namespaces
from app.services.observation import Observation
from app.services.reembedding import Reembedding
from app.services.retention import Retention
from app.services.search import Search
from app.services.theme_graph import ThemeGraph
from app.services.themes import Themes
from app.services.transfer.exporting import Exporting
from app.services.transfer.importing import Importing
from app.services.work import Work


@dataclass(frozen=True, slots=True)
class Services:
    """All use cases that HTTP offers."""

    ingest: Ingest
    flush: Flush
    search: Search
    answering: Answering
    memory: Memory
    themes: Themes
    theme_graph: ThemeGraph
    editing: Editing
    work: Work
    namespaces: Namespaces
    forgetting: Forgetting
    retention: Retention
    reembedding: Reembedding
    exporting: Exporting
    importing: Importing
    keys: Keys
    audit: Audit
    health: Health
    observation: Observation
    export_seconds: float  # that one may take
    default_tokens: int  # of a context, where the request names no budget


async def services(request: Request) -> Services:  # async: a plain function would cost a thread a request
    """The services of this application."""
    return cast(Services, request.app.state.services)


Use = Annotated[Services, Depends(services)]


async def known_query_only(request: Request) -> None:
    """Refuse query parameters that the route does not document or that are given twice: no typo is ignored."""
    operation = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = {p["name"]: p["schema"].get("type") for p in operation.get("parameters", []) if p["in"] == "query"}
    given = Counter(name for name, _ in request.query_params.multi_items())
    allowed = f"is not a parameter of this route; it has: {', '.join(sorted(known)) or 'none'}"
    fields = [FieldError(f"query/{name}", allowed) for name in sorted(given.keys() - known.keys())]
    fields += [
        FieldError(f"query/{name}", "is given more than once")
        for name, times in sorted(given.items())
        if times > 1 and known.get(name, "array") != "array"
    ]
    if fields:
        raise InvalidInput("unknown or repeated query parameter", fields)
