"""METIS graph files (``.graph``): read block by block, never whole in memory.

The header is ``n m [fmt [ncon]]``; then comes a line for each vertex: its size (fmt 1xx, not used
here), its weight (x1x), then its neighbours, counted from 1, each followed by the weight of the
edge (xx1). Lines that begin with % are comments; an empty line is a vertex without neighbours.
Only one weight a vertex (ncon = 1) is read. Numbers are whole, weights of edges above 0.

Memory: 16 bytes a vertex for the checks, and some 50 MB for a block. Where there are weights
the header does not give their sums; a first reading adds them up.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.graph_files.line_blocks import (
    LONGEST_LINE,
    NEWLINE,
    line_blocks,
    opened,
    refusal,
)
from slotwise.models.graph_files.vertex_stream import MOST_VERTICES, MOST_WEIGHT, Chunk, Totals


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


class MetisGraph:
    """The graph of a METIS file, as a stream of vertices.

    Raises
    ------
    InputError
        On opening when the header is wrong; while iterating when a line is, with its number; after
        the last vertex when counts are wrong or an edge stands at one of its ends only.
    """

    names: tuple[str, ...] | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = opened(path)
        self._rewindable = stat.S_ISREG(path.stat().st_mode)
        self.header = read_header(path, self._file)
        self._totals: Totals | None = None

    @property
    def totals(self) -> Totals:
        """Numbers from the header; sums of weights, if any, from a first reading of the file."""
        if self._totals is None:
            head = self.header
            vertex_weight, edge_weight = float(head.vertices), float(head.edges)
            if head.has_weight or head.has_edge_weight:
                vertex_weight = edge_weight = 0.0
                for chunk in self:
                    vertex_weight += float(chunk.weights.sum())
                    edge_weight += float(chunk.edge_weights.sum()) / 2
            self._totals = Totals(head.vertices, head.edges, vertex_weight, edge_weight, whole=True)
        return self._totals

    def __iter__(self) -> Iterator[Chunk]:
        """Yield the vertices; a pipe can be read once only."""
        file, self._file = self._file, None
        if file is None:
            if not self._rewindable:
                rule = "has to be read more than once here; write it to a regular file"
                raise InputError(rule, has_value=False, file=str(self._path))
            file = opened(self._path)
            read_header(self._path, file)
        with file:
            yield from _Reading(self._path, self.header, file).chunks()


class _Reading:
    """One reading of the vertex lines, with the checks that go over all of them."""

    def __init__(self, path: Path, header: Header, file: BinaryIO) -> None:
        self._path = path
        self._header = header
        self._file = file
        self._state = np.zeros(6, dtype=np.int64)
        self._state[1] = header.line
        self._seen = np.full(header.vertices, -1, dtype=np.int32)
        self._signature = np.zeros(header.vertices, dtype=np.uint64)

    def chunks(self, *, whole: bool = True) -> Iterator[Chunk]:
        """Yield the vertices; `whole` = check at the end what holds of the whole file."""
        from slotwise.models.graph_files import metis_kernels as kernels

        head = self._header
        for data, size in line_blocks(self._path, self._file):
            lines = int(np.count_nonzero(data[:size] == NEWLINE))
            words = size // 2 + 1
            weights = np.empty(lines)
            offsets = np.empty(lines + 1, dtype=np.int64)
            neighbours = np.empty(words, dtype=np.int32)
            edge_weights = np.empty(words)
            first = int(self._state[kernels.VERTEX])
            count = kernels.parse(
                data, size, head.vertices, head.has_size, head.has_weight, head.has_edge_weight,
                self._state, self._seen, self._signature, weights, offsets, neighbours,
                edge_weights,
            )  # fmt: skip
            if self._state[kernels.CODE]:
                raise self._bad_line(data)
            entries = int(offsets[count])
            yield Chunk(
                vertices=np.arange(first, first + count, dtype=np.int32),
                weights=weights[:count],
                offsets=offsets[: count + 1],
                neighbours=neighbours[:entries],
                edge_weights=edge_weights[:entries],
            )
        if whole:
            self._check(int(self._state[kernels.VERTEX]), int(self._state[kernels.ENTRIES]))

    def _bad_line(self, data: NDArray[np.uint8]) -> InputError:
        from slotwise.models.graph_files import metis_kernels as kernels

        code, line, begin, end = (int(x) for x in self._state[: kernels.END + 1])
        word = data[begin:end].tobytes().decode("ascii", "replace")
        vertices = self._header.vertices
        rules = {
            kernels.NOT_WHOLE: "must be a whole number of 0 or more",
            kernels.TOO_LARGE: f"must be at most {MOST_WEIGHT}",
            kernels.NO_SUCH: f"must be a vertex, from 1 to {vertices}",
            kernels.SELF_LOOP: "is the vertex of this line: a self-loop; remove it",
            kernels.TWICE: "is named twice as a neighbour; remove one",
            kernels.NO_WEIGHT: "needs the weight of this edge after it (fmt has edge weights)",
            kernels.NO_VERTEX_WEIGHT: "needs the vertex's size or weight first (fmt says so)",
            kernels.ZERO: "must be above 0, the weight of an edge",
            kernels.TOO_MANY: f"must not be there: the header says {vertices} vertices",
        }
        return refusal(self._path, line, rules[code], word or None)

    def _check(self, vertices: int, entries: int) -> None:
        head = self._header
        if vertices < head.vertices:
            rule = f"must be the number of vertex lines, of which there are {vertices}"
            raise refusal(self._path, head.line, rule, head.vertices)
        if self._signature.any():
            low = int(np.flatnonzero(self._signature)[0])
            raise self._one_sided(low)
        if entries != 2 * head.edges:
            rule = f"must be the number of edges, of which there are {entries // 2}"
            raise refusal(self._path, head.line, rule, head.edges)

    def _one_sided(self, low: int) -> InputError:
        """Return the error of an edge between `low` and a higher vertex that is not at both ends.

        The file is read again: the edges of `low` are compared with those that name it.
        """
        if not stat.S_ISREG(self._path.stat().st_mode):
            rule = "has an edge to a higher vertex that is in only one of their two lines"
            return InputError(rule, field="vertex", value=low + 1, file=str(self._path))
        file = opened(self._path)
        own: dict[int, float] = {}
        back: dict[int, float] = {}
        with file:
            read_header(self._path, file)
            for chunk in _Reading(self._path, self._header, file).chunks(whole=False):
                own |= _edges_between(chunk, low, own_row=True)
                back |= _edges_between(chunk, low, own_row=False)
        high = min(v for v in own.keys() | back.keys() if own.get(v) != back.get(v))
        here, there = (low, high) if high in own else (high, low)
        line = line_of(self._path, here)
        if high in own and high in back:
            rule = f"must be the weight in the line of vertex {high + 1} too, {back[high]:g}"
            return refusal(self._path, line, rule, int(own[high]))
        rule = f"must name vertex {here + 1} too: each edge stands in the lines of both its ends"
        return refusal(self._path, line, rule, there + 1)


def _edges_between(chunk: Chunk, low: int, *, own_row: bool) -> dict[int, float]:
    """Return weights of edges of `low` by their higher end, from its row or from the others'."""
    rows = np.repeat(chunk.vertices, np.diff(chunk.offsets))
    if own_row:
        chosen = (rows == low) & (chunk.neighbours > low)
        others = chunk.neighbours[chosen]
    else:
        chosen = (chunk.neighbours == low) & (rows > low)
        others = rows[chosen]
    return dict(zip(others.tolist(), chunk.edge_weights[chosen].tolist(), strict=True))
