"""The rules of the house: what the tools check, and what no tool checks. `pytest` alone runs them all."""

import ast
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.contract.source import ROOT, functions, trees, where

FILE_LINES = 400
FUNCTION_LINES = 50
KNOW_THE_DIALECT = {f"app/storage/{name}.py" for name in ("engine", "dialects", "vectors")}
CATCH_EVERYTHING = {"app/jobs/runner.py", "app/api/middleware.py"}
READ_THE_ENVIRONMENT = {"app/settings.py"}
RUN_CODE_WHEN_READ = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}  # formats

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["-m", "ruff", "check", "."], id="ruff check"),
        pytest.param(["-m", "ruff", "format", "--check", "."], id="ruff format"),
        pytest.param(["-c", LINT_IMPORTS], id="import contracts"),
        pytest.param(["-m", "mypy"], id="mypy", marks=pytest.mark.slow),
    ],
)
def test_tools_find_nothing(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_are_short() -> None:
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in trees("app", "tests")}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def test_functions_are_short() -> None:
    long = [
        f"{where(path, function)} {function.name}"
        for path, tree in trees("app", "tests").items()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno >= FUNCTION_LINES
    ]
    assert long == []


def _found(rule: Callable[[ast.AST], bool], allowed: set[str]) -> list[str]:
    """Where in `app` a node breaks a rule, except in the files that may."""
    return [
        f"{path}:{getattr(node, 'lineno', '?')}"
        for path, tree in trees("app").items()
        if path not in allowed
        for node in ast.walk(tree)
        if rule(node)
    ]


def _named(node: ast.AST | None, *names: str) -> bool:
    """Whether the node is one of these names, also at the end of a dotted one."""
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr in names


def _asks_for_the_dialect(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "get_backend_name" or (node.attr == "name" and _named(node.value, "dialect"))
    return False


def test_only_three_files_know_the_dialect() -> None:
    assert _found(_asks_for_the_dialect, KNOW_THE_DIALECT) == []


def _catches_everything(node: ast.AST) -> bool:
    broad = ("Exception", "BaseException")
    if isinstance(node, ast.ExceptHandler):
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        return any(kind is None or _named(kind, *broad) for kind in kinds)
    if isinstance(node, ast.Call) and _named(node.func, "suppress"):
        return any(_named(argument, *broad) for argument in node.args)
    return False


def test_only_two_files_catch_everything() -> None:
    assert _found(_catches_everything, CATCH_EVERYTHING) == []


def _reads_the_environment(node: ast.AST) -> bool:
    names = ("environ", "environb", "getenv", "getenvb")
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(alias.name in names for alias in node.names)
    return isinstance(node, ast.Attribute) and node.attr in names and _named(node.value, "os")


def test_only_the_settings_read_the_environment() -> None:
    assert _found(_reads_the_environment, READ_THE_ENVIRONMENT) == []


def _runs_what_it_reads(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in RUN_CODE_WHEN_READ for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in RUN_CODE_WHEN_READ
    return (
        isinstance(node, ast.keyword)
        and node.arg in ("trust_remote_code", "allow_pickle")
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    )


def test_nothing_that_is_read_is_run() -> None:
    assert _found(_runs_what_it_reads, set()) == []


def test_the_readme_and_ci_run_the_same_tests() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    [command] = [line for line in lines if line.endswith("pytest")]
    assert command in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (_asks_for_the_dialect, "if connection.dialect.name == 'sqlite': pass"),
        (_asks_for_the_dialect, "make_url(url).get_backend_name()"),
        (_catches_everything, "try: pass\nexcept: pass"),
        (_catches_everything, "try: pass\nexcept (ValueError, Exception): pass"),
        (_catches_everything, "with contextlib.suppress(Exception): pass"),
        (_reads_the_environment, "os.environ['HOME']"),
        (_reads_the_environment, "from os import getenv"),
        (_runs_what_it_reads, "import pickle"),
        (_runs_what_it_reads, "load(name, trust_remote_code=True)"),
        (_runs_what_it_reads, "load(name, trust_remote_code=given)"),
    ],
)
def test_the_rules_bite(rule: Callable[[ast.AST], bool], code: str) -> None:
    assert any(rule(node) for node in ast.walk(ast.parse(code)))
