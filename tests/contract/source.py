"""The source as the house rules see it: files, syntax trees, functions."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def trees(*folders: str) -> dict[str, ast.Module]:
    """Every Python file under these folders of the repository, parsed, by its path from the root."""
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods, nested ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def where(path: str, node: ast.stmt | ast.expr | ast.ExceptHandler) -> str:
    """The place of a node, as editors open it."""
    return f"{path}:{node.lineno}"
