"""Engine choice ``auto``: a first placement, cheap reductions, then the engines that may prove it.

One after the other on one thread; with more, CP-SAT searches beside the others (`side_by_side`).
All of them report to one `SolveState`, which keeps the best placement and the best bounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from queue import Empty, SimpleQueue

from slotwise.models.cancellation import CancelledError
from slotwise.models.infeasibility.contradictions import holds
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subset_dp import SUBSET_DP
from slotwise.solver.baseline import BASELINE
from slotwise.solver.capacities import over_capacities
from slotwise.solver.column_generation.configurations.engine import (
    FAST_CONFIGURATIONS as CONFIGURATIONS,
)
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.engine import COLUMNS
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.contradictions import COUNTING
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter, report_outcome
from slotwise.solver.core.result import Limits, Outcome, Pick, Proof, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.core.supervision import GRACE_S, POLL_S, Task
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.few_moves import FEW_MOVES
from slotwise.solver.orphans.engine import ORPHANS
from slotwise.solver.partition.engine import PARTITION
from slotwise.solver.portfolio.attempt import Answer
from slotwise.solver.portfolio.params import AUTO_DEFAULTS, AutoParams
from slotwise.solver.portfolio.run import (
    ALL_IN_ONE_RACK,
    BY_CAPACITIES,
    CONNECTED_COLUMNS,
    CONTRADICTED,
    COUNTS_UTILISATION,
    COUNTS_UTILISATION_TINY,
    FEWEST_MOVES,
    FIRST_PLACEMENT,
    IN_PARALLEL,
    MANY_TASKS,
    MOVES_LIMITED,
    NEIGHBOURHOODS,
    NO_PLACEMENT_YET,
    NODES_LISTED,
    NODES_PRICED,
    NOTHING_MAY_MOVE,
    PARTS_PRICED,
    POLISH,
    TAKES_EVERY_RULE,
    WITHIN_ONE_RACK,
    PortfolioRun,
    PortfolioStep,
)
from slotwise.solver.portfolio.whole_cluster import solve_whole_cluster
from slotwise.solver.presolve.flow_components import SubProblem, flow_parts, sum_of_parts
from slotwise.solver.presolve.leading_terms import padded, without_running, without_workload
from slotwise.solver.presolve.node_reduction import reductions
from slotwise.solver.presolve.rack_cut import (
    all_in_one_rack,
    may_fit_one_rack,
    one_rack,
    only_distances_tell_racks_apart,
    over_racks,
)
from slotwise.solver.structure.node_types import node_types
from slotwise.solver.structure.separability import without_matrix
from slotwise.solver.structure.task_types import has_no_twins
from slotwise.solver.whole_cluster.topologies import topology_parts

SUM_OF_PARTS, CUT = "sum over parts without flow", "least cut between racks"
"""Kinds of bounds."""


def run_auto(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    state: SolveState | None = None,
    token: RunToken | None = None,
    params: AutoParams = AUTO_DEFAULTS,
) -> Answer:
    """Solve the parts that no flow connects one by one, then the whole, until `token` ends it.

    Where a matrix of distances is equivalent to levels, it is dropped first. The search starts from
    the placement that `state` has already, else from `hint`.
    """
    state, token = state or SolveState(problem), token or RunToken()
    if hint is not None:
        state.offer(hint, "hint")
    auto = PortfolioRun(state, limits, hint, params, token)
    answer = _contradicted(auto, problem)
    if answer is not None:
        return answer
    _run(auto, problem, Reporter(state, "auto", token=token))
    return auto.answer(token)


def _contradicted(auto: PortfolioRun, problem: Problem) -> Answer | None:
    """Return the answer where counting finds a contradiction.

    If the independent check does not confirm it, `COUNTING` is distrusted.
    """
    if COUNTING.supports(problem) is not None or auto.state.best is not None:
        return None
    began, reporter = time.perf_counter(), Reporter(auto.state, COUNTING.name, token=auto.token)
    limits = replace(auto.limits, time_s=auto.params.counting_fraction * auto.left_s)
    try:
        outcome = COUNTING.run(problem, limits, None, reporter)
    except CancelledError:  # its share is over; if all of the time is, the rest sees it, too
        return None
    if outcome.contradiction is None:
        return None
    if not holds(problem, outcome.contradiction):
        wrong = f"the contradiction {outcome.contradiction} does not hold"
        auto.state.trust.doubt(COUNTING.name, f"{COUNTING.name}: {wrong}")
        return None
    auto.state.start(COUNTING.name, CONTRADICTED)
    auto.state.prove_infeasible(COUNTING.name)
    auto.state.picked.append(Pick(COUNTING.name, CONTRADICTED, time.perf_counter() - began))
    auto.engines.append(COUNTING)
    auto.proofs.append(Proof(COUNTING.name, COUNTING.version(), outcome.bounds, outcome.proof))
    engines, answer = auto.answer(auto.token)
    return engines, replace(answer, contradiction=outcome.contradiction)


def _run(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Find a first placement, prove what can be proven, and improve the rest."""
    if problem.workload is not None:
        _count_utilisation(auto, problem, reporter)
        return
    params, token, is_bounded = auto.params, reporter.token, any(auto.state.proofs())
    auto.run(PortfolioStep(ORPHANS, NOTHING_MAY_MOVE, params.orphans_fraction), problem, reporter)
    auto.run(PortfolioStep(BASELINE, FIRST_PLACEMENT), problem, reporter)
    auto.run(PortfolioStep(FEW_MOVES, MOVES_LIMITED, params.few_moves_fraction), problem, reporter)
    if auto.state.best is None:
        auto.run(PortfolioStep(CP_SAT, NO_PLACEMENT_YET, params.early_fraction), problem, reporter)
    if problem.task_count >= params.search_from_tasks:
        steps = params.first_search_steps_per_task * problem.task_count
        auto.polish(MANY_TASKS, _first_search_share(params, auto.left_s), token, steps)
        auto.kept_back_s = params.last_search_fraction * auto.limits.time_s
    if problem.move_limit == NO_LIMIT or not is_bounded:  # else the caller knows that bound
        _solve_without_running(auto, problem, reporter)
    _solve_whole(auto, problem, reporter)
    auto.kept_back_s = 0.0
    auto.polish(POLISH, 0.5, token)
    auto.free_neighbourhoods(NEIGHBOURHOODS, token)


