"""Storm's own topologies in sequence: experiment ``storm_sequence CLUSTER``.

Each method places the topologies of a decoded Storm cluster in the order of the file, each on what
its earlier ones have left; one that it cannot place, or places against the rules, is left out. The
exact engine plays too (``exact``: each topology at its best on what is left, which need not be
best for all), and ``alone`` is its answer for the topology on the empty cluster: a bound for
everybody. Network cost of each, failures with reasons, sums.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from slotwise.benchmarks.experiments.storm.filling import Filling
from slotwise.benchmarks.experiments.storm.sequence_table import (
    Entry,
    MethodSum,
    SequenceTable,
    TopologyRow,
)
from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.families.storm import PREFIX, storm_instances
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.admission.eviction import smallest_eviction
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.solve import solve

EXACT = "exact"
NETWORK = Objective(("network",))


Run = Callable[[Instance, float], tuple[Entry, Placement | None]]


def sequence(
    together: Instance, methods: Sequence[str], time_limit_s: float
) -> Iterator[TopologyRow]:
    """Yield a row for each topology with tasks, in the order of the instance.

    Parameters
    ----------
    together
        A cluster and its topologies.
    methods
        Names of methods, and `EXACT`.
    time_limit_s
        Of the exact engine, for one topology.
    """
    problem = compile_problem(together)
    empty = Filling(problem)
    fillings = {method: Filling(problem) for method in methods}
    runs: dict[str, Run] = {
        method: _exact if method == EXACT else partial(_heuristic, find_method(method))
        for method in methods
    }
    for t, topology in enumerate(together.topologies):
        tasks = sum(one.parallelism for one in topology.placed_components)
        if not tasks:
            continue
        alone, _ = _exact(empty.instance(t, NETWORK), time_limit_s)
        entries = {}
        for method, filling in fillings.items():
            entries[method], placement = runs[method](filling.instance(t, NETWORK), time_limit_s)
            if placement is not None:
                filling.add(t, placement)
        yield TopologyRow(topology.id, tasks, alone, entries)


def _exact(instance: Instance, time_limit_s: float) -> tuple[Entry, Placement | None]:
    """Ask first whether it fits at all: the model of evictions says so far faster."""
    started = time.perf_counter()
    problem = compile_problem(instance)
    nowhere = (UNPLACED,) * problem.task_count
    limits = Limits(time_limit_s)
    fits = smallest_eviction(problem, Placement(nowhere, nowhere), 0, (), limits)
    if fits.status is Status.INFEASIBLE:
        return Entry(None, None, "infeasible", time.perf_counter() - started), None
    result = solve(problem, time_limit_s=time_limit_s, hint=fits.placement)
    (term,) = result.objective
    entry = Entry(
        cost=None if term.value is None else int(term.value),
        bound=None if term.bound is None else int(term.bound),
        reason="" if result.placement is not None else str(result.status),
        seconds=time.perf_counter() - started,
    )
    return entry, result.placement


def _heuristic(
    method: Method, instance: Instance, time_limit_s: float
) -> tuple[Entry, Placement | None]:
    started = time.perf_counter()
    problem = compile_problem(instance)
    try:
        answer = run_method(problem, method, 0)
    except MethodError as error:
        return Entry(None, None, f"failed: {error}", time.perf_counter() - started), None
    seconds = time.perf_counter() - started
    if isinstance(answer, Refusal):
        return Entry(None, None, f"refused: {answer.reason}", seconds), None
    verdict = judge(problem, answer)
    if not verdict.valid:
        return Entry(None, None, f"breaks {verdict.violations[0].rule}", seconds), None
    return Entry(int(verdict.objective[0].value), None, "", seconds), answer


def summarise(rows: Sequence[TopologyRow]) -> list[MethodSum]:
    """Return the sums of each method, in the order of the rows' entries."""
    methods = list(rows[0].entries) if rows else []
    for_all = [row for row in rows if all(e.cost is not None for e in row.entries.values())]
    sums = []
    for method in methods:
        placed = [row for row in rows if row.entries[method].cost is not None]
        failures = [row.entries[method].reason for row in rows if row.entries[method].reason]
        sums.append(
            MethodSum(
                method=method,
                placed=len(placed),
                at_bound=sum(row.entries[method].cost == row.alone.bound for row in placed),
                cost=sum(row.entries[method].cost or 0 for row in placed),
                bound=sum(row.alone.bound or 0 for row in placed),
                common=sum(row.entries[method].cost or 0 for row in for_all),
                failures=dict(Counter(_short(reason) for reason in failures)),
                seconds=sum(row.entries[method].seconds for row in rows),
            )
        )
    return sums


def _short(reason: str) -> str:
    """Return the kind of a failure: what is before a topology's name or a number."""
    kind = reason.partition(":")[0]
    return kind if kind in ("refused", "failed") else reason


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    if options.count is not None and options.count < 1:
        raise InputError("must be 1 or more", field="--count", value=options.count)
    *_, together = storm_instances(f"{PREFIX}{options.cluster}")
    method_names = [*HEURISTICS, EXACT]
    methods = options.methods.split(",") if options.methods else method_names
    for method in methods:
        if method != EXACT:
            find_method(method)
    table = SequenceTable(methods, options.json)
    rows = []
    for row in islice(sequence(together, methods, options.time_limit), options.count):
        rows.append(row)
        table.add(row)
    table.end(summarise(rows))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("cluster", type=Path, metavar="CLUSTER.json")
    parser.add_argument("--methods", metavar="A,B", help=f"default: all, and {EXACT}")
    parser.add_argument("--count", type=int, metavar="N", help="the first N topologies only")
    parser.add_argument(
        "--time-limit", type=float, default=10.0, metavar="S", help="of each exact solve"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
