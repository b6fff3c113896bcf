"""Large-neighbourhood search from a valid placement, with exact engines for the neighbourhoods.

Deterministic for a seed and a number of steps: then CP-SAT alone solves the neighbourhoods, as far
as its deterministic time goes. Without a number of steps ``connected`` goes first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.compact.constraints import RULES
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.compact.formulation import PARTS
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.large_neighbourhood.neighbourhood import can_free, choose_nodes, freed
from slotwise.solver.large_neighbourhood.params import (
    LARGE_NEIGHBOURHOOD_DEFAULTS,
    LargeNeighbourhoodParams,
)

NAME = "large-neighbourhood"


@dataclass(slots=True, eq=False)
class LargeNeighbourhoodSearch:
    """A search from a valid placement that places a task; `advance` may be called again and again.

    Parameters
    ----------
    problem
        Distances by level.
    placement
        Where it is: the best placement so far, or one that is as good.
    limits
        The seed; with `deterministic_work` every step is reproducible.
    token
        What ends a step.
    params
        Sizes and limits of neighbourhoods.
    """

    problem: Problem
    placement: Placement
    limits: Limits
    token: RunToken
    params: LargeNeighbourhoodParams = LARGE_NEIGHBOURHOOD_DEFAULTS
    steps: int = 0
    _size: int = 0
    _vain: int = 0

    def advance(self) -> bool:
        """Solve one neighbourhood; return whether the placement is better than before."""
        params = self.params
        self._size = max(self._size, params.least_nodes)
        self.steps += 1
        rng = np.random.default_rng((self.limits.seed, self.steps))
        share = params.empty_fraction
        nodes = choose_nodes(self.problem, self.placement, self._size, share, rng)
        if not can_free(self.problem, nodes):
            rack = self.problem.node_rack[nodes[0]]
            nodes = [node for node in nodes if self.problem.node_rack[node] == rack]
        part = freed(self.problem, self.placement, nodes)
        start = null_reporter(part.problem, NAME).judged(part.problem, part.start).scaled
        found, is_solved = self._solve(part.problem, part.start)
        better = found.values is not None and found.values < start
        if found.placement is not None and (better or found.values == start):
            self.placement = part.restored(self.placement, found.placement)
        self._adapt(better=better, is_solved=is_solved)
        return better

    def _solve(self, problem: Problem, start: Placement) -> tuple[Outcome, bool]:
        """Return the best that the engines find, and whether it is proven to be the best."""
        params, work = self.params, self.limits.deterministic_work
        known = null_reporter(problem, NAME).known
        known.offer(start, NAME)
        for engine in (CP_SAT,) if work is not None else (CONNECTED, CP_SAT):
            self.token.check()
            if engine.supports(problem) is not None or known.best is None:
                continue
            seconds = self.limits.time_s if work is not None else params.seconds
            limits = Limits(
                time_s=seconds,
                seed=self.steps,
                deterministic_work=params.cp_sat_work if engine is CP_SAT else None,
            )
            token = self.token.child(self.token.now() + seconds)
            try:
                reporter = Reporter(known, engine.name, token=token)
                found = engine.run(problem, limits, known.best.placement, reporter)
            except (NotTakenError, CancelledError):
                continue
            if found.values is not None and found.values == found.bounds:
                return found, True
        return known.outcome(""), False

    def _adapt(self, *, better: bool, is_solved: bool) -> None:
        """Grow after some neighbourhoods solved in vain; shrink after one that was not solved."""
        self._vain = self._vain + 1 if is_solved and not better else 0
        if self._vain >= self.params.patience:
            self._size, self._vain = min(self._size + 1, self.params.most_nodes), 0
        elif not is_solved:
            self._size = max(self._size - 1, self.params.least_nodes)


@declares(RULES, PARTS)
def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the search does not take the problem."""
    if problem.matrix is not None:
        return "distances come as a matrix"
    if all(part == "rejected" for term in problem.terms for part, _ in term.parts):
        return "nothing but rejected topologies counts"
    return None if problem.task_count else "there is nothing to place"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: LargeNeighbourhoodParams = LARGE_NEIGHBOURHOOD_DEFAULTS,
) -> Outcome:
    """Search from the hint until the limit; work counts steps, one neighbourhood each.

    Raises
    ------
    NotTakenError
        When there is no valid placement to start from, or it places no task.
    """
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter)
    if hint is None or all(node == UNPLACED for node in hint.nodes) or not best.offer(hint):
        raise NotTakenError("there is no placement to start from")
    search = LargeNeighbourhoodSearch(problem, hint, limits, reporter.token, params)
    work = math.inf if limits.deterministic_work is None else limits.deterministic_work
    try:
        while best.seconds < limits.time_s and search.steps < work:
            reporter.token.check()
            if reporter.known.is_settled:
                break
            if search.advance():
                best.offer_solution(search.placement)
    except CancelledError:
        best.interrupted = True
    return best.outcome(deterministic_work=float(search.steps))


def _engine(params: LargeNeighbourhoodParams) -> Engine:
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=supports,
        version=lambda: f"slotwise {version('slotwise')}",
    )


LARGE_NEIGHBOURHOOD = configurable(_engine, LARGE_NEIGHBOURHOOD_DEFAULTS)
