"""Reading a graph from a file: which format, by its name; and writing a partition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.graph_files.edge_list import read_edge_list
from slotwise.models.graph_files.metis import MetisGraph
from slotwise.models.graph_files.vertex_stream import VertexStream

FORMATS = {
    "metis": (".graph", ".metis"),
    "edges": (".edges", ".edgelist", ".el", ".txt", ".tsv", ".csv"),
    "graphml": (".graphml",),
    "gml": (".gml",),
}
"""Formats, and the endings of their files."""

BREAK = re.compile("[\\t\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]")
"""Tab, and all that ends a line for `str.splitlines`."""

PICKLES = (".pickle", ".pkl", ".gpickle", ".p")


def open_graph(path: str | Path, form: str | None = None) -> VertexStream:
    """Return the graph of a file.

    Parameters
    ----------
    form
        One of `FORMATS`; ``None`` = by the file's ending.

    Raises
    ------
    InputError
        When the format is not known or the file is wrong, with the line where there is one.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("does not exist", has_value=False, file=str(path))
    form = _format_of(path) if form is None else form
    if form == "metis":
        return MetisGraph(path)
    if form == "edges":
        return read_edge_list(path)
    from slotwise.models.graph_files.networkx_file import read_networkx

    return read_networkx(path, form)


def is_graph_file(path: Path) -> bool:
    """Whether the name of a file ends like that of a graph, a pickled one included."""
    endings = (ending for of_format in FORMATS.values() for ending in of_format)
    return path.suffix.lower() in {*endings, *PICKLES}


def _format_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        rule = "is a pickle, which can run any code when it is read; write it as GraphML or GML"
        raise InputError(rule, has_value=False, file=str(path))
    for form, endings in FORMATS.items():
        if suffix in endings:
            return form
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    rule = f"must end in one of {known}; or say its format ({', '.join(FORMATS)})"
    raise InputError(rule, has_value=False, file=str(path))


def write_parts(path: Path, part: Sequence[int], names: tuple[str, ...] | None) -> None:
    """Write the part of each vertex: a line each, as METIS does, behind the names if there are any.

    Parts are counted from 0. Raises `InputError` for names that would break the lines.
    """
    if names is None:
        text = "\n".join(map(str, part))
    else:
        broken = next((name for name in names if BREAK.search(name)), None)
        if broken is not None:
            rule = "is the name of a vertex and holds a tab or line break; rename it in the graph"
            raise InputError(rule, value=broken, file=str(path))
        text = "\n".join(f"{name}\t{p}" for name, p in zip(names, part, strict=True))
    write_atomically(path, text + "\n")
