"""Seconds of Storm's own scheduler and of ours: experiment ``storm_times``.

One round of each on the same instance; needs ``make storm-peer``. Storm's seconds are taken inside
of its process, around ``ResourceAwareScheduler.schedule``, in a new process for each instance: the
first run (classes are loaded, nothing is compiled yet), and the least of the others. Ours are those
of `schedule_round` in this process, its view of the instance included, likewise first and least.
Whether the two agree on every worker and every status is in the last column.

The instances are the files named, decoded Storm clusters for example, and random ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slotwise.benchmarks.experiments.storm.comparison import compare
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.heuristics.external.storm_peer import StormPeer
from slotwise.heuristics.ras.scheduler import RoundLimits
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES, RasLimits
from slotwise.models.errors import InputError
from slotwise.models.families.random_planted import RandomParameters, random_instance
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import read_instance

RANDOM = RandomParameters(
    tasks=600, components=24, topologies=6, nodes=60, racks=4, infeasible_percent=0
)
COLUMNS = {
    "instance": "<28", "nodes": ">6", "tasks": ">6", "Storm first": ">11", "Storm": ">9",
    "ours first": ">10", "ours": ">9", "same": ">5",
}  # fmt: skip
TIMEOUT_S = 900
"""For one topology, as Storm's own test of the larger cluster has it."""


@dataclass(frozen=True, slots=True)
class Times:
    """One instance.

    Parameters
    ----------
    instance, nodes, tasks
        Its name and sizes.
    storm_first, ours_first
        Seconds of the first run.
    storm, ours
        The least of the others; ``None`` where there is one run.
    same
        Whether workers, statuses and evictions are the same.
    """

    instance: str
    nodes: int
    tasks: int
    storm_first: float
    storm: float | None
    ours_first: float
    ours: float | None
    same: bool


def measure(instance: Instance, strategy: str | None, runs: int) -> Times:
    """Return the times of one instance, Storm's of a new process."""
    limits = RoundLimits(search=RasLimits(max_seconds=TIMEOUT_S))
    with StormPeer() as peer:
        comparison = compare(peer, instance, strategy, limits, runs)
    storm, ours = comparison.storm.seconds, comparison.seconds
    return Times(
        instance=instance.name,
        nodes=len(instance.cluster.nodes),
        tasks=len(instance.task_names()),
        storm_first=storm[0],
        storm=min(storm[1:], default=None),
        ours_first=ours[0],
        ours=min(ours[1:], default=None),
        same=not comparison.differences,
    )


def instances(files: Sequence[Path], count: int, seed: int) -> Iterator[Instance]:
    """Yield those of `files`, then `count` random ones."""
    for file in files:
        yield read_instance(file)
    for index in range(count):
        yield random_instance(RANDOM, index, seed)[0]


def run(options: argparse.Namespace) -> None:
    """Measure and print instance by instance."""
    if options.runs < 1:
        raise InputError("must be at least 1", field="runs", value=options.runs)
    table = Table(COLUMNS, options.json)
    strategy = None if options.strategy == "own" else options.strategy
    for instance in instances(options.files, options.random, options.seed):
        times = measure(instance, strategy, options.runs)
        table.add(asdict(times), _cells(times))


def _cells(times: Times) -> tuple[str, ...]:
    seconds = (times.storm_first, times.storm, times.ours_first, times.ours)
    return (
        times.instance,
        str(times.nodes),
        str(times.tasks),
        *(number(one, ".3f") for one in seconds),
        "yes" if times.same else "NO",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="instances to schedule")
    parser.add_argument(
        "--strategy",
        choices=("own", *STRATEGIES),
        default="ras-default",
        help="of all topologies; own = each one's own",
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each instance")
    parser.add_argument("--random", type=int, default=3, metavar="N", help="random instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
