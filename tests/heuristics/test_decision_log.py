"""Methods that tell their decisions: the same answer as without a log, and the log leads to it."""

from __future__ import annotations

import numpy as np
import pytest
from ras_vectors import instances_of, read_vector
from solved import first_solved

from slotwise.heuristics.decision_log import DecisionLog, TaskDecision
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.compile import compile_problem

LOGGED = sorted(name for name, method in HEURISTICS.items() if method.place_logged is not None)


def test_the_order_of_puts_is_kept():
    log = DecisionLog()
    for task in (3, 1, 2):
        log.put(task, task, 0)
    assert [one.task for one in log.standing] == [3, 1, 2]
    log.put(3, 0, 1)
    assert log.standing[-1] == TaskDecision(3, 0, 1)


def test_the_furthest_point_is_kept_when_decisions_are_taken_back():
    log = DecisionLog()
    log.put(0, 0, 0)
    log.put(1, 0, 0)
    log.remove(1)
    assert [one.task for one in log.furthest] == [0, 1]
    log.put(2, 1, 0)
    assert [one.task for one in log.furthest] == [0, 2]
    log.remove(2)
    log.remove(0)
    assert [one.task for one in log.furthest] == [0, 2]


def test_copies_that_are_dropped_count_for_the_furthest_point():
    log = DecisionLog()
    log.put(0, 0, 0)
    work = log.copy()
    work.put(1, 0, 0)
    assert [one.task for one in log.standing] == [0]
    assert [one.task for one in log.furthest] == [0, 1]


def test_which_methods_tell():
    assert set(HEURISTICS) - set(LOGGED) == {"stromax-reassign"}


def at(problem, decisions):
    nodes, labels = [UNPLACED] * problem.task_count, [UNPLACED] * problem.task_count
    for one in decisions:
        nodes[one.task], labels[one.task] = one.node, one.worker
    return Placement(tuple(nodes), tuple(labels))


def check(problem, name):
    """Return whether the method placed something."""
    method = HEURISTICS[name]
    if method.supports(problem) is not None:
        return False
    log = DecisionLog()
    answer = method.place_logged(problem, np.random.default_rng(3), log)
    assert answer == method.place(problem, np.random.default_rng(3))
    if not isinstance(answer, Placement):
        return False
    standing = at(problem, log.standing)
    for task, place in enumerate(zip(answer.nodes, answer.workers, strict=True)):
        if place[0] != UNPLACED:
            assert (standing.nodes[task], standing.workers[task]) == place
    assert len(log.furthest) >= len(log.standing)
    return True


RAS = [name for name in LOGGED if name.startswith("ras-") or name == "r-storm-1.0"]
"""They need a cluster as Storm has it."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*LOGGED} - {*RAS} | {"ras-paper"}))
def test_the_log_leads_to_the_answer(name):
    count = 3 if name == "kahip" else 40
    assert sum(check(one.problem, name) for one in first_solved(count)) >= 1


@pytest.mark.parametrize("name", RAS)
def test_the_log_leads_to_the_answer_on_drawn_clusters(name):
    family = FAMILIES["random"]
    count = 8 if name == "ras-constraint-solver" else 30  # its searches are long
    made = (compile_problem(family.make(index, 5)) for index in range(count))
    assert sum(check(problem, name) for problem in made) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", RAS)
def test_the_log_of_ras_leads_to_the_answer_on_vectors(name, shared):
    placed = 0
    for path in sorted((shared / "storm" / "vectors").glob("*.json")):
        vector = read_vector(path)
        if not ({"nodes", "nodes_spec"} & set(vector.given)) or "topologies" not in vector.given:
            continue
        for instance in instances_of(vector):
            if len(instance.task_names()) <= 300:
                placed += check(compile_problem(instance), name)
    assert placed >= 3
