"""Themes as HTTP shows them: lists, one theme with all that is in it, the hierarchy as a graph."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote
from uuid import uuid4
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from sqlalchemy import event

from app.container import Container
from app.domain.errors import NotFound, TooLarge
from app.domain.levels import Level
from app.settings import Settings
from tests.conftest import Api
from tests.integration.support import assert_problem, drain, messages_path, over_http, post, route
from tests.integration.theming import FACTS, fill, gather

EVERY = ["theme", "statement", "episode", "message"]


@pytest.fixture
def api(shared: Api) -> Api:
    return shared


async def _remember(api: Api, ada: str, *contents: str) -> None:
    await api.say(ada, *(contents or FACTS), speaker="Ada", occurred_at="2026-03-02T12:00:00Z")
    await api.settle(ada)


async def _graph(api: Api, ada: str, levels: Sequence[str] = ()) -> nx.DiGraph:
    reply = await api.get(route(ada, "themes/export"), params={"levels": levels} if levels else {})
    assert reply.status_code == 200, reply.text
    ElementTree.fromstring(reply.content)
    return nx.parse_graphml(reply.content.decode())


def _between(graph: nx.DiGraph, relation: str) -> set[tuple[str, str]]:
    return {(one, other) for one, other, data in graph.edges(data=True) if data["relation"] == relation}


# Browsing --------------------------------------------------------------------------------------------------


async def test_a_list_shows_a_few_statements_and_one_theme_all(built: Container, settings: Settings) -> None:
    await fill(built)
    theme, members = await gather(built)
    async with over_http(built, settings) as api:
        [listed] = await api.all(route("ada", "themes"))
        whole = (await api.get(route("ada", f"themes/{theme}"))).json()
    inside = whole.pop("statements")
    assert {one["id"] for one in inside} == {str(id_) for id_ in members}
    assert inside[:3] == listed.pop("statements")
    similar = [one["similarity"] for one in inside]
    assert similar == sorted(similar, reverse=True)
    assert whole == listed
    assert whole["size"] == len(members)
    assert whole["span"] == {"from": "2026-03-02T12:00:00Z", "to": "2026-03-02T12:00:00Z"}
    assert whole["made_by"]["model"] == "extractive"
    assert whole["neighbours"] == []


async def test_a_theme_tells_where_it_comes_from_and_why(api: Api, ada: str) -> None:
    await _remember(api, ada)
    for theme in await api.all(route(ada, "themes")):
        history = theme["lineage"]["history"]
        assert history, "something made it"
        assert all(change["at"] and change["action"] and isinstance(change["gain"], float) for change in history)
        assert history[-1]["size"] == theme["size"]


async def test_neighbours_are_the_nearest_other_themes(built: Container) -> None:
    await fill(built)
    listed = await built.services.themes.page("ada", None, 100)
    assert len(listed) > 2
    async with built.storage.read("ada") as unit:
        centroids = await unit.hierarchy.centroids()
    at = {theme: row for row, theme in enumerate(centroids.ids)}
    for view in listed:
        similar = centroids.matrix @ centroids.matrix[at[view.theme.id]]
        similar[at[view.theme.id]] = -np.inf
        near = [cosine for _, _, cosine in view.neighbours]
        assert near == pytest.approx(sorted(similar, reverse=True)[: len(near)], abs=1e-5)
        assert len(near) == min(5, len(listed) - 1)
        whole = await built.services.themes.get("ada", view.theme.id)
        assert {id_ for id_, _, _ in whole.neighbours} == {id_ for id_, _, _ in view.neighbours}


async def test_a_page_takes_the_same_queries_however_long_it_is(built: Container) -> None:
    await fill(built)
    sent: list[str] = []
    engine = built.storage.engines.read.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *given: sent.append(given[2]))
    counts = []
    for limit in (1, 100):
        sent.clear()
        assert await built.services.themes.page("ada", None, limit)
        counts.append(
            len([statement for statement in sent if "namespaces" in statement or "namespace_id" in statement])
        )
    assert counts == [5, 5], "the namespace, the page, what is in it, all centroids, the neighbours' labels"


async def test_themes_of_another_namespace_are_not_there(api: Api, ada: str, bob: str) -> None:
    await _remember(api, ada)
    await _remember(api, bob, "I like tea.")
    [theme, *_] = await api.all(route(ada, "themes"))
    assert_problem(await api.get(route(bob, f"themes/{theme['id']}")), 404)
    assert_problem(await api.get(route(ada, f"themes/{uuid4()}")), 404)
    assert_problem(await api.get(route(ada, "themes/everything")), 422)
    for path in ("themes", "themes/export"):
        assert_problem(await api.get(route("nobody", path)), 404)
    assert theme["id"] not in await _graph(api, bob, EVERY)


async def test_a_theme_that_ended_names_the_one_that_took_it_in(built: Container) -> None:
    await fill(built)
    before = [view.theme.id for view in await built.services.themes.page("ada", None, 100)]
    heir, _ = await gather(built)
    for ended in set(before) - {heir}:
        with pytest.raises(NotFound, match=str(heir)):
            await built.services.themes.get("ada", ended)


# The graph -------------------------------------------------------------------------------------------------


async def test_the_graph_holds_the_hierarchy(api: Api, ada: str) -> None:
    await _remember(api, ada)
    await api.say(ada, "Still in the buffer.")
    graph = await _graph(api, ada)
    home = {noun: await api.all(route(ada, noun)) for noun in ("themes", "statements", "episodes")}
    levels = {"themes": "theme", "statements": "statement", "episodes": "episode"}
    assert {(row["id"], levels[noun]) for noun, rows in home.items() for row in rows} == {
        (id_, data["level"]) for id_, data in graph.nodes(data=True)
    }
    for theme in home["themes"]:
        node = graph.nodes[theme["id"]]
        assert (node["label"], node["size"]) == (theme["label"], theme["size"])
        assert node["first"].startswith("2026-03-02T12:00:00")
    for statement in home["statements"]:
        node = graph.nodes[statement["id"]]
        assert (node["text"], node["kind"], node["support"]) == tuple(
            statement[key] for key in ("text", "kind", "support")
        )
    assert _between(graph, "contains") == {(row["theme"], row["id"]) for row in home["statements"]}
    episodes = {message["id"]: message["episode"] for message in await api.all(messages_path(ada))}
    assert _between(graph, "in-episode") == {
        (row["id"], episodes[cited["id"]]) for row in home["statements"] for cited in row["messages"]
    }
    assert _between(graph, "cites") == set()
    near = [(one, other, graph.edges[one, other]["weight"]) for one, other in _between(graph, "neighbour")]
    assert near
    assert all(0 < weight <= 1 and (other, one) not in graph.edges for one, other, weight in near)


async def test_levels_say_what_is_a_node(api: Api, ada: str) -> None:
    await _remember(api, ada, "I moved to Lisbon.")
    await api.say(ada, "Still in the buffer.")
    graph = await _graph(api, ada, EVERY)
    [said, buffered] = await api.all(messages_path(ada))
    [statement] = await api.all(route(ada, "statements"))
    assert _between(graph, "cites") == {(statement["id"], said["id"])}
    assert (said["id"], said["episode"]) in _between(graph, "in-episode")
    assert graph.nodes[said["id"]]["label"] == "Ada: I moved to Lisbon."
    assert graph.nodes[buffered["id"]]["sequence"] == 2
    assert set((await _graph(api, ada, ["theme"])).nodes) == {statement["theme"]}
    assert (await _graph(api, ada, ["statement", "message"])).number_of_edges() == 1
    assert_problem(await api.get(route(ada, "themes/export"), params={"levels": "word"}), 422)


async def test_the_graph_of_a_namespace_without_memory_is_empty(api: Api, ada: str) -> None:
    await api.say(ada, "Hello!")
    assert not (await _graph(api, ada)).nodes


async def test_any_text_may_stand_in_a_graph(api: Api, ada: str) -> None:
    await _remember(api, ada, "I moved to \x0b Lisbon <now> & then \x1b[31m to 東京 \ufffe 😀.")
    texts = [data.get("text", "") for _, data in (await _graph(api, ada, EVERY)).nodes(data=True)]
    assert any("<now> & then" in text and "東京" in text for text in texts)


async def test_the_file_has_a_safe_name(api: Api) -> None:
    name = f'Ada"; x=‮東京-{uuid4().hex[:8]}'.replace(" ", "_")
    await api.say(name, "I like tea.")
    reply = await api.get(f"/v1/namespaces/{quote(name)}/themes/export")
    assert reply.status_code == 200
    disposition = reply.headers["content-disposition"]
    assert disposition == f"attachment; filename*=UTF-8''{quote(name, safe='')}-themes.graphml"
    assert reply.headers["content-type"].startswith("text/xml")


async def test_a_graph_above_the_limit_is_refused(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon.", "My sister Ines is allergic to peanuts.")
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    whole = built.services.theme_graph
    few = replace(whole, most=12)
    assert await few.graphml("ada", [Level.STATEMENT, Level.EPISODE]) == await whole.graphml(
        "ada", [Level.STATEMENT, Level.EPISODE]
    )
    with pytest.raises(TooLarge, match="12 are the limit"):
        await few.graphml("ada", list(Level))
