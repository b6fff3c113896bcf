"""GraphML: each node has an id, and each edge two ends that are nodes of the file.

NetworkX reads on where it is not so, and makes up vertices.
"""

from __future__ import annotations

from xml.parsers import expat

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
