"""GraphML: what networkx, a strict XML parser and Gephi make of it."""

from uuid import UUID
from xml.etree import ElementTree

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.graphml import Edge, Node, Relation, render
from app.domain.levels import Level

NS = "{http://graphml.graphdrawing.org/xmlns}"
THEME, FIRST, SECOND, EPISODE = (UUID(int=number) for number in (1, 2, 3, 4))
NODES = (
    Node(THEME, Level.THEME, "Lisbon · moving", 2, {"first": "2026-03-02T12:00:00+00:00"}),
    Node(FIRST, Level.STATEMENT, "Ada moved.", 1, {"text": "Ada moved to Lisbon.", "kind": "event", "support": 1}),
    Node(SECOND, Level.STATEMENT, "Ada likes it.", 3, {"text": '里斯本 < 😀 & "quoted"', "kind": "fact", "support": 3}),
    Node(EPISODE, Level.EPISODE, "A move", 5),
)
EDGES = (
    Edge(THEME, FIRST, Relation.CONTAINS),
    Edge(THEME, SECOND, Relation.CONTAINS),
    Edge(FIRST, EPISODE, Relation.IN_EPISODE),
    Edge(THEME, EPISODE, Relation.NEIGHBOUR, 0.5),
)
GEPHI_TYPES = {"boolean", "int", "long", "float", "double", "string"}  # of the standard, and all that Gephi reads
GEPHI_LABELS = {"d3", "d7"}  # keys that Gephi takes for labels whatever they are called, because of yEd


def _document() -> bytes:
    return render({"namespace": "ada", "revision": 7}, NODES, EDGES)


def test_networkx_reads_back_what_was_written() -> None:
    graph = nx.parse_graphml(_document().decode())
    assert graph.is_directed()
    assert graph.graph["namespace"] == "ada"
    assert list(graph.nodes) == [str(node.id) for node in NODES]
    assert graph.nodes[str(SECOND)] == {
        "level": "statement", "label": "Ada likes it.", "size": 3,
        "text": "里斯本 < 😀 & \"quoted\"", "kind": "fact", "support": 3,
    }  # fmt: skip
    assert graph.edges[str(THEME), str(EPISODE)] == {"relation": "neighbour", "weight": 0.5}
    assert graph.edges[str(THEME), str(FIRST)] == {"relation": "contains"}
    assert len(graph.edges) == len(EDGES)


def test_keys_are_declared_once_with_types_of_the_standard() -> None:
    root = ElementTree.fromstring(_document())
    keys = {key.attrib["id"]: key.attrib for key in root.iter(f"{NS}key")}
    assert len(keys) == len(list(root.iter(f"{NS}key")))
    assert {key["attr.type"] for key in keys.values()} <= GEPHI_TYPES
    assert keys.keys().isdisjoint(GEPHI_LABELS)
    assert {name: key["attr.type"] for name, key in keys.items() if name in ("size", "weight", "label")} == {
        "size": "long", "weight": "double", "label": "string",
    }  # fmt: skip
    for scope in ("node", "edge", "graph"):
        used = {data.attrib["key"] for each in root.iter(f"{NS}{scope}") for data in each.findall(f"{NS}data")}
        assert used == {name for name, key in keys.items() if key["for"] == scope}


def test_edges_lead_to_nodes_that_are_there() -> None:
    root = ElementTree.fromstring(_document())
    ids = [node.attrib["id"] for node in root.iter(f"{NS}node")]
    assert len(set(ids)) == len(ids)
    assert {edge.attrib[end] for edge in root.iter(f"{NS}edge") for end in ("source", "target")} <= set(ids)


def test_the_same_graph_gives_the_same_bytes() -> None:
    assert _document() == _document()


def test_a_graph_may_be_empty() -> None:
    assert not nx.parse_graphml(render({"namespace": "ada"}, [], []).decode()).nodes


@pytest.mark.parametrize("bad", ["\x00", "\x0b", "\x1b", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_does_not_allow_becomes_a_replacement_character(bad: str) -> None:
    [node] = nx.parse_graphml(render({}, [Node(THEME, Level.THEME, f"a{bad}b", 1)], []).decode()).nodes.values()
    assert node["label"] == "a\ufffdb"


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_makes_a_document_that_a_strict_parser_reads(text: str) -> None:
    document = render({"namespace": text}, [Node(THEME, Level.THEME, text, 1, {"text": text})], [])
    [node] = ElementTree.fromstring(document).iter(f"{NS}node")
    assert [data.attrib["key"] for data in node] == ["level", "label", "size", "text"]
