"""The cost of one task in every other place, or the rules that forbid it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import TermValue, Verdict, Violation
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain


@dataclass(frozen=True, slots=True)
class Alternative:
    """One place for a task while all other tasks stay where they are.

    Parameters
    ----------
    node, worker
        Id of the node, label of the worker.
    fresh
        Whether the worker would be opened for it.
    here
        Whether this is where the task is.
    objective
        The whole placement's values with the task there.
    change
        Term -> its value there less its value now, in the user's unit.
    forbidden_by
        Rules that the placement breaks with the task there and does not break now.
    also_before
        Rules that it breaks with the task there as it does now, also for other tasks.

    Where both are empty, the task may go there.
    """

    node: str
    worker: int
    fresh: bool
    here: bool
    objective: tuple[TermValue, ...]
    change: dict[str, Fraction]
    forbidden_by: tuple[Violation, ...]
    also_before: tuple[Violation, ...] = ()

    @property
    def steps(self) -> tuple[int, ...]:
        """The values in integer steps, comparable in lexicographic order."""
        return tuple(term.scaled for term in self.objective)

    def to_document(self) -> dict[str, Any]:
        """Return the alternative as JSON-ready data."""
        return {
            "node": self.node,
            "worker": self.worker,
            "fresh": self.fresh,
            "here": self.here,
            "objective": [{"term": t.term, "value": plain(t.value)} for t in self.objective],
            "change": {term: plain(value) for term, value in self.change.items()},
            "forbidden_by": [_document(v) for v in self.forbidden_by],
            "also_before": [_document(v) for v in self.also_before],
        }


def _document(one: Violation) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "place": one.place,
        "subject": one.subject,
        "needed": plain(one.needed),
        "available": plain(one.available),
    }


def alternatives(problem: Problem, placement: Placement, task: int) -> tuple[Alternative, ...]:
    """Return all places of `task`: on each node its topology's workers and a fresh one.

    Its present place is first, then allowed places, the best first, then forbidden ones. The task
    may be unplaced, and so may others: then no violation of ``placed`` counts.
    """
    before = judge(problem, placement)
    known = {(v.rule, v.place, v.subject): v.needed for v in before.violations}
    others = [
        _alternative(problem, placement, task, place, before, known)
        for place in _places(problem, placement, task)
    ]
    return tuple(
        sorted(
            others,
            key=lambda one: (
                not one.here,
                bool(one.forbidden_by),
                bool(one.also_before),
                one.steps,
            ),
        )
    )


def moved(placement: Placement, task: int, node: int, worker: int) -> Placement:
    """Return the placement with one task elsewhere."""
    nodes, workers = list(placement.nodes), list(placement.workers)
    nodes[task], workers[task] = node, worker
    return Placement(tuple(nodes), tuple(workers))


def _places(problem: Problem, placement: Placement, task: int) -> Iterator[tuple[int, int, bool]]:
    """Yield node, worker label and whether the worker is fresh."""
    of_task = problem.task_class.tolist()
    owner = [one.topology for one in problem.classes]
    mine, home = owner[of_task[task]], problem.classes[of_task[task]].home
    tenants: dict[tuple[int, int], set[int]] = {}
    rows = zip(placement.nodes, placement.workers, of_task, strict=True)
    for other, (node, label, c) in enumerate(rows):
        if node != UNPLACED and other != task:
            tenants.setdefault((node, label), set()).add(owner[c])
    used: dict[int, list[int]] = {}
    for (node, label), who in sorted(tenants.items()):
        used.setdefault(node, []).append(label)
        if mine in who:
            yield node, label, False
    current = (placement.nodes[task], placement.workers[task])
    if current[0] != UNPLACED and mine not in tenants.get(current, ()):
        yield *current, current not in tenants
    for node in range(problem.node_count):
        taken = used.get(node, [])
        label = next(label for label in range(len(taken) + 1) if label not in taken)
        if home is not None and home[0] == node and home[1] not in taken:
            label = home[1]
        is_alone = current[0] == node and current not in tenants
        if not is_alone or (home is not None and (node, label) == home != current):
            yield node, label, True


def _alternative(
    problem: Problem,
    placement: Placement,
    task: int,
    place: tuple[int, int, bool],
    before: Verdict,
    known: dict[tuple[str, str, str], Fraction],
) -> Alternative:
    node, label, fresh = place
    verdict = judge(problem, moved(placement, task, node, label))
    broken = [v for v in verdict.violations if v.rule != "placed"]
    new = tuple(
        v for v in broken if v.needed > known.get((v.rule, v.place, v.subject), Fraction(-1))
    )
    return Alternative(
        node=problem.instance.cluster.nodes[node].id,
        worker=label,
        fresh=fresh,
        here=(placement.nodes[task], placement.workers[task]) == (node, label),
        objective=verdict.objective,
        change={
            now.term: now.value - then.value
            for now, then in zip(verdict.objective, before.objective, strict=True)
        },
        forbidden_by=new,
        also_before=tuple(v for v in broken if v not in new),
    )
