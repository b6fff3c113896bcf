"""The partitioners as methods on instances."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stromax_cases import cluster, problem, random_problems, topology

from slotwise.heuristics.partitioning.instances import PARTITIONING_METHODS, task_graph
from slotwise.heuristics.partitioning.orders import ORDERS
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem

QUICK = [name for name in PARTITIONING_METHODS if name != "kahip"]


def test_the_graph_has_flows_of_both_directions_and_cpu() -> None:
    one = topology("t", {"s": (2, 3), "b": (1, 5)}, ["s>b:4", "b>s:2"])
    graph = task_graph(problem(cluster([9, 20]), one, flow="rates"))
    assert graph.weights.tolist() == [3, 3, 5]
    assert graph.capacities.tolist() == [9, 20]
    whole = graph.whole()
    assert whole.neighbours.tolist() == [2, 2, 0, 1]
    assert whole.edge_weights.sum() / 2 == graph.edge_weight
    assert len(set(whole.edge_weights.tolist())) == 1


def test_without_cpu_tasks_weigh_1_and_nodes_take_slots() -> None:
    made = problem(cluster([None, None]), topology("t", {"s": (3, 0)}, []))
    graph = task_graph(made)
    assert graph.weights.tolist() == [1, 1, 1]
    assert graph.capacities.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["metis", "kahip"])
def test_two_chatty_groups_are_told_apart(name: str) -> None:
    streams = ["s0>a0:9", "a0>b0:9", "s0>b0:9", "s1>a1:9", "a1>b1:9", "s1>b1:9", "s0>s1:1"]
    names = ("s0", "s1", "a0", "a1", "b0", "b1")
    one = topology("t", dict.fromkeys(names, (2, 1)), streams)
    made = problem(cluster([6, 6]), one, flow="rates")
    answer = run_method(made, find_method(name), 0)
    assert isinstance(answer, Placement)
    assert Counter(answer.nodes) == {0: 6, 1: 6}
    assert judge(made, answer).objective[0].value <= 1


def test_what_does_not_fit_is_left_out_or_refused() -> None:
    large, small = topology("t", {"s": (2, 9)}, []), topology("u", {"b": (1, 9)}, [])
    for name in PARTITIONING_METHODS:
        refused = run_method(problem(cluster([10]), large, small), find_method(name), 0)
        assert isinstance(refused, Refusal), name
        allowed = problem(cluster([10]), large, small, terms=("rejected", "network"))
        answer = run_method(allowed, find_method(name), 0)
        assert isinstance(answer, Placement)
        assert answer.nodes in ((UNPLACED, UNPLACED, 0), (UNPLACED,) * 3), name


def test_passes_are_a_parameter() -> None:
    method = find_method("fennel-re:passes=3")
    assert (method.name, method.parameters) == (
        "fennel-re:passes=3",
        {"passes": "3", "order": "natural"},
    )
    assert find_method("fennel-re:passes=10,order=natural").name == "fennel-re"


def test_the_order_is_a_parameter() -> None:
    """Two pairs that exchange much: every second task first leaves nothing to go by."""
    streams = ["s0>a0:9", "s1>a1:9"]
    one = topology("t", dict.fromkeys(("s0", "a0", "s1", "a1"), (1, 1)), streams)
    made = problem(cluster([2, 2]), one, flow="rates")
    cuts = {}
    for order in ORDERS:
        method = find_method(f"ldg:order={order}")
        answer = run_method(made, method, 0)
        assert isinstance(answer, Placement)
        assert method.parameters == {"order": order}
        cuts[order] = judge(made, answer).objective[0].value
    assert find_method("ldg:order=natural").name == "ldg"
    assert find_method("ldg-re:order=bfs,passes=2").name == "ldg-re:passes=2,order=bfs"
    assert cuts["natural"] == cuts["bfs"] == cuts["dfs"] == cuts["adversarial"] == 0


def test_an_adversarial_order_costs_ldg_a_cut() -> None:
    """On a path in two parts: the ends of the edges come last, when the parts are mixed."""
    names = [f"v{v}" for v in range(8)]
    streams = [f"v{v}>v{v + 1}:1" for v in range(7)]
    made = problem(cluster([4, 4]), topology("t", dict.fromkeys(names, (1, 1)), streams))
    cuts = [
        sum(len({answer.nodes[v], answer.nodes[v + 1]}) - 1 for v in range(7))
        for order in ("bfs", "adversarial")
        if isinstance(
            answer := run_method(made, find_method(f"fennel:order={order}"), 0), Placement
        )
    ]
    assert cuts[0] < cuts[1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("metis:order=bfs", "takes no parameters; write only metis"),
        ("kahip:order=bfs", "takes no parameters; write only kahip"),
        ("ldg:order=bsf", r"ldg:order = 'bsf': did you mean 'bfs'\?"),
        ("ldg:passes=2", r"'passes': is not a parameter of ldg; .*order"),
    ],
)
def test_wrong_parameters_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_method(name)


@settings(max_examples=60)
@given(random_problems(), st.sampled_from(QUICK), st.integers(0, 2))
def test_placements_keep_every_rule(made: Problem, name: str, seed: int) -> None:
    answer = run_method(made, find_method(name), seed)
    assert answer == run_method(made, find_method(name), seed)
    if isinstance(answer, Placement):
        assert judge(made, answer).valid
