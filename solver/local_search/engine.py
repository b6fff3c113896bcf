"""Local search for problems with distances by level: ruin and recreate from a known placement.

Some tasks are taken out (those of two or three nodes that exchange flow, whole workers, or a few
connected tasks) and put back one by one, each where it costs least (Schrimpf et al. 2000; with
blinks as in Christiaens and Vanden Berghe 2020). So tasks move and swap, workers and nodes merge,
split and fall empty, and every hard rule holds at every moment. The outcome is kept if no term
is worse than it was some steps ago (late acceptance, Burke and Bykov 2017), which needs an order
of values only: the first terms count first. Deterministic for a seed and a number of steps.
"""

from __future__ import annotations

import math
from functools import partial
from importlib.metadata import version

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.local_search.compiled import (
    LOCAL_SEARCH_DEFAULTS,
    CompiledSearch,
    LocalSearchParams,
    is_plain,
)
from slotwise.solver.local_search.feasibility import NO_ROW
from slotwise.solver.local_search.solution import MOVED, PARTS, RULES, Field

REPORT_EVERY_S = 0.2


@declares(RULES, PARTS)
def supports(problem: Problem, params: LocalSearchParams = LOCAL_SEARCH_DEFAULTS) -> str | None:
    """Return ``None``, or why the search does not take the problem."""
    if problem.matrix is not None:
        return "distances come as a matrix"
    if _cells(problem) > params.max_cells:
        return f"{len(problem.classes)} classes in as many workers make too large a table"
    return None if problem.task_count else "there is nothing to place"


def _cells(problem: Problem) -> int:
    """Bound the cells of the tables of classes by workers and by classes."""
    slots: list[int] = problem.slots.tolist()
    classes, workers = len(problem.classes), min(problem.task_count, sum(slots))
    return classes * (classes + 4 * workers)  # two tables that grow by doubling


