"""StroMAX, Algorithm 1: small cases by hand, each reading, and what must hold of all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stromax_cases import cluster, problem, random_problems, topology

from slotwise.heuristics.node_capacity import task_slots
from slotwise.heuristics.run import run_method
from slotwise.heuristics.stromax import (
    STROMAX_BOOTSTRAP,
    STROMAX_BOOTSTRAP_CONDENSED,
    Cycle,
    linearise,
)
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

CHAIN = topology("t", {"s": (1, 10), "a": (1, 10), "b": (1, 10)}, ["s>a", "a>b"])


def nodes_of(one: Problem, seed: int = 0) -> tuple[int, ...]:
    answer = run_method(one, STROMAX_BOOTSTRAP, seed)
    assert isinstance(answer, Placement)
    return answer.nodes


def test_neighbours_attract_until_the_node_is_full() -> None:
    # s: all scores 0, so the first node; a: 1 * (1 - 1/2); b: that node is full, so the other.
    assert nodes_of(problem(cluster([20, 20]), CHAIN)) == (0, 0, 1)


def test_a_full_node_is_left_out_although_it_scores_0_like_the_empty_ones() -> None:
    assert nodes_of(problem(cluster([10, 10, 10]), CHAIN)) == (0, 1, 2)


def test_the_last_place_of_a_node_is_used() -> None:
    """Equation 3 has <=."""
    assert nodes_of(problem(cluster([30]), CHAIN)) == (0, 0, 0)


def test_idleness_weighs_against_neighbours() -> None:
    # Order s0 s1 b0 b1 ... : s0 -> 0, s1 -> 1 (least loaded); b0: 1 * (1 - 1/2) against
    # 1 * (1 - 1/10) on the larger node.
    one = topology("t", {"s": (2, 1), "b": (1, 1)}, ["s>b"])
    made = problem(cluster([2, 10]), one)
    assert nodes_of(made)[2] == 1


def test_ties_go_to_the_least_loaded_then_to_the_lowest_index() -> None:
    one = topology("t", {"s": (5, 1)}, [])
    assert Counter(nodes_of(problem(cluster([4, 4, 4]), one))) == {0: 2, 1: 2, 2: 1}


def test_neighbours_in_both_directions_count_once() -> None:
    # s -> 0, c -> 1, b -> 0; then v: 1 (1 - 2/10) for b against 1 (1 - 1/10) for c.
    components = {"s": (1, 1), "c": (1, 1), "b": (1, 1), "v": (1, 1)}
    one = topology("t", components, ["b>v", "v>b", "c>v"])
    answer = run_method(problem(cluster([10, 10]), one), STROMAX_BOOTSTRAP_CONDENSED, 0)
    assert isinstance(answer, Placement)
    assert answer.nodes == (0, 1, 0, 1)


def test_a_cycle_is_refused_and_named() -> None:
    one = topology("t", {"s": (1, 1), "a": (1, 1), "b": (1, 1)}, ["s>a", "a>b", "b>a"])
    answer = run_method(problem(cluster([9]), one), STROMAX_BOOTSTRAP, 0)
    assert answer == Refusal("topology t: the graph is not a DAG: a, b are on a cycle")


def test_a_cyclic_topology_is_left_out_where_that_is_allowed() -> None:
    cyclic = topology("t", {"s": (1, 1), "a": (1, 1)}, ["s>a", "a>s"])
    plain = topology("u", {"s": (1, 1)}, [])
    made = problem(cluster([9]), cyclic, plain, terms=("rejected", "network"))
    assert nodes_of(made) == (UNPLACED, UNPLACED, 0)


def test_a_stream_to_itself_is_no_cycle() -> None:
    one = topology("t", {"s": (1, 1), "a": (1, 1)}, ["s>a", "a>a"])
    assert nodes_of(problem(cluster([9]), one)) == (0, 0)


def test_without_a_cycle_both_methods_are_the_same() -> None:
    made = problem(cluster([20, 20]), CHAIN)
    answers = {run_method(made, m, 3) for m in (STROMAX_BOOTSTRAP, STROMAX_BOOTSTRAP_CONDENSED)}
    assert len(answers) == 1


def test_later_topologies_find_what_earlier_ones_have_left() -> None:
    one, other = (topology(key, {"s": (2, 10)}, []) for key in "tu")
    made = problem(cluster([20, 20]), one, other)
    assert sorted(Counter(nodes_of(made)).items()) == [(0, 2), (1, 2)]
    third = problem(cluster([20, 20]), one, other, topology("v", {"s": (1, 10)}, []))
    answer = run_method(third, STROMAX_BOOTSTRAP, 0)
    assert answer == Refusal("topology v: no node has room for task s[0]")


def test_the_first_task_is_a_random_spout_task_and_the_order_topological() -> None:
    one = topology(
        "t", {"x": (1, 1), "s": (3, 1), "a": (2, 1), "b": (1, 1)}, ["s>b", "a>b", "s>a", "x>b"]
    )
    made = problem(cluster([99]), one)
    firsts = set()
    for seed in range(30):
        order = linearise(made, [0], np.random.default_rng(seed))
        assert not isinstance(order, Cycle)
        assert sorted(order) == list(range(7))
        assert order.index(6) == 6
        assert max(map(order.index, (1, 2, 3))) < min(map(order.index, (4, 5)))
        firsts.add(order[0])
    assert firsts == {1, 2, 3}


def test_a_component_without_tasks_holds_nobody_up() -> None:
    one = topology("t", {"s": (0, 1), "a": (0, 1), "b": (2, 1)}, ["s>a", "a>b"])
    assert linearise(problem(cluster([9]), one), [0], np.random.default_rng(0)) in ([0, 1], [1, 0])


def test_condensed_cycles_come_together_after_what_they_wait_for() -> None:
    one = topology(
        "t",
        {"d": (1, 1), "a": (1, 1), "b": (1, 1), "s": (1, 1)},
        ["s>a", "a>b", "b>a", "b>d"],
    )
    made = problem(cluster([9]), one)
    assert linearise(made, [0], np.random.default_rng(0), condense=True) == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("capacities", "slots"), [([10, 25, None], [1, 2, 4]), ([40, 0, 9], [4, 0, 0])]
)
def test_slots_of_equal_tasks_are_rounded_down(
    capacities: list[int | None], slots: list[int]
) -> None:
    one = topology("t", {"s": (4, 10)}, [])
    assert task_slots(problem(cluster(capacities), one)) == slots


def test_slots_of_unequal_tasks_are_rounded_up() -> None:
    one = topology("t", {"s": (1, 10), "a": (1, 30)}, ["s>a"])
    assert task_slots(problem(cluster([30, 10]), one)) == [2, 1]


def test_slots_of_workers_count_where_each_has_one_task() -> None:
    one = topology("t", {"s": (3, 1)}, [])
    made = problem(cluster([9, 9]), one)
    instance = replace(
        made.instance,
        cluster=replace(
            made.instance.cluster,
            nodes=tuple(replace(n, slots=2) for n in made.instance.cluster.nodes),
        ),
        topologies=(replace(one, one_task_per_worker=True),),
    )
    assert task_slots(compile_problem(instance)) == [2, 2]


@given(random_problems(), st.integers(0, 5))
def test_capacities_hold_and_seeds_decide(made: Problem, seed: int) -> None:
    answer = run_method(made, STROMAX_BOOTSTRAP, seed)
    assert answer == run_method(made, STROMAX_BOOTSTRAP, seed)
    if isinstance(answer, Placement):
        assert judge(made, answer).valid
        counts = Counter(answer.nodes)
        assert all(counts[n] <= most for n, most in enumerate(task_slots(made)))


@given(random_problems())
def test_names_of_components_decide_nothing(made: Problem) -> None:
    def renamed(key: str) -> str:
        return f"{9 - int(key[1:])}-{key}"

    instance = replace(
        made.instance,
        topologies=tuple(
            replace(
                t,
                components=tuple(replace(c, id=renamed(c.id)) for c in t.components),
                streams=tuple(
                    replace(s, source=renamed(s.source), target=renamed(s.target))
                    for s in t.streams
                ),
            )
            for t in made.instance.topologies
        ),
    )
    other = run_method(compile_problem(instance), STROMAX_BOOTSTRAP, 1)
    one = run_method(made, STROMAX_BOOTSTRAP, 1)
    assert type(one) is type(other)
    if isinstance(one, Placement):
        assert one == other
