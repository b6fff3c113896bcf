"""Planted bugs shrink to instances that a person can read: at most 3 tasks and 2 nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import Phase, given, seed, settings

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.testing import instances

Scheduler = Callable[[Instance], Placement | Refusal]


def first_fit(instance: Instance) -> Placement | Refusal:
    """Place each task where no rule but ``placed`` is broken yet, in the first worker there is."""
    workers = range(2 * len(instance.topologies))
    places = [(n, w) for n in range(len(instance.cluster.nodes)) for w in workers]
    names = instance.task_names()
    found: list[tuple[int, int]] = []
    for _ in names:
        for place in places:
            rest = [(UNPLACED, UNPLACED)] * (len(names) - len(found) - 1)
            nodes, labels = zip(*found, place, *rest, strict=True)
            broken = judge(instance, Placement(nodes, labels)).violations
            if all(violation.rule in ("placed", "max_moved") for violation in broken):
                found.append(place)
                break
        else:
            return Refusal("no room")
    return Placement(tuple(n for n, _ in found), tuple(w for _, w in found))


def memory_over_by_one(instance: Instance) -> Placement | Refusal:
    nodes = []
    for node in instance.cluster.nodes:
        memory = node.resources.get("memory_mb")
        more = {} if memory is None else {"memory_mb": memory + 1}
        nodes.append(replace(node, resources={**node.resources, **more}))
    return first_fit(replace(instance, cluster=replace(instance.cluster, nodes=tuple(nodes))))


def forgets_the_last_task(instance: Instance) -> Placement | Refusal:
    answer = first_fit(instance)
    if isinstance(answer, Refusal) or not answer.nodes:
        return answer
    return Placement((*answer.nodes[:-1], UNPLACED), (*answer.workers[:-1], UNPLACED))


def crashes_on_cycles(instance: Instance) -> Placement | Refusal:
    for topology in instance.topologies:
        ends = [(s.source, s.target) for s in topology.streams if s.source != s.target]
        list(nx.topological_sort(nx.DiGraph(ends)))
    return Refusal("does nothing else")


def ignores_the_heap(instance: Instance) -> Placement | Refusal:
    limitless = tuple(replace(t, worker_max_heap_mb=None) for t in instance.topologies)
    return first_fit(replace(instance, topologies=limitless))


def two_topologies_in_a_worker(instance: Instance) -> Placement | Refusal:
    answer = first_fit(instance)
    if isinstance(answer, Refusal):
        return answer
    return replace(answer, workers=(0,) * len(answer.workers))


def breaks(scheduler: Scheduler, instance: Instance) -> bool:
    """Whether the scheduler crashes or breaks a rule; `max_moved` is none that it knows of."""
    try:
        answer = scheduler(instance)
    except nx.NetworkXUnfeasible:
        return True
    if isinstance(answer, Refusal):
        return False
    return any(violation.rule != "max_moved" for violation in judge(instance, answer).violations)


def smallest(scheduler: Scheduler, start: int) -> Instance:
    """Return the instance that Hypothesis ends with."""
    failing: list[Instance] = []

    @seed(start)
    @settings(max_examples=500, database=None, phases=(Phase.generate, Phase.shrink))
    @given(instances())
    def run(instance: Instance) -> None:
        if breaks(scheduler, instance):
            failing.append(instance)
            raise AssertionError

    with pytest.raises(AssertionError):
        run()
    return failing[-1]


@pytest.mark.slow
@pytest.mark.in_turn
def test_first_fit_is_right() -> None:
    @given(instances())
    def run(instance: Instance) -> None:
        assert not breaks(first_fit, instance)

    run()


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("start", [1, pytest.param(2, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    "scheduler",
    [
        memory_over_by_one,
        forgets_the_last_task,
        crashes_on_cycles,
        ignores_the_heap,
        two_topologies_in_a_worker,
    ],
)
def test_a_planted_bug_shrinks(scheduler: Scheduler, start: int, note: list[str]) -> None:
    found = smallest(scheduler, start)
    tasks, nodes = len(found.task_names()), len(found.cluster.nodes)
    note.append(f"{scheduler.__name__} with seed {start}: {tasks} tasks, {nodes} nodes")
    assert tasks <= 3
    assert nodes <= 2
