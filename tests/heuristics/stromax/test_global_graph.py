"""StroMAX, equation 10 and our variant of it."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from stromax_cases import cluster, problem, random_problems, topology

from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.heuristics.stromax import STROMAX_GLOBAL, STROMAX_GLOBAL_COMM
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem

HEAVY_BUT_SILENT = topology("t", {"s": (1, 8), "x": (1, 4), "a": (1, 1)}, ["s>a:1", "x>a:90"])
"""s computes much and says little to a; x computes less and says much."""


def nodes_of(one: Problem, method: Method) -> tuple[int, ...]:
    answer = run_method(one, method, 0)
    assert isinstance(answer, Placement)
    return answer.nodes


def test_computation_attracts_and_communication_never_enters() -> None:
    made = problem(cluster([20, 20]), HEAVY_BUT_SILENT, flow="rates")
    # s -> 0, x -> 1 (less loaded); a: 8 (1 - 8/20) = 4.8 against 4 (1 - 4/20) = 3.2.
    assert nodes_of(made, STROMAX_GLOBAL) == (0, 1, 0)


def test_the_variant_follows_communication() -> None:
    made = problem(cluster([20, 20]), HEAVY_BUT_SILENT, flow="rates")
    # a: 1 (1 - 8/20) against 90 (1 - 4/20).
    assert nodes_of(made, STROMAX_GLOBAL_COMM) == (0, 1, 1)


def test_capacity_is_computation_and_may_be_used_up() -> None:
    one = topology("t", {"s": (1, 12), "a": (1, 8)}, ["s>a"])
    assert nodes_of(problem(cluster([20, 20]), one), STROMAX_GLOBAL) == (0, 0)
    assert nodes_of(problem(cluster([19, 20]), one), STROMAX_GLOBAL) == (0, 1)


def test_capacity_holds_where_the_instance_has_it_soft() -> None:
    one = topology("t", {"s": (1, 12), "a": (1, 8)}, ["s>a"])
    made = problem(cluster([12]), one, soft={"cpu": 1}, terms=("overload", "network"))
    answer = run_method(made, STROMAX_GLOBAL, 0)
    assert answer == Refusal("topology t: no node has room for task a[0]")


def test_what_does_not_fit_is_left_out_where_that_is_allowed() -> None:
    large, small = topology("t", {"s": (2, 9)}, []), topology("u", {"b": (1, 9)}, [])
    made = problem(cluster([10]), large, small, terms=("rejected", "network"))
    assert nodes_of(made, STROMAX_GLOBAL) == (UNPLACED, UNPLACED, 0)


def test_a_cycle_is_refused() -> None:
    one = topology("t", {"s": (1, 1), "a": (1, 1)}, ["s>a", "a>s"])
    answer = run_method(problem(cluster([9]), one), STROMAX_GLOBAL, 0)
    assert answer == Refusal("topology t: the graph is not a DAG: s, a are on a cycle")


def test_it_needs_computation_costs() -> None:
    bare = Topology("t", (Component("s", "spout", 1, {"gpu": Decimal(1)}),))
    assert "cpu" in str(STROMAX_GLOBAL.supports(problem(cluster([5], "gpu"), bare)))


@given(random_problems(), st.sampled_from((STROMAX_GLOBAL, STROMAX_GLOBAL_COMM)))
def test_capacities_hold(made: Problem, method: Method) -> None:
    answer = run_method(made, method, 2)
    assert answer == run_method(made, method, 2)
    if isinstance(answer, Placement):
        assert judge(made, answer).valid
