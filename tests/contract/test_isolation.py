"""Every query over memory says whose memory: by its text here, and by what is really sent below."""

import ast
import re
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, event

from app.storage.tables import WITHOUT_MEMORY, metadata
from tests.conftest import Api
from tests.contract.source import functions, trees, where

ACROSS_NAMESPACES = {"app/storage/namespaces.py", "app/storage/unit_of_work.py"}  # names and jobs, no memory
AT_A_TERMINAL = {"app/storage/seeking.py"}  # `xmemory doctor --find`: whoever has the database's password
OF_NO_NAMESPACE = {"app/storage/keys.py", "app/storage/audit.py"}  # see below: they know no table of memory
FILTERED_ELSEWHERE = {
    ("app/storage/jobs.py", "known_keys"): "selects from `ranked`, which is filtered",
    ("app/storage/messages.py", "speakers"): "selects from the CTE `names`, whose parts are filtered",
    ("app/storage/words.py", "spread"): "`asked` and `same` are filtered, and nothing else is read",
    ("app/storage/words.py", "best"): "selects from the CTE `scored`, made in `_scored`, which is filtered",
    ("app/storage/embeddings.py", "nearest"): "the same",
    ("app/storage/repository.py", "_best_beside"): "the same",
    ("app/storage/repository.py", "_meeting"): "the same; what it joins or looks up is of this namespace",
}
MEMORY = {table.name for table in metadata.sorted_tables} - {table.name for table in WITHOUT_MEMORY} - {"jobs"}
TABLES = re.compile(rf"(?:FROM|JOIN|UPDATE|,) ({'|'.join(sorted(MEMORY))})(?: AS (\w+))?(?=[ \n,)]|$)")
SELECTED = re.compile(r"SELECT (?:DISTINCT )?(.+?) \nFROM")
WHOSE = re.compile(r"\w+\.namespace_id|namespaces\.id")  # upkeep: who has something to look after
OF_ONE_NAMESPACE = re.compile(r"\bnamespace_id = (\?|%\()")
NDJSON = {"content-type": "application/x-ndjson"}
QUERIES = ("select", "update", "delete", "insert")


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
    return any(call.func.id != "insert" for call in _queries(node))


def _queries(node: ast.AST) -> Iterator[ast.Call]:
    """Calls of SQLAlchemy's functions that begin a query."""
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return (call for call in calls if isinstance(call.func, ast.Name) and call.func.id in QUERIES)


def _filters(node: ast.AST) -> bool:
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(isinstance(method, ast.Attribute) and method.attr == "_own" for method in called)


def test_every_query_over_memory_is_filtered() -> None:
    found = [
        where(path, statement)
        for path, tree in trees("app/storage").items()
        if path not in ACROSS_NAMESPACES | OF_NO_NAMESPACE | AT_A_TERMINAL
        for function in functions(tree)
        if (path, function.name) not in FILTERED_ELSEWHERE
        for statement in _unfiltered(function)
    ]
    assert found == []


def _imported(tree: ast.Module) -> set[str]:
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.parametrize("path", sorted(OF_NO_NAMESPACE))
def test_what_is_of_no_namespace_knows_no_table_of_memory(path: str) -> None:
    imported = _imported(trees("app/storage")[path])
    assert not imported & (MEMORY | {"jobs", "tables"})
    assert imported & {"keys", "audit"}


def test_what_sees_everything_is_out_of_reach_of_requests() -> None:
    """It is built by `build_doctor`, which no route can come to."""
    known = {path for path, tree in trees("app").items() if _imported(tree) & {"Seeker", "Everything"}}
    assert known <= {"app/container.py", "app/checkup.py", "app/storage/unit_of_work.py"}


def test_the_directory_reads_of_memory_only_whose_it_is() -> None:
    """What it selects of a table of memory is the namespace's id, or a count."""
    found = [
        where(path, call)
        for path in sorted(ACROSS_NAMESPACES)
        for call in _queries(trees("app/storage")[path])
        if call.func.id == "select"
        for told in map(ast.unparse, call.args)
        if set(re.findall(r"\w+", told)) & MEMORY and not re.fullmatch(r"\w+\.c\.namespace_id", told)
    ]
    assert found == []


def _family(node: ast.stmt) -> set[str]:
    """A class's name and its bases'; nothing for what is no class."""
    return {node.name, *map(ast.unparse, node.bases)} if isinstance(node, ast.ClassDef) else set()


