"""Storm's own topologies, each alone: experiment ``storm_proofs CLUSTER.json``.

Every topology of a decoded Storm cluster on that cluster, empty, in a process of its own on one
core: tasks, value, bound, gap, status, seconds and memory. Topologies without tasks are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from slotwise.benchmarks.experiments.proofs.engine_options import check_engine_options
from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, measure
from slotwise.benchmarks.experiments.proofs.table import ProofTable
from slotwise.benchmarks.experiments.table import number
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.importers.storm_cluster import is_storm_cluster
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data


@dataclass(frozen=True, slots=True)
class Summary:
    """What the table adds up to.

    Parameters
    ----------
    topologies, proven, within_percent
        How many there are, are closed, and are not closed but within 1 % of their bound.
    worst_gap
        Largest gap, as a share; ``None`` where some topology has no placement or no bound.
    median_memory_mb, most_memory_mb
        Of the processes that told; ``None`` where none did.
    most_seconds
        Of one topology.
    """

    topologies: int
    proven: int
    within_percent: int
    worst_gap: float | None
    median_memory_mb: float | None
    most_memory_mb: float | None
    most_seconds: float

    def __str__(self) -> str:
        """One line for people."""
        gap = "unknown" if self.worst_gap is None else f"{100 * self.worst_gap:.2f} %"
        most_mb = number(self.most_memory_mb, ".0f")
        median_mb = number(self.median_memory_mb, ".0f")
        return (
            f"{self.proven} of {self.topologies} proven, {self.within_percent} more within 1 %; "
            f"worst gap {gap}; at most {self.most_seconds:.1f} s and {most_mb} MB "
            f"(median {median_mb})."
        )


def summarise(rows: Sequence[Measured]) -> Summary:
    """Return what `rows` add up to."""
    open_gaps = [row.gap for row in rows if not row.proven]
    finite = [gap for gap in open_gaps if gap is not None]
    memory_mb = [row.memory_mb for row in rows if row.memory_mb is not None]
    return Summary(
        topologies=len(rows),
        proven=len(rows) - len(open_gaps),
        within_percent=sum(gap <= 0.01 for gap in finite),
        worst_gap=max(finite, default=0.0) if len(finite) == len(open_gaps) else None,
        median_memory_mb=median(memory_mb) if memory_mb else None,
        most_memory_mb=max(memory_mb, default=None),
        most_seconds=max((row.seconds for row in rows), default=0.0),
    )


def run(options: argparse.Namespace) -> None:
    """Measure every topology and print it."""
    check_engine_options(options, "time_limit")
    instances = read(options.cluster, options.topology, options.worker_min_cpu)
    table, rows = ProofTable(options.json), []
    for instance in instances:
        if not instance.task_names():
            continue
        rows.append(measure(instance, options.engine, options.time_limit))
        table.add_proof(rows[-1])
    summary = summarise(rows)
    table.end(asdict(summary), [str(summary)])


def read(
    path: Path, topologies: Sequence[str] | None, worker_min_cpu: str | None
) -> list[Instance]:
    """Return these topologies of a decoded cluster (``None`` = all), each on it alone."""
    data, file = read_data(path)
    with in_file(file):
        if not isinstance(data, dict) or not is_storm_cluster(data):
            raise InputError("must be a decoded Storm cluster", has_value=False)
        ids = topologies or [topology.id for topology in instance_from_data(data).topologies]
        return [
            instance_from_data(data, topology=key, worker_min_cpu=worker_min_cpu) for key in ids
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("cluster", type=Path, metavar="CLUSTER.json")
    parser.add_argument("--topology", nargs="+", metavar="ID", help="these only")
    parser.add_argument(
        "--worker-min-cpu", metavar="POINTS", help="least cpu of a worker; default: the file's"
    )
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
