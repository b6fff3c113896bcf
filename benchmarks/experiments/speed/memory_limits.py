"""Whether memory limits hold: experiment ``memory_limits``.

Large instances of several shapes are solved in processes of their own under several limits; the
table shows the peak of each process. Exit code 1: a process passed its limit by more than is
allowed, or died.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, measure
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_from_data
from slotwise.models.values import known, time_limit, whole

LIMITS_MB = (400, 700, 1_500)
"""Above what the interpreter and the solvers' libraries take by themselves, some 250 MB."""

COLUMNS = {
    "shape": "<26", "engine": "<15", "limit": ">6", "peak": ">6", "seconds": ">7",
    "status": "<10", "note (MB)": "<",
}  # fmt: skip

ALLOWED_MB, ALLOWED_SHARE = 100, 0.05
"""How far a limit may be passed before the watch sees it and an engine has ended."""


@dataclass(frozen=True, slots=True)
class MemoryCase:
    """Instances that one engine makes much of, and that engine."""

    name: str
    make: Callable[[], Instance]
    engine: str
    workers: int = 1


def web(components: int, nodes: int, parallelism: int, steps: Sequence[int]) -> Instance:
    """Return one topology whose components all differ, each with those some steps further on."""
    built = [
        Component(
            f"c{i}",
            "bolt" if i else "spout",
            parallelism=parallelism,
            resources={"cpu": Decimal(100 + 3 * (i % 7))},
        )
        for i in range(components)
    ]
    streams = [
        Stream(f"c{i}", f"c{i + step}", rate=Decimal(1 + i * 7 % 13))
        for i in range(components)
        for step in steps
        if i + step < components
    ]
    demand = 250 * components * parallelism // nodes
    machines = [
        Node(f"n{i}", f"r{i % 2}", slots=4, resources={"cpu": Decimal(demand)})
        for i in range(nodes)
    ]
    topology = Topology("t", components=tuple(built), streams=tuple(streams))
    cluster = Cluster(tuple(machines))
    return Instance("web", cluster, (topology,), objective=Objective(("network",)))


def assignment(tasks: int, nodes: int, *, alike: bool) -> Instance:
    """Return a random assignment with any distances, or with two different nodes equally far."""
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 10, (tasks, 1))
    distance = 5 * (1 - np.eye(nodes)) if alike else rng.integers(0, 9, (nodes, nodes))
    pairs = [(i, j) for i in range(tasks) for j in range(i) if rng.random() < 0.3]
    return instance_from_data(
        {
            "format": "matrix-assignment",
            "name": "assignment",
            "weights": weights.tolist(),
            "capacities": [[int(weights.sum() * 1.5 / nodes)]] * nodes,
            "flow": [[i, j, int(rng.integers(1, 9))] for i, j in pairs],
            "distance": distance.astype(int).tolist(),
            "linear": rng.integers(0, 20, (tasks, nodes)).tolist(),
        }
    )


SHAPES = (
    MemoryCase("chain of 2,000 on 500", lambda: web(2_000, 500, 1, (1,)), "connected"),
    MemoryCase("chain of 600 x 8 on 200", lambda: web(600, 200, 8, (1,)), "connected"),
    MemoryCase("web of 30 x 20 on 60", lambda: web(30, 60, 20, (1, 3, 7)), "configurations"),
    MemoryCase("web of 12 x 40 on 20", lambda: web(12, 20, 40, (1, 3)), "configurations"),
    MemoryCase("web of 60 x 20 on 100", lambda: web(60, 100, 20, (1, 3, 7)), "cp-sat"),
    MemoryCase("web of 40 x 10 on 60", lambda: web(40, 60, 10, (1, 3, 7)), "milp"),
    MemoryCase("web of 40 x 10 on 60", lambda: web(40, 60, 10, (1, 3, 7)), "auto"),
    MemoryCase("web of 40 x 10 on 60", lambda: web(40, 60, 10, (1, 3, 7)), "auto", 2),
    MemoryCase("22 tasks on 12", lambda: assignment(22, 12, alike=True), "subset-dp"),
    MemoryCase("60 tasks on 30", lambda: assignment(60, 30, alike=False), "dual-ascent"),
)


def breach(measured: Measured, limit_mb: int) -> bool:
    """Return whether a process died, or passed its limit by more than is allowed."""
    most = limit_mb * (1 + ALLOWED_SHARE) + ALLOWED_MB
    return measured.memory_mb is None or measured.memory_mb > most


def run(options: argparse.Namespace) -> None:
    """Print the table.

    Raises
    ------
    InputError
        For an option out of range.
    SlotwiseError
        When a limit did not hold.
    """
    if options.engine is not None:
        known(options.engine, dict.fromkeys(shape.engine for shape in SHAPES), "--engine")
    time_limit(options.time_limit, "--time-limit")
    for limit in options.limits:
        whole(limit, "--limits", least=1)
    table, breaches = Table(COLUMNS, as_json=False), 0
    for shape in SHAPES:
        if options.engine not in (None, shape.engine):
            continue
        for limit in options.limits:
            measured = measure(
                shape.make(),
                shape.engine,
                options.time_limit,
                workers=shape.workers,
                memory_limit_mb=limit,
            )
            bad = breach(measured, limit)
            breaches += bad
            table.add(measured.to_document(), _cells(shape, measured, limit, bad))
    if breaches:
        raise SlotwiseError(f"{breaches} limits did not hold")


def _cells(shape: MemoryCase, measured: Measured, limit: int, bad: bool) -> tuple[str, ...]:
    note = measured.error or (measured.notes[0] if measured.notes else "")
    return (
        shape.name,
        f"{shape.engine} x{shape.workers}" if shape.workers > 1 else shape.engine,
        f"{limit:,}",
        number(measured.memory_mb, ".0f"),
        f"{measured.seconds:.1f}",
        measured.status,
        f"BREACH {note}" if bad else note,
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--limits", type=int, nargs="+", default=LIMITS_MB, metavar="MB")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S")
    parser.add_argument("--engine", help="shapes of this engine only")
