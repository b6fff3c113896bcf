"""Which hard rules a state between two placements breaks, node by node.

The judge says it: each node is judged with what it holds, and nothing else placed. Rules that what
runs now breaks already do not count as long as they are broken no worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.accounting import account
from slotwise.models.judge.rules import violations
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem
from slotwise.solver.rebalance.moves import NOWHERE, Place

_OF_WHOLE = ("placed", "max_moved")
"""Rules that no single node breaks."""

Contents = dict[int, Counter[tuple[int, int]]]
"""Node -> tasks of each (kind, label of the worker) on it."""


class RulesBetween:
    """Judges nodes; each content of a node is judged once.

    Parameters
    ----------
    problem
        What is placed, without `running`.
    kinds
        Kind of each task.
    start
        What runs now.
    """

    def __init__(self, problem: Problem, kinds: list[int], start: Placement) -> None:
        self._problem = problem
        self._tasks: dict[int, list[int]] = {}
        for task, kind in enumerate(kinds):
            self._tasks.setdefault(kind, []).append(task)
        self._known: dict[tuple[int, frozenset[object]], tuple[Violation, ...]] = {}
        self._tolerated: dict[tuple[str, str, str], Fraction] = {}
        for node, held in contents(kinds, start).items():
            for one in self._judged(node, held):
                self._tolerated[one.rule, one.place, one.subject] = one.needed

    def broken(self, node: int, held: Mapping[tuple[int, int], int]) -> tuple[Violation, ...]:
        """Return the rules that a node breaks with these tasks, and did not before."""
        key = (node, frozenset(held.items()))
        if key not in self._known:
            self._known[key] = tuple(
                one for one in self._judged(node, held) if not self._is_tolerated(one)
            )
        return self._known[key]

    def _is_tolerated(self, one: Violation) -> bool:
        before = self._tolerated.get((one.rule, one.place, one.subject))
        return before is not None and one.needed <= before

    def _judged(self, node: int, held: Mapping[tuple[int, int], int]) -> list[Violation]:
        nodes, workers = ([UNPLACED] * self._problem.task_count for _ in range(2))
        used: Counter[int] = Counter()
        for (kind, label), count in held.items():
            for task in self._tasks[kind][used[kind] : used[kind] + count]:
                nodes[task], workers[task] = node, label
            used[kind] += count
        held_there = account(self._problem, Placement(tuple(nodes), tuple(workers)))
        found = violations(self._problem, held_there, moved=0)
        return [one for one in found if one.rule not in _OF_WHOLE]


def contents(kinds: list[int], placement: Placement) -> Contents:
    """Return what each node holds."""
    held: Contents = {}
    places = zip(placement.nodes, placement.workers, strict=True)
    for kind, (node, label) in zip(kinds, places, strict=True):
        if node != UNPLACED:
            held.setdefault(node, Counter())[kind, label] += 1
    return held


def put(held: Contents, kind: int, place: Place, count: int) -> None:
    """Add tasks of a kind to a place; take them away with a `count` below 0."""
    if place == NOWHERE:
        return
    node, label = place
    there = held.setdefault(node, Counter())
    there[kind, label] += count
    if not there[kind, label]:
        del there[kind, label]
