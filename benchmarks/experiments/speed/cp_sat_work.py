"""How much work CP-SAT does: experiment ``cp_sat_work``.

In CP-SAT's own deterministic unit, so that two checkouts, or two releases of OR-Tools, can be
compared whatever else the machine does: engine ``cp-sat`` on random mid-size instances and on
files, a line each, and the sum over those that end with a proof.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from slotwise.benchmarks.experiments.agreement.mid_size import mid_instance
from slotwise.benchmarks.experiments.table import say
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.solve import solve

SEED = 5
"""Of the random instances."""


def instances(count: int, files: Sequence[str]) -> Iterator[tuple[str, Instance]]:
    """Yield the random instances, then those of the files, with a name each."""
    rng = np.random.default_rng(SEED)
    for number in range(count):
        yield f"mid-size {number}", mid_instance(rng)
    for file in files:
        yield file, read_instance(file)


def run(options: argparse.Namespace) -> None:
    """Print the table."""
    total, proven = 0.0, 0
    for name, instance in instances(options.count, options.instance):
        result = solve(
            compile_problem(instance),
            engine="cp-sat",
            time_limit_s=options.time_limit,
            confirm=False,
        )
        work = result.deterministic_work or 0.0
        if result.status.settled:
            total, proven = total + work, proven + 1
        say(f"{work:10.4f}  {result.status:10}  {name}")
    say(f"{total:10.4f}  in all, over {proven} with a proof")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("instance", nargs="*", metavar="INSTANCE")
    parser.add_argument("--count", type=int, default=60, help="random instances")
    parser.add_argument("--time-limit", type=float, default=40.0, metavar="S")
