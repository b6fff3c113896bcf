"""The leading terms of an objective, as a problem without what only later terms read.

`without_running`: the current places of tasks distinguish equal tasks and equal nodes, and with
them all that column generation counts. Only the part ``moved`` and the limit of moves read it. So
the terms before the first that counts moves have the same values on the problem without homes.

Why its answer is a bound: the same placements are valid in both problems, save that a limit of
moves forbids some in the original, and each has the same values there. So the optimum of the
leading terms is a lower bound, the optimum itself without a limit of moves, and where the problem
without homes is infeasible so is the original. Which placements are valid depends on one term: a
topology may be left out where ``rejected`` is counted, wherever it stands. Where it stands only
after the leading terms, these alone would forbid what the original allows, and nothing follows.

`without_workload`: few engines count utilisations; all others may solve the terms before
``bottleneck``. The same placements are valid in both problems and have the same values there, so
the optimum of the leading terms is theirs in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Flow, Problem, TaskClass, Term
from slotwise.models.values import NO_LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class WithoutRunning:
    """A problem without homes, on the same tasks and nodes; placements stay what they are.

    Parameters
    ----------
    problem
        Its terms are the leading ones of the original that count no moves.
    """

    problem: Problem

    def restore(self, placement: Placement) -> Placement:
        """Return the placement itself."""
        return placement

    def project(self, placement: Placement) -> Placement:
        """Return the placement itself."""
        return placement


def without_running(problem: Problem) -> WithoutRunning | None:
    """Return the leading terms without homes.

    ``None`` without homes, without such terms, and where ``rejected`` is counted but not by them.
    """
    terms = _terms_before("moved", problem)
    if not terms or all(task_class.home is None for task_class in problem.classes):
        return None
    instance = problem.instance
    objective = replace(instance.objective, terms=tuple(term.name for term in terms), limits={})
    groups = _classes_but_for_homes(problem)
    index = {c: g for g, group in enumerate(groups) for c in group}
    firsts = [group[0] for group in groups]
    return WithoutRunning(
        replace(
            problem,
            instance=replace(instance, running=None, objective=objective),
            classes=tuple(_merged(problem, group) for group in groups),
            demand=problem.demand[firsts],
            heap=problem.heap[firsts],
            task_class=np.array([index[c] for c in problem.task_class.tolist()], dtype=np.int64),
            flows=_flows(problem, index),
            linear=None if problem.linear is None else problem.linear[firsts],
            rules=tuple(
                replace(rules, classes=_renumbered(rules.classes, index)) for rules in problem.rules
            ),
            regions=tuple(
                replace(region, classes=_renumbered(region.classes, index))
                for region in problem.regions
            ),
            move_limit=NO_LIMIT,
            terms=terms,
        )
    )


def without_workload(problem: Problem) -> Problem | None:
    """Return the terms before ``bottleneck`` on the same tasks and nodes.

    ``None`` without such terms, and where ``rejected`` is counted but not by them.
    """
    terms = _terms_before("bottleneck", problem)
    if not terms:
        return None
    objective = replace(problem.instance.objective, terms=tuple(term.name for term in terms))
    instance = replace(problem.instance, objective=objective)
    return replace(problem, instance=instance, terms=terms, workload=None)


def padded(bounds: Sequence[int | None], problem: Problem) -> tuple[int | None, ...]:
    """Return bounds of leading terms with ``None`` for the terms after them."""
    return (*bounds, *(None,) * (len(problem.terms) - len(bounds)))


def _terms_before(part: str, problem: Problem) -> tuple[Term, ...]:
    """Return the terms before the first that counts a part.

    None where ``rejected`` is counted, but only after them.
    """
    terms = tuple(takewhile(lambda term: not _counts(term, part), problem.terms))
    counts_rejected = any(_counts(term, "rejected") for term in terms)
    return () if problem.may_reject and not counts_rejected else terms


def _counts(term: Term, part: str) -> bool:
    return any(own == part for own, _ in term.parts)


def _classes_but_for_homes(problem: Problem) -> list[list[int]]:
    """Return the classes that differ in nothing but their homes, in order of their first tasks."""
    near: list[list[tuple[int, int, int]]] = [[] for _ in problem.classes]
    for flow in problem.flows:
        near[flow.source].append((0, flow.target, flow.weight))
        near[flow.target].append((1, flow.source, flow.weight))
    groups: dict[object, list[int]] = {}
    for c, task_class in enumerate(problem.classes):
        linear = () if problem.linear is None else tuple(problem.linear[c].tolist())
        groups.setdefault((task_class.component, linear, tuple(sorted(near[c]))), []).append(c)
    return sorted(groups.values(), key=lambda group: min(problem.classes[group[0]].tasks))


def _merged(problem: Problem, group: Sequence[int]) -> TaskClass:
    tasks = sorted(task for c in group for task in problem.classes[c].tasks)
    return replace(problem.classes[group[0]], tasks=tuple(tasks), home=None)


def _flows(problem: Problem, index: dict[int, int]) -> tuple[Flow, ...]:
    weights = {(index[f.source], index[f.target]): f.weight for f in problem.flows}
    return tuple(Flow(a, b, weight) for (a, b), weight in sorted(weights.items()))


def _renumbered(classes: Sequence[int], index: dict[int, int]) -> tuple[int, ...]:
    return tuple(sorted({index[c] for c in classes}))
