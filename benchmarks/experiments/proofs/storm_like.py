"""Topologies nobody tuned to: experiment ``storm_like_proofs``.

Instances of the family ``storm-like``, each in a process of its own on one core: tasks, value,
bound, gap, status, seconds and memory, and what they add up to, in all and for each kind of
topology. ``--held-out`` takes the half of the seeds that is for final figures only.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from slotwise.benchmarks.experiments.proofs.engine_options import check_engine_options
from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, measure
from slotwise.benchmarks.experiments.proofs.storm import summarise
from slotwise.benchmarks.experiments.proofs.table import ProofTable
from slotwise.models.families.family import of_sizes, task_range
from slotwise.models.families.storm_like_family import STORM_LIKE, STORM_LIKE_HELD_OUT
from slotwise.models.families.storm_like_statistics import KINDS, kind_of
from slotwise.models.values import whole


def run(options: argparse.Namespace) -> None:
    """Measure the instances and print them."""
    check_engine_options(options, "time_limit")
    whole(options.count, "--count", least=1)
    whole(options.first, "--first")
    family = STORM_LIKE_HELD_OUT if options.held_out else STORM_LIKE
    if options.tasks is not None:
        family = of_sizes(family, *task_range(options.tasks))
    table = ProofTable(options.json)
    rows: dict[str, list[Measured]] = {kind: [] for kind in KINDS}
    for index in range(options.first, options.first + options.count):
        instance = family.make(index, options.seed)
        row = measure(instance, options.engine, options.time_limit)
        rows[kind_of(instance.topologies[0])].append(row)
        table.add_proof(row)
    summaries = {kind: summarise(several) for kind, several in rows.items() if several}
    summaries["all"] = summarise([row for several in rows.values() for row in several])
    lines = [f"{kind:12} {summary}" for kind, summary in summaries.items()]
    table.end({kind: asdict(summary) for kind, summary in summaries.items()}, lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=100, help="instances")
    parser.add_argument("--first", type=int, default=0, metavar="INDEX", help="of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tasks", metavar="LEAST-MOST", help="of a topology; default: 50-5000")
    parser.add_argument("--held-out", action="store_true", help="the half for final figures")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
