"""Every query over memory says whose memory: by its text here, and by what is really sent below."""

import ast
import re
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, event

from app.storage.tables import metadata
from tests.conftest import Api
from tests.contract.source import functions, trees, where

ACROSS_NAMESPACES = {"app/storage/namespaces.py", "app/storage/unit_of_work.py"}  # names and jobs, no memory
FILTERED_ELSEWHERE = {
    ("app/storage/embeddings.py", "nearest"): "selects from the CTE of `_best`, which is filtered",
    ("app/storage/jobs.py", "known_keys"): "selects from `ranked`, which is filtered",
    ("app/storage/messages.py", "speakers"): "selects from the CTE `names`, whose parts are filtered",
    ("app/storage/words.py", "spread"): "`asked` and `same` are filtered, and nothing else is read",
    ("app/storage/words.py", "_rows"): "`matches`, made in `lookup`, begins with the filter",
    ("app/storage/words.py", "_containing"): "the same",
}
MEMORY = {table.name for table in metadata.sorted_tables if "namespace_id" in table.c} - {"jobs"}
TABLES = re.compile(r"\b(?:FROM|JOIN|UPDATE) (\w+)")
ONLY_WHOSE = re.compile(r"SELECT (DISTINCT )?\w+\.namespace_id \nFROM")  # upkeep: who has something to look after
OF_ONE_NAMESPACE = re.compile(r"\bnamespace_id = (\?|%\()")


def _unfiltered(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Statements of a function that begin a query and do not call `self._own`."""
    simple = [
        node for node in ast.walk(function) if isinstance(node, ast.stmt) and not hasattr(node, "body")
    ]  # the smallest statement around a call holds the whole chain of .where(…)
    headers = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.AsyncFor)]
    return [
        statement
        for statement, part in [(node, node) for node in simple] + [(loop, loop.iter) for loop in headers]
        if _begins_a_query(part) and not _filters(part)
    ]


def _begins_a_query(node: ast.AST) -> bool:
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(isinstance(name, ast.Name) and name.id in ("select", "update", "delete") for name in called)


def _filters(node: ast.AST) -> bool:
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(isinstance(method, ast.Attribute) and method.attr == "_own" for method in called)


def test_every_query_over_memory_is_filtered() -> None:
    found = [
        where(path, statement)
        for path, tree in trees("app/storage").items()
        if path not in ACROSS_NAMESPACES
        for function in functions(tree)
        if (path, function.name) not in FILTERED_ELSEWHERE
        for statement in _unfiltered(function)
    ]
    assert found == []


@pytest.mark.parametrize("place", FILTERED_ELSEWHERE, ids="/".join)
def test_the_exceptions_are_still_needed(place: tuple[str, str]) -> None:
    path, name = place
    assert any(_unfiltered(function) for function in functions(trees("app/storage")[path]) if function.name == name)


@pytest.mark.parametrize(
    "code",
    [
        "def f(self):\n    query = select(messages).where(messages.c.id == 1)",
        "def f(self):\n    for row in run(select(messages)):\n        pass",
        "async def f(self):\n    await self._connection.execute(update(jobs).values(state='x'))",
        "def f(self):\n    own = self._own(jobs)\n    return delete(jobs)",
    ],
)
def test_the_rule_bites(code: str) -> None:
    [function] = functions(ast.parse(code))
    assert _unfiltered(function)


@pytest.fixture
def sent() -> Iterator[list[str]]:
    """Every statement that reaches a database meanwhile."""
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield statements
    event.remove(Engine, "before_cursor_execute", note)


async def _use_everything(api: Api) -> None:
    await api.say("ada", "I moved to Lisbon last week.", "I adopted a cat named Miso.", speaker="Ada")
    await api.settle("ada")
    await api.say("ada", "I moved to Lisbon last week.", speaker="Ada", external_id="again")
    await api.settle("ada", conversation="chat")
    home = "/v1/namespaces/ada"
    for strategy in ("adaptive", "hybrid", "bm25", "vector"):
        filters = {"from": "2020-01-01", "metadata": {}, "levels": ["message", "statement", "episode"]}
        asked = {"query": "Where does Ada live?", "strategy": strategy, **filters}
        assert (await api.post(f"{home}/search", json=asked)).status_code == 200
        assert (await api.post(f"{home}/answer", json={**asked, "metadata": {"a": 1}})).status_code == 200
    for noun in ("conversations", "conversations/chat/messages", "episodes", "statements", "themes", "jobs"):
        items = await api.all(f"{home}/{noun}")
        assert items
        if noun in ("episodes", "statements", "themes", "jobs"):
            assert (await api.get(f"{home}/{noun}/{items[0]['id']}")).status_code == 200
    every = {"levels": ["theme", "statement", "episode", "message"]}
    assert (await api.get(f"{home}/themes/export", params=every)).status_code == 200
    assert (await api.post(f"{home}/themes/rebuild")).status_code == 202
    await api.settle("ada")
    assert (await api.get(f"{home}/status")).status_code == 200
    assert (await api.delete(home)).status_code == 202


async def test_every_statement_sent_names_its_namespace(sent: list[str], api: Api) -> None:
    sent.clear()  # of migrations
    await _use_everything(api)
    over_memory = [sql for sql in sent if MEMORY & set(TABLES.findall(sql))]
    assert len(over_memory) > 50
    assert [sql for sql in over_memory if not OF_ONE_NAMESPACE.search(sql) and not ONLY_WHOSE.match(sql)] == []
