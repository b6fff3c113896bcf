"""Edge lists, GraphML and GML; formats by name; partitions written."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from slotwise.models.errors import InputError
from slotwise.models.graph_files.graph_file import open_graph, write_parts
from slotwise.models.graph_files.vertex_stream import CsrGraph


def edges(one: CsrGraph) -> dict[tuple[int, int], float]:
    ends = np.repeat(np.arange(len(one.weights)), np.diff(one.offsets)).tolist()
    found = zip(ends, one.neighbours.tolist(), one.edge_weights.tolist(), strict=True)
    return {(a, b): weight for a, b, weight in found if a < b}


def read(tmp_path: Path, text: str, name: str = "g.edges") -> CsrGraph:
    path = tmp_path / name
    path.write_text(text)
    found = open_graph(path)
    assert isinstance(found, CsrGraph)
    return found


def test_an_edge_list_without_weights(tmp_path: Path) -> None:
    one = read(tmp_path, "# c\n0 1\n\n2,1\n% d\n1 0\n")
    assert edges(one) == {(0, 1): 1, (1, 2): 1}
    assert one.names is None


def test_an_edge_list_with_weights_and_vertices_that_are_not_dense(tmp_path: Path) -> None:
    one = read(tmp_path, "7 900000000000 0.25\r\n7\t40 1.5e1\n900000000000 7 .25")
    assert edges(one) == {(0, 1): 15, (0, 2): 0.25}
    assert one.names == ("7", "40", "900000000000")


@pytest.mark.parametrize("number", ["0.1", "3", "12345.6789", "1e-3", "2.50E+2", "0", "+1.5"])
def test_weights_are_the_nearest_doubles(number: str, tmp_path: Path) -> None:
    assert edges(read(tmp_path, f"0 1 {number}\n")) == {(0, 1): pytest.approx(float(number))}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("0 1\n2\n", 2, "columns"),
        ("0 1\n1 2 3\n", 2, "columns"),
        ("0 1 2 3\n", 1, "columns"),
        ("# c\n0 a\n", 2, "'a'"),
        ("0 -1\n", 1, "'-1'"),
        ("0 1 -1\n", 1, "'-1'"),
        ("0 1 nan\n", 1, "'nan'"),
        ("0 1 inf\n", 1, "'inf'"),
        ("0 1 1e99\n", 1, "at most"),
        ("0 1\n3 3\n", 2, "self-loop"),
        ("0 1 2\n#\n1 0 3\n", 3, "before, 2"),
    ],
)
def test_bad_edge_lists_are_named_with_their_line(
    text: str, line: int, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"g.edges: line {line}") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def sample() -> nx.Graph:
    graph = nx.Graph()
    graph.add_node("a", weight=3)
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("b", "c")
    return graph


@pytest.mark.parametrize("kind", ["graphml", "gml"])
def test_what_networkx_writes_is_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"g.{kind}"
    (nx.write_graphml if kind == "graphml" else nx.write_gml)(sample(), path)
    one = open_graph(path)
    assert isinstance(one, CsrGraph)
    assert edges(one) == {(0, 1): 2.5, (1, 2): 1}
    assert one.weights.tolist() == [3, 1, 1]
    assert one.names == ("a", "b", "c")


@pytest.mark.parametrize("kind", ["graphml", "gml"])
def test_both_directions_of_a_pair_add_up(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"g.{kind}"
    graph = nx.DiGraph([("a", "b", {"weight": 2}), ("b", "a", {"weight": 3})])
    (nx.write_graphml if kind == "graphml" else nx.write_gml)(graph, path)
    one = open_graph(path)
    assert isinstance(one, CsrGraph)
    assert edges(one) == {(0, 1): 5}


@pytest.mark.parametrize("kind", ["graphml", "gml"])
@pytest.mark.parametrize("bad", ["loop", "negative", "infinite", "vertex"])
def test_bad_graphs_are_named_with_their_line(kind: str, bad: str, tmp_path: Path) -> None:
    graph = sample()
    if bad == "loop":
        graph.add_edge("c", "c")
    elif bad == "vertex":
        graph.nodes["a"]["weight"] = -3
    else:
        graph["b"]["c"]["weight"] = -1.5 if bad == "negative" else float("inf")
    path = tmp_path / f"g.{kind}"
    (nx.write_graphml if kind == "graphml" else nx.write_gml)(graph, path)
    with pytest.raises(InputError) as caught:
        open_graph(path)
    message = str(caught.value)
    line = int(message.partition("line ")[2].split()[0].rstrip(":"))
    shown = " ".join(path.read_text().splitlines()[line - 1 : line + 3])
    assert ("node" if bad == "vertex" else "edge") in shown


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.graphml", "<graphml>\n<graph"), ("g.gml", "graph [\n node ["), ("g.gml", "")],
)
def test_broken_files_are_named(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name) as caught:
        read(tmp_path, text, name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["g.pickle", "g.PKL", "g.gpickle"])
def test_pickles_are_never_opened(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pickle"):
        read(tmp_path, "", name)


def test_other_names_need_a_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must end in one of"):
        read(tmp_path, "0 1\n", "g.what")
    assert open_graph(tmp_path / "g.what", "edges").totals.edges == 1


def test_parts_are_written_with_names_where_there_are_any(tmp_path: Path) -> None:
    write_parts(tmp_path / "p", np.array([1, 0], dtype=np.int32), None)
    assert (tmp_path / "p").read_text() == "1\n0\n"
    write_parts(tmp_path / "p", np.array([1, 0], dtype=np.int32), ("x", "y"))
    assert (tmp_path / "p").read_text() == "x\t1\ny\t0\n"
