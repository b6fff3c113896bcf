"""All topologies of a cluster together: experiment ``whole_cluster FILE``.

Terms ``rejected, network``, nothing running. Every topology is first solved alone on the empty
cluster, equal ones once: value and bound. Then all are placed together, in a solve of its own that
knows nothing of these answers. The bound of the whole is the better of two: the sum of the bounds
alone, and that of the solve. A column has what a method of Storm's makes of each topology.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

from slotwise.benchmarks.experiments.table import Table, number
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain, short_text, time_limit
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve
from slotwise.solver.whole_cluster.bounds import ClusterBounds
from slotwise.solver.whole_cluster.plan import own_placement
from slotwise.solver.whole_cluster.topologies import TopologyPart, topology_parts

COLUMNS = {
    "topology": "<24", "tasks": ">6", "alone": ">10", "bound": ">10", "together": ">10",
    "by Storm": ">10",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TopologyCosts:
    """Network cost of one topology, in the instance's unit; ``None`` = not placed, or no bound.

    Parameters
    ----------
    alone, bound
        On the empty cluster, and a proven bound of that.
    together, by_method
        In the placement of all topologies, and in that of a method.
    """

    topology: str
    tasks: int
    alone: int | float | None
    bound: int | float | None
    together: int | float | None
    by_method: int | float | None

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        costs = (self.alone, self.bound, self.together, self.by_method)
        return (self.topology, str(self.tasks), *map(short_text, costs))


@dataclass(frozen=True, slots=True)
class Total:
    """The whole: what is left out and what the others cost, with proven bounds, and the gap.

    Parameters
    ----------
    gap
        Of the first term in which value and bound differ, as a share of the value.
    method_rejected, method_network
        Of the method's placement.
    """

    status: str
    rejected: int | float | None
    rejected_bound: int | float | None
    network: int | float | None
    bound: int | float | None
    gap: float | None
    method_rejected: int | float | None
    method_network: int | float | None
    seconds: float

    def lines(self, method: str) -> tuple[str, str]:
        """Two lines for people."""
        return (
            f"Together: rejected {short_text(self.rejected)} (bound "
            f"{short_text(self.rejected_bound)}), network {short_text(self.network)} (bound "
            f"{short_text(self.bound)}), gap {number(self.gap, '.2%')}, {self.seconds:.0f} s.",
            f"By {method}: rejected {short_text(self.method_rejected)}, "
            f"network {short_text(self.method_network)}.",
        )


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    time_limit(options.time_limit, "--time-limit")
    time_limit(options.time_limit_each, "--time-limit-each")
    method = find_method(options.method)
    problem, parts = read(options.file, options.worker_min_cpu)
    instance = problem.instance
    alone = _alone(parts, options.time_limit_each)
    result = solve(instance, time_limit_s=options.time_limit)
    answer = run_method(problem, method, 0)
    by_method = answer if isinstance(answer, Placement) else None
    if by_method is not None and not judge(problem, by_method).valid:
        by_method = None
    table = Table(COLUMNS, options.json)
    for part in parts:
        first = alone[part.like].objective[0]
        row = TopologyCosts(
            topology=part.id,
            tasks=part.alone.task_count,
            alone=_plain(first.value),
            bound=_plain(first.bound),
            together=_cost(part, result.placement),
            by_method=_cost(part, by_method),
        )
        table.add(asdict(row), row.cells())
    total = _total(instance, parts, alone, result, by_method)
    table.end(asdict(total), total.lines(options.method))


def read(path: Path, worker_min_cpu: str | None) -> tuple[Problem, tuple[TopologyPart, ...]]:
    """Return the problem of a file by the terms of this experiment, and its topologies."""
    data, file = read_data(path)
    with in_file(file):
        given = instance_from_data(data, worker_min_cpu=worker_min_cpu)
        terms = Objective(("rejected", "network"))
        problem = compile_problem(replace(given, objective=terms, running=None, linear=()))
        parts = topology_parts(problem)
        if not parts:
            rule = "must have at least two topologies with tasks, and distances given by level"
            raise InputError(rule, has_value=False)
        return problem, parts


def _alone(parts: Sequence[TopologyPart], time_limit_s: float) -> dict[int, Result]:
    """Return what each topology costs alone, by the position of the first equal one."""
    return {
        i: solve(part.alone, time_limit_s=time_limit_s)
        for i, part in enumerate(parts)
        if part.like == i
    }


def _total(
    instance: Instance,
    parts: Sequence[TopologyPart],
    alone: dict[int, Result],
    result: Result,
    by_method: Placement | None,
) -> Total:
    """Return the values of the whole, and the better of the two bounds of each term."""
    rejected, network = result.objective
    proven_costs = _proven(instance, parts, alone)
    least = max(proven_costs.least_rejected(), int(rejected.bound or 0))
    bound = network.bound
    if rejected.value is not None:
        cost = proven_costs.least_cost(int(rejected.value))
        unit = proven_costs.problem.terms[1].unit
        if cost is not None:
            bound = max(cost[0] * unit, bound or Fraction(0))
    value, proven = rejected.value, Fraction(least)
    if value == proven:
        value, proven = network.value, bound or Fraction(0)
    gap = None if value is None else float((value - proven) / value) if value else 0.0
    theirs = None if by_method is None else judge(instance, by_method).objective
    return Total(
        status=str(result.status),
        rejected=_plain(rejected.value),
        rejected_bound=least,
        network=_plain(network.value),
        bound=_plain(bound),
        gap=gap,
        method_rejected=None if theirs is None else plain(theirs[0].value),
        method_network=None if theirs is None else plain(theirs[1].value),
        seconds=result.seconds,
    )


def _proven(
    instance: Instance, parts: Sequence[TopologyPart], alone: dict[int, Result]
) -> ClusterBounds:
    """Return what the answers alone prove about the whole."""
    bounds = []
    for part in parts:
        bound = alone[part.like].objective[0].bound or Fraction(0)
        bounds.append((int(bound / part.problem.terms[0].unit),))
    impossible = {i for i, part in enumerate(parts) if alone[part.like].status is Status.INFEASIBLE}
    return ClusterBounds(compile_problem(instance), parts, bounds, impossible)


def _cost(part: TopologyPart, placement: Placement | None) -> int | float | None:
    """Return what a topology costs in a placement of the whole; ``None`` where it is left out."""
    own = None if placement is None else own_placement(part, placement)
    return None if own is None else plain(judge(part.problem, own).objective[0].value)


def _plain(value: Fraction | None) -> int | float | None:
    return None if value is None else plain(value)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("file", type=Path, metavar="FILE", help="instance or decoded Storm cluster")
    parser.add_argument("--time-limit", type=float, default=300.0, metavar="S", help="together")
    parser.add_argument(
        "--time-limit-each", type=float, default=60.0, metavar="S", help="each topology alone"
    )
    parser.add_argument(
        "--worker-min-cpu", metavar="POINTS", help="least cpu of a worker; default: the file's"
    )
    parser.add_argument("--method", default="ras-default", help="whose placement is beside ours")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
