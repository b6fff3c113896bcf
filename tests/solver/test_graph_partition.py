"""The least cut of graphs: published and elementary values, exhaustive search, limits."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from slotwise.benchmarks.experiments.agreement.partitions_agree import (
    ENGINES,
    least_cut,
    tiny_problem,
)
from slotwise.models.certificates import findings
from slotwise.models.errors import InputError
from slotwise.models.graph_partition import PartitionProblem, balanced_capacities, judge_partition
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.graph_partition import MOST_VERTICES, PartitionResult, solve_partition
from slotwise.solver.verification.certify import certificate_of


def problem_of(graph: nx.Graph, parts: int, balance: float = 1) -> PartitionProblem:
    """The graph in parts of equal size, all weights 1."""
    plain = nx.convert_node_labels_to_integers(graph)
    edges = tuple(sorted((min(a, b), max(a, b), 1) for a, b in plain.edges))
    count = len(plain)
    return PartitionProblem((1,) * count, edges, balanced_capacities(count, balance, (1,) * parts))


def grid(rows: int, columns: int, *, periodic: bool = False) -> nx.Graph:
    return nx.grid_2d_graph(rows, columns, periodic=periodic)


def cube_connected_cycles(d: int) -> nx.Graph:
    """Each corner of the hypercube a cycle of d vertices, one per dimension."""
    graph = nx.Graph()
    for corner in range(2**d):
        for i in range(d):
            graph.add_edge((corner, i), (corner, (i + 1) % d))
            graph.add_edge((corner, i), (corner ^ (1 << i), i))
    return graph


# [1] F. T. Leighton, Introduction to Parallel Algorithms and Architectures, 1992: a mesh n x n has
#     bisection width n (n even, section 1.1.3), a hypercube of d dimensions 2^(d - 1) (3.1.1).
# [2] K. Nakano, Linear layout of generalized hypercubes, 2003; L. Harper, Optimal assignments of
#     numbers to vertices, SIAM J. 12, 1964: of hypercubes.
# [3] Y. Manabe, M. Hagihara, N. Tokura, The minimum bisection widths of the cube-connected cycles
#     graph and cube graph, 1984: 2^(d - 1).
# [4] F. Harary, H. Harborth, Extremal animals, 1976: m cells have a perimeter of at least
#     2 ceil(2 sqrt(m)). Quarters of a grid n x n (n even) have 2 n each, 8 n together, less 4 n of
#     the border, each cut edge counted twice: 2 n.
# [5] By counting: in complete graphs the pairs in different parts; in K(n, n) with a of n left
#     vertices in part 0 the cut is a^2 + (n - a)^2; a cycle falls apart into parts by one edge
#     each, a path by one less; the star's centre loses every leaf beside its own part.
# [6] The Petersen graph: 5 vertices have 5 edges at most, for its girth is 5, thus 15 - 2 * 5 cut.
KNOWN = [
    ("grid 4 x 4", grid(4, 4), 2, 4),
    ("grid 6 x 6", grid(6, 6), 2, 6),
    ("grid 4 x 4 in quarters", grid(4, 4), 4, 8),
    ("torus 4 x 4", grid(4, 4, periodic=True), 2, 8),  # the hypercube of 4 dimensions
    ("hypercube 3", nx.hypercube_graph(3), 2, 4),
    ("hypercube 4", nx.hypercube_graph(4), 2, 8),
    ("cube-connected cycles 3", cube_connected_cycles(3), 2, 4),
    ("complete 8", nx.complete_graph(8), 2, 16),
    ("complete 9", nx.complete_graph(9), 3, 27),
    ("complete bipartite 4, 4", nx.complete_bipartite_graph(4, 4), 2, 8),
    ("complete bipartite 5, 5", nx.complete_bipartite_graph(5, 5), 2, 13),
    ("cycle 12", nx.cycle_graph(12), 2, 2),
    ("cycle 12 in thirds", nx.cycle_graph(12), 3, 3),
    ("path 12 in quarters", nx.path_graph(12), 4, 3),
    ("star 9", nx.star_graph(9), 2, 5),
    ("Petersen", nx.petersen_graph(), 2, 5),
]


def settled(result: PartitionResult) -> int | None:
    """The claim, judged again; the result must have settled the problem."""
    if result.part is None:
        assert result.status is Status.INFEASIBLE
        assert (result.value, result.bound, result.verdict) == (None, None, None)
        assert result.reason
        return None
    assert result.status is Status.OPTIMAL
    verdict = judge_partition(result.problem, result.part)
    assert verdict.valid
    assert verdict.cut == result.value == result.bound
    return result.value


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "graph", "parts", "cut"), KNOWN, ids=[one[0] for one in KNOWN])
def test_published_optima(name: str, graph: nx.Graph, parts: int, cut: int, engine: str) -> None:
    assert settled(solve_partition(problem_of(graph, parts), engine=engine)) == cut


@pytest.mark.slow
def test_a_grid_of_64_a_hypercube_of_32() -> None:
    assert settled(solve_partition(problem_of(nx.hypercube_graph(5), 2))) == 16
    assert settled(solve_partition(problem_of(grid(8, 8), 2), engine="cp-sat")) == 8


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_equals_exhaustive_search(engine: str) -> None:
    truths = []
    for number in range(25):
        problem = tiny_problem(np.random.default_rng((1, number)))
        truths.append(least_cut(problem))
        assert settled(solve_partition(problem, engine=engine)) == truths[-1], problem
    assert None in truths
    assert len(set(truths)) > 5


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("problem", "cut"),
    [
        (problem_of(nx.empty_graph(1), 1), 0),
        (problem_of(nx.empty_graph(5), 3), 0),
        (problem_of(nx.complete_graph(4), 1), 0),
        (problem_of(nx.path_graph(3), 7), 2),  # more parts than vertices: capacities of 1
        (problem_of(nx.disjoint_union_all([nx.complete_graph(3)] * 2), 2), 0),
        (PartitionProblem((0, 0, 0), ((0, 1, 4), (1, 2, 1)), (0, 0)), 0),
        (PartitionProblem((2, 0, 2), ((0, 1, 4), (1, 2, 1)), (2, 2)), 1),
        (PartitionProblem((1, 1), ((0, 1, 0),), (1, 1)), 0),
        (PartitionProblem((1, 1, 1), ((0, 1, 2), (1, 2, 1)), (2, 1)), 1),
        (PartitionProblem((3, 3, 3), (), (5, 5)), None),
        (PartitionProblem((9, 1), ((0, 1, 1),), (5, 5)), None),
    ],
)
def test_corner_cases(problem: PartitionProblem, cut: int | None, engine: str) -> None:
    assert settled(solve_partition(problem, engine=engine)) == cut


@pytest.mark.parametrize(
    ("weights", "capacities", "reason"),
    [
        ((1, 9), (5, 5), "vertex 1 (counted from 0) weighs 9, more than the 5 that a part may"),
        ((3, 3), (3, 2), "all vertices weigh 6, more than the 5 that all parts may hold"),
        ((3, 3, 3), (5, 5), "no partition keeps every part within its capacity, proven by"),
    ],
)
def test_infeasible_balance_is_said_in_a_sentence(
    weights: tuple[int, ...], capacities: tuple[int, ...], reason: str
) -> None:
    result = solve_partition(PartitionProblem(weights, (), capacities))
    assert result.status is Status.INFEASIBLE
    assert result.reason.startswith(reason)


def test_at_a_limit_the_start_and_a_bound_are_kept() -> None:
    """By an engine that ends where a limit would end it, whatever the machine does meanwhile."""

    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
    ) -> Outcome:
        assert hint is not None
        value = judge(problem, hint).scaled
        return Outcome(Status.FEASIBLE, hint, value, (3,), "half a search")

    stopped = Engine("stopped", run, lambda problem: None, lambda: "0")
    problem = problem_of(nx.cycle_graph(8), 2)
    start = (0, 0, 1, 1, 0, 0, 1, 1)
    result = solve_partition(problem, engine=stopped, start=start)
    assert (result.status, result.value, result.bound) == (Status.FEASIBLE, 4, 3)
    assert (result.part, result.reason) == (start, "")


def test_what_is_not_known_is_not_called_infeasible() -> None:
    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
    ) -> Outcome:
        return Outcome(Status.UNKNOWN, None, None, (None,), "")

    lost = Engine("lost", run, lambda problem: None, lambda: "0")
    result = solve_partition(problem_of(nx.cycle_graph(8), 2), engine=lost)
    assert (result.status, result.part, result.value) == (Status.UNKNOWN, None, None)
    assert result.reason.startswith("no partition within the limits was found")


def test_a_start_that_breaks_the_balance_does_no_harm() -> None:
    problem = problem_of(nx.cycle_graph(6), 2)
    assert settled(solve_partition(problem, engine="cp-sat", start=[0] * 6)) == 2
    with pytest.raises(InputError, match="for each of the 6 vertices"):
        solve_partition(problem, engine="cp-sat", start=[0])


def test_a_graph_too_large_for_a_proof() -> None:
    problem = PartitionProblem((1,) * (MOST_VERTICES + 1), (), (MOST_VERTICES + 1,))
    with pytest.raises(InputError, match="must be at most 20,000 for a proof"):
        solve_partition(problem)


@pytest.mark.parametrize("capacities", [(3, 3), (2, 1)])
def test_the_certificate_is_one_of_the_instance(capacities: tuple[int, int]) -> None:
    problem = PartitionProblem((1,) * 6, ((0, 1, 2), (1, 2, 1)), capacities)
    result = solve_partition(problem, engine="milp")
    assert result.status is (Status.OPTIMAL if sum(capacities) == 6 else Status.INFEASIBLE)
    certificate = certificate_of(compile_problem(result.instance), result.placed, None)
    assert findings(result.instance, certificate) == ()
