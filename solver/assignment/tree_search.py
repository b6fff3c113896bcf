"""Depth-first branch and bound over the tasks, one a level, with bounds by dual ascent.

The bound at the root (`rlt_bound`) is raised as long as it pays; below it a few rounds must do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from slotwise.models.problem.problem import IntArray
from slotwise.solver.assignment.model import Assignment
from slotwise.solver.assignment.params import DualAscentParams
from slotwise.solver.assignment.rlt_bound import StarState
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.result import Limits


class OutOfTimeError(Exception):
    """The limit is reached."""


class HopelessError(Exception):
    """Too little of the tree is done."""


@dataclass(slots=True)
class TreeSearch:
    """One run: the incumbent, the clock, and how much of the tree is done.

    Parameters
    ----------
    visited, progress
        Nodes of the tree looked at, and the share of the tree that is done.
    tree_since
        Seconds of the run after which branching began.
    """

    model: Assignment
    limits: Limits
    best: Incumbent
    params: DualAscentParams
    visited: int = 0
    progress: float = 0.0
    tree_since: float = math.inf

    @property
    def value(self) -> int | None:
        """The incumbent's value of the term that decides, in its steps; ``None`` = no incumbent."""
        values = self.best.values
        return None if values is None else values[self.model.term]

    @property
    def bound(self) -> int | None:
        """The bound of the same term; ``None`` = none yet."""
        bounds = self.best.bounds
        return bounds[self.model.term] if bounds else None

    def offer(self, nodes: IntArray, cost: int) -> None:
        """Keep a valid assignment that is better than the incumbent."""
        if self.value is None or cost < self.value:
            self.best.offer_solution(self.model.placement(nodes))

    def prove(self, bound: int) -> None:
        """Note a bound of the term that decides; the others are 0 at every placement."""
        self.best.prove([*[0] * self.model.term, bound])

    def close(self) -> None:
        """Note that nothing is better than the incumbent, or that there is no placement."""
        if self.best.values is None:
            self.best.prove_infeasible()
        else:
            self.best.prove(self.best.values)

    def check_clock(self) -> None:
        """Raise `OutOfTimeError` when the time is over, `HopelessError` when too little is done."""
        self.best.reporter.token.check()
        if self.best.seconds > self.limits.time_s:
            raise OutOfTimeError
        in_tree, params = self.best.seconds - self.tree_since, self.params
        enough = self.progress >= params.least_progress_fraction
        if enough or self.model.task_count <= params.max_hopeful_tasks:
            return
        if in_tree > params.give_up_fraction * self.limits.time_s:
            raise HopelessError

    def tighten(self, root: StarState) -> None:
        """Raise the bound at the root as long as it pays."""
        params = self.params
        work = root.star.size * self.model.node_count
        rounds = min(params.root_rounds, max(1, params.root_work // work))
        while not root.is_closed:
            if self.value is not None:
                root.aim_below(self.value)
            before = root.bound
            root.ascend(rounds, 0.0)
            if not root.is_closed:
                self.prove(root.value)
            self.check_clock()
            if root.bound - before < params.root_gain_fraction * (root.limit - root.bound):
                return

    def branch(self, state: StarState, share: float = 1.0) -> None:
        """Search below `state`, depth first, cheapest node of the next task first.

        `share` is the part of the whole tree that counts as done afterwards.
        """
        task = state.next_task()
        places = state.places(task)
        for node in places:
            self.check_clock()
            if self.value is not None:
                state.aim_below(self.value)
            if not self._try_place(state, task, node, share / len(places)):
                self.progress += share / len(places)

    def _try_place(self, state: StarState, task: int, node: int, share: float) -> bool:
        """Search with `task` on `node`; return whether a branch below counted its progress."""
        if state.bound + int(state.single[task, node]) >= state.limit:
            return False
        self.visited += 1
        child = state.with_task(task, node)
        if not child.free.any():
            if self.model.is_valid(child.nodes):
                self.offer(child.nodes, self.model.cost(child.nodes))
            return False
        child.ascend(self.params.node_rounds, self.params.node_gain_fraction)
        if child.is_closed or not (child.ok[child.free].any(axis=1)).all():
            return False
        if not child.places(child.next_task()):
            return False
        self.branch(child, share)
        return True
