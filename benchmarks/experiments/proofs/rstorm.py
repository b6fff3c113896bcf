"""Our proofs beside the textbook encodings: experiment ``proofs``.

Each engine solves each instance in a process of its own, on one core, one after the other. The
speed-up is the geometric mean of the ratios of wall-clock seconds to the proof, over the instances
on which the textbook needs more than ten seconds; what is stopped counts with its limit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from slotwise.benchmarks.experiments.proofs.engine_options import (
    add_engine_options,
    check_engine_options,
)
from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, measure
from slotwise.benchmarks.experiments.proofs.table import ProofTable
from slotwise.models.errors import SlotwiseError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.instance import Instance

FAMILIES_SHOWN = ("rstorm", "rstorm-3d")
"""The nine topologies of R-Storm, and the same shapes with random demands."""

RANDOM_COUNT = 20
TEXTBOOK_NAMES = ("textbook-cp-sat", "textbook-highs")
HARD_S = 10.0
"""Instances on which the textbook is faster say nothing."""


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """How much faster than one textbook encoding.

    Parameters
    ----------
    textbook
        Its name.
    ratio
        Geometric mean of (seconds of the textbook / ours); ``None`` where no instance counts.
    instances
        How many count: the textbook needs more than `HARD_S`.
    textbook_stopped, ours_stopped
        How many of them were stopped, and count with their limit.
    """

    textbook: str
    ratio: float | None
    instances: int
    textbook_stopped: int
    ours_stopped: int

    def __str__(self) -> str:
        """One line for people."""
        if self.ratio is None:
            return f"{self.textbook}: no instance on which it needs more than {HARD_S:g} s."
        return (
            f"{self.ratio:.0f} times faster to the proof than {self.textbook} (geometric mean over "
            f"{self.instances} instances on which it needs more than {HARD_S:g} s; "
            f"{self.textbook_stopped} of them stopped at the limit and counted as that; "
            f"ours stopped on {self.ours_stopped})."
        )


def speed_up(textbook: str, pairs: Sequence[tuple[Measured, Measured]]) -> SpeedUp:
    """Return how much faster the first of each pair (ours) is than the second."""
    hard = [
        (ours, theirs)
        for ours, theirs in pairs
        if theirs.status != "refused" and _seconds(theirs) > HARD_S
    ]
    logs = [math.log(_seconds(theirs) / _seconds(ours)) for ours, theirs in hard]
    return SpeedUp(
        textbook=textbook,
        ratio=math.exp(sum(logs) / len(logs)) if logs else None,
        instances=len(hard),
        textbook_stopped=sum(not theirs.proven for _, theirs in hard),
        ours_stopped=sum(not ours.proven for ours, _ in hard),
    )


def _seconds(row: Measured) -> float:
    """Seconds to the proof; the limit where there is none, and never more than that."""
    return min(row.seconds, row.limit_s) if row.proven else row.limit_s


def check_agreement(ours: Measured, theirs: Measured) -> None:
    """Refuse two proofs that differ.

    Raises
    ------
    SlotwiseError
        Naming both.
    """
    if not (ours.proven and theirs.proven):
        return
    values = [[term.value for term in row.objective] for row in (ours, theirs)]
    if ours.status != theirs.status or values[0] != values[1]:
        raise SlotwiseError(
            f"{ours.instance}: {ours.engine} proves {ours.status} {values[0]}, "
            f"{theirs.engine} proves {theirs.status} {values[1]}"
        )


def instances(families: Sequence[str], count: int | None, seed: int) -> Iterator[Instance]:
    """Yield the instances of the families; `count` of each, as far as it has them."""
    for name in families:
        family = FAMILIES[name]
        number = family.count if family.limited else RANDOM_COUNT
        if count is not None:
            number = min(count, family.count) if family.limited else count
        yield from family.generate(number, seed)


def run(options: argparse.Namespace) -> None:
    """Measure everything and print it."""
    check_engine_options(options, "time_limit", "textbook_limit")
    table = ProofTable(options.json)
    pairs: dict[str, list[tuple[Measured, Measured]]] = {name: [] for name in options.textbook}
    for instance in instances(options.family or FAMILIES_SHOWN, options.count, options.seed):
        ours = measure(instance, options.engine, options.time_limit)
        table.add_proof(ours)
        for name in options.textbook:
            theirs = measure(instance, name, options.textbook_limit)
            table.add_proof(theirs)
            check_agreement(ours, theirs)
            pairs[name].append((ours, theirs))
    summaries = [speed_up(name, measured) for name, measured in pairs.items()]
    table.end({"speed_up": [asdict(s) for s in summaries]}, map(str, summaries))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument(
        "--family", action="append", choices=sorted(FAMILIES), help="default: rstorm and rstorm-3d"
    )
    parser.add_argument("--count", type=int, help="instances of each family (default: 9 and 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the random families")
    add_engine_options(parser, TEXTBOOK_NAMES, textbook_limit_s=600.0)
