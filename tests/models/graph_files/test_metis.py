"""METIS files: every fmt, comments, blocks, and what is refused with its line."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.graph_files import line_blocks
from slotwise.models.graph_files.metis import MetisGraph
from slotwise.models.graph_files.vertex_stream import CsrGraph, in_memory

PATH_OF_3 = "3 2\n2\n1 3\n2\n"
WEIGHTED = [[(1, 7)], [(0, 7), (2, 9)], [(1, 9)]]


def graph(tmp_path: Path, text: str) -> CsrGraph:
    path = tmp_path / "g.graph"
    path.write_bytes(text.encode())
    return in_memory(MetisGraph(path))


def rows(one: CsrGraph) -> list[list[tuple[int, float]]]:
    found = zip(one.neighbours.tolist(), one.edge_weights.tolist(), strict=True)
    entries = list(found)
    offsets = one.offsets.tolist()
    return [entries[a:b] for a, b in pairwise(offsets)]


@pytest.mark.parametrize(
    ("text", "weights", "edges"),
    [
        (PATH_OF_3, [1, 1, 1], [[(1, 1)], [(0, 1), (2, 1)], [(1, 1)]]),
        ("3 2 0\n2\n1 3\n2", [1, 1, 1], [[(1, 1)], [(0, 1), (2, 1)], [(1, 1)]]),
        ("3 2 1\n2 7\n1 7 3 9\n2 9\n", [1, 1, 1], [[(1, 7)], [(0, 7), (2, 9)], [(1, 9)]]),
        ("3 2 10\n4 2\n0 1 3\n6 2\n", [4, 0, 6], [[(1, 1)], [(0, 1), (2, 1)], [(1, 1)]]),
        ("3 2 011 1\n4 2 7\n0 1 7 3 9\n6 2 9\n", [4, 0, 6], [[(1, 7)], [(0, 7), (2, 9)], [(1, 9)]]),
        ("3 2 100\n8 2\n8 1 3\n8 2\n", [1, 1, 1], [[(1, 1)], [(0, 1), (2, 1)], [(1, 1)]]),
        ("3 2 111\n8 4 2 7\n8 0 1 7 3 9\n8 6 2 9\n", [4, 0, 6], WEIGHTED),
        ("% a\n3 1\r\n% b\n\t2 \r\n1\n%c\n\n\n\n% d\n", [1, 1, 1], [[(1, 1)], [(0, 1)], []]),
        ("1 0\n\n", [1], [[]]),
    ],
)  # fmt: skip
def test_every_form_is_read(
    text: str, weights: list[int], edges: list[list[tuple[int, int]]], tmp_path: Path
) -> None:
    one = graph(tmp_path, text)
    assert one.weights.tolist() == weights
    assert rows(one) == edges


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "header"),
        ("% only\n", 1, "header"),
        ("3\n", 1, "header"),
        ("3 x\n", 1, "'x'"),
        ("-3 2\n", 1, "'-3'"),
        ("0 0\n", 1, "from 1 to"),
        ("99999999999 2\n", 1, "from 1 to"),
        ("3 2 2\n2\n1 3\n2\n", 1, "fmt"),
        ("3 2 0001\n2\n1 3\n2\n", 1, "fmt"),
        ("3 2 11 2\n", 1, "ncon"),
        ("3 3\n2\n1 3\n2\n", 1, "edges, of which there are 2"),
        ("3 1\n2\n1 3\n2\n", 1, "edges, of which there are 2"),
        ("4 2\n2\n1 3\n2\n", 1, "vertex lines, of which there are 3"),
        ("%\n2 1\n2\n1\n%\n1\n", 6, "2 vertices"),
        ("3 2\n2\n1 2 3\n2\n", 3, "self-loop"),
        ("3 2\n2\n1 4\n2\n", 3, "from 1 to 3"),
        ("3 2\n2\n1 0\n2\n", 3, "from 1 to 3"),
        ("3 2\n2\n1 3 3\n2\n", 3, "twice"),
        ("3 2\n2\n1 -3\n2\n", 3, "'-3'"),
        ("3 2\n2\n1 nan\n2\n", 3, "'nan'"),
        ("3 2\n2\n1 3.5\n2\n", 3, "'3.5'"),
        ("3 2 1\n2 1\n1 1 3 -1\n2 1\n", 3, "'-1'"),
        ("3 2 1\n2 1\n1 1 3 inf\n2 1\n", 3, "'inf'"),
        ("3 2 1\n2 1\n1 1 3 0\n2 0\n", 3, "above 0"),
        ("3 2 1\n2 1\n1 1 3\n2 1\n", 3, "weight of this edge"),
        ("3 2 10\n1 2\n\n1 2\n", 3, "weight first"),
        ("3 2 1\n2 1\n1 1 3 9999999999999999\n2 1\n", 3, "at most"),
        ("3 2\n%\n2 3\n1 3\n2\n", 3, "must name vertex 1"),
        ("3 2\n2\n1\n2\n", 4, "must name vertex 3"),
        ("3 2 1\n2 5\n1 6 3 1\n2 1\n", 2, "too, 6"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(
    text: str, line: int, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        graph(tmp_path, text)
    message = str(caught.value)
    assert f"g.graph: line {line}" in message
    assert said in message
    assert "\n" not in message


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.graph"):
        with pytest.raises(InputError, match=str(path)):
            MetisGraph(path)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[dict[int, int]]]:
    """A random file with edge weights and comments, and its rows."""
    count = draw(st.integers(1, 12))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.dictionaries(st.sampled_from(pairs), st.integers(1, 99))) if pairs else {}
    found: list[dict[int, int]] = [{} for _ in range(count)]
    for (a, b), weight in edges.items():
        found[a][b] = found[b][a] = weight
    lines = [f"{count} {len(edges)} 1"]
    for row in found:
        if draw(st.booleans()):
            lines.append("% comment")
        lines.append("  ".join(f"{v + 1} {w}" for v, w in row.items()))
    return "\n".join(lines) + "\n", found


@given(case=texts(), block=st.integers(1, 40))
def test_any_size_of_block_reads_the_same(
    case: tuple[str, list[dict[int, int]]], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, found = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks, "BLOCK", block)
        one = graph(tmp_path_factory.mktemp("g"), text)
    assert [dict(row) for row in rows(one)] == found


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "g.graph"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PATH_OF_3,))
    writer.start()
    stream = MetisGraph(pipe)
    assert stream.totals.edges == 2
    assert sum(len(chunk.vertices) for chunk in stream) == 3
    writer.join()
    with pytest.raises(InputError, match="more than once"):
        list(stream)


def test_totals_of_weights_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text("3 2 11\n4 2 7\n0 1 7 3 9\n6 2 9\n")
    totals = MetisGraph(path).totals
    assert (totals.vertex_weight, totals.edge_weight) == (10, 16)
    assert np.isfinite(totals.edge_weight)
