"""What an engine found and proved: best values first, bounds that only rise, told as they come."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slotwise.models.errors import InternalError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core import reporter as reporting
from slotwise.solver.core import solve_state
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.progress import Event, Progress
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Status
from slotwise.solver.core.solve_state import SolveState

TOGETHER = Placement((0, 0), (0, 0))
TWO_WORKERS = Placement((0, 0), (0, 1))
APART = Placement((0, 1), (0, 0))
INVALID = Placement((2, 2), (0, 0))
"""The third node is too small."""


class Renamed:
    """A reduction that swaps the first two nodes."""

    def restore(self, placement: Placement) -> Placement:
        swapped = tuple({0: 1, 1: 0}.get(n, n) for n in placement.nodes)
        return Placement(swapped, placement.workers)

    project = restore


@pytest.fixture
def problem() -> Problem:
    """Two tasks that exchange flow, nodes for both, and one that is too small."""
    nodes = [Node(f"n{i}", "r", resources={"cpu": Decimal(c)}) for i, c in enumerate((10, 10, 1))]
    parts = (
        Component("a", "spout", 1, {"cpu": Decimal(2)}),
        Component("b", "bolt", 1, {"cpu": Decimal(2)}),
    )
    topology = Topology("t", parts, (Stream("a", "b"),))
    objective = Objective(("nodes", "network"))
    cluster = Cluster(tuple(nodes))
    return compile_problem(Instance("pair", cluster, (topology,), objective=objective))


@pytest.fixture
def events() -> list[Progress]:
    return []


@pytest.fixture
def best(problem: Problem, events: list[Progress]) -> Incumbent:
    return Incumbent(problem, Reporter(SolveState(problem, events.append), "engine"))


def values(problem: Problem, placement: Placement) -> tuple[int, ...]:
    return judge(problem, placement).scaled


def test_only_valid_and_better_placements_are_kept_and_told(
    problem: Problem, best: Incumbent, events: list[Progress]
) -> None:
    assert not best.offer(INVALID)
    assert best.placement is None
    assert best.offer(APART)
    assert best.offer(TWO_WORKERS)
    assert not best.offer(APART)
    assert (best.placement, best.values) == (TWO_WORKERS, values(problem, TWO_WORKERS))
    assert best.reporter.state.best is not None
    assert best.reporter.state.best.placement == TWO_WORKERS
    assert [event.event for event in events] == [Event.PLACEMENT] * 2


def test_an_equal_placement_is_kept_only_of_a_solution(best: Incumbent) -> None:
    twin = Placement((1, 1), (0, 0))
    assert best.offer(TOGETHER)
    assert not best.offer(twin)
    assert best.placement == TOGETHER
    assert not best.offer_solution(twin)
    assert best.placement == twin
    assert not best.offer_solution(APART)
    assert best.placement == twin


def test_an_invalid_solution_says_that_the_model_is_wrong(best: Incumbent) -> None:
    with pytest.raises(InternalError, match="capacity: node n2"):
        best.offer_solution(INVALID)


def test_a_placement_is_judged_once(
    problem: Problem, best: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told through a reduction the restored one is judged, too."""
    asked: list[Placement] = []

    def counting(problem: Problem, placement: Placement) -> Verdict:
        asked.append(placement)
        return judge(problem, placement)

    monkeypatch.setattr(reporting, "judge", counting)
    monkeypatch.setattr(solve_state, "judge", counting)
    best.offer(TOGETHER)
    assert asked == [TOGETHER]
    reporter = Reporter(SolveState(problem), "engine").on(Renamed())
    Incumbent(problem, reporter).offer(TOGETHER)
    assert asked[1:] == [TOGETHER, Renamed().restore(TOGETHER)]
    assert reporter.state.best is not None
    assert reporter.state.best.placement == Renamed().restore(TOGETHER)


def test_a_verdict_on_another_problem_counts_for_nothing(problem: Problem) -> None:
    other = compile_problem(problem.instance)
    known = SolveState(other)
    assert not Reporter(known, "engine").offer(INVALID, judge(problem, TOGETHER))
    assert known.best is None


def test_bounds_rise_in_the_first_term_in_which_they_differ(
    best: Incumbent, events: list[Progress]
) -> None:
    for told, known in (
        ([None, 5], ()),
        ([0], (0,)),
        ([0, 3], (0, 3)),
        ([0], (0, 3)),
        ([0, 2], (0, 3)),
        ([1], (1,)),
        ([1, 2, None], (1, 2)),
        ([0, 9], (1, 2)),
    ):
        best.prove(told)
        assert best.bounds == known, told
    assert best.reporter.state.bounds == (1, None)  # the second says something only beside a value
    assert [event.bounds[0] for event in events] == [0, 1]


def test_kind_and_source_are_those_of_the_better_bounds(best: Incumbent) -> None:
    best.prove([1], "simple")
    best.prove([0], "weaker", by_solver=True)
    best.prove([1], "equal", by_solver=True)
    assert (best.outcome().bound_kind, best.outcome().by_solver) == ("simple", False)
    best.prove([1, 0], "better", by_solver=True)
    assert (best.outcome().bound_kind, best.outcome().by_solver) == ("better", True)


def test_the_claim_is_optimal_where_every_value_is_its_bound(
    problem: Problem, best: Incumbent
) -> None:
    assert best.outcome().status is Status.UNKNOWN
    best.offer(TWO_WORKERS)
    assert best.outcome().status is Status.FEASIBLE
    assert best.optima == ()
    best.prove([1])
    assert best.optima == (1,)
    assert best.outcome().bounds == (1, None)
    best.offer(TOGETHER)
    best.prove(values(problem, TOGETHER))
    claim = best.outcome("proof", 3.0)
    assert (claim.status, claim.values, claim.bounds) == (Status.OPTIMAL, best.values, best.values)
    assert (claim.proof, claim.deterministic_work) == ("proof", 3.0)
    assert best.is_settled


def test_bounds_after_an_open_term_are_left_out(best: Incumbent) -> None:
    best.prove([1, 0])
    assert best.outcome().bounds == (1, 0)
    best.offer(APART)
    assert best.outcome().bounds == (1, None)


def test_infeasible_has_no_bounds(best: Incumbent) -> None:
    best.prove([1, 0])
    best.prove_infeasible()
    claim = best.outcome()
    assert (claim.status, claim.placement, claim.bounds) == (Status.INFEASIBLE, None, (None, None))


def test_own_values_are_kept_as_they_are_and_not_told(
    best: Incumbent, events: list[Progress]
) -> None:
    best.keep(APART, (7, 8))
    assert best.outcome().values == (7, 8)
    assert events == []


def test_it_goes_on_from_a_claim(problem: Problem, best: Incumbent) -> None:
    best.offer(APART)
    best.prove([2, 0], "lp", by_solver=True)
    claim = best.outcome()
    after = Incumbent.from_outcome(problem, claim, best.reporter)
    assert after.outcome() == claim
    assert after.optima == (2,)


def test_the_trace_has_falling_values_of_the_first_open_term(best: Incumbent) -> None:
    best.offer(APART)
    best.offer(TWO_WORKERS)
    best.prove([1])
    best.offer(TOGETHER)
    best.prove([1, 0])
    trace = [(event.term, event.value, event.bound) for event in best.outcome().trace]
    network = values(best.problem, TOGETHER)[1]
    assert trace == [(0, 2, None), (0, 1, None), (0, 1, 1), (1, network, None), (1, network, 0)]
    seconds = [event.seconds for event in best.outcome().trace]
    assert seconds == sorted(seconds)
