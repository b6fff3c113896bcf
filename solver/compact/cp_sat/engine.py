"""Engine ``cp-sat``: a compact integer model of class counts per place, solved by CP-SAT.

Textbook models have one boolean per task and node; here interchangeable tasks are counted
(docs/design.md, 8.1). Lexicographic terms are solved one after the other: each is minimised with
all earlier ones fixed at their proven optimum, so a bound of a later term is a bound only then.

Every rule of the problem is modelled. With distances by matrix each task has variables of its
own, for the cost is then no product of few counts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.cp_sat.bounds import noise_of, proven_bound, whole_bound
from slotwise.solver.compact.cp_sat.builder import Count, CpBuilder, variable
from slotwise.solver.compact.cp_sat.products import products
from slotwise.solver.compact.cp_sat.run import CpAnswer, run_cp_sat
from slotwise.solver.compact.formulation import formulate
from slotwise.solver.compact.model_size import check_model_size
from slotwise.solver.compact.params import CP_SAT_DEFAULTS, CpSatParams
from slotwise.solver.compact.variables import Counts, described, read_placement
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status

GRACE_S = 1.0
"""Beyond the time limit, for building the model."""


@dataclass(slots=True)
class _Search:
    """What is known so far, over all terms."""

    started: float
    reporter: Reporter
    params: CpSatParams
    placement: Placement | None = None
    bounds: list[int | None] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    work: float = 0.0
    interrupted: bool = False

    def seconds(self) -> float:
        return time.perf_counter() - self.started


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: CpSatParams = CP_SAT_DEFAULTS,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits.

    The hint is kept as the incumbent where it is valid, whatever the search makes of it.

    Raises
    ------
    NotTakenError
        When the model would be too large to build in sensible time.
    """
    search = _Search(time.perf_counter(), reporter or null_reporter(problem, "cp-sat"), params)
    if hint is not None and judge(problem, hint).valid:
        search.placement = hint
    token = search.reporter.token
    try:
        check_model_size(problem, token, params)
        model, counts, terms = _model(
            problem, token.child(search.started + limits.time_s + GRACE_S)
        )
    except CancelledError:
        search.interrupted = token.is_cancelled
        known = Status.UNKNOWN if search.placement is None else Status.FEASIBLE
        return _outcome(problem, known, search)
    for index, term in enumerate(terms):
        status = _minimise(problem, model, counts, limits, search, index, term)
        if status == cp_model.INFEASIBLE:
            if index or search.placement is not None:
                raise InternalError(f"term {index} became infeasible after a valid placement")
            return _outcome(problem, Status.INFEASIBLE, search)
        if search.placement is None:
            return _outcome(problem, Status.UNKNOWN, search)
        value = judge(problem, search.placement).scaled[index]
        proven = len(search.bounds) > index and search.bounds[index] == value
        if not proven or (search.interrupted and index + 1 < len(terms)):
            return _outcome(problem, Status.FEASIBLE, search)
        model.add(term <= value)
    return _outcome(problem, Status.OPTIMAL, search)


def _model(
    problem: Problem, token: CancellationToken
) -> tuple[cp_model.CpModel, Counts[Count], tuple[Count, ...]]:
    builder = CpBuilder(cp_model.CpModel(), token)
    stated = formulate(builder, problem, products(builder))
    return builder.model, stated.counts, stated.terms


class _Listener(cp_model.CpSolverSolutionCallback):
    """Records each incumbent of one term, and tells of it now and then."""

    def __init__(self, search: _Search, term: int, problem: Problem, counts: Counts[Count]) -> None:
        super().__init__()
        self._search = search
        self._term = term
        self._problem = problem
        self._counts = counts
        self._spent = 0.0

    def on_solution_callback(self) -> None:
        """Note time and value; reading off all counts may take longer than finding them."""
        began = self._search.seconds()
        value = round(self.objective_value)
        self._search.trace.append(Improvement(began, self._term, value, None))
        if self._spent <= self._search.params.report_fraction * began:
            self._search.reporter.offer(read_placement(self._problem, self._counts, self.value))
            self._spent += self._search.seconds() - began


def _minimise(
    problem: Problem,
    model: cp_model.CpModel,
    counts: Counts[Count],
    limits: Limits,
    search: _Search,
    index: int,
    term: Count,
) -> cp_model.CpSolverStatus:
    left = limits.time_s - search.seconds()
    if left <= 0:
        return cp_model.UNKNOWN
    model.clear_hints()  # type: ignore[no-untyped-call]
    if search.placement is not None:
        _hint(model, problem, counts, search.placement)
    model.minimize(term)
    noise = noise_of(model)
    work = limits.deterministic_work
    answer = run_cp_sat(
        model,
        replace(limits, time_s=left, deterministic_work=work and max(work - search.work, 0.0)),
        search.reporter.token,
        listener=_Listener(search, index, problem, counts),
        on_bound=lambda double: search.reporter.prove(
            [*search.bounds, whole_bound(double, noise)], by_solver=True
        ),
    )
    search.interrupted |= answer.interrupted
    search.work += answer.solver.response_proto.deterministic_time
    _record(problem, model, counts, search, index, answer)
    return answer.status


def _record(
    problem: Problem,
    model: cp_model.CpModel,
    counts: Counts[Count],
    search: _Search,
    index: int,
    answer: CpAnswer,
) -> None:
    if answer.has_solution:
        found = read_placement(problem, counts, answer.solver.value)
        if search.placement is None or _better(problem, found, search.placement):
            search.placement = found
    if answer.status == cp_model.INFEASIBLE:
        return
    bound = proven_bound(model, answer.solver, answer.status)
    search.bounds.append(bound)
    if search.placement is not None:
        search.reporter.offer(search.placement)
    search.reporter.prove(search.bounds, by_solver=True)
    search.trace.append(Improvement(search.seconds(), index, None, bound))


def _better(problem: Problem, placement: Placement, than: Placement) -> bool:
    return judge(problem, placement).scaled <= judge(problem, than).scaled


def _hint(
    model: cp_model.CpModel, problem: Problem, counts: Counts[Count], placement: Placement
) -> None:
    """Hint every count and open worker so that they describe `placement`."""
    for worker, content in described(problem, counts, placement):
        model.add_hint(variable(worker.opened), bool(content))
        for g, count in worker.counts.items():
            model.add_hint(variable(count), content.get(g, 0))


def _outcome(problem: Problem, status: Status, search: _Search) -> Outcome:
    bounds: list[int | None] = [*search.bounds, *([None] * len(problem.terms))]
    placed = search.placement is not None and status != Status.INFEASIBLE
    values = judge(problem, search.placement).scaled if placed and search.placement else None
    return Outcome(
        status=status,
        placement=search.placement if placed else None,
        values=values,
        bounds=tuple(bounds[: len(problem.terms)]),
        proof="CP-SAT search on the compact model" if search.bounds else "",
        deterministic_work=search.work,
        trace=tuple(search.trace),
        interrupted=search.interrupted,
        by_solver=True,
    )


def _supports(problem: Problem) -> str | None:
    return None


def _engine(params: CpSatParams) -> Engine:
    return Engine(
        name="cp-sat",
        run=partial(run, params=params),
        supports=_supports,
        version=lambda: f"ortools {version('ortools')}",
    )


CP_SAT = configurable(_engine, CP_SAT_DEFAULTS)