def _first_search_share(params: AutoParams, left_s: float) -> float:
    """Return the share of the time left for the first local search."""
    least = params.first_search_s / max(left_s, params.first_search_s)
    return max(params.first_search_fraction, min(least, params.most_first_search_fraction))


def _count_utilisation(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Solve the terms before ``bottleneck`` without it, then the whole by the engines that can.

    Measured on CPU-bound topologies of StroMAX, 45 to 128 tasks on 40 nodes: column generation over
    capacities proves ``bottleneck, network`` in a second, which CP-SAT leaves open after ten.
    """
    auto.run(PortfolioStep(BASELINE, FIRST_PLACEMENT), problem, reporter)
    if auto.state.best is None:
        auto.run(
            PortfolioStep(CP_SAT, NO_PLACEMENT_YET, auto.params.early_fraction), problem, reporter
        )
    easier = without_workload(problem)
    if easier is not None:
        _solve_leading(auto, problem, easier, _run, reporter)
    fraction = auto.params.configurations_fraction
    for engine in (CONFIGURATIONS, CONNECTED):
        step = PortfolioStep(over_capacities(engine), BY_CAPACITIES, fraction)
        auto.run(step, problem, reporter)
    for engine, why in ((CP_SAT, COUNTS_UTILISATION), (EXHAUSTIVE, COUNTS_UTILISATION_TINY)):
        auto.run(PortfolioStep(engine, why), problem, reporter, limits=auto.limits)


def _solve_without_running(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Solve the leading terms that do not read where tasks run, without it."""
    easier = without_running(problem)
    if easier is not None:
        _solve_leading(auto, problem, easier.problem, _solve_whole, reporter)


def _solve_leading(
    auto: PortfolioRun,
    problem: Problem,
    easier: Problem,
    solve: Callable[[PortfolioRun, Problem, Reporter], None],
    reporter: Reporter,
) -> None:
    """Solve a problem of the leading terms alone, on the same tasks and nodes."""
    if auto.is_over(reporter.token):
        return
    inner = auto.within(easier, auto.left_s * auto.params.without_running_fraction)
    inner.state.on_best = reporter.offer
    incumbent = reporter.best()
    if incumbent is not None:
        inner.state.offer(incumbent, reporter.engine)
    solve(inner, easier, Reporter(inner.state, "auto", token=reporter.token))
    _, outcome = inner.answer(reporter.token)
    proofs = [proof for proof in inner.state.proofs() if proof is not None]
    claimed = replace(
        outcome,
        bounds=padded(outcome.bounds, problem),
        bound_kind=", ".join(dict.fromkeys(proof.kind for proof in proofs)) or None,
        by_solver=any(proof.by_solver for proof in proofs),
    )
    report_outcome(reporter.by("+".join(inner.state.provers())), claimed)
    auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
    auto.proofs += [replace(p, bounds=padded(p.bounds, problem)) for p in outcome.proofs]


def _solve_whole(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Solve the topologies or the parts that no flow connects, then the whole."""
    problem = levels_instead(auto, problem) or problem
    many = problem.task_count >= auto.params.whole_cluster.from_tasks
    topologies = topology_parts(problem) if many else ()
    parts = () if topologies else flow_parts(problem)
    if topologies:
        solve_whole_cluster(auto, problem, topologies, reporter, _run)
    elif len(parts) > 1:
        _solve_parts(auto, problem, parts, reporter)
    _solve_reduced(auto, problem, reporter)


def _solve_parts(
    auto: PortfolioRun, problem: Problem, parts: tuple[SubProblem, ...], reporter: Reporter
) -> None:
    """Solve every part alone, the smallest first, and put their placements side by side.

    Each starts from its own tasks in the best placement of all.
    """
    if auto.is_over(reporter.token):
        return
    incumbent = reporter.best()
    outcomes: list[Outcome] = []
    provers: dict[str, None] = {}
    for i, part in enumerate(reversed(parts)):
        work = [len(other.tasks) ** 2 for other in parts[: len(parts) - i]]
        share = auto.left_s * max(work[-1] / sum(work), auto.params.least_part_fraction)
        inner = auto.within(part.problem, share)
        if incumbent is not None:
            inner.state.offer(part.own_placement(incumbent), reporter.engine)
        _solve_reduced(inner, part.problem, Reporter(inner.state, "auto", token=reporter.token))
        _, outcome = inner.answer(reporter.token)
        provers |= dict.fromkeys(inner.state.provers())
        auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
        outcomes.insert(0, outcome)
        if outcome.status == Status.INFEASIBLE or auto.is_over(reporter.token):
            break
    joined, outcome = sum_of_parts(problem, parts, outcomes)
    if joined is not None:
        reporter.offer(joined)
    report_outcome(reporter.by("+".join(provers)), replace(outcome, bound_kind=SUM_OF_PARTS))
    auto.proofs += outcome.proofs


def _solve_reduced(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Solve on the nodes, or the workers, that an optimal placement needs; see `reductions`."""
    if auto.is_over(reporter.token):
        return
    for reduction in reductions(problem, reporter.token):
        problem, reporter = reduction.problem, reporter.on(reduction, same_optimum=True)
    _search(auto, problem, reporter)


def _search(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Run the engines: in one lane, or with CP-SAT beside it on the other threads."""
    threads = auto.limits.workers

    def beside(token: RunToken) -> None:
        limits = replace(auto.limits, workers=threads - 1)
        auto.run(
            PortfolioStep(CP_SAT, IN_PARALLEL), problem, reporter.stopped_by(token), limits=limits
        )

    def alone(token: RunToken) -> None:
        _prove(auto, problem, reporter.stopped_by(token))
        if threads > 1:
            auto.polish(POLISH, 1.0, token)

    if threads == 1:
        alone(reporter.token)
        if problem.task_count >= auto.params.search_from_tasks:
            params = auto.params
            auto.polish(POLISH, params.search_fraction, reporter.token, params.search_steps)
        if not _is_beyond_cp_sat(auto, problem):
            auto.run(PortfolioStep(CP_SAT, TAKES_EVERY_RULE), problem, reporter, limits=auto.limits)
    else:
        side_by_side((alone, beside), lambda: auto.state.is_settled, reporter.token)


def _is_beyond_cp_sat(auto: PortfolioRun, problem: Problem) -> bool:
    """Return whether there are too many tasks for CP-SAT to add anything to a bound by columns."""
    proven = auto.first_open_bound
    return (
        problem.task_count > auto.params.cp_sat_to_tasks
        and proven is not None
        and proven.bound != 0
        and not proven.engines.isdisjoint({CONFIGURATIONS.name, CONNECTED.name, PARTITION.name})
    )


def _prove(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Run the engines that exploit more of a problem's structure than CP-SAT does."""
    if problem.matrix is not None:
        solve_with_matrix(auto, problem, reporter)
        return
    params, token = auto.params, reporter.token
    if problem.counts_moves and reporter.optima():
        auto.run(PortfolioStep(COLUMNS, FEWEST_MOVES, params.columns_fraction), problem, reporter)
        return
    by_parts = PortfolioStep(PARTITION, PARTS_PRICED, params.partition_fraction)
    takes_parts = auto.configured(PARTITION).supports(problem) is None
    has_twins = takes_parts and not has_no_twins(problem, token)
    if takes_parts and not has_twins:
        auto.run(by_parts, problem, reporter)
    priced = PortfolioStep(CONFIGURATIONS, NODES_PRICED, params.configurations_fraction)
    outcome = auto.run(priced, problem, reporter)
    if has_twins:
        auto.run(by_parts, problem, reporter)
    if outcome is None and only_distances_tell_racks_apart(problem):
        _enclose(auto, problem, reporter)
    else:
        _run_connected(auto, problem, reporter, params.configurations_fraction)
    if outcome is not None or CONFIGURATIONS.supports(problem) is not None:  # not for its size
        auto.run(PortfolioStep(COLUMNS, NODES_LISTED, params.columns_fraction), problem, reporter)


def _run_connected(auto: PortfolioRun, problem: Problem, reporter: Reporter, share: float) -> None:
    """Run `connected`; of a whole cluster it proves what its topologies alone have proven."""
    is_one = len({one.topology for one in problem.classes}) == 1
    if is_one or problem.task_count < auto.params.whole_cluster.from_tasks:
        auto.run(PortfolioStep(CONNECTED, CONNECTED_COLUMNS, share), problem, reporter)


def _enclose(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Take the bound of all nodes in one rack; its placement, or that of one rack alone.

    Between them `connected` has a short try: it may find better placements, or prove in seconds
    what one rack leaves open (192 tasks of largeCluster03: 4 s, where one rack took 25 s in vain).
    """
    flat, params = all_in_one_rack(problem), auto.params
    reason = CONFIGURATIONS.supports(problem) or "two racks have too many splits"
    enclosing = f"{reason}: {ALL_IN_ONE_RACK}"
    step = PortfolioStep(CONFIGURATIONS, enclosing, params.rack_fraction)
    outer = auto.run(step, flat.problem, reporter.on(flat))
    if outer is None:
        _run_connected(auto, problem, reporter, params.configurations_fraction)
    elif not may_fit_one_rack(problem):
        _run_connected(auto, problem, reporter, params.configurations_fraction)
        return
    elif problem.task_count >= params.search_from_tasks:
        _run_connected(auto, problem, reporter, params.between_racks_fraction)
    rack = one_rack(problem)
    share = min(auto.limits.time_s * params.rack_fraction, auto.left_s)
    inner = auto.within(rack.problem, share)
    inner.state.on_best = reporter.on(rack).offer
    inside = Reporter(inner.state, "auto", token=reporter.token)
    engines = () if outer is None else (CONFIGURATIONS,)
    for engine in engines if _is_beyond_cp_sat(auto, problem) else (*engines, CP_SAT):
        if not auto.is_over(reporter.token) and share > 0:
            inner.run(PortfolioStep(engine, f"{reason}: {WITHIN_ONE_RACK}"), rack.problem, inside)
    auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
    if outer is not None:
        outcome = over_racks(problem, outer, inner.state.outcome(), reporter.token)
        provers = dict.fromkeys([CONFIGURATIONS.name, *inner.state.provers()])
        cut = replace(outcome, bound_kind=CUT, by_solver=outer.by_solver)
        report_outcome(reporter.by("+".join(provers)), cut)
        auto.proofs.append(Proof("rack-cut", version("slotwise"), outcome.bounds, outcome.proof))
        _run_connected(auto, problem, reporter, params.configurations_fraction)


# Searches side by side in threads: the first proof ends them all.
#
# Threads suffice because the long searches are native code, which releases the interpreter's lock.


def side_by_side(
    lanes: Sequence[Callable[[RunToken], None]], is_settled: Callable[[], bool], token: RunToken
) -> None:
    """Run all lanes at once, each with a child of `token`, until all have ended.

    As soon as everything is settled, or `token` is cancelled, all are stopped; one that does
    not within `GRACE_S` is abandoned. An exception in a lane stops the others, too, and is raised
    here.
    """
    bell: SimpleQueue[None] = SimpleQueue()
    tasks = [Task(lane, lambda: bell.put(None), token.child()) for lane in lanes]
    abandon_at = math.inf
    while not all(task.has_ended for task in tasks) and time.perf_counter() < abandon_at:
        with suppress(Empty):
            bell.get(timeout=POLL_S)
        must_stop = token.is_cancelled or is_settled() or any(task.has_failed for task in tasks)
        if must_stop and abandon_at == math.inf:
            abandon_at = time.perf_counter() + GRACE_S
            for task in tasks:
                task.token.cancel()
    for task in tasks:
        if task.has_ended:
            task.result()


# Engine choice ``auto`` for distances by matrix, where every task is a class of its own.
#
# Measured on the public instances, one core: dual ascent with branch and bound closes assignments
# of 10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
# programming closes 20 tasks on 5 equally distant nodes in a second, and 24 on 8 in two or three,
# where dual ascent needs 5 s to minutes. More tasks on equal nodes that are all equally far apart
# are not an assignment but a partition of a graph: there the matrix is dropped (`separability`).
# Where it says no more than levels, and the nodes differ, column generation has some of the time:
# 30 tasks with sparse flows on 5 nodes of three kinds take it 4 s instead of 7, and with dense
# ones its bound is better by a sixth. On large ones CP-SAT's bound is far below that of dual
# ascent. CP-SAT takes every rule, though, and tiny problems without loading what they do not
# need.

SUBSETS = "distances by matrix, all equal: few sets of tasks, or few that fit a node"
BY_LEVELS = "the matrix of distances says no more than levels"
GENERAL = "distances by matrix: bounds by dual ascent, then branch and bound"


def levels_instead(auto: PortfolioRun, problem: Problem) -> Problem | None:
    """Return the problem without its matrix; ``None`` where it has none or needs it.

    Levels are used where the tasks are of few kinds, or all nodes equal and equally far apart.
    """
    places = problem.task_count * problem.node_count
    if problem.matrix is None or places <= auto.params.max_tiny_places:
        return None
    if auto.configured(SUBSET_DP).supports(problem) is None:
        return None
    levels = without_matrix(problem)
    if levels is None or problem.task_count >= 2 * len(problem.classes):
        return levels
    return levels if len(levels.racks) == 1 and len(node_types(levels)) == 1 else None


def solve_with_matrix(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Run the engines on a problem that keeps its matrix.

    Where the matrix is equivalent to levels (several kinds of nodes, racks), column generation runs
    first, on the same problem by levels.
    """
    levels = without_matrix(problem)
    steps = matrix_steps(auto, problem)
    if levels is not None and steps[0].engine is DUAL_ASCENT:
        columns = PortfolioStep(CONNECTED, BY_LEVELS, auto.params.matrix_columns_fraction)
        auto.run(columns, levels, reporter)
    for step in steps:
        auto.run(step, problem, reporter)


def matrix_steps(auto: PortfolioRun, problem: Problem) -> tuple[PortfolioStep, ...]:
    """Return the engines to run, one after the other, on a problem with distances by matrix."""
    places = problem.task_count * problem.node_count
    if places <= auto.params.max_tiny_places:
        return (PortfolioStep(CP_SAT, TAKES_EVERY_RULE),)
    general = PortfolioStep(DUAL_ASCENT, GENERAL)
    if auto.configured(SUBSET_DP).supports(problem) is None:
        subsets = PortfolioStep(SUBSET_DP, SUBSETS, auto.params.subset_dp_fraction)
        parts = PortfolioStep(PARTITION, PARTS_PRICED, auto.params.partition_fraction)
        beyond_tables = problem.task_count > auto.params.max_table_tasks
        return (parts, subsets, general) if beyond_tables else (subsets, general)
    if auto.configured(DUAL_ASCENT).supports(problem) is not None:
        return (PortfolioStep(CP_SAT, TAKES_EVERY_RULE),)
    return (general,)