def test_only_repositories_ask_for_memory() -> None:
    """Each is made for one namespace; no function beside them has a way to ask without one."""
    found = [
        where(path, node)
        for path, tree in trees("app/storage").items()
        if path not in ACROSS_NAMESPACES | OF_NO_NAMESPACE | AT_A_TERMINAL | {"app/storage/gauges.py"}  # counts
        for node in tree.body
        if any(_queries(node)) and "Repository" not in _family(node)
    ]
    assert found == []


def test_new_rows_belong_to_the_namespace() -> None:
    """A repository makes them with `_row`, which names its own."""
    found = [
        f"{where(path, function)} {function.name}"
        for path, tree in trees("app/storage").items()
        if path not in ACROSS_NAMESPACES | OF_NO_NAMESPACE
        for function in functions(tree)
        if any(call.func.id == "insert" for call in _queries(function)) and "self._row(" not in ast.unparse(function)
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


def _free(sql: str) -> list[str]:
    """Tables of memory in a statement whose rows may be of any namespace; of joins, each table counts."""
    if all(WHOSE.fullmatch(told) for told in SELECTED.findall(sql)) and sql.startswith("SELECT"):
        return []
    names = [alias or table for table, alias in TABLES.findall(sql)]
    bound = [rf"\b{name}\.namespace_id (=|IN)|= {name}\.namespace_id\b|(WHERE|AND) namespace_id =" for name in names]
    free = [name for name, condition in zip(names, bound, strict=True) if not re.search(condition, sql)]
    return free if not names or OF_ONE_NAMESPACE.search(sql) else names


@pytest.mark.parametrize(
    ("sql", "free"),
    [
        ("SELECT messages.id \nFROM messages \nWHERE messages.id = ?", ["messages"]),
        ("SELECT messages.id \nFROM messages \nWHERE messages.namespace_id = ?", []),
        ("SELECT m.id \nFROM messages AS m \nWHERE messages.namespace_id = ?", ["m"]),
        (
            "SELECT messages.id \nFROM messages JOIN citations ON citations.message_id = messages.id \n"
            "WHERE messages.namespace_id = ?",
            ["citations"],
        ),
        (
            "SELECT messages.id \nFROM messages, citations \nWHERE messages.namespace_id = citations.namespace_id",
            ["messages", "citations"],
        ),
        ("SELECT messages.namespace_id \nFROM messages \nWHERE messages.episode_id IS NULL", []),
        ("UPDATE themes SET dirty=? WHERE themes.id = ?", ["themes"]),
        ("DELETE FROM themes WHERE themes.namespace_id = ?", []),
    ],
)
def test_the_rule_over_sql_bites(sql: str, free: list[str]) -> None:
    assert _free(sql) == free


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
    assert (await api.get(f"{home}/status")).status_code == 200
    await _edit_and_move(api, home)
    await api.settle("ada")
    assert (await api.delete(home)).status_code == 202


async def _edit_and_move(api: Api, home: str) -> None:
    claim = {"text": "I moved to Lisbon.", "messages": [{"conversation": "chat", "external_id": "again"}]}
    kept = {"Idempotency-Key": "once"}
    assert (await api.post(f"{home}/statements", json={"statements": [claim]}, headers=kept)).status_code == 200
    one, *_, last = [f"{home}/statements/{each['id']}" for each in await api.all(f"{home}/statements")]
    corrected = await api.patch(one, json={"text": "I moved to Porto."})
    assert (await api.get(f"{home}/statements/{corrected.json()['id']}/history")).status_code == 200
    assert (await api.delete(last)).status_code == 204
    exported = await api.get(f"{home}/export")
    assert exported.status_code == 200
    moved = await api.post("/v1/namespaces/moved/import", content=exported.content, headers=NDJSON)
    assert moved.is_success, moved.text
    assert (await api.patch(home, json={"retention_days": 30})).status_code == 200
    first, *_ = await api.all(f"{home}/conversations/chat/messages")
    assert (await api.delete(f"{home}/messages/{first['id']}")).status_code == 202
    assert (await api.delete(f"{home}/conversations/chat")).status_code == 202


async def test_every_statement_sent_names_its_namespace(sent: list[str], api: Api) -> None:
    sent.clear()  # of migrations
    await _use_everything(api)
    over_memory = [sql for sql in sent if TABLES.search(sql) and not sql.startswith("ANALYZE")]
    assert len(over_memory) > 100
    assert {sql: free for sql in over_memory if (free := _free(sql))} == {}
