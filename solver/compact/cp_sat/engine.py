"""Engine ``cp-sat``: a compact integer model of class counts per place, solved by CP-SAT.

Textbook models have one boolean per task and node; here interchangeable tasks are counted
(docs/design.md, 8.1). Lexicographic terms are solved one after the other: each is minimised with
all earlier ones fixed at their proven optimum, so a bound of a later term is a bound only then.

Every rule of the problem is modelled. With distances by matrix each task has variables of its
own, for the cost is then no product of few counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.bottleneck import why_not_linear
from slotwise.solver.compact.constraints import RULES
from slotwise.solver.compact.cp_sat.builder import Count, CpBuilder, products, variable
from slotwise.solver.compact.cp_sat.run import noise_of, proven_bound, run_cp_sat, whole_bound
from slotwise.solver.compact.formulation import PARTS, counts_pairs, formulate
from slotwise.solver.compact.model_size import check_model_size
from slotwise.solver.compact.params import CP_SAT_DEFAULTS, CpSatParams
from slotwise.solver.compact.variables import Counts, described, read_placement
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

MOST_STEPS = 2**31 - 1
"""Most steps of a highest utilisation: OR-Tools 9.15's presolve cut off optima where rows had
larger coefficients."""
GRACE_S = 1.0
"""Seconds beyond the time limit for building the model."""


@dataclass(slots=True)
class _Search:
    """The state of the search over all terms, and the work it took."""

    best: Incumbent
    params: CpSatParams
    work: float = 0.0

    def outcome(self) -> Outcome:
        proof = "CP-SAT search on the compact model" if self.best.bounds else ""
        return self.best.outcome(proof, self.work)


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
    reporter = reporter or null_reporter(problem, "cp-sat")
    best = Incumbent(problem, reporter, by_solver=True)
    search = _Search(best, params)
    if hint is not None:
        best.offer(hint)
    best.resume()
    try:
        check_model_size(problem, reporter.token, params)
        deadline = best.started + limits.time_s + GRACE_S
        model, counts, terms = _model(problem, reporter.token.child(deadline), params)
    except CancelledError:
        best.interrupted = reporter.token.is_cancelled
        return search.outcome()
    for term, optimum in zip(terms, best.optima, strict=False):
        model.add(term <= optimum)
    for index, term in enumerate(terms[best.proven_before :], start=best.proven_before):
        status = _minimise(search, model, counts, limits, term)
        if status == cp_model.INFEASIBLE:
            if index or best.placement is not None:
                raise InternalError(f"term {index} became infeasible after a valid placement")
            best.prove_infeasible()
        if len(best.optima) <= index or best.interrupted:
            break
        model.add(term <= best.optima[index])
    return search.outcome()


def _model(
    problem: Problem, token: CancellationToken, params: CpSatParams
) -> tuple[cp_model.CpModel, Counts[Count], tuple[Count, ...]]:
    builder = CpBuilder(cp_model.CpModel(), token)
    stated = formulate(builder, problem, products(builder), params.max_pair_tasks)
    return builder.model, stated.counts, stated.terms


class _Listener(cp_model.CpSolverSolutionCallback):
    """Offers solutions of one term to the incumbent as they come, now and then."""

    def __init__(self, search: _Search, counts: Counts[Count]) -> None:
        super().__init__()
        self._best = search.best
        self._counts = counts
        self._report_fraction = search.params.report_fraction
        self._spent = 0.0

    def on_solution_callback(self) -> None:
        """Offer a solution, unless that took too long: to read off all counts may be slow."""
        began = self._best.seconds
        if self._spent <= self._report_fraction * began:
            self._best.offer(read_placement(self._best.problem, self._counts, self.value))
            self._spent += self._best.seconds - began


def _minimise(
    search: _Search,
    model: cp_model.CpModel,
    counts: Counts[Count],
    limits: Limits,
    term: Count,
) -> cp_model.CpSolverStatus:
    best = search.best
    left = limits.time_s - best.seconds
    if left <= 0:
        return cp_model.UNKNOWN
    model.clear_hints()  # type: ignore[no-untyped-call]
    if best.placement is not None:
        _hint(model, best.problem, counts, best.placement)
    model.minimize(term)
    noise = noise_of(model)
    earlier = best.optima
    work = limits.deterministic_work
    answer = run_cp_sat(
        model,
        replace(limits, time_s=left, deterministic_work=work and max(work - search.work, 0.0)),
        best.reporter.token,
        listener=_Listener(search, counts),
        on_bound=lambda double: best.prove([*earlier, whole_bound(double, noise)]),
        # By default triangles of pairs are not in CP-SAT's relaxation, which bounds nothing then.
        linearization=2 if counts_pairs(best.problem, search.params.max_pair_tasks) else None,
    )
    best.interrupted |= answer.interrupted
    search.work += answer.solver.response_proto.deterministic_time
    if answer.has_solution:
        best.offer_solution(read_placement(best.problem, counts, answer.solver.value))
    if answer.status != cp_model.INFEASIBLE:
        best.prove([*earlier, proven_bound(model, answer.solver, answer.status)])
    return answer.status


def _hint(
    model: cp_model.CpModel, problem: Problem, counts: Counts[Count], placement: Placement
) -> None:
    """Hint every count and open worker so that they describe `placement`."""
    for worker, content in described(problem, counts, placement):
        model.add_hint(variable(worker.opened), bool(content))
        for g, count in worker.counts.items():
            model.add_hint(variable(count), content.get(g, 0))


@declares(RULES, PARTS)
def _supports(problem: Problem) -> str | None:
    return why_not_linear(problem, MOST_STEPS)


def _engine(params: CpSatParams) -> Engine:
    return Engine(
        name="cp-sat",
        run=partial(run, params=params),
        supports=_supports,
        version=lambda: f"ortools {version('ortools')}",
    )


CP_SAT = configurable(_engine, CP_SAT_DEFAULTS)
