"""Whether an instance has any placement, decided by `solve`."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from decimal import Decimal

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline.engine import BASELINE
from slotwise.solver.baseline.params import BaselineParams
from slotwise.solver.contradictions import is_contradicted
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.explanation import Feasibility
from slotwise.solver.explain.first_fit import best_fit, first_fit, tight_fit
from slotwise.solver.solve import solve

START_S, START_S_PER_TASK, MOST_START = 0.05, 0.005, 0.4
"""Seconds for heuristics: a base, more for each task, at most this part of the limit."""


def question(instance: Instance) -> Instance:
    """Return an instance with the same valid placements in which they all cost the same.

    The term ``overload`` without soft resources is 0 everywhere and has the bound 0, so that the
    first valid placement ends a solve. Streams, distances and costs of tasks on nodes limit
    nothing, so that they go; soft resources are unlimited. Where topologies may be rejected
    they still may be, and a solve leaves out as few as it can.
    """
    objective, cluster = instance.objective, instance.cluster
    soft = dict.fromkeys(objective.soft)
    nodes = tuple(replace(node, resources={**node.resources, **soft}) for node in cluster.nodes)
    return replace(
        instance,
        cluster=replace(cluster, nodes=nodes, matrix=None),
        topologies=tuple(replace(one, streams=()) for one in instance.topologies),
        running=instance.running if objective.limits else None,
        objective=Objective(
            ("rejected",) if "rejected" in objective.parts else ("overload",),
            {},
            objective.limits,
        ),
        linear=(),
        flow="pairs",
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an instance has a placement, and a valid one where it has."""

    status: Feasibility
    placement: Placement | None = None


def quick_decision(problem: Problem) -> Decision:
    """Return what counting and first fit decide of a problem without a search."""
    if is_contradicted(problem):
        return Decision(Feasibility.INFEASIBLE)
    return _fitted(problem)


def _fitted(problem: Problem) -> Decision:
    """Return what the quick placements decide."""
    for fit in (first_fit, tight_fit, best_fit):
        placement = fit(problem)
        if placement is not None and judge(problem, placement).valid:
            return Decision(Feasibility.FEASIBLE, placement)
    return Decision(Feasibility.UNDECIDED)


class Decider:
    """Decides instances one after another until a deadline.

    Parameters
    ----------
    seconds
        For all of them together.
    step_fraction
        Most of `seconds` that one may take.
    seed, workers
        As in `solve`.
    """

    def __init__(
        self, seconds: float, *, step_fraction: float = 0.25, seed: int = 0, workers: int = 1
    ) -> None:
        self.started = time.perf_counter()
        self._counts = [0]
        self._is_interrupted = [False]
        self._deadline = self.started + seconds
        self._step_s = step_fraction * seconds
        self._seed, self._workers = seed, workers

    @property
    def solves(self) -> int:
        """How many instances were solved so far."""
        return self._counts[0]

    @property
    def left_s(self) -> float:
        """Seconds until the deadline, at least 0; 0 once one of its searches was interrupted."""
        if self._is_interrupted[0]:
            return 0.0
        return max(0.0, self._deadline - time.perf_counter())

    @property
    def spent_s(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.left_s <= 0

    def until(self, fraction: float, *, step_fraction: float = 0.25) -> Decider:
        """Return one for a part of the seconds that are left; what it solves counts here too.

        An interrupt ends both.
        """
        seconds = fraction * self.left_s
        made = Decider(seconds, step_fraction=step_fraction, seed=self._seed, workers=self._workers)
        made._counts, made._is_interrupted = self._counts, self._is_interrupted
        return made

    def quickly(self, instance: Instance) -> Decision:
        """Return what `quick_decision` says of `instance`; undecided after the deadline."""
        if self.is_over:
            return Decision(Feasibility.UNDECIDED)
        self._counts[0] += 1
        return quick_decision(compile_problem(question(instance)))

    def fitted(self, instance: Instance) -> Placement | None:
        """Return a placement where a quick one fits; ``None`` after the deadline, too."""
        if self.is_over:
            return None
        self._counts[0] += 1
        return _fitted(compile_problem(question(instance))).placement

    def decide(self, instance: Instance, *, fraction: float | None = None) -> Decision:
        """Return whether `instance` has a placement; undecided where its time ends first.

        It may take `fraction` of what is left; ``None`` = as long as any other.
        """
        left = min(self.left_s, self._step_s) if fraction is None else fraction * self.left_s
        if left <= 0:
            return Decision(Feasibility.UNDECIDED)
        self._counts[0] += 1
        problem = compile_problem(question(instance))
        quick = quick_decision(problem)
        if quick.status is not Feasibility.UNDECIDED:
            return quick
        result = self._solved(problem, left)
        if result.interrupted:
            self._is_interrupted[0] = True
        if result.status is Status.INFEASIBLE:
            return Decision(Feasibility.INFEASIBLE)
        if result.placement is None:
            return Decision(Feasibility.UNDECIDED)
        return Decision(Feasibility.FEASIBLE, result.placement)

    def least_rejected(self, instance: Instance) -> tuple[tuple[str, ...], bool]:
        """Return topologies to leave out so that the rest can be placed, and if they are the best.

        Best is the least total weight by priority. Empty where nothing was found in time.
        """
        result = self._optimised(instance, "rejected")
        if result is None or result.placement is None:
            return (), False
        rows = zip(instance.task_names(), result.placement.nodes, strict=True)
        names = tuple(dict.fromkeys(name for (name, _), node in rows if node == UNPLACED))
        return names, result.status is Status.OPTIMAL

    def least_moved(self, instance: Instance) -> Decimal | None:
        """Return the fewest running tasks that must move; ``None`` where it is not proven."""
        result = self._optimised(instance, "moved")
        if result is None or result.status is not Status.OPTIMAL:
            return None
        bound = result.objective[0].bound
        return None if bound is None else Decimal(int(bound))

    def _optimised(self, instance: Instance, term: str) -> Result | None:
        left = min(self.left_s, self._step_s)
        if left <= 0:
            return None
        self._counts[0] += 1
        query = question(instance)
        running = instance.running if term == "moved" else None
        query = replace(query, objective=Objective((term,)), running=running)
        return self._solved(compile_problem(query), left)

    def _solved(self, problem: Problem, seconds: float) -> Result:
        """Solve, with less time for heuristics than usual: on tiny problems engines are faster."""
        start_s = START_S + START_S_PER_TASK * problem.task_count
        heuristics = BaselineParams(
            time_fraction=min(MOST_START, start_s / seconds), patience=1.0, patience_for_first=2.0
        )
        return solve(
            problem,
            time_limit_s=seconds,
            seed=self._seed,
            workers=self._workers,
            parameters={BASELINE.name: heuristics},
        )
