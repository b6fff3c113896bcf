"""GraphML and GML, read by NetworkX.

Weights are the attributes ``weight`` of edges and nodes, 1 where there is none; other attributes
are not read. The partitioners know no directions: parallel edges and the two directions of a pair
add up. Self-loops are refused. Vertices keep their names (the label in GML).
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

import networkx as nx
import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import read_bytes
from slotwise.models.graph_files.vertex_stream import MOST_WEIGHT, CsrGraph, from_edges

NOT_READ = (
    nx.NetworkXException, ValueError, TypeError, AttributeError, LookupError, OverflowError,
    RecursionError,
)  # fmt: skip
"""What NetworkX raises on files that are not in order."""

_EDGE = {
    "graphml": re.compile(r"<(?:\w+:)?edge\b([^>]*)"),
    "gml": re.compile(r"\bedge\s*\[([^\[\]]*)"),
}
_ENDS = {
    "graphml": tuple(
        re.compile(rf"""\b{end}\s*=\s*["']([^"']*)""") for end in ("source", "target")
    ),
    "gml": tuple(re.compile(rf"\b{end}\s+(\S+)") for end in ("source", "target")),
}
_NODE = {
    "graphml": re.compile(r"""<(?:\w+:)?node\b[^>]*?\bid\s*=\s*["']([^"']*)"""),
    "gml": re.compile(r"\bnode\s*\[[^\[\]]*?\bid\s+(\S+)"),
}


def read_networkx(path: Path, kind: str) -> CsrGraph:
    """Return the graph of a file; `kind` is ``graphml`` or ``gml``.

    Raises
    ------
    InputError
        When NetworkX cannot read it, and with the line for self-loops, bad weights, and ends of
        edges that are not nodes.
    """
    content = read_bytes(path)
    text = content.decode("utf-8", "replace")
    graph = _read(path, kind)
    fault = first_fault(content) if kind == "graphml" else None
    if fault is not None:
        raise _refusal(path, *fault)
    if not len(graph):
        raise InputError("must have at least one vertex", has_value=False, file=str(path))
    number = {node: i for i, node in enumerate(graph)}
    weights = np.ones(len(number))
    for node, data in graph.nodes(data=True):

        def is_node(match: re.Match[str], name: str = str(node)) -> bool:
            return match[1] == name

        line = _first_line(text, _NODE[kind], is_node)
        weights[number[node]] = _weight(path, line, data)
    total: dict[tuple[int, int], float] = {}
    for a, b, data in graph.edges(data=True):
        ends = (str(a), str(b))

        def is_edge(match: re.Match[str], ends: tuple[str, str] = ends) -> bool:
            words = [end.search(match[1]) for end in _ENDS[kind]]
            return all(words) and tuple(word[1] for word in words if word) in (ends, ends[::-1])

        line = _first_line(text, _EDGE[kind], is_edge)
        if a == b:
            raise _refusal(path, line(), "must not be a self-loop; remove it", f"edge of {a}")
        weight = _weight(path, line, data)
        pair = (min(number[a], number[b]), max(number[a], number[b]))
        total[pair] = total.get(pair, 0.0) + weight
    ends_array = np.array(list(total), dtype=np.int32).reshape(-1, 2)
    names = tuple(str(data.get("label", node)) for node, data in graph.nodes(data=True))
    return from_edges(ends_array, np.array(list(total.values())), weights, names)


def _read(path: Path, kind: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of keys that it takes for strings
            return nx.read_graphml(path) if kind == "graphml" else nx.read_gml(path, label="id")
    except ParseError as error:
        line, _ = error.position
        raise _refusal(path, line, f"is not XML: {error}") from error
    except NOT_READ as error:
        rule = f"cannot be read as {kind} by NetworkX: {error}"
        raise InputError(rule, has_value=False, file=str(path)) from error


def _weight(path: Path, line: Callable[[], int], data: dict[str, Any]) -> float:
    value = data.get("weight", 1)
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if not finite:
        raise _refusal(path, line(), "must be a weight: a finite number of 0 or more", value)
    if not 0 <= value <= MOST_WEIGHT:
        raise _refusal(path, line(), f"must be a weight from 0 to {MOST_WEIGHT}", value)
    return float(value)


def _first_line(
    text: str, pattern: re.Pattern[str], is_it: Callable[[re.Match[str]], bool]
) -> Callable[[], int]:
    """Return a search, done on demand, for the line of the first match that is meant; 0 = none."""

    def search() -> int:
        match = next((one for one in pattern.finditer(text) if is_it(one)), None)
        return 0 if match is None else text.count("\n", 0, match.start()) + 1

    return search


def _refusal(path: Path, line: int, rule: str, value: object = None) -> InputError:
    field = f"line {line}" if line else ""
    has = value is not None
    return InputError(rule, field=field, value=value, has_value=has, file=str(path))


Fault = tuple[int, str, str | None]
"""Line, rule, value."""


def first_fault(content: bytes) -> Fault | None:
    """Return what is wrong first in well-formed GraphML; ``None`` = nothing."""
    nodes: set[str] = set()
    ends: list[tuple[int, str]] = []
    faults: list[Fault] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def begin(name: str, attributes: dict[str, str]) -> None:
        line, kind = parser.CurrentLineNumber, name.rpartition(" ")[2]
        if kind == "node" and "id" in attributes:
            nodes.add(attributes["id"])
        elif kind == "node":
            faults.append((line, "a node must have an id", None))
        elif kind == "edge":
            for end in ("source", "target"):
                if end in attributes:
                    ends.append((line, attributes[end]))
                else:
                    faults.append((line, f"an edge must have a {end}", None))

    parser.StartElementHandler = begin
    parser.Parse(content, True)
    rule = "must be the id of a node; declare it, or remove the edge"
    faults += [(line, rule, end) for line, end in ends if end not in nodes]
    return min(faults, key=lambda fault: fault[0], default=None)
