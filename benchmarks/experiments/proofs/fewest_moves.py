"""Fewest moves over all best plans: experiment ``fewest_moves``.

Random clusters on which a topology runs, each solved twice in this process on one thread: for the
network alone, and for the network and then fewest moves; before that, with ``--tiny``, tiny
instances that exhaustive search solves, too. Wherever the first is proven the second
should be, in at most five times its seconds (geometric mean) and one second more.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice

import numpy as np

from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.benchmarks.experiments.table import Table, number, say
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance.instance import Instance
from slotwise.models.values import plain, short_text
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import tiny_instance

COLUMNS = {
    "instance": "<14", "tasks": ">5", "nodes": ">5", "racks": ">5", "network": ">8",
    "bound": ">8", "s": ">7", "moved": ">6", "of bound": ">8", "with moves: s": ">13",
    "proven": "<7",
}  # fmt: skip
ALLOWED_FACTOR, ALLOWED_S = 5.0, 1.0
TINY_S = 30.0
"""Time limit of each solve of a tiny instance."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One instance: network alone, and network with moves; ``None`` = no value or no bound."""

    name: str
    tasks: int
    nodes: int
    racks: int
    network: float | None
    bound: float | None
    seconds: float
    is_proven: bool
    moved: float | None
    moved_bound: float | None
    seconds_with_moves: float
    is_proven_with_moves: bool

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        proven = {(True, True): "both", (True, False): "network", (False, False): "neither"}
        return (
            *(self.name, str(self.tasks), str(self.nodes), str(self.racks)),
            *(short_text(self.network), short_text(self.bound), f"{self.seconds:.2f}"),
            *(
                short_text(self.moved),
                short_text(self.moved_bound),
                f"{self.seconds_with_moves:.2f}",
            ),
            proven.get((self.is_proven, self.is_proven_with_moves), "moves"),
        )


def compared(instance: Instance, time_limit_s: float) -> Compared:
    """Solve one instance both ways; raises `SlotwiseError` where two proofs differ."""
    objective = replace(instance.objective, terms=("network",))
    alone = solve(replace(instance, running=None, objective=objective), time_limit_s=time_limit_s)
    joint = solve(instance, time_limit_s=time_limit_s)
    network, moved = joint.objective
    both_proven = alone.status is Status.OPTIMAL and network.proven
    if both_proven and alone.objective[0].value != network.value:
        raise SlotwiseError(f"{instance.name}: two proofs of the network differ")
    first = alone.objective[0]
    return Compared(
        name=instance.name,
        tasks=len(instance.task_names()),
        nodes=len(instance.cluster.nodes),
        racks=len(instance.cluster.racks),
        network=None if first.value is None else plain(first.value),
        bound=None if first.bound is None else plain(first.bound),
        seconds=alone.seconds,
        is_proven=alone.status.settled,
        moved=None if moved.value is None else plain(moved.value),
        moved_bound=None if moved.bound is None else plain(moved.bound),
        seconds_with_moves=joint.seconds,
        is_proven_with_moves=joint.status.settled,
    )


def check_tiny(count: int, seed: int) -> Counter[str]:
    """Compare ``auto`` with exhaustive search on tiny instances with ``moved`` as the last term.

    Returns how many ended how. Raises `SlotwiseError` where they differ.
    """
    rng = np.random.default_rng(seed)
    ends: Counter[str] = Counter()
    while ends.total() < count:
        instance = tiny_instance(rng)
        if instance.running is None:
            continue
        earlier = tuple(t for t in instance.objective.terms if "moved" not in t) or ("network",)
        objective = replace(instance.objective, terms=(*earlier, "moved"), limits={})
        try:
            instance = replace(instance, objective=objective)
        except InputError:  # linear costs that no term counts
            continue
        truth = solve(instance, engine="exhaustive", time_limit_s=TINY_S)
        result = solve(instance, time_limit_s=TINY_S)
        values = [[term.value for term in one.objective] for one in (truth, result)]
        both_proven = truth.status.settled and result.status.settled
        if both_proven and (truth.status != result.status or values[0] != values[1]):
            raise SlotwiseError(f"{instance.name}: auto and exhaustive search differ")
        ends[str(result.status) if both_proven else "open"] += 1
    return ends


def _summary(rows: Sequence[Compared]) -> dict[str, float | int | None]:
    """Return counts, and the geometric mean of the ratios beyond the second that is allowed."""
    proven_rows = [row for row in rows if row.is_proven and row.is_proven_with_moves]
    ratios = [
        max(row.seconds_with_moves - ALLOWED_S, 1e-3) / max(row.seconds, 1e-3)
        for row in proven_rows
    ]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    return {
        "instances": len(rows),
        "network_proven": sum(row.is_proven for row in rows),
        "both_proven": len(proven_rows),
        "ratio": mean,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--count", type=int, default=200, help="instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="of each solve")
    parser.add_argument(
        "--tiny",
        type=int,
        default=0,
        help="number of tiny ones to compare with exhaustive search first",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print the table; the modules that the first solve loads are loaded before the clock runs."""
    if options.tiny:
        ends = check_tiny(options.tiny, options.seed)
        counts = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
        say(
            json.dumps({"tiny": dict(ends)}) if options.json else f"Tiny instances agree: {counts}."
        )
    if not options.count:
        return
    instances = running_clusters(options.seed)
    solve(next(running_clusters(options.seed + 1)), time_limit_s=options.time_limit)
    table = Table(COLUMNS, options.json)
    rows = []
    for instance in islice(instances, options.count):
        rows.append(compared(instance, options.time_limit))
        table.add(asdict(rows[-1]), rows[-1].cells())
    sums = _summary(rows)
    summary = (
        f"Network proven on {sums['network_proven']} of {sums['instances']}, with fewest moves "
        f"on {sums['both_proven']} of these.",
        f"Seconds with moves, less {ALLOWED_S:g}, over seconds without: geometric mean "
        f"{number(sums['ratio'], '.2f')} (allowed {ALLOWED_FACTOR:g}).",
    )
    table.end(sums, summary)
