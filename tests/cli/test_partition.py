"""The command ``partition``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotwise.cli.app import run

SQUARE = "4 4\n2 4\n1 3\n2 4\n1 3\n"


@pytest.fixture
def square(tmp_path: Path) -> Path:
    path = tmp_path / "square.graph"
    path.write_text(SQUARE)
    return path


@pytest.mark.parametrize(
    "method", ["hash", "ldg", "fennel", "ldg-re", "fennel-re:passes=2", "metis"]
)
def test_it_prints_one_object_and_writes_the_parts(
    method: str, square: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = square.with_name("parts")
    words = [
        "partition",
        str(square),
        "--parts",
        "2",
        "--with",
        method,
        "--out",
        str(out),
        "--json",
    ]
    assert run(words) == 0
    said = json.loads(capfd.readouterr().out)
    parts = [int(line) for line in out.read_text().splitlines()]
    ends = ((0, 1), (1, 2), (2, 3), (0, 3))
    assert said["edge_cut"] == sum(parts[a] != parts[b] for a, b in ends)
    assert sorted(parts) == [0, 0, 1, 1]
    assert (said["balance"], said["within_balance"]) == (1, True)


def test_metis_writes_nothing_else_to_stdout(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.edges"
    path.write_text("".join(f"{a} {a + 1}\n" for a in range(45)))
    assert run(["partition", str(path), "--parts", "40", "--with", "metis", "--json"]) in (0, 1)
    assert json.loads(capfd.readouterr().out)["parts"] == 40


def test_balance_is_not_rounded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "path.edges"
    path.write_text("".join(f"{a} {a + 1}\n" for a in range(6)))
    words = ["partition", str(path), "--parts", "3", "--with", "ldg", "--balance", "1", "--json"]
    assert run(words) == 0
    said = json.loads(capfd.readouterr().out)
    assert (max(said["loads"]), said["balance"]) == (3, 9 / 7)


def test_sizes_of_parts(square: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["partition", str(square), "--parts", "2", "--sizes", "3,1", "--with", "ldg", "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["loads"] == [3, 1]


def test_a_part_that_is_too_heavy_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "heavy.graph"
    path.write_text("2 1 10\n9 2\n1 1\n")
    assert run(["partition", str(path), "--parts", "2", "--with", "ldg"]) == 1
    assert "heavier than asked for" in capsys.readouterr().out


def _proven(words: list[str], capfd: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["partition", *words, "--json", "--quiet"]) == 0
    found: dict[str, object] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize("method", ["exact", "cp-sat", "milp", "exhaustive"])
def test_the_least_cut_is_proven(
    method: str, square: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = square.with_name("parts")
    words = [str(square), "--parts", "2", "--with", method, "--balance", "1", "--out", str(out)]
    said = _proven(words, capfd)
    assert (said["status"], said["edge_cut"], said["bound"], said["gap"]) == ("optimal", 2, 2, 0)
    assert (said["balance"], said["loads"], said["capacities"]) == (1, [2, 2], [2, 2])
    parts = [int(line) for line in out.read_text().splitlines()]
    assert sum(parts[a] != parts[b] for a, b in ((0, 1), (1, 2), (2, 3), (0, 3))) == 2


def test_weights_sizes_and_names_of_a_proven_partition(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "path.gml", tmp_path / "parts"
    nodes = "".join(f'node [ id {i} label "v{i}" weight {i + 1} ]\n' for i in range(4))
    edges = "".join(f"edge [ source {i} target {i + 1} weight {9 - i} ]\n" for i in range(3))
    path.write_text(f"graph [\n{nodes}{edges}]\n")
    words = [str(path), "--parts", "2", "--with", "cp-sat", "--balance", "1", "--sizes", "3,2"]
    said = _proven([*words, "--out", str(out)], capfd)
    assert (said["edge_cut"], said["loads"], said["capacities"]) == (7, [6, 4], [6, 4])
    assert out.read_text() == "v0\t0\nv1\t0\nv2\t0\nv3\t1\n"


def test_the_text_says_what_is_proven(square: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(square), "--parts", "2", "--with", "exhaustive", "--balance", "1"]
    assert run(["partition", *words]) == 0
    said = capsys.readouterr().out
    assert "4 vertices, 4 edges, 2 parts by exhaustive" in said
    assert "edge cut 2 (50.00 % of the edge weight), proven least\nbalance 1.0000\n" in said


def test_a_certificate_of_a_partition_is_verified(
    square: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance, certificate = square.with_name("i.json"), square.with_name("c.json")
    words = ["partition", str(square), "--parts", "2", "--with", "cp-sat"]
    assert run([*words, "--out-instance", str(instance), "--certificate", str(certificate)]) == 0
    capsys.readouterr()
    assert run(["verify", str(instance), str(certificate), "--resolve"]) == 0
    assert "verified" in capsys.readouterr().out


def test_infeasible_balance_is_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "heavy.graph", tmp_path / "parts"
    path.write_text("2 1 10\n9 2\n1 1\n")
    words = ["partition", str(path), "--parts", "2", "--with", "exact", "--out", str(out)]
    assert run(words) == 1
    said = capsys.readouterr().out
    assert "proven infeasible: vertex 0 (counted from 0) weighs 9, more than the 5" in said
    assert not out.exists()
    assert run([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["edge_cut"], found["bound"]) == ("infeasible", None, None)
    assert found["loads"] is found["balance"] is None


def test_a_proof_needs_whole_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.edges"
    path.write_text("0 1 0.5\n1 2 1\n")
    assert run(["partition", str(path), "--parts", "2", "--with", "exact"]) == 2
    err = capsys.readouterr().err
    assert "half.edges: 0.5: is the weight of an edge; weights must be whole for a proof" in err
    assert err.count("\n") == 1


def test_a_graph_too_large_for_a_proof_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.edges"
    path.write_text("".join(f"{v} {v + 1}\n" for v in range(20_000)))
    assert run(["partition", str(path), "--parts", "2", "--with", "exact"]) == 2
    err = capsys.readouterr().err
    assert "long.edges: vertices = 20001: must be at most 20,000 for a proof" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--parts", "2", "--with", "ldg", "--time-limit", "5"], "--time-limit = '5.0': is for a"),
        (["--parts", "2", "--with", "ldg", "--workers", "1"], "--workers = '1': is for a proof"),
        (["--parts", "2", "--with", "ldg", "--memory-limit", "9999"], "--memory-limit"),
        (["--parts", "2", "--with", "ldg", "--certificate", "c.json"], "--certificate"),
        (["--parts", "2", "--with", "ldg", "--out-instance", "i.json"], "--out-instance"),
        (["--parts", "2", "--with", "exact", "--time-limit", "0"], "--time-limit = 0.0"),
        (["--parts", "2", "--with", "exact", "--balance", "1.00000001"], "--balance"),
        (["--parts", "2", "--with", "exact", "--sizes", "1,2,3"], "--sizes = '1,2,3': must be 2"),
        (["--parts", "2", "--with", "exakt"], "did you mean 'exact'"),
        (["--parts", "2", "--with", "few-moves"], "--with = 'few-moves': does not take this"),
        (["--parts", "0", "--with", "ldg"], "--parts"),
        (["--parts", "2", "--with", "lgd"], "did you mean 'ldg'"),
        (["--parts", "2", "--with", "ldg", "--balance", "0.9"], "--balance"),
        (["--parts", "2", "--with", "ldg", "--balance", "nan"], "--balance"),
        (["--parts", "2", "--with", "ldg", "--sizes", "1,2,3"], "--sizes"),
        (["--parts", "2", "--with", "ldg", "--sizes", "1,0"], "--sizes"),
        (["--parts", "2", "--with", "ldg", "--format", "x"], "--format"),
        (["--parts", "2", "--with", "exact", "--format", "x"], "--format"),
    ],
)
def test_wrong_words_are_one_line(
    words: list[str], said: str, square: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["partition", str(square), *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_bad_graph_is_one_line_and_nothing_is_written(
    square: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    square.write_text(SQUARE.replace("1 3\n2 4", "1 3 2\n2 4"))
    out = square.with_name("parts")
    words = ["partition", str(square), "--parts", "2", "--with", "ldg", "--out", str(out)]
    assert run(words) == 2
    err = capsys.readouterr().err
    assert "square.graph: line 3 = '2'" in err
    assert err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("spelling", ["square.graph", "link.graph", "../{0}/square.graph"])
def test_the_graph_is_not_overwritten(
    spelling: str, square: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    square.with_name("link.graph").symlink_to(square)
    out = square.parent / spelling.format(square.parent.name)
    words = ["partition", str(square), "--parts", "2", "--with", "ldg", "--out", str(out)]
    assert run(words) == 2
    err = capsys.readouterr().err
    assert "a file that the command reads" in err
    assert err.count("\n") == 1
    assert square.read_text() == SQUARE


@pytest.mark.parametrize("method", ["ldg", "fennel-re", "metis"])
@pytest.mark.parametrize(("parts", "code"), [(1, 0), (2, 0), (3, 1), (8, 0)])
def test_shares_of_weights_that_are_not_whole_are_not_rounded_up(
    method: str, parts: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tenths.gml"
    nodes = "".join(f"node [ id {i} weight 0.1 ]\n" for i in range(8))
    edges = "".join(f"edge [ source {i} target {i + 1} ]\n" for i in range(7))
    path.write_text(f"graph [\n{nodes}{edges}]\n")
    words = ["partition", str(path), "--parts", str(parts), "--with", method, "--json"]
    assert run([*words, "--balance", "1"]) == code
    said = json.loads(capsys.readouterr().out)
    assert said["within_balance"] == (code == 0)
    assert (said["balance"] <= 1) == (code == 0)


def test_a_weight_that_comes_out_as_nan_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nan.edges"
    path.write_text("1 2 1\n0 1 0e999\n")
    assert run(["partition", str(path), "--parts", "2", "--with", "ldg"]) == 2
    err = capsys.readouterr().err
    assert "nan.edges: line 2 = '0e999'" in err
    assert err.count("\n") == 1


NODES = 'node [ id 0 label "a" ] node [ id 1 label "b" ]'
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


def _refused(path: Path, text: str, capfd: pytest.CaptureFixture[str]) -> str:
    path.write_text(text)
    assert run(["partition", str(path), "--parts", "2", "--with", "ldg"]) == 2
    err = capfd.readouterr().err
    assert f"{path.name}: " in err
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("number.gml", "graph 1"),
        ("edge.gml", f"graph [ {NODES} edge 5 ]"),
        ("deep.gml", "graph [ " + "a [ " * 3000),
        ("large.gml", f"graph [ {NODES} edge [ source 0 target 1 weight {10**400} ] ]"),
        ("encoding.graphml", '<?xml version="1.0" encoding="foo"?>' + GRAPHML.format("")),
        (
            "key.graphml",
            GRAPHML.format(
                '<key id="d" for="node"/><graph edgedefault="undirected">'
                '<node id="a"><data key="d">1</data></node></graph>'
            ),
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_networkx_cannot_read_is_one_line(
    name: str, text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _refused(tmp_path / name, text, capfd)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('<edge source="a" target="ghost"/>', "line 3 = 'ghost': must be the id of a node"),
        ('<edge target="b"/>', "line 3: an edge must have a source"),
        ('<edge source="b"/>', "line 3: an edge must have a target"),
        ("<node/>", "line 3: a node must have an id"),
    ],
)
def test_ends_of_graphml_edges_are_nodes(
    line: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    nodes = '<node id="a"/><node id="b"/>'
    graph = f'\n<graph edgedefault="undirected">\n{{}}{nodes}</graph>'
    text = GRAPHML.format(graph.format(line))
    assert said in _refused(tmp_path / "ends.graphml", text, capfd)


def test_graphml_edges_may_come_before_their_nodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "late.graphml"
    path.write_text(
        GRAPHML.format(
            '<graph edgedefault="undirected"><edge source="a" target="b"/>'
            '<node id="a"/><node id="b"/></graph>'
        )
    )
    assert run(["partition", str(path), "--parts", "2", "--with", "ldg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vertices"] == 2


@pytest.mark.parametrize("gap", ["\t", "&#10;", "&#13;", "&#8232;"])
def test_names_that_would_break_the_lines_are_not_written(
    gap: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "names.gml", tmp_path / "parts"
    nodes = f'node [ id 0 label "a" ] node [ id 1 label "b{gap}c" ]'
    path.write_text(f"graph [ {nodes} edge [ source 0 target 1 ] ]")
    words = ["partition", str(path), "--parts", "2", "--with", "ldg"]
    assert run([*words, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert "holds a tab or line break" in err
    assert err.count("\n") == 1
    assert not out.exists()
    assert run(words) == 0
