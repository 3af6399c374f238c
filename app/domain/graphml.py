"""A graph as GraphML, for Gephi, yEd, Cytoscape, networkx and whatever else reads it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from io import BytesIO
from uuid import UUID

from app.domain.levels import Level

Value = str | int | float
"""GraphML's `string`, `long` and `double`."""

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 does not allow even in escaped form: control characters, lone surrogates, two non-characters."""


class Relation(StrEnum):
    """What an edge says of its source and its target."""

    CONTAINS = "contains"  # theme → statement
    CITES = "cites"  # statement → message
    IN_EPISODE = "in-episode"  # statement or message → episode
    NEIGHBOUR = "neighbour"  # theme → theme, once for the two of them


@dataclass(frozen=True, slots=True)
class Node:
    """An item of memory. `size` counts what it is made of; `more` holds what only its level has."""

    id: UUID
    level: Level
    label: str
    size: int
    more: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """How two nodes hang together; `weight` is a cosine in (0, 1], where there is one."""

    source: UUID
    target: UUID
    relation: Relation
    weight: float | None = None


def render(about: Mapping[str, Value], nodes: Iterable[Node], edges: Iterable[Edge]) -> bytes:
    """The graph as a UTF-8 XML document; the same graph always gives the same bytes.

    Args:
        about: attributes of the graph itself.
        nodes: each id once. `level`, `label`, `size` and the names in `more` become attributes.
        edges: between these nodes, at most one from a node to another. `relation` and `weight` become attributes.
            No name may be an attribute of nodes as well as of edges or the graph: names are also the keys.
    """
    import networkx as nx  # noqa: PLC0415  (takes a moment: only where it is used)

    graph = nx.DiGraph(**_safe(about))
    for node in nodes:
        own = {"level": node.level.value, "label": node.label, "size": node.size}
        graph.add_node(str(node.id), **_safe({**own, **node.more}))
    for edge in edges:
        weight = {} if edge.weight is None else {"weight": edge.weight}
        graph.add_edge(str(edge.source), str(edge.target), relation=edge.relation.value, **weight)
    document = BytesIO()
    # Keys named after their attributes: Gephi takes the default names d3 and d7 for labels, as yEd writes them.
    # The writer of the standard library, so that the bytes do not depend on whether lxml is there.
    nx.write_graphml_xml(graph, document, named_key_ids=True)
    return document.getvalue()


def _safe(values: Mapping[str, Value]) -> dict[str, Value]:
    return {
        name: NOT_IN_XML.sub("\ufffd", value) if isinstance(value, str) else value for name, value in values.items()
    }
