"""The OpenAPI document: what FastAPI derives, with the problem schema and our words."""

from typing import Any

from fastapi import FastAPI

from app.api.problems import DOCUMENTED
from app.api.schemas.common import Problem
from app.api.security import ADMIN, NEEDS, OPEN

SUMMARY = "Long-term memory for AI agents"
DESCRIPTION = """
POST the messages of a conversation into a *namespace*; in the background they become *episodes*, *statements*
and *themes*. Search and answer read them top-down, within a budget of tokens, and cite the messages.
""".strip()


SCHEME = "key"
BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key, as `POST /v1/keys` or `xmemory keys create` showed it.",
}


def describe(app: FastAPI, *, keys: bool) -> None:
    """Give `app` its summary; make its document say that errors are problem documents, and what `keys` open."""
    app.summary = SUMMARY
    app.description = DESCRIPTION
    derive = app.openapi
    if keys not in _DOCUMENTS:
        document = _with_problems(derive())
        _DOCUMENTS[keys] = _with_security(document) if keys else document
    app.openapi = lambda: _DOCUMENTS[keys]  # type: ignore[method-assign]


_DOCUMENTS: dict[bool, dict[str, Any]] = {}
"""By whether keys are asked for: all else is the same in every application that a process makes.

Derived while an application is made, for requests read it, and deriving it twice at a time is not safe; and not
again for the next one, for it takes a third of a second.
"""


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return document


def _with_security(document: dict[str, Any]) -> dict[str, Any]:
    document["components"]["securitySchemes"] = {SCHEME: BEARER}
    for operation in (one for item in document["paths"].values() for one in item.values()):
        needed = NEEDS.get(operation["operationId"], ADMIN)
        if needed == OPEN:
            continue
        operation["security"] = [{SCHEME: []}]
        operation["description"] += f"\n\nThe key has the scope {' or '.join(f'`{one}`' for one in sorted(needed))}."
        operation["responses"] |= {str(status): DOCUMENTED[status] for status in (401, 403)}
    return document
