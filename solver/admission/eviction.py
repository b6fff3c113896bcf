"""The smallest eviction: which running topologies must go so that one more fits.

Storm's Resource Aware Scheduler evicts from the end of its order until the sums of resources
suffice, wherever its victims sit. Here the question is answered exactly: the fewest topologies,
and among those the least important ones, without which the topology fits while all others stay
exactly where they are. Soft resources are ignored.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InputError, InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.admission.residual_capacity import (
    Usage,
    single_topology_problem,
    split_workers,
    usage_of,
    with_single_workers,
    with_topology,
    without_tasks_of,
)
from slotwise.solver.compact import Count, run_cp_sat
from slotwise.solver.compact.constraints import add_worker_rules
from slotwise.solver.compact.cp_sat.builder import CpBuilder
from slotwise.solver.compact.formulation import order_workers
from slotwise.solver.compact.model_size import check_model_size
from slotwise.solver.compact.variables import make_counts, read_placement
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.portfolio.attempt import in_memory

# The compact model of admitting one topology: evicting a candidate frees the capacity it takes.


@dataclass(frozen=True, slots=True)
class Step:
    """One minimisation.

    Parameters
    ----------
    proven
        Whether the solution is proven optimal, or, without one, that there is none.
    evicted
        Of the solution, ascending; ``None`` = no solution.
    placement
        Of the topology's own tasks in the solution.
    bound
        Proven least value of the term.
    interrupted
        Whether Ctrl-C ended it.
    """

    proven: bool
    evicted: tuple[int, ...] | None
    placement: Placement | None
    bound: int | None
    interrupted: bool


class EvictionModel:
    """Counts of one topology's tasks on workers, and a boolean for each candidate.

    Parameters
    ----------
    problem
        The topology alone, with the capacity left when every candidate is evicted.
    taken
        Candidate -> what it takes.
    token
        Ends building and searching.
    """

    def __init__(self, problem: Problem, usage: Mapping[int, Usage], token: RunToken) -> None:
        check_model_size(problem, token, network=False)
        self._token = token
        self._problem = problem
        self._model = cp_model.CpModel()
        builder = CpBuilder(self._model, token)
        self._counts = make_counts(builder, problem)
        for left_out in self._counts.rejected.values():
            self._model.add(left_out == 0)
        loads = add_worker_rules(builder, problem, self._counts)
        order_workers(builder, self._counts)
        self._evict = {t: self._model.new_bool_var(f"evict_t{t}") for t in usage}
        for n in range(problem.node_count):
            for d in range(len(problem.dims)):
                if problem.hard[d]:
                    stay = {t: int(one.load[n, d]) for t, one in usage.items()}
                    self._fits(loads[n][d], stay, int(problem.capacity[n, d]))
            opened = sum(worker.opened for worker in self._counts.workers[0, n])
            stay = {t: int(one.workers[n]) for t, one in usage.items()}
            self._fits(opened, stay, int(problem.slots[n]))

    def _fits(self, load: Count, others: Mapping[int, int], capacity: int) -> None:
        """State load + load of candidates that stay <= capacity."""
        if capacity != NO_LIMIT:
            stay = sum(take * (1 - self._evict[t]) for t, take in others.items() if take)
            self._model.add(load + stay <= capacity)

    def total(self, weights: Mapping[int, int]) -> Count:
        """Return the sum of the weights of the evicted."""
        return sum(weight * self._evict[t] for t, weight in weights.items())

    def fix(self, term: Count, value: int) -> None:
        """Keep `term` at most at `value` from here on."""
        self._model.add(term <= value)

    def minimise(self, term: Count, limits: Limits, left_s: float) -> Step:
        """Return the least value of `term` that `left_s` seconds find, and its bound."""
        self._model.minimize(term)
        step_limits = replace(limits, time_s=left_s, deterministic_work=None)
        answer = run_cp_sat(self._model, step_limits, self._token)
        solver = answer.solver
        if not answer.has_solution:
            proven = answer.status == cp_model.INFEASIBLE
            return Step(proven, None, None, None, answer.interrupted)
        return Step(
            proven=answer.status == cp_model.OPTIMAL,
            evicted=tuple(t for t, gone in self._evict.items() if solver.value(gone)),
            placement=read_placement(self._problem, self._counts, solver.value),
            bound=max(0, solver.response_proto.inner_objective_lower_bound),
            interrupted=answer.interrupted,
        )


@dataclass(frozen=True, slots=True)
class Eviction:
    """The answer for one topology.

    Parameters
    ----------
    topology
        Index of the topology to admit.
    status
        ``optimal``: no smaller set suffices. ``feasible``: it suffices, a smaller one may, too.
        ``infeasible``: it does not fit even if every candidate goes. ``unknown``: time ran out.
    evicted
        Indices, ascending; ``None`` where no set is known.
    weight
        Sum of the priority weights (`Rules.reject_weight`) of the evicted; ``None`` without a set.
    least_count
        Proven: no fewer suffice; ``None`` where nothing is proven.
    least_weight
        Proven least weight of `least_count` topologies; ``None`` where that is not proven.
    placement
        The topologies that stay and the admitted one; ``None`` where no set is known.
    seconds
        Wall-clock time.
    interrupted
        Whether Ctrl-C ended the search.
    """

    topology: int
    status: Status
    evicted: tuple[int, ...] | None
    weight: int | None
    least_count: int | None
    least_weight: int | None
    placement: Placement | None
    seconds: float
    interrupted: bool


def smallest_eviction(
    problem: Problem,
    running: Placement,
    topology: int,
    candidates: Collection[int] | None = None,
    limits: Limits | None = None,
    token: RunToken | None = None,
) -> Eviction:
    """Return the smallest set of running topologies to remove so that `topology` fits.

    Parameters
    ----------
    problem
        The cluster and all topologies.
    running
        The current placement. Tasks of `topology` in it are removed first and placed again.
    topology
        Index of the topology to admit.
    candidates
        Topologies that may be evicted; ``None`` = all others. Those that do not run are ignored.
    limits
        When to stop; ``None`` = the default.
    token
        Ends the search before its limits; ``None`` = only the limits do.

    Raises
    ------
    InputError
        When the other running topologies break a hard rule where they are.
    NotTakenError
        When the model would be too large.
    """
    started = time.perf_counter()
    limits = Limits() if limits is None else limits
    others = without_tasks_of(problem, running, (topology,))
    _check_running(problem, others)
    books = account(problem, others)
    placed = {t for t, workers in enumerate(books.topologies) if workers.placed}
    allowed = placed if candidates is None else placed & set(candidates)
    usage = {t: usage_of(problem, books, (t,)) for t in sorted(allowed)}
    weights = {t: problem.rules[t].reject_weight for t in usage}
    others_take = usage_of(problem, books, placed - allowed)

    def search(own: RunToken) -> tuple[Step, Step | None]:
        left = single_topology_problem(problem, topology, others_take, own)
        return _search(left, usage, weights, limits, started, own)

    interrupted, is_short, steps = False, False, None
    try:
        steps, is_short = in_memory("eviction", token or RunToken(), search)
    except CancelledError:
        interrupted = True
    first, second = steps or (Step(False, None, None, None, interrupted), None)
    answer = _last(first, second)
    placement = None
    if answer.evicted is not None and answer.placement is not None:
        stay = without_tasks_of(problem, others, answer.evicted)
        placement = with_topology(problem, stay, topology, answer.placement)
        _confirm(problem, placement)
    return Eviction(
        topology=topology,
        status=_status(first, second),
        evicted=answer.evicted,
        weight=None if answer.evicted is None else sum(weights[t] for t in answer.evicted),
        least_count=first.bound,
        least_weight=None if second is None else second.bound,
        placement=placement,
        seconds=time.perf_counter() - started,
        interrupted=not is_short and _is_interrupted(first, second),
    )


def _search(
    problem: Problem,
    usage: Mapping[int, Usage],
    weights: Mapping[int, int],
    limits: Limits,
    started: float,
    token: RunToken,
) -> tuple[Step, Step | None]:
    """Search with one worker per node first, a relaxation that often settles the question."""
    loose = with_single_workers(problem)
    first, second = _minimise(EvictionModel(loose, usage, token), weights, limits, started)
    answer = _last(first, second)
    if answer.evicted is None or answer.placement is None:
        return first, None
    stay = [one for t, one in usage.items() if t not in answer.evicted]
    split = split_workers(problem, stay, answer.placement)
    if split is None and _is_interrupted(first, second):
        # No set is known to suffice, but the bound holds.
        return replace(first, proven=False, evicted=None, placement=None, interrupted=True), None
    if split is None:
        return _minimise(EvictionModel(problem, usage, token), weights, limits, started)
    if second is None or second.evicted is None:
        return replace(first, placement=split), second
    return first, replace(second, placement=split)


def _last(first: Step, second: Step | None) -> Step:
    return first if second is None or second.evicted is None else second


def _is_interrupted(first: Step, second: Step | None) -> bool:
    return first.interrupted or (second is not None and second.interrupted)


def _minimise(
    model: EvictionModel, weights: Mapping[int, int], limits: Limits, started: float
) -> tuple[Step, Step | None]:
    """Minimise the number, then (once that is proven) the weight of as many."""
    number = model.total(dict.fromkeys(weights, 1))
    left = limits.time_s - (time.perf_counter() - started)
    if left <= 0:
        return Step(False, None, None, None, interrupted=False), None
    first = model.minimise(number, limits, left)
    left = limits.time_s - (time.perf_counter() - started)
    if first.evicted is None or not first.proven or first.interrupted or left <= 0:
        return first, None
    model.fix(number, len(first.evicted))
    return first, model.minimise(model.total(weights), limits, left)


def _status(first: Step, second: Step | None) -> Status:
    if first.evicted is None:
        return Status.INFEASIBLE if first.proven else Status.UNKNOWN
    return Status.OPTIMAL if second is not None and second.proven else Status.FEASIBLE


def _broken(problem: Problem, placement: Placement) -> list[Violation]:
    """Return the violations that the judge finds, except of topologies not placed whole."""
    ignored = {"placed", "max_moved"}
    return [v for v in judge(problem, placement).violations if v.rule not in ignored]


def _check_running(problem: Problem, running: Placement) -> None:
    broken = _broken(problem, running)
    if broken:
        raise InputError(
            f"breaks a hard rule, so that no eviction is smallest: {broken[0]}",
            field="running",
            has_value=False,
        )


def _confirm(problem: Problem, placement: Placement) -> None:
    broken = _broken(problem, placement)
    if broken:
        raise InternalError(f"the eviction model's placement is not valid: {broken[0]}")
