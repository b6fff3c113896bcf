"""A placement to show beside the first one: its verdict, what is where, what counts as moved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import NodeLoad, Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.matching import MOST_PAIRS, Matched, matched


@dataclass(frozen=True, slots=True)
class Shown:
    """A placement to show.

    Parameters
    ----------
    name
        Of the method, for example ``r-storm``.
    placement
        Of the instance that is shown.
    caption
        What is said of it, one line; empty = its value of each term.
    failed
        Whether its run counts as failed. Broken rules are shown whatever this says.
    """

    name: str
    placement: Placement
    caption: str = ""
    failed: bool = False


Place = tuple[int, int]
"""Node index and worker label."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A placement of the viewer.

    Parameters
    ----------
    shown, verdict
        What was given, and what the judge says of it.
    loads
        Of each node, from the judge.
    match
        The placement with what is equal exchanged so that it agrees most with the first one;
        ``None`` = it is the first one.
    tasks
        Place -> its tasks, ascending; `UNPLACED` for both holds those without a place.
    moved
        The tasks drawn as moved: at each place as many of a class as the exchange leaves moved.
    """

    shown: Shown
    verdict: Verdict
    loads: list[NodeLoad]
    match: Matched | None
    tasks: dict[Place, list[int]]
    moved: frozenset[int]

    def role(self, node: int) -> int:
        """Return the node of the first placement that `node` stands for."""
        return node if self.match is None else self.match.all_nodes[node]

    def task_counts(self) -> Counter[int]:
        """Return the number of tasks on each node."""
        counts: Counter[int] = Counter()
        for (node, _), tasks in self.tasks.items():
            counts[node] += len(tasks)
        return counts

    def overloaded(self, node: int) -> bool:
        """Whether some load of `node` is above its capacity."""
        row = self.loads[node]
        caps = row["capacity"]
        return any((cap := caps[name]) is not None and x > cap for name, x in row["load"].items())


def side_of(problem: Problem, shown: Shown, first: Placement | None) -> Side:
    """Return `shown` judged, and compared with the `first` placement (``None`` = it is that)."""
    verdict = judge(problem, shown.placement)
    tasks: dict[Place, list[int]] = {}
    rows = zip(shown.placement.nodes, shown.placement.workers, strict=True)
    for task, place in enumerate(rows):
        tasks.setdefault(place, []).append(task)
    match = None if first is None else matched(problem, first, shown.placement, None, MOST_PAIRS)
    moved: set[int] = set()
    if first is not None and match is not None:
        for place, here in tasks.items():
            if place[0] != UNPLACED:
                moved.update(_moved(problem, first, match.places[place], here))
    return Side(shown, verdict, verdict.node_loads(), match, tasks, frozenset(moved))


def _moved(problem: Problem, first: Placement, role: Place, here: list[int]) -> list[int]:
    """Return which tasks of a place to draw as moved; equal tasks stay first where they are."""
    by_class: dict[int, list[int]] = {}
    for task in here:
        by_class.setdefault(int(problem.task_class[task]), []).append(task)
    moved = []
    for c, tasks in by_class.items():
        before = {t for t in problem.classes[c].tasks if (first.nodes[t], first.workers[t]) == role}
        tasks.sort(key=lambda task: task not in before)
        moved += tasks[len(before) :]
    return moved
