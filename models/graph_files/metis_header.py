"""The header of METIS files, and how their errors name a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from slotwise.models.graph_files.line_blocks import LONGEST_LINE, opened, refusal
from slotwise.models.graph_files.vertex_stream import MOST_VERTICES


@dataclass(frozen=True, slots=True)
class Header:
    """The header: numbers of vertices and edges, what lines hold, and its own line."""

    vertices: int
    edges: int
    has_size: bool
    has_weight: bool
    has_edge_weight: bool
    line: int


def read_header(path: Path, file: BinaryIO) -> Header:
    """Read the lines of `file` up to the header and return that."""
    line = 0
    for text in iter(lambda: file.readline(LONGEST_LINE), b""):
        line += 1
        words = text.decode("ascii", "replace").split()
        if words and not words[0].startswith("%"):
            return _header(path, line, words)
        if not words:
            break
    rule = "must be the header: numbers of vertices and edges, then fmt and ncon if need be"
    raise refusal(path, max(line, 1), rule)


def _header(path: Path, line: int, words: list[str]) -> Header:
    if not 2 <= len(words) <= 4:
        raise refusal(path, line, "must be the header, n m [fmt [ncon]]", " ".join(words))
    for word in words:
        if not (word.isascii() and word.isdigit()) or len(word) > 18:
            raise refusal(path, line, "must be a whole number of 0 or more in the header", word)
    vertices, edges = int(words[0]), int(words[1])
    if not 1 <= vertices <= MOST_VERTICES:
        rule = f"must be a number of vertices from 1 to {MOST_VERTICES}"
        raise refusal(path, line, rule, vertices)
    fmt = words[2].zfill(3) if len(words) > 2 else "000"
    if len(fmt) != 3 or set(fmt) - {"0", "1"}:
        raise refusal(path, line, "must be a fmt of three digits, each 0 or 1", words[2])
    if len(words) > 3 and int(words[3]) != 1:
        raise refusal(path, line, "must be 1: one weight a vertex is read (ncon)", words[3])
    size, weight, edge_weight = (digit == "1" for digit in fmt)
    return Header(vertices, edges, size, weight, edge_weight, line)


def line_of(path: Path, vertex: int) -> int:
    """Return the line of a vertex, counted from 0, of a file whose lines are sound."""
    with opened(path) as file:
        line = read_header(path, file).line
        for text in file:
            line += 1
            if not text.lstrip().startswith(b"%"):
                vertex -= 1
                if vertex < 0:
                    break
    return line
