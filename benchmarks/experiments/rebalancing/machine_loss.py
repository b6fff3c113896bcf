"""One or two machines died: experiment ``machine_loss``.

On each of the random clusters of `lost_machines`: how long until every task has a place with no
other task moved, how long until that is proven optimal, and when `slotwise rebalance`, a process of
its own, prints its first line. Every placement is judged.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from slotwise.benchmarks.experiments.proofs.lost_machines import (
    LostMachines,
    lost_machines,
)
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance_file import write_instance
from slotwise.models.judge.judge import judge
from slotwise.processes.child import Child
from slotwise.solver.core.progress import Event, Progress
from slotwise.solver.core.result import Status
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.solve import solve

COLUMNS = {
    "instance": "<12", "nodes": ">5", "tasks": ">5", "topologies": ">10", "lost": ">4",
    "orphans": ">7", "placed s": ">8", "status": "<10", "solved s": ">8", "first line s": ">12",
}  # fmt: skip
PLACED_S, PROVEN_S, LINE_S = 2.0, 10.0, 3.0
"""What is wanted."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One cluster.

    Parameters
    ----------
    name, nodes, tasks, topologies, lost, orphans
        What is left of the cluster, what runs, how many machines died, and the tasks of these.
    placed_s
        Seconds until the first placement of all tasks without moves; ``None`` = none.
    status
        Of the solve with no move allowed.
    solved_s
        Seconds of that solve.
    line_s
        Seconds from the start of ``slotwise rebalance`` to its first line; ``None`` = not measured.
    """

    name: str
    nodes: int
    tasks: int
    topologies: int
    lost: int
    orphans: int
    placed_s: float | None
    status: str
    solved_s: float
    line_s: float | None

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        counts = (self.nodes, self.tasks, self.topologies, self.lost, self.orphans)
        return (
            *(self.name, *map(str, counts), number(self.placed_s, ".2f"), self.status),
            *(number(self.solved_s, ".2f"), number(self.line_s, ".2f")),
        )


def measured(case: LostMachines, time_limit_s: float, *, with_line: bool) -> Measured:
    """Solve one cluster without moves, and time the first line of the command.

    Raises
    ------
    SlotwiseError
        Where a placement moves a task or breaks a rule.
    """
    problem = with_limit(case.left, 0)
    first: list[float] = []

    def see(progress: Progress) -> None:
        if progress.event is Event.PLACEMENT and not first:
            first.append(progress.seconds)

    result = solve(problem, time_limit_s=time_limit_s, on_progress=see)
    if result.placement is not None:
        verdict = judge(problem, result.placement)
        if not verdict.valid or verdict.parts["moved"]:
            raise SlotwiseError(f"{case.whole.name}: the placement moves tasks or breaks a rule")
    return Measured(
        name=case.whole.name,
        nodes=problem.node_count,
        tasks=problem.task_count,
        topologies=len(problem.rules),
        lost=len(case.lost),
        orphans=sum(len(tasks) for tasks in case.left.lost.values()),
        placed_s=first[0] if first else None,
        status=str(result.status),
        solved_s=result.seconds,
        line_s=_first_line(case) if with_line else None,
    )


def _first_line(case: LostMachines) -> float:
    """Return the seconds until the command prints a line; it is ended after that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write_instance(path, case.whole)
        words = ["rebalance", str(path), "--without-node", ",".join(case.lost)]
        command = [sys.executable, "-m", "slotwise", *words, "--time-limit", "20"]
        began = time.perf_counter()
        with Child(command) as child:
            line = child.pipes.read_line() or b""
            seconds = time.perf_counter() - began
    if not line.startswith(b"Orphans:"):
        raise SlotwiseError(f"{case.whole.name}: the first line is {line!r}")
    return seconds


def summarised(rows: Sequence[Measured]) -> dict[str, float | int | None]:
    """Return how many were placed, proven and quick enough, and the slowest of each."""
    lines = [row.line_s for row in rows if row.line_s is not None]
    placed = [row.placed_s for row in rows if row.placed_s is not None]
    proven = [row.solved_s for row in rows if row.status == Status.OPTIMAL]
    return {
        "clusters": len(rows),
        "placed": len(placed),
        "placed_in_time": sum(seconds <= PLACED_S for seconds in placed),
        "slowest_placed_s": max(placed, default=None),
        "proven_in_time": sum(seconds <= PROVEN_S for seconds in proven),
        "slowest_proven_s": max(proven, default=None),
        "lines": len(lines),
        "lines_in_time": sum(seconds <= LINE_S for seconds in lines),
        "slowest_line_s": max(lines, default=None),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--count", type=int, default=200, help="random clusters")
    parser.add_argument(
        "--skip", type=int, default=0, help="number of clusters to leave out at the start"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="of each solve")
    parser.add_argument("--lines", action="store_true", help="also time the command's first line")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print the table."""
    table, rows = Table(COLUMNS, options.json), []
    cases = islice(lost_machines(options.seed), options.skip, options.skip + options.count)
    for case in cases:
        row = measured(case, options.time_limit, with_line=options.lines)
        rows.append(row)
        table.add(asdict(row), row.cells())
    figures = summarised(rows)
    lines = [
        f"All tasks placed without moves: {figures['placed']} of {len(rows)}, "
        f"{figures['placed_in_time']} of them within {PLACED_S:g} s; the slowest "
        f"{number(figures['slowest_placed_s'], '.2f')} s.",
        f"Proven optimal within {PROVEN_S:g} s: {figures['proven_in_time']} of {len(rows)}; the "
        f"slowest proof {number(figures['slowest_proven_s'], '.2f')} s.",
    ]
    if figures["lines"]:
        lines.append(
            f"First line of rebalance within {LINE_S:g} s: {figures['lines_in_time']} of "
            f"{figures['lines']}; the slowest {number(figures['slowest_line_s'], '.2f')} s."
        )
    table.end(figures, lines)