class LocalSearch:
    """A search from a valid placement; `advance` may be called again and again.

    It keeps its best values and a snapshot of its tables itself: steps are too short to make, judge
    and offer a placement at each. It raises `CancelledError` where `token` is cancelled, and may
    then be in the middle of a step.
    """

    def __init__(
        self,
        problem: Problem,
        start: Placement,
        seed: int,
        token: CancellationToken,
        params: LocalSearchParams = LOCAL_SEARCH_DEFAULTS,
    ) -> None:
        self._params = params
        self._field = Field(problem, start, token)
        self._rng: Generator = np.random.default_rng(seed)
        self._limit = problem.move_limit
        self._placed = [task for task, n in enumerate(start.nodes) if n != UNPLACED]
        self._near = [np.flatnonzero(row).tolist() for row in self._field.flow]
        self._tasks = [one.tasks for one in problem.classes]
        self._size = problem.demand / np.maximum(problem.demand.mean(axis=0), 1)
        self._now = self._field.values()
        self._memory = [self._now] * params.history_length
        self.steps = 0
        self.best_values = self._now
        self._best = self._field.snapshot()

    @property
    def best(self) -> Placement:
        """The best placement so far."""
        return self._best.placement()

    def advance(self) -> bool:
        """Take some tasks out and put them back; return whether that is the best so far."""
        if not self._placed:
            self.steps += 1
            return False
        field = self._field
        out = self._choose()
        before = {task: field.take(task) for task in out}
        rows = set(before.values())
        slot = self.steps % len(self._memory)
        late = self._memory[slot]
        whole = self._put_back(out, rows)
        values = field.values()
        whole &= int(field.parts[MOVED]) <= self._limit
        if whole and (values <= self._now or values <= late):
            self._now = values
        else:
            for task in out:
                if field.row[task] != NO_ROW:
                    field.take(task)
            for task, row in before.items():
                field.put(task, row)
        field.workers.close_empty(rows)
        self._memory[slot] = min(self._now, late)
        self.steps += 1
        if self._now < self.best_values:
            self.best_values, self._best = self._now, field.snapshot()
            return True
        return False

    def _put_back(self, out: list[int], rows: set[int]) -> bool:
        """Put the tasks back where each costs least; return whether all found a place."""
        for task in self._ordered(out):
            row = self._field.best_row(task, self._rng, self._params.blink_fraction)
            if row is None:
                return False
            rows.add(row)
            self._field.put(task, row)
        return True

    def _ordered(self, out: list[int]) -> list[int]:
        """Return the tasks in the order in which they are put back."""
        rng, dice = self._rng, self._rng.random()
        shuffled = [out[i] for i in rng.permutation(len(out))]
        of_class = self._field.task_class
        if dice < 0.3:
            return shuffled
        if dice < 0.6:
            return sorted(shuffled, key=lambda task: -float(self._size[of_class[task]].sum()))
        return self._connected(shuffled)

    def _connected(self, tasks: list[int]) -> list[int]:
        """Return the tasks so that each exchanges flow with those before it, where it can."""
        of_class, flow = self._field.task_class, self._field.flow
        left, order = list(tasks), []
        pull = np.zeros(len(flow), dtype=np.int64)
        while left:
            task = max(left, key=lambda task: int(pull[of_class[task]]))
            left.remove(task)
            order.append(task)
            pull += flow[of_class[task]]
        return order

    def _choose(self) -> list[int]:
        """Return the tasks to take out."""
        rng, field = self._rng, self._field
        task = self._any_task()
        dice = rng.random()
        if dice < 0.3:
            chosen = self._neighbourhood(task, int(rng.integers(2, 9)))
        elif dice < 0.5:
            row, other = field.row[task], field.row[self._neighbour(task)]
            nodes = {int(field.workers.node[r]) for r in (row, other)}
            chosen = [i for n in sorted(nodes) for i in sorted(field.members[n])
                      if field.row[i] in (row, other)]  # fmt: skip
        else:
            count = int(rng.integers(2, 4))
            near = [task, *(self._neighbour(task) for _ in range(count - 1))]
            nodes = {int(field.workers.node[field.row[i]]) for i in near}
            chosen = [i for n in sorted(nodes) for i in sorted(field.members[n])]
        most = int(rng.integers(1, self._params.max_removed + 1))
        if len(chosen) > most:
            chosen = [chosen[i] for i in sorted(rng.permutation(len(chosen))[:most])]
        return chosen

    def _any_task(self) -> int:
        return self._placed[int(self._rng.integers(len(self._placed)))]

    def _neighbour(self, task: int) -> int:
        """Return a random task that exchanges flow with `task`; any where none does."""
        near = self._near[self._field.task_class[task]]
        if not near:
            return self._any_task()
        tasks = self._tasks[near[int(self._rng.integers(len(near)))]]
        return tasks[int(self._rng.integers(len(tasks)))]

    def _neighbourhood(self, task: int, count: int) -> list[int]:
        """Return some tasks, each a neighbour of the one before."""
        chosen = [task]
        for _ in range(count):
            chosen.append(self._neighbour(chosen[int(self._rng.integers(len(chosen)))]))
        return sorted(set(chosen))


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: LocalSearchParams = LOCAL_SEARCH_DEFAULTS,
) -> Outcome:
    """Search from the hint until the limit; work counts steps.

    Raises
    ------
    NotTakenError
        When there is no valid placement to start from.
    """
    reporter = reporter or null_reporter(problem, "local-search")
    best = Incumbent(problem, reporter)
    if hint is None or not best.offer(hint):
        raise NotTakenError("there is no placement to start from")
    token = reporter.token
    token.check()
    search: LocalSearch | CompiledSearch
    if problem.task_count >= params.compiled_from_tasks and is_plain(problem):
        search = CompiledSearch(problem, hint, limits.seed, params)
    else:
        search = LocalSearch(problem, hint, limits.seed, token, params)
    work = math.inf if limits.deterministic_work is None else limits.deterministic_work
    reported_s = 0.0
    try:
        while best.seconds < limits.time_s and search.steps < work:
            token.check()
            if reporter.state.is_settled:
                break
            now = best.seconds
            if search.advance() and now - reported_s > REPORT_EVERY_S:
                reported_s = now
                best.offer_solution(search.best)
    except CancelledError:
        best.interrupted = True
    best.offer_solution(search.best)
    if best.values != search.best_values:
        raise InternalError(f"local search claims {search.best_values}, the judge {best.values}")
    return best.outcome(deterministic_work=float(search.steps))


def _engine(params: LocalSearchParams) -> Engine:
    return Engine(
        name="local-search",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"slotwise {version('slotwise')}",
        compiles=True,
    )


LOCAL_SEARCH = configurable(_engine, LOCAL_SEARCH_DEFAULTS)
