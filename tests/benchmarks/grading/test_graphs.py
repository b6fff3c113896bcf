"""Graph files in a grading: which instances they become, and how runs on them end. No Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import RunOutcome
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import Case, GraphParts, read_cases, read_graph_parts
from slotwise.cli.app import run as command
from slotwise.models.errors import InputError
from slotwise.models.instance_file import instance_from_text

LIMITS = RunLimits(20.0, 1, 0, None)
METHODS = ("hash", "ldg", "ldg:order=adversarial", "fennel-re", "metis")


@pytest.fixture
def squares(examples: Path) -> str:
    """Two squares joined by an edge."""
    return str(examples / "two-squares.graph")


def cases(path: str, *counts: int, balance: float | None = 1) -> tuple[Case, ...]:
    return read_cases([path], 0, None, GraphParts(counts, balance))


def ended(run: PlannedRun) -> RunOutcome:
    return outcome(run, Loader())


def test_a_graph_is_an_instance_for_each_number_of_parts(squares: str) -> None:
    two, four = cases(squares, 2, 4)
    assert two.name == "two-squares.graph, 2 parts, balance 1"
    assert (two.tasks, two.nodes, two.tightness) == (8, 2, 1.0)
    assert (four.nodes, four.family, four.index, four.subject) == (4, None, None, "placement")
    nodes = instance_from_text(four.text).cluster.nodes
    assert [node.resources["cpu"] for node in nodes] == [2, 2, 2, 2]
    assert len({two.hash, four.hash, cases(squares, 2, balance=1.5)[0].hash}) == 3


def test_the_usual_balance_is_that_of_partition(squares: str) -> None:
    (case,) = cases(squares, 2, balance=None)
    assert case.name == "two-squares.graph, 2 parts, balance 1.03"
    assert cases(squares, 2, balance=1.0) == cases(squares, 2, balance=1)


def test_partitioners_are_graded_against_the_least_cut(squares: str) -> None:
    plan = make_plan(cases(squares, 2), METHODS, "auto", LIMITS)
    found = {run.method: ended(run) for run in plan}
    assert found["auto"]["status"] == "optimal"
    assert found["auto"]["terms"] == [{"term": "network", "value": "1", "bound": "1"}]
    for method in METHODS:
        assert found[method]["status"] == "valid", method
        ((term,),) = [found[method]["terms"] or ()]
        assert int(term["value"]) >= 1
    assert found["metis"]["terms"] == [{"term": "network", "value": "1", "bound": None}]


def test_families_and_graphs_are_read_together(squares: str) -> None:
    names = [one.family for one in read_cases(["partition", squares], 0, 2, GraphParts((2,)))]
    assert names == ["partition", "partition", None]


def test_numbers_of_parts_are_read_from_numbers_and_texts() -> None:
    assert read_graph_parts("2, 4,2", None).counts == (2, 4)
    assert read_graph_parts(3, 1.1) == GraphParts((3,), 1.1)
    assert read_graph_parts(["2,4", 8], None).counts == (2, 4, 8)
    assert read_graph_parts((), None) == GraphParts()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--parts: must say into how many parts "),
        (("--parts", "0"), "--parts = '0': must be whole numbers from 1 to 1048576"),
        (("--parts", "2,x"), "--parts = 'x': must be whole numbers"),
        (("--parts", "2", "--parts", ""), "--parts = '': must be whole numbers"),
        (("--parts", "2", "--balance", "0.5"), "--balance = 0.5: must be from 1 to 1048576"),
        (("--parts", "2", "--balance", "nan"), "--balance"),
        (("--parts", "2", "--methods", "metis:order=bfs"), "metis:order=bfs"),
    ],
)
def test_wrong_words_are_one_line(
    words: tuple[str, ...],
    said: str,
    squares: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert command(["grade", squares, *words, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--parts", "2,4"), "--parts = '2,4': is for graph files, and none is graded"),
        (("--balance", "1.1"), "--balance = '1.1': is for graph files, and none is graded"),
    ],
)
def test_parts_without_a_graph_are_refused(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert command(["grade", "partition", "--count", "1", *words, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_weights_must_be_whole(tmp_path: Path) -> None:
    path = tmp_path / "half.edges"
    path.write_text("0 1 0.5\n1 2 1\n")
    with pytest.raises(InputError, match=r"half\.edges: 0\.5: .*weights must be whole"):
        grade(str(path), parts=2, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.pickle"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is a pickle"):
        cases(str(path), 2)
