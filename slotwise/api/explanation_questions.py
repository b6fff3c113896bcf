"""How ``explain`` finds its answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from slotwise.api.explanation_answers import (
    ExplainedComparison,
    ExplainedInstance,
    ExplainedMethod,
    ExplainedPlacement,
    ExplainedTask,
    task_index,
)
from slotwise.heuristics.method import Method
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError, at
from slotwise.models.explanation.alternatives import alternatives
from slotwise.models.explanation.cost_split import split_cost
from slotwise.models.explanation.mending import mending
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import Number, known
from slotwise.solver.contradictions import is_contradicted
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.comparison import FewestMoves, compare, fewest_moves
from slotwise.solver.explain.explain import DEFAULT_PRICES, explain_infeasible
from slotwise.solver.explain.explanation import Explanation, Feasibility
from slotwise.solver.explain.feasibility import question
from slotwise.solver.explain.first_mistake import (
    Completable,
    Completion,
    FirstMistake,
    TracedRun,
    complete,
    first_mistake,
    traced_run,
    with_fixed,
)
from slotwise.solver.explain.prices import RepairPrices
from slotwise.solver.solve import solve

FOR_SOLVE = 0.6
"""Share of the limit for solving an instance or proving that it has no placement."""

LEAST_S = 0.1
"""Seconds for an explanation after a search that has used up the time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall clock in seconds for each search, threads, seed, and prices of repairs."""

    time_s: float
    workers: int
    seed: int
    prices: RepairPrices = DEFAULT_PRICES


def one_instance(problem: Problem, limits: Limits) -> ExplainedInstance:
    """Explain an instance: a placement and its cost, or why there is none.

    Both together have the time limit.
    """
    ends = time.perf_counter() + limits.time_s
    if is_contradicted(compile_problem(question(problem.instance))):
        return ExplainedInstance(problem, None, None, _why_none(problem.instance, ends, limits))
    result: Result | None = solve(
        problem,
        time_limit_s=FOR_SOLVE * limits.time_s,
        workers=limits.workers,
        seed=limits.seed,
    )
    infeasible = None
    if result is not None and result.placement is None and not result.interrupted:
        infeasible = _why_none(problem.instance, ends, limits)
        if infeasible.placement is not None:  # it was easier to find where all cost the same
            result, infeasible = _improved(problem, infeasible.placement, ends, limits), None
        elif infeasible.status is Feasibility.INFEASIBLE and result.status is Status.UNKNOWN:
            result = None
    if result is None or result.placement is None:
        return ExplainedInstance(problem, result, None, infeasible)
    split = split_cost(problem, result.placement)
    if split.rejected:
        infeasible = _why_none(_all_placed(problem.instance), ends, limits)
    return ExplainedInstance(problem, result, split, infeasible)


def _improved(problem: Problem, start: Placement, ends: float, limits: Limits) -> Result:
    """Return the best placement found from `start` in the remaining time."""
    return solve(
        problem,
        time_limit_s=max(LEAST_S, ends - time.perf_counter()),
        workers=limits.workers,
        seed=limits.seed,
        hint=start,
    )


def _all_placed(instance: Instance) -> Instance:
    """Return the instance in which no topology may be left out."""
    return replace(instance, objective=replace(instance.objective, terms=("nodes",)))


def _why_none(instance: Instance, ends: float, limits: Limits) -> Explanation:
    """Explain an instance without placement in the remaining time."""
    left = max(LEAST_S, ends - time.perf_counter())
    return explain_infeasible(
        instance,
        time_limit_s=left,
        prices=limits.prices,
        seed=limits.seed,
        workers=limits.workers,
    )


def one_method(
    problem: Problem, method: Method, limits: Limits
) -> ExplainedMethod | ExplainedInstance:
    """Explain where a method goes wrong; or the instance, if not all tasks can be placed."""
    instance = problem.instance
    if instance.objective.limits:
        raise InputError(
            "cannot be used when moves are limited (objective.limits)",
            field="method",
            value=method.name,
        )
    run = traced_run(problem, method, limits.seed)
    if not run.failed:
        return ExplainedMethod(problem, run)
    whole = complete(
        instance, (), time_limit_s=limits.time_s, seed=limits.seed, workers=limits.workers
    )
    _go_on(whole)
    if whole.answer is Completable.NO:
        return _nothing_fits(problem, run, limits)
    if whole.placement is None:
        return ExplainedMethod(problem, run)
    nearest = None
    if run.placement is not None and not run.left_out:
        nearest = _nearest(problem, run.placement, limits)
    return _missed(problem, run, whole.placement, nearest, limits)


def _missed(
    problem: Problem,
    run: TracedRun,
    whole: Placement,
    nearest: FewestMoves | None,
    limits: Limits,
) -> ExplainedMethod:
    """Explain a run that failed although all tasks can be placed, as in `whole`."""
    if run.decisions is None or not run.applies:
        reason = "It does not apply to this instance and decided nothing."
        if run.applies:
            reason = (
                f"{run.method} does not record the order of its decisions, so the first wrong one "
                "cannot be named."
            )
        valid = whole
        if nearest is not None and nearest.placement is not None and not nearest.left_out:
            valid = nearest.placement
        split = split_cost(problem, valid)
        return ExplainedMethod(problem, run, split, valid, nearest=nearest, not_told=reason)
    mistake = first_mistake(
        problem,
        run.decisions,
        whole,
        time_limit_s=limits.time_s,
        seed=limits.seed,
        workers=limits.workers,
    )
    _go_on(mistake)
    return ExplainedMethod(
        problem,
        run,
        split_cost(problem, mistake.completion),
        mistake.completion,
        mistake,
        nearest,
        remaining=_remaining(problem, mistake, limits),
    )


def _nearest(problem: Problem, placement: Placement, limits: Limits) -> FewestMoves | None:
    near = fewest_moves(
        problem.instance,
        placement,
        time_limit_s=limits.time_s,
        seed=limits.seed,
        workers=limits.workers,
    )
    if near is not None:
        _go_on(near)
    return near


def _go_on(search: Completion | FirstMistake | FewestMoves) -> None:
    """Stop where Ctrl-C ended a search: half an explanation is of no use."""
    if search.interrupted:
        raise KeyboardInterrupt


def _nothing_fits(problem: Problem, run: TracedRun, limits: Limits) -> ExplainedInstance:
    """Explain an instance whose tasks cannot all be placed, by any method."""
    instance = problem.instance
    if problem.may_reject:  # the question is why not everything can be placed
        instance = _all_placed(instance)
    result = solve(instance, time_limit_s=limits.time_s, workers=limits.workers, seed=limits.seed)
    infeasible = explain_infeasible(
        instance,
        time_limit_s=limits.time_s,
        prices=limits.prices,
        seed=limits.seed,
        workers=limits.workers,
    )
    return ExplainedInstance(problem, result, None, infeasible, run)


def _remaining(problem: Problem, mistake: FirstMistake, limits: Limits) -> Explanation | None:
    """Explain the tasks that fit alone, but not together, after the first mistake."""
    if mistake.decision is None or mistake.broken or mistake.stuck:
        return None
    fixed = with_fixed(problem.instance, mistake.decisions[: mistake.impossible])
    return explain_infeasible(
        fixed, time_limit_s=limits.time_s, seed=limits.seed, workers=limits.workers
    )


def one_placement(
    problem: Problem, placement: Placement, limits: Limits, *, optimal: bool
) -> ExplainedPlacement:
    """Explain a placement: what breaks the rules, or what makes up its cost."""
    split = split_cost(problem, placement)
    nearest = None
    if not split.verdict.valid:
        nearest = _nearest(problem, placement, limits)
    best = None
    if optimal:
        best = solve(
            problem,
            time_limit_s=limits.time_s,
            workers=limits.workers,
            seed=limits.seed,
            hint=placement if split.verdict.valid else None,
        )
    mendings = tuple(mending(one) for one in split.verdict.violations)
    return ExplainedPlacement(problem, placement, split, mendings, nearest, best)


def comparison(problem: Problem, first: Placement, second: Placement) -> ExplainedComparison:
    """Explain where two placements differ."""
    return ExplainedComparison(problem, (first, second), compare(problem, first, second))


def one_task(problem: Problem, placement: Placement, written: str) -> ExplainedTask:
    """Explain why a task is where it is."""
    task = task_index(problem.instance, written)
    if placement.nodes[task] == UNPLACED:
        rule = "has no place in PLACEMENT"
        if problem.may_reject:
            rule += "; explain INSTANCE alone says why its topology is left out"
        raise InputError(rule, field="task", value=written)
    places = alternatives(problem, placement, task)
    return ExplainedTask(problem, placement, task, places, split_cost(problem, placement))


# Prices of repairs, as written in Python and on the command line.

PricesLike = RepairPrices | Mapping[str, Number] | Iterable[str] | None

RESOURCE = "resource."
"""Prefix of the name of a resource, whose price is that of one unit on one node."""
NAMES = tuple(one.name for one in fields(RepairPrices) if one.name != "resources")


def as_prices(given: PricesLike) -> RepairPrices:
    """Return prices: themselves, or the defaults with those that a dict or texts change.

    Parameters
    ----------
    given
        Names are those of `RepairPrices`, or ``resource.`` and a resource; texts are
        ``NAME=PRICE``. ``None`` = the defaults.

    Raises
    ------
    InputError
        For an unknown name, and for a price that is not a number of 0 or more.

    Examples
    --------
    >>> as_prices({"node": 3, "resource.gpu": 7}).node
    Decimal('3')
    """
    if given is None:
        return DEFAULT_PRICES
    if isinstance(given, RepairPrices):
        return given
    _check_kind(given)
    pairs = given if isinstance(given, Mapping) else dict(map(_pair, _texts(given)))
    resources = dict(DEFAULT_PRICES.resources)
    prices: dict[str, Number] = {}
    for name, price in pairs.items():
        if not isinstance(name, str):
            raise InputError("must be the name of a price", field="prices", value=name)
        if name.startswith(RESOURCE):
            resources[name.removeprefix(RESOURCE)] = price  # type: ignore[assignment]
        else:
            prices[known(name, NAMES, "prices")] = price
    with at("prices"):
        return RepairPrices(resources=resources, **prices)  # type: ignore[arg-type]


def _check_kind(given: object) -> None:
    if not isinstance(given, Iterable):
        rule = f"must be RepairPrices, a dict or texts, not {kind_of(given)}"
        raise InputError(rule, field="prices", has_value=False)


def _texts(given: Iterable[str]) -> Iterable[str]:
    return (given,) if isinstance(given, str) else given


def _pair(text: object) -> tuple[str, str]:
    name, separator, price = text.partition("=") if isinstance(text, str) else ("", "", "")
    if not separator:
        raise InputError("must be NAME=PRICE", field="prices", value=text)
    return name, price
