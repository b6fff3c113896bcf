"""Graphs of the family ``partition``: experiment ``partition_family``.

Each graph is partitioned by each engine within its time limit, from the partition of METIS on
(without METIS: ``fennel-re``), on one thread. Every cut is judged as a partition. ``--rows FILE``
keeps what came of each: the same command goes on where it ended. Two proofs that differ, or a
bound above a cut, end the run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from slotwise.benchmarks.experiments.table import Table
from slotwise.heuristics.partitioning.partition import equal_parts
from slotwise.heuristics.partitioning.partitioners import start_partition
from slotwise.models.errors import SlotwiseError
from slotwise.models.families.partition import KINDS, PARTITION
from slotwise.models.formats.row_file import RowFile
from slotwise.models.graph_files.vertex_stream import from_edges
from slotwise.models.graph_partition import PartitionProblem, judge_partition
from slotwise.models.instance.instance import Instance
from slotwise.models.values import short_text
from slotwise.solver.graph_partition import solve_partition

ENGINES = ("auto", "cp-sat", "milp")
COLUMNS = {
    "graph": "<34", "vertices": ">8", "edges": ">6", "parts": ">5", "engine": "<8",
    "status": "<10", "start": ">6", "cut": ">6", "bound": ">6", "seconds": ">8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One engine on one graph.

    Parameters
    ----------
    index, kind, graph
        Which graph of the family, seed included in its name.
    engine, time_limit_s
        As asked.
    status
        As in `solver.core.result.Status`.
    start
        Cut of the partition that the search started from; ``None`` where that is not valid.
    cut, bound
        ``None`` = there is none.
    seconds
        Wall clock of the proof, without the start.
    """

    index: int
    kind: str
    graph: str
    vertices: int
    edges: int
    parts: int
    engine: str
    time_limit_s: float
    status: str
    start: int | None
    cut: int | None
    bound: int | None
    seconds: float

    @property
    def key(self) -> tuple[str, str, float]:
        """What it answers."""
        return self.graph, self.engine, self.time_limit_s

    @property
    def proven(self) -> bool:
        """Whether the cut is the least."""
        return self.status == "optimal"


def problem_of(instance: Instance) -> PartitionProblem:
    """Return the graph of an instance of the family; weights of vertices in units of one task."""
    (topology,) = instance.topologies
    ids = {component.id: v for v, component in enumerate(topology.components)}
    (unit,) = {component.resources["cpu"] for component in topology.components}
    return PartitionProblem(
        (1,) * len(ids),
        tuple((ids[s.source], ids[s.target], int(s.rate or 0)) for s in topology.streams),
        tuple(int((node.resources["cpu"] or 0) / unit) for node in instance.cluster.nodes),
    )


def start_of(problem: PartitionProblem, seed: int) -> tuple[int, ...]:
    """Return where the search starts."""
    ends = np.array([edge[:2] for edge in problem.edges], dtype=np.int32).reshape(-1, 2)
    weights = np.array([weight for _, _, weight in problem.edges], dtype=float)
    graph = from_edges(ends, weights, np.array(problem.weights, dtype=float))
    balance = sum(problem.capacities) / problem.vertex_weight
    return start_partition(graph, equal_parts(len(problem.capacities), balance), seed)


def measured(index: int, engine: str, time_limit_s: float, seed: int) -> Row:
    """Partition one graph."""
    instance = PARTITION.make(index, seed)
    problem = problem_of(instance)
    start = start_of(problem, seed)
    judged = judge_partition(problem, start)
    began = time.perf_counter()
    result = solve_partition(
        problem, engine=engine, time_limit_s=time_limit_s, seed=seed, start=start
    )
    return Row(
        index=index,
        kind=KINDS[index % len(KINDS)],
        graph=instance.name,
        vertices=len(problem.weights),
        edges=len(problem.edges),
        parts=len(problem.capacities),
        engine=engine,
        time_limit_s=time_limit_s,
        status=str(result.status),
        start=judged.cut if judged.valid else None,
        cut=result.value,
        bound=result.bound,
        seconds=round(time.perf_counter() - began, 3),
    )


def check_agreement(rows: Sequence[Row]) -> None:
    """Raise `SlotwiseError` where a bound of a graph is above a cut of it, whoever's they are."""
    for graph in dict.fromkeys(row.graph for row in rows):
        of_graph = [row for row in rows if row.graph == graph]
        cuts = [(row.cut, row.engine) for row in of_graph if row.cut is not None]
        bounds = [(row.bound, row.engine) for row in of_graph if row.bound is not None]
        if cuts and bounds and max(bounds)[0] > min(cuts)[0]:
            (bound, prover), (cut, finder) = max(bounds), min(cuts)
            rule = f"{prover} says that no cut is below {bound}, {finder} cuts {cut}"
            raise SlotwiseError(f"{graph}: {rule}")


def summary(rows: Sequence[Row]) -> dict[str, dict[str, float | int]]:
    """Return by engine how many graphs there are, how many are proven, and in what time."""
    summed: dict[str, dict[str, float | int]] = {}
    for engine in dict.fromkeys(row.engine for row in rows):
        of_engine = [row for row in rows if row.engine == engine]
        seconds = sorted(row.seconds for row in of_engine if row.proven)
        by_kind = {kind: sum(r.proven for r in of_engine if r.kind == kind) for kind in KINDS}
        summed[engine] = {"graphs": len(of_engine), "proven": len(seconds), **by_kind}
        if seconds:
            summed[engine] |= {"median_s": float(np.median(seconds)), "longest_s": seconds[-1]}
    return summed


def run(options: argparse.Namespace) -> None:
    """Partition every graph that has no row, and print all."""
    table = Table(COLUMNS, options.json)
    file = RowFile(options.rows, Row)
    rows_by_key = {row.key: row for row in file.rows}
    rows: list[Row] = []
    for index in range(options.first, options.first + options.count):
        name = PARTITION.make(index, options.seed).name
        for engine in options.engines:
            row = rows_by_key.get((name, engine, options.time_limit))
            if row is None:
                row = measured(index, engine, options.time_limit, options.seed)
                file.append(row)
            rows.append(row)
            table.add(asdict(row), _cells(row))
        check_agreement(rows[-len(options.engines) :])
    summed = summary(rows)
    table.end(summed, [f"{engine}: {_in_words(counts)}" for engine, counts in summed.items()])


def _cells(row: Row) -> tuple[str, ...]:
    sizes = (str(row.vertices), str(row.edges), str(row.parts))
    values = (short_text(row.start), short_text(row.cut), short_text(row.bound))
    return (row.graph, *sizes, row.engine, row.status, *values, f"{row.seconds:.2f}")


def _in_words(counts: dict[str, float | int]) -> str:
    kinds = ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)
    times = f"; median {counts['median_s']:.2f} s" if "median_s" in counts else ""
    longest = f", longest {counts['longest_s']:.2f} s" if times else ""
    return f"{counts['proven']} of {counts['graphs']} proven ({kinds}){times}{longest}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=PARTITION.count, help="how many graphs")
    parser.add_argument("--first", type=int, default=0, help="index of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engines", nargs="+", default=ENGINES, metavar="NAME")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per engine")
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep the results, and go on where FILE ends"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
