"""Fronts over the number of moves: experiment ``fronts``.

Random clusters on which a topology runs; with ``--cluster`` the topologies of a decoded Storm
cluster, each alone on it where a method has placed it. Each front is checked: without moves the
cost is that of what runs, with more moves it never rises, no bound is above a value, and the last
point is the free optimum.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import SlotwiseError
from slotwise.models.formats.text import read_data
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import judged_running
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import plain
from slotwise.solver.core.memory import default_limit_mb
from slotwise.solver.core.result import Limits
from slotwise.solver.rebalance.front import Front, front

COLUMNS = {
    "instance": "<26", "tasks": ">5", "nodes": ">5", "racks": ">5", "now": ">8", "best": ">8",
    "bound": ">8", "moves": ">5", "points": ">6", "proven": ">6", "worst gap": ">9",
    "1 move": ">7", "2": ">6", "3": ">6",
}  # fmt: skip
SHARES = 3
"""Number of first moves whose share of the gain is in the table."""
ALL = 10**6
"""More moves than there are tasks."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One front.

    Parameters
    ----------
    name, tasks, nodes, racks
        The instance.
    now, best, bound
        Network cost of what runs, of the best placement found whatever it moves, and its bound.
    moves
        Of that best placement.
    points, proven
        How many the front has, and how many of them are proven.
    worst_gap
        Largest (value - bound) / value of a point; 0 where all are proven.
    shares
        Share of the gain now - best that 1, 2, 3 moves bring; ``None`` where nothing is to gain.
    unproven_shares
        How many of these three points are not proven.
    """

    name: str
    tasks: int
    nodes: int
    racks: int
    now: float
    best: float
    bound: float | None
    moves: int
    points: int
    proven: int
    worst_gap: float
    shares: tuple[float, ...] | None
    unproven_shares: int

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        shares = self.shares or (None,) * SHARES
        return (
            *(self.name, str(self.tasks), str(self.nodes), str(self.racks)),
            *(number(self.now, "g"), number(self.best, "g"), number(self.bound, "g")),
            *(str(self.moves), str(self.points), str(self.proven), f"{self.worst_gap:.1%}"),
            *(number(share, ".0%") for share in shares),
        )


def measured(instance: Instance, max_moves: int, time_limit_s: float, seed: int) -> Measured | None:
    """Solve one front and check it; ``None`` where no placement was found at all.

    Raises
    ------
    SlotwiseError
        Where points of the front are dominated or in disorder.
    """
    limits = Limits(time_s=time_limit_s, seed=seed, memory_mb=default_limit_mb())
    solved = front(instance, max_moves, limits)
    if solved.free.verdict is None or solved.points[0].verdict is None:
        return None
    _check(instance.name, solved)
    points = solved.points
    now, best = (
        float(p.verdict.objective[-1].value) for p in (points[0], solved.free) if p.verdict
    )
    unit = solved.problem.terms[-1].unit
    bound = solved.free.open_bounds[-1]
    upto = [points[min(k, len(points) - 1)] for k in range(1, SHARES + 1)]
    values = [float(p.verdict.objective[-1].value) for p in upto if p.verdict]
    return Measured(
        name=instance.name,
        tasks=solved.problem.task_count,
        nodes=solved.problem.node_count,
        racks=len(solved.problem.racks),
        now=now,
        best=best,
        bound=None if bound is None else plain(bound * unit),
        moves=solved.free.moves or 0,
        points=len(points),
        proven=sum(point.is_proven for point in points),
        worst_gap=max(_gap(solved, k) for k in range(len(points))),
        shares=tuple((now - value) / (now - best) for value in values) if now > best else None,
        unproven_shares=sum(not point.is_proven for point in upto),
    )


def _gap(solved: Front, index: int) -> float:
    point = solved.points[index]
    if point.values is None:
        return 0.0 if point.is_proven else 1.0
    for value, bound in zip(point.values, point.open_bounds, strict=True):
        if value != bound:
            return (value - (bound or 0)) / value
    return 0.0


def _check(name: str, solved: Front) -> None:
    """Raise `SlotwiseError` unless it is a front."""
    values = [point.values for point in solved.points]
    running = judged_running(solved.problem)
    assert running is not None, "it has running"
    if values[0] != running.scaled:
        raise SlotwiseError(f"{name}: without moves the cost is not that of what runs")
    for before, point in zip(solved.points, solved.points[1:], strict=False):
        if before.values is None or point.values is None or point.values > before.values:
            raise SlotwiseError(f"{name}: {point.max_moves} moves are worse than one less")
        if tuple(b or 0 for b in point.bounds) > point.values:
            raise SlotwiseError(f"{name}: a bound is above its value")
    free = solved.free
    reached = free.moves is not None and free.moves <= solved.points[-1].max_moves
    if free.is_proven and reached and values[-1] != free.values:
        raise SlotwiseError(f"{name}: the last point is not the free optimum")


def _random(count: int, seed: int) -> Iterator[Instance]:
    for instance in islice(running_clusters(seed), count):
        yield replace(instance, objective=Objective(("network",)))


def _of_cluster(path: Path, method: str, worker_min_cpu: str | None) -> Iterator[Instance]:
    """Yield each topology alone, where the method places it by all rules."""
    data, _ = read_data(path)
    for key in [topology["id"] for topology in data["topologies"]]:
        instance = instance_from_data(data, topology=key, worker_min_cpu=worker_min_cpu)
        problem = compile_problem(instance)
        placed = run_method(problem, find_method(method), seed=0) if problem.task_count else None
        if isinstance(placed, Placement) and judge(problem, placed).valid:
            running, objective = to_places(instance, placed), Objective(("network",))
            yield replace(instance, name=key, running=running, objective=objective)


def summarised(rows: Sequence[Measured]) -> dict[str, float | int | None]:
    """Return counts over all points, and the mean and median shares of the first moves."""
    shares = [row.shares for row in rows if row.shares is not None]
    figures: dict[str, float | int | None] = {
        "fronts": len(rows),
        "points": sum(row.points for row in rows),
        "proven": sum(row.proven for row in rows),
        "fully_proven": sum(row.points == row.proven for row in rows),
        "with_gain": len(shares),
        "unproven_shares": sum(row.unproven_shares for row in rows),
    }
    for k in range(SHARES):
        column = sorted(share[k] for share in shares)
        figures[f"mean_share_{k + 1}"] = sum(column) / len(column) if column else None
        figures[f"median_share_{k + 1}"] = statistics.median(column) if column else None
    return figures


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--count", type=int, default=100, help="random instances")
    parser.add_argument(
        "--skip", type=int, default=0, help="number of instances to leave out at the start"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cluster", type=Path, metavar="CLUSTER.json", help="instead of these")
    parser.add_argument("--method", default="ras-round-robin", help="what placed its topologies")
    parser.add_argument("--worker-min-cpu", metavar="POINTS")
    parser.add_argument("--max-moves", type=int, default=ALL, help="default: to the free optimum")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="of each front")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print the table."""
    last = options.skip + options.count
    instances = _random(last, options.seed)
    if options.cluster is not None:
        instances = _of_cluster(options.cluster, options.method, options.worker_min_cpu)
    table, rows = Table(COLUMNS, options.json), []
    for instance in islice(instances, options.skip, last):
        row = measured(instance, options.max_moves, options.time_limit, options.seed)
        if row is not None:
            rows.append(row)
            table.add(asdict(row), row.cells())
    figures = summarised(rows)
    means = ", ".join(number(figures[f"mean_share_{k + 1}"], ".0%") for k in range(SHARES))
    summary = (
        f"{figures['proven']} of {figures['points']} points proven, {figures['fully_proven']} of "
        f"{figures['fronts']} fronts in all points; every front is monotone from what runs on.",
        f"Mean share of the gain that 1, 2, 3 moves bring: {means}.",
    )
    table.end(figures, summary)
