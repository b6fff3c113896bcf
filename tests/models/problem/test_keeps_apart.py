"""`Rules.keeps_apart` says of two tasks in one worker what the judge says of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

RULES = {"one_task_per_worker", "one_component_per_worker", "incompatible"}
TASKS = range(6)


def problem(pairs: tuple[tuple[str, str], ...], tasks: bool, components: bool) -> Problem:
    topology = Topology(
        "t",
        tuple(Component(name, "bolt", 2, {}) for name in "abc"),
        (),
        constraints=Constraints(pairs, {}),
        one_task_per_worker=tasks,
        one_component_per_worker=components,
    )
    return compile_problem(Instance("x", Cluster((Node("n", "r", "h", 6, {}),)), (topology,)))


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("components", [False, True])
@pytest.mark.parametrize("pairs", [(), (("b", "a"),), (("a", "a"), ("b", "c"))])
def test_as_the_judge(pairs: tuple[tuple[str, str], ...], tasks: bool, components: bool) -> None:
    made = problem(pairs, tasks, components)
    rules = made.rules[0]
    component = {task: one.component for one in made.classes for task in one.tasks}
    found = set()
    for i, j in combinations(TASKS, 2):
        workers = tuple(0 if k in (i, j) else k + 1 for k in TASKS)
        verdict = judge(made, Placement((0,) * len(TASKS), workers))
        broken = bool({violation.rule for violation in verdict.violations} & RULES)
        assert rules.keeps_apart(component[i], component[j]) == broken
        assert rules.keeps_apart(component[j], component[i]) == broken
        found.add(broken)
    assert rules.isolates == (True in found)


def test_rules_replaced_have_conflicts_of_their_own() -> None:
    rules = problem((("b", "a"),), False, False).rules[0]
    assert rules.conflicts == {(0, 1), (1, 0)}
    assert replace(rules, incompatible=()).conflicts == frozenset()
    assert not replace(rules, incompatible=()).isolates
