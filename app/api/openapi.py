"""The OpenAPI document: what FastAPI derives, with the problem schema and our words."""

from typing import Any

from fastapi import FastAPI

from app.api.schemas.common import Problem

SUMMARY = "Long-term memory for AI agents"
DESCRIPTION = """
POST the messages of a conversation into a *namespace*; in the background they become *episodes*, *statements*
and *themes*. Search and answer read them top-down, within a budget of tokens, and cite the messages.
""".strip()


def describe(app: FastAPI) -> None:
    """Give `app` its summary and make its document say that errors are problem documents."""
    app.summary = SUMMARY
    app.description = DESCRIPTION
    derive = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_problems(derive())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    app.openapi()  # now, and once: requests read it, and deriving it twice at a time is not safe


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return document
