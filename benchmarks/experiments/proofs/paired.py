"""The proofs of two trees side by side: experiment ``paired_proofs OLD.jsonl NEW.jsonl``.

Both files are what an experiment of proofs, such as `storm_proofs`, printed with ``--json``, each
on its tree, on the same instances. For each instance: CPU time, and the primal integral (Berthold,
Operations Research Letters 41, 2013) in seconds, the time of the search weighted by how far its
best placement was from the best that either tree found; without a placement that is 1. A tree that
finds the best placement at once has 0, one that finds none the whole time limit.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, Values
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import InputError
from slotwise.models.formats.text import read_text

COLUMNS = {
    "instance": "<36", "tasks": ">6", "before": "<10", "after": "<10", "CPU s": ">8",
    "after CPU s": ">12", "integral s": ">11", "after integral s": ">17",
}  # fmt: skip

SHIFT_S = 1.0
"""Added to CPU times before their ratios are averaged, so that instances of milliseconds do not
outweigh the others."""
SLOWER = 1.1
"""From this ratio of (shifted) CPU times on, an instance counts as slower."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one tree needed for an instance: its status, CPU seconds, and primal integral."""

    status: str
    cpu_s: float
    integral_s: float


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance on both trees."""

    instance: str
    tasks: int
    before: Side
    after: Side

    @property
    def ratio(self) -> float:
        """CPU time after, of that before, both shifted."""
        return (self.after.cpu_s + SHIFT_S) / (self.before.cpu_s + SHIFT_S)

    def cells(self) -> list[str]:
        """Return its row in the table."""
        sides = self.before, self.after
        cpu = [f"{one.cpu_s:.2f}" for one in sides]
        integrals = [f"{one.integral_s:.3f}" for one in sides]
        statuses = [one.status for one in sides]
        return [self.instance, str(self.tasks), *statuses, *cpu, *integrals]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the pairs add up to.

    Parameters
    ----------
    instances, proven_before, proven_after
        How many there are, and are closed by each tree.
    cpu_s_before, cpu_s_after, integral_s_before, integral_s_after
        Totals.
    ratio
        Geometric mean of the ratios of CPU times, shifted by `SHIFT_S`.
    slower
        How many instances took at least `SLOWER` times the CPU time.
    """

    instances: int
    proven_before: int
    proven_after: int
    cpu_s_before: float
    cpu_s_after: float
    integral_s_before: float
    integral_s_after: float
    ratio: float
    slower: int

    def __str__(self) -> str:
        """Two lines for people."""
        return (
            f"{self.instances} instances: {self.proven_before} proven before, "
            f"{self.proven_after} after; CPU {self.cpu_s_before:.0f} s before, "
            f"{self.cpu_s_after:.0f} s after\n"
            f"(geometric mean of the ratios {self.ratio:.2f}; {self.slower} slower by 10 %); "
            f"primal integrals {self.integral_s_before:.1f} s before, "
            f"{self.integral_s_after:.1f} s after."
        )


def pairs_of(before: Sequence[Measured], after: Sequence[Measured]) -> list[Pair]:
    """Return the instances that both trees have measured, in the order of the first."""
    others = {row.instance: row for row in after}
    pairs = []
    for row in before:
        other = others.get(row.instance)
        if other is not None:
            best = min((list(v) for one in (row, other) for v in _values(one)), default=[])
            pairs.append(
                Pair(row.instance, row.tasks, _side(row, best), _side(other, best)),
            )
    return pairs


def _values(row: Measured) -> list[list[float]]:
    """Return the values of the placements found, without those that say nothing of a term."""
    return [[v for v in values if v is not None] for _, values in row.improvements]


def _side(row: Measured, best: list[float]) -> Side:
    assert row.cpu_s is not None, "read_rows has seen to it"
    return Side(row.status, row.cpu_s, primal_integral(row, best))


def primal_integral(row: Measured, best: Sequence[float]) -> float:
    """Return the primal integral of a run over its time limit, seconds.

    Parameters
    ----------
    row
        The run.
    best
        The best values known of all terms; empty where no placement is known.
    """
    moments = [(0.0, 1.0), *((at, primal_gap(values, best)) for at, values in row.improvements)]
    ends = [at for at, _ in moments[1:]] + [row.limit_s]
    return sum(
        gap * max(min(end, row.limit_s) - at, 0.0)
        for (at, gap), end in zip(moments, ends, strict=True)
    )


def primal_gap(values: Values, best: Sequence[float]) -> float:
    """Return how far values are from the best ones, from 0 to 1, in the first term that differs."""
    for value, least in zip(values, best, strict=True):
        if value is None:
            return 1.0
        if value != least:
            return min(1.0, abs(value - least) / max(abs(value), abs(least)))
    return 0.0


def summarise(pairs: Sequence[Pair]) -> Summary:
    """Return what `pairs` add up to."""
    proven = "optimal", "infeasible"
    return Summary(
        instances=len(pairs),
        proven_before=sum(one.before.status in proven for one in pairs),
        proven_after=sum(one.after.status in proven for one in pairs),
        cpu_s_before=sum(one.before.cpu_s for one in pairs),
        cpu_s_after=sum(one.after.cpu_s for one in pairs),
        integral_s_before=sum(one.before.integral_s for one in pairs),
        integral_s_after=sum(one.after.integral_s for one in pairs),
        ratio=math.exp(sum(math.log(one.ratio) for one in pairs) / max(len(pairs), 1)),
        slower=sum(one.ratio >= SLOWER for one in pairs),
    )


def read_rows(path: Path) -> list[Measured]:
    """Return the rows of a file, without its summary, and those of processes that died.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not such a row.
    """
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            data = json.loads(line)
            if "summary" not in data:
                row = Measured(**data)
                rows += [row] if row.cpu_s is not None else []
        except (TypeError, ValueError) as error:
            rule = "must be a row that an experiment of proofs printed with --json"
            raise InputError(
                rule, file=str(path), field=f"line {number}", has_value=False
            ) from error
    return rows


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("before", type=Path, metavar="OLD.jsonl")
    parser.add_argument("after", type=Path, metavar="NEW.jsonl")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(options: argparse.Namespace) -> None:
    """Print a row for each instance.

    Raises
    ------
    InputError
        If a file cannot be read, or they have no instance in common.
    """
    pairs = pairs_of(read_rows(options.before), read_rows(options.after))
    if not pairs:
        rule = "must have an instance of the first file"
        raise InputError(rule, file=str(options.after), has_value=False)
    table = Table(COLUMNS, options.json)
    for one in pairs:
        table.add(asdict(one), one.cells())
    summary = summarise(pairs)
    table.end(asdict(summary), str(summary).splitlines())
