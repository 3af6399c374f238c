"""The OpenAPI document: fit for client generators, and never changed by accident."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app.api.problems import MEDIA_TYPE, STATUS, status_of
from app.domain.errors import AppError
from tests.contract import document
from tests.contract.compatibility import breaks
from tests.contract.source import trees

PROBLEM = {"$ref": "#/components/schemas/Problem"}
NOT_A_PROBLEM = ("GET /health/ready", "503")  # says which check failed, as a probe wants it


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    """The document of this code."""
    return document.current()


@pytest.fixture(scope="module")
def operations(served: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Its operations, by method and path."""
    return document.operations(served)


def test_the_document_is_openapi_3_1(served: dict[str, Any]) -> None:
    assert served["openapi"].startswith("3.1.")
    assert served["info"]["title"]
    assert served["info"]["description"]


def test_operations_have_clean_names(operations: dict[str, dict[str, Any]]) -> None:
    ids = [operation["operationId"] for operation in operations.values()]
    assert [name for name in ids if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    assert len(set(ids)) == len(ids)


def test_operations_say_what_they_do(operations: dict[str, dict[str, Any]]) -> None:
    for name, operation in operations.items():
        assert len(operation["tags"]) == 1, name
        assert operation["summary"], name
        assert operation["description"].strip(), name


def test_every_error_is_a_problem_document(operations: dict[str, dict[str, Any]]) -> None:
    for name, operation in operations.items():
        for status, response in operation["responses"].items():
            if int(status) >= 400 and (name, status) != NOT_A_PROBLEM:
                assert response["content"] == {MEDIA_TYPE: {"schema": PROBLEM}}, f"{name} {status}"


def test_operations_document_what_bad_input_gives(operations: dict[str, dict[str, Any]]) -> None:
    for name, operation in operations.items():
        has_body = "requestBody" in operation
        if operation["parameters"] or has_body:
            assert "422" in operation["responses"], name
        assert not has_body or "413" in operation["responses"], name


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix("#/components/schemas/")
        for inner in node.values():
            yield from _references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _references(inner)


def test_no_schema_is_missing_or_left_over(served: dict[str, Any]) -> None:
    schemas = served["components"]["schemas"]
    assert set(_references(served)) == set(schemas)
    assert not [name for name in schemas if "ValidationError" in name]


def test_bodies_have_examples(served: dict[str, Any], operations: dict[str, dict[str, Any]]) -> None:
    bodies = {name for operation in operations.values() for name in _references(operation.get("requestBody"))}
    assert bodies >= {"AppendMessages", "SearchIn", "AnswerIn", "FlushIn"}
    for name in bodies:
        schema = served["components"]["schemas"][name]
        assert any("examples" in each for each in (schema, *schema["properties"].values())), name


def test_the_document_is_the_one_that_clients_were_promised(served: dict[str, Any]) -> None:
    promised = document.snapshot()
    broken = breaks(promised, served)
    assert not broken, "THIS BREAKS CLIENTS:\n" + "\n".join(broken)
    assert served == promised, (
        "The document changed in a way that breaks no client. If that is meant: python -m tests.contract.update"
    )


def _errors(kind: type[AppError] = AppError) -> Iterator[type[AppError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _errors(inner)


def test_every_error_has_a_status_and_a_code_of_its_own() -> None:
    kinds = [kind for kind in _errors() if kind.__module__.startswith("app.")]
    assert len(kinds) >= len(STATUS)
    assert all(400 <= status_of(kind("said")) < 600 for kind in kinds)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code) for kind in kinds)
    for name in ("code", "title"):
        values = [getattr(kind, name) for kind in kinds]
        assert sorted(set(values)) == sorted(values)


def test_only_errors_of_ours_have_server_statuses_that_may_be_retried() -> None:
    assert {status_of(kind("said")) for kind in _errors() if kind.retryable} <= {500, 502, 503}
    assert all(not kind.retryable for kind in _errors() if status_of(kind("said")) < 500)


def test_the_tree_of_errors_is_one_file() -> None:
    names = {kind.__name__ for kind in _errors()}
    outside = [
        f"{path}: {node.name}"
        for path, tree in trees("app").items()
        if path != "app/domain/errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and names & {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    ]
    assert outside == []
