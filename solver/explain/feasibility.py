"""Whether an instance has any placement, decided by `solve`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE, BaselineParams
from slotwise.solver.contradictions import is_contradicted
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Result, Status
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.explain.explanation import Feasibility
from slotwise.solver.orphans.first_placement import current_placement
from slotwise.solver.orphans.partial_placement import Fit, PartialPlacement
from slotwise.solver.solve import solve

START_S, START_S_PER_TASK, MOST_START = 0.05, 0.005, 0.4
"""Seconds for heuristics: a base, more for each task, at most this share of the limit."""


MOST_TASKS = 1_000
"""Most tasks for quick placements: each step tries the workers of a node, some ten microseconds
for each."""

MOST_PLACES = 1_000
"""Largest product of tasks and nodes for a quick placement by best fit."""


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
        objective=replace(
            objective,
            terms=("rejected",) if "rejected" in objective.parts else ("overload",),
            soft={},
        ),
        linear=(),
        flow="pairs",
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an instance has a placement, and a valid one where it has."""

    status: Feasibility
    placement: Placement | None = None


def quick_placements(problem: Problem) -> Iterator[Placement]:
    """Yield placements of all tasks, to be judged; running tasks stay where moves count.

    Large tasks first: by first fit, then by best fit.
    """
    if problem.task_count > MOST_TASKS:
        return
    current = current_placement(problem, CancellationToken())
    share = problem.demand / np.maximum(problem.capacity.max(axis=0, initial=1), 1)
    size = share.max(axis=1, initial=0.0)
    waiting = {*current.conflicting, *current.orphans}
    order = sorted(waiting, key=lambda task: -size[problem.task_class[task]])

    def first(state: PartialPlacement, c: int) -> Fit | None:
        while full[c] < problem.node_count:  # a node that is full for a class stays so
            fit = next(state.fits_on(c, full[c]), None)
            if fit is not None:
                return fit
            full[c] += 1
        return None

    def room(fit: Fit) -> float:
        loads = zip(fit.node.load, problem.capacity[fit.place[0]].tolist(), strict=True)
        return float(sum(1 - load / capacity for load, capacity in loads if capacity))

    def tightest(state: PartialPlacement, c: int) -> Fit | None:
        return min(state.fits(c), key=room, default=None)

    is_small = problem.task_count * problem.node_count <= MOST_PLACES
    for choose in (first, tightest) if is_small else (first,):
        state, full = current.partial.copy(), [0] * len(problem.classes)
        for task in order:
            fit = choose(state, int(problem.task_class[task]))
            if fit is None:
                break
            state.put(task, fit)
        else:
            yield state.placement()


def quick_decision(problem: Problem) -> Decision:
    """Decide a problem by counting and quick placements, without a search."""
    if is_contradicted(problem):
        return Decision(Feasibility.INFEASIBLE)
    for placement in quick_placements(problem):
        if judge(problem, placement).valid:
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
        """Number of instances solved so far."""
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
        """Return a decider for a share of the seconds left; its solves count here, too.

        An interrupt ends both.
        """
        seconds = fraction * self.left_s
        decider = Decider(
            seconds, step_fraction=step_fraction, seed=self._seed, workers=self._workers
        )
        decider._counts, decider._is_interrupted = self._counts, self._is_interrupted
        return decider

    @contextmanager
    def searching(self) -> Iterator[tuple[Limits, RunToken]]:
        """Yield the limits of a search in the time left, and its token, which Ctrl-C cancels.

        Raises
        ------
        CancelledError
            After the deadline.
        """
        self._counts[0] += 1
        left = self.left_s
        with counted_presses() as presses:
            token = RunToken(time.perf_counter() + left, presses.token)
            token.check()
            yield Limits(time_s=left, workers=self._workers, seed=self._seed), token
            if presses.token.is_cancelled:
                self._is_interrupted[0] = True

    def quickly(self, instance: Instance) -> Decision:
        """Return `quick_decision` of `instance`; undecided after the deadline."""
        if self.is_over:
            return Decision(Feasibility.UNDECIDED)
        self._counts[0] += 1
        return quick_decision(compile_problem(question(instance)))

    def decide(self, instance: Instance, *, fraction: float | None = None) -> Decision:
        """Return whether `instance` has a placement; undecided where its time ends first.

        It may take `fraction` of the time left; ``None`` = `step_fraction` of all.
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
        """Solve with less time for heuristics than usual: on tiny problems engines are faster."""
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
