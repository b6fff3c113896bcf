"""The term ``bottleneck`` for engines that do not count it, by search over capacities.

Where sending a tuple costs the same however far it goes, what a task asks of its node's cpu is a
number, and a bound on the utilisation of all cpus is a capacity of each node. So it is a bound on
``bottleneck`` where no interface or uplink can be in use to a higher degree than some cpu. The same
placements are valid with such capacities, save those above the bound, and other terms have the same
values.

An engine that settles the problem with capacities finds the least value: there are finitely many,
which are bisected. A placement within a bound lowers the upper end to what the judge says of it, a
proof that there is none raises the lower end to the next value that some node can have. Terms
before ``bottleneck`` are minimised first, and each bound is then asked for with their optimum;
terms after it are minimised at its least value. Every answer of the engine is exact, or the search
ends with what is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem, Term
from slotwise.models.problem.workload import LOCAL
from slotwise.solver.baseline import least_bottleneck
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.parameters import Parameters

PART = "bottleneck"
"""The part; of a capped problem, the dimension that stands for it."""
ANY_SERVES = ("overload", "nodes", "workers", "network")
"""Parts that are minimised where any placement within the capacities serves; the easiest first."""


def over_capacities(engine: Engine) -> Engine:
    """Return the engine, which takes ``bottleneck`` now, too, where a bound on it is a capacity."""
    remade = engine.with_parameters

    def with_parameters(given: Parameters) -> Engine:
        assert remade is not None, "only called where the engine has parameters"
        return over_capacities(remade(given))

    return replace(
        engine,
        run=partial(_run, engine),
        supports=partial(_supports, engine),
        with_parameters=None if remade is None else with_parameters,
    )


def _supports(engine: Engine, problem: Problem) -> str | None:
    reason = engine.supports(problem)
    if reason is None or problem.workload is None:
        return reason
    found = _search(engine, problem)
    return (
        f"{reason}; 'bottleneck' needs bounds that are capacities of nodes, and {found}"
        if isinstance(found, str)
        else None
    )


def _run(
    engine: Engine,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
) -> Outcome:
    if problem.workload is None or engine.supports(problem) is None:
        return engine.run(problem, limits, hint, reporter)
    search = _search(engine, problem)
    assert isinstance(search, _Search), "the engine supports the problem"
    best = Incumbent(problem, reporter or null_reporter(problem, engine.name))
    if hint is not None:
        best.offer(hint)
    known = best.reporter.best()
    if known is not None:
        best.offer(known)
    best.resume()
    try:
        _Run(search, limits, best).run()
    except CancelledError:
        best.interrupted = True
    return best.outcome(
        f"{engine.name} search on capacities for bounds on the highest utilisation"
        if best.bounds or best.infeasible
        else ""
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """What is asked of the engine.

    Parameters
    ----------
    engine, work
        By which engine, and what its capacities are made of.
    before, after
        The terms on either side of ``bottleneck``.
    asked
        The terms that are minimised while bounds are asked for: those before, or one for them.
    """

    engine: Engine
    work: TaskWork
    before: tuple[Term, ...]
    asked: tuple[Term, ...]
    after: tuple[Term, ...]


def _search(engine: Engine, problem: Problem) -> _Search | str:
    """Return how the engine finds the least value, or why it does not."""
    work = task_work(problem)
    if isinstance(work, str):
        return work
    assert problem.workload is not None, "it has work"
    largest = problem.workload.largest
    before = tuple(takewhile(lambda term: term.name != PART, problem.terms))
    after = problem.terms[len(before) + 1 :]
    parts = {part for term in before for part, _ in term.parts}
    if problem.may_reject and "rejected" not in parts:
        return "'rejected' after 'bottleneck': no topology would be the least"
    stand_ins = [(Term(part, ((part, 1),), problem.part_units[part]),) for part in ANY_SERVES]
    reasons = []
    for asked in [before] if before else stand_ins:
        wanted = (asked, (*before, *after)) if after else (asked,)
        found = [engine.supports(work.capped(largest, terms)) for terms in wanted]
        reasons += [one for one in found if one is not None]
        if found == [None] * len(found):
            return _Search(engine, work, before, asked, after)
    return reasons[-1]


class _Run:
    """One search; `best` is of the problem that counts ``bottleneck``."""

    def __init__(self, search: _Search, limits: Limits, best: Incumbent) -> None:
        self._search, self._limits, self._best = search, limits, best
        self._first: tuple[int, ...] = ()  # the optima of the terms before
        self._least = 0

    def run(self) -> None:
        """Search; the incumbent has what was found and proven."""
        search, best = self._search, self._best
        problem = best.problem
        assert problem.workload is not None, "it counts the term"
        largest = problem.workload.largest
        at = len(search.before)
        self._least = search.work.at_least(least_bottleneck(problem))
        if not at:
            best.prove([self._least])
        known = len(best.optima) >= at and best.placement is not None
        if not known and not self._minimise(largest, search.asked, any_serves=not at):
            return
        self._first = best.optima[:at]
        if self._bisect() and search.after:
            terms = (*search.before, *search.after)
            self._minimise(best.optima[at], terms, any_serves=False)

    def _minimise(self, most: int, terms: tuple[Term, ...], *, any_serves: bool) -> bool:
        """Minimise terms below a bound; return whether the search goes on from there."""
        best, at = self._best, len(self._search.before)
        found = self._ask(most, terms, () if any_serves else None)
        if found.status == Status.INFEASIBLE:
            if best.placement is not None:
                name = self._search.engine.name
                raise InternalError(f"{name} says that there is no placement, but there is one")
            best.by_solver |= found.by_solver
            best.prove_infeasible()
            return False
        if any_serves:
            return best.placement is not None
        bounds = list(found.bounds)
        if terms[at:]:  # those after it, at its least value
            bounds.insert(at, best.optima[at])
        best.prove(bounds, found.bound_kind, by_solver=found.by_solver)
        return found.status == Status.OPTIMAL

    def _bisect(self) -> bool:
        """Find the least highest utilisation; return whether it is proven."""
        best, search = self._best, self._search
        at, low = len(search.before), self._least
        first = self._first
        if best.bounds[:at] == first:
            low = max((low, *best.bounds[at : at + 1]))
        while best.values is not None:
            high = best.values[at]
            low = min(low, high)
            best.prove([*first, low])
            if low == high:
                return True
            most = (low + high) // 2
            found = self._ask(most, search.asked, first)
            if best.values[at] <= most:
                continue
            if found.status == Status.INFEASIBLE or _exceeds(found.bounds, first):
                best.by_solver |= found.by_solver
                low = search.work.at_least(most + 1)
                continue
            return False
        return False

    def _ask(self, most: int, terms: Sequence[Term], enough: tuple[int, ...] | None) -> Outcome:
        """Run the engine below a bound until it is done, or has a placement with values `enough`.

        `enough` of fewer terms than there are leaves the others open; ``None`` = until it is done.
        """
        best, search = self._best, self._search
        problem = search.work.capped(most, terms)
        reason = search.engine.supports(problem)
        if reason is not None:
            raise NotTakenError(f"with capacities for a bound on 'bottleneck', {reason}")
        state, token = SolveState(problem), best.reporter.token.child()

        def offered(placement: Placement) -> None:
            best.offer(placement)
            now = state.best
            if enough is not None and now is not None and now.values[: len(enough)] == enough:
                token.cancel()

        state.on_best = offered
        left = replace(self._limits, time_s=max(0.0, self._limits.time_s - best.seconds))
        if left.time_s <= 0:
            raise CancelledError
        reporter = Reporter(state, search.engine.name, token=token)
        try:
            found = search.engine.run(problem, left, best.placement, reporter)
        except CancelledError:
            found = state.outcome()
        if found.placement is not None:
            best.offer(found.placement)
        best.reporter.token.check()
        return found


def _exceeds(bounds: Sequence[int | None], optima: tuple[int, ...]) -> bool:
    """Return whether bounds show that no placement has these values of the first terms."""
    for bound, value in zip(bounds, optima, strict=False):
        if bound is None or bound != value:
            return bound is not None and bound > value
    return False


# Bounds as capacities.


@dataclass(frozen=True, slots=True, eq=False)
class TaskWork:
    """What tasks ask of cpus, as the capacities of a problem need it.

    Parameters
    ----------
    problem
        That counts ``bottleneck``.
    demand
        [C] work of one task of each class.
    steps
        [N] steps of ``bottleneck`` by which one unit of work raises the utilisation of each node.
    """

    problem: Problem
    demand: IntArray
    steps: IntArray

    def at_least(self, bound: int) -> int:
        """Return the least utilisation from `bound` on that some node can have."""
        each = np.gcd.reduce(self.demand, initial=0) * np.unique(self.steps)
        each = each[each > 0]
        return int((-(-bound // each) * each).min()) if len(each) else bound

    def capped(self, most: int, terms: Sequence[Term]) -> Problem:
        """Return the problem of placements whose highest utilisation is at most `most` steps.

        `terms` do not count ``bottleneck``, and count ``rejected`` if the problem does.
        """
        problem = self.problem
        assert problem.workload is not None, "it counts the term"
        objective = replace(problem.instance.objective, terms=tuple(term.name for term in terms))
        capacity = np.where(self.steps > 0, most // np.maximum(self.steps, 1), 0)
        return replace(
            problem,
            instance=replace(problem.instance, objective=objective),
            dims=(*problem.dims, PART),
            units=(*problem.units, problem.workload.unit),
            capacity=np.column_stack([problem.capacity, capacity]),
            soft_weight=np.append(problem.soft_weight, 0),
            hard=np.append(problem.hard, True),
            demand=np.column_stack([problem.demand, self.demand]),
            terms=tuple(terms),
            workload=None,
        )


def task_work(problem: Problem) -> TaskWork | str:
    """Return what each task asks of cpus, or why a bound on ``bottleneck`` is not a capacity."""
    workload = problem.workload
    if workload is None:
        return "nothing of the objective counts 'bottleneck'"
    if not workload.is_linear:
        return f"streams by {LOCAL}: what tasks receive depends on the placement"
    pairs, sizes = workload.pairs, problem.sizes
    if any(len(set(one.work)) > 1 for one in pairs.flows):
        return "sending costs more over some distances than over others"
    bits = sum(one.bits * sizes[one.source] * sizes[one.target] for one in pairs.flows)
    on_the_way = max((*pairs.nic_out, *pairs.nic_in, *pairs.uplink), default=0)
    if bits * on_the_way > least_bottleneck(problem):
        return "an interface or an uplink may be in use to a higher degree than every cpu"
    demand = np.array(pairs.work, dtype=np.int64)
    for one in pairs.flows:
        demand[one.source] += one.work[0] * sizes[one.target]
    return TaskWork(problem, demand, np.array(pairs.cpu, dtype=np.int64))
