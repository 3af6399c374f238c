"""The OpenAPI document of this code, and the snapshot that clients were promised."""

import json
from pathlib import Path
from typing import Any

from app.main import create_app
from app.settings import Settings

SNAPSHOT = Path(__file__).with_name("openapi.json")
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


def current() -> dict[str, Any]:
    """The document of a service that asks for keys, without its version: a release changes no contract."""
    document = create_app(Settings(_env_file=None, auth="keys")).openapi()
    return {**document, "info": {**document["info"], "version": "0"}}


def snapshot() -> dict[str, Any]:
    """The document as it was when the snapshot was last updated."""
    found: dict[str, Any] = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All operations, by method and path; parameters of the path are those of its operations."""
    return {
        f"{method.upper()} {path}": {
            **item[method],
            "parameters": [*item.get("parameters", []), *item[method].get("parameters", [])],
        }
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    }
