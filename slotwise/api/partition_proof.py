"""A graph file partitioned with a proof."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from slotwise.api.exit_code import Exit
from slotwise.heuristics.partitioning.partition_file import make_parts, read_sizes
from slotwise.heuristics.partitioning.partitioners import PARTITIONERS, start_partition
from slotwise.models.errors import InputError, in_file, suggestion
from slotwise.models.graph_files.graph_file import open_graph
from slotwise.models.graph_files.vertex_stream import in_memory
from slotwise.models.graph_partition import partition_problem
from slotwise.models.values import exact
from slotwise.solver.core.progress import OnProgress
from slotwise.solver.core.result import Status
from slotwise.solver.graph_partition import PartitionResult, check_size, solve_partition

EXACT = "exact"
"""The method that leaves the choice of engines to ``auto``."""


@dataclass(frozen=True, slots=True)
class ProvenPartition:
    """The partition of a graph file with the least cut, or the best within the limits.

    Parameters
    ----------
    graph, method, seed
        As requested.
    result
        Cut, bound, status and parts.
    seconds
        Wall clock, reading included.
    names
        Of the vertices; ``None`` = their numbers in order.

    Examples
    --------
    >>> import slotwise
    >>> proven = slotwise.partition("docs/examples/two-squares.graph", 2, "exact", balance=1)
    >>> proven.result.value, proven.result.bound, proven.result.part
    (1, 1, (0, 0, 0, 0, 1, 1, 1, 1))
    """

    graph: str
    method: str
    seed: int
    result: PartitionResult
    seconds: float
    names: tuple[str, ...] | None

    @property
    def exit_code(self) -> Exit:
        """The exit code of ``partition``."""
        if self.result.placed.interrupted and self.result.status is not Status.OPTIMAL:
            return Exit.INTERRUPTED
        return {
            Status.OPTIMAL: Exit.DONE,
            Status.FEASIBLE: Exit.DONE,
            Status.INFEASIBLE: Exit.FAILED,
            Status.UNKNOWN: Exit.NO_ANSWER,
        }[self.result.status]

    def to_document(self) -> dict[str, Any]:
        """Return what ``partition --json`` prints; ``null`` where there is no partition."""
        result, placed = self.result, self.result.placed
        problem, verdict = result.problem, result.verdict
        return {
            "graph": self.graph,
            "method": self.method,
            "seed": self.seed,
            "vertices": len(problem.weights),
            "edges": len(problem.edges),
            "parts": len(problem.capacities),
            "status": str(result.status),
            "edge_cut": result.value,
            "bound": result.bound,
            "gap": None if result.status is Status.INFEASIBLE else placed.gap,
            "edge_weight": problem.edge_weight,
            "balance": None if verdict is None else float(verdict.balance),
            "within_balance": verdict is not None and verdict.valid,
            "loads": None if verdict is None else list(verdict.loads),
            "capacities": list(problem.capacities),
            "reason": result.reason,
            "engine": placed.engine,
            "version": placed.version,
            "proof": placed.proof,
            "interrupted": placed.interrupted,
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        """Return the same as readable text."""
        result, placed, problem = self.result, self.result.placed, self.result.problem
        head = (
            f"{len(problem.weights)} vertices, {len(problem.edges)} edges, "
            f"{len(problem.capacities)} parts by {placed.engine}\n"
        )
        seconds = f"seconds {self.seconds:.2f}\n"
        if result.verdict is None:
            infeasible = result.status is Status.INFEASIBLE
            how = "proven infeasible" if infeasible else "no partition"
            return f"{head}{how}: {result.reason}\n{seconds}"
        total, cut = problem.edge_weight, result.verdict.cut
        share = 100 * cut / total if total else 0.0
        bound = f"no cut is below {result.bound}"
        proof = "proven least" if cut == result.bound else bound
        return (
            f"{head}edge cut {cut} ({share:.2f} % of the edge weight), {proof}\n"
            f"balance {float(result.verdict.balance):.4f}\n{seconds}"
        )


def prove_partition(
    path: str,
    method: str,
    count: int,
    balance: float,
    *,
    sizes: str | None = None,
    form: str | None = None,
    seed: int = 0,
    time_limit_s: float = 60.0,
    workers: int = 1,
    memory_limit_mb: int | None = None,
    on_progress: OnProgress | None = None,
) -> ProvenPartition:
    """Find the least cut of the graph in a file; arguments as in `partitioning.partition`.

    Raises
    ------
    InputError
        When the file, the method or a number is wrong, or the graph is too large for a proof.
    """
    from slotwise.solver.engines import ENGINES  # a second

    if method not in (EXACT, *ENGINES):
        rule = f"is unknown; {suggestion(method, (EXACT, *ENGINES, *PARTITIONERS))}"
        raise InputError(rule, field="method", value=method)
    started = time.perf_counter()
    parts = make_parts(count, balance, sizes)
    numbers = (Decimal(1),) * count if sizes is None else read_sizes(sizes, count)
    factor = exact(balance, "balance")
    graph = in_memory(open_graph(path, form))
    with in_file(path):
        check_size(graph.totals.vertices, graph.totals.edges)
        problem = partition_problem(graph, factor, numbers)
    result = solve_partition(
        problem,
        engine="auto" if method == EXACT else method,
        time_limit_s=time_limit_s,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit_mb,
        start=start_partition(graph, parts, seed),
        on_progress=on_progress,
        name=os.path.basename(path),
    )
    seconds = time.perf_counter() - started
    return ProvenPartition(path, method, seed, result, seconds, graph.names)
