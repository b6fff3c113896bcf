"""The proofs of two trees side by side: experiment ``paired_proofs BEFORE.jsonl AFTER.jsonl``.

Both files are what an experiment of proofs, such as `storm_proofs`, printed with ``--json``, each
on its tree, with the same engine and time limit. For each instance: CPU time, and the primal
integral (Berthold, Operations Research Letters 41, 2013), the integral over the wall-clock time
limit of the gap between the best placement so far and the best one that either tree found. The gap
is that of the first term that differs, and 1 before the first placement. The integral is 0 if the
best placement is found at once, and the whole limit if none is found.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, Values
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.errors import InputError, SlotwiseError, in_file
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.text import read_text
from slotwise.models.formats.validation import validated

COLUMNS = {
    "instance": "<36", "tasks": ">6", "before": "<10", "after": "<10", "CPU s before": ">12",
    "CPU s after": ">11", "integral before": ">15", "integral after": ">14",
}  # fmt: skip

SHIFT_S = 1.0
"""Added to CPU times before their ratios are averaged, so that instances of milliseconds do not
outweigh the others."""
SLOWER = 1.1
"""From this ratio of (shifted) CPU times on, an instance counts as slower."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one tree needed for an instance.

    Parameters
    ----------
    status
        As in `Measured`.
    cpu_s
        CPU time; ``None`` where its process died, or the engine refused.
    integral_s
        The primal integral; ``None`` where neither tree found a placement.
    """

    status: str
    cpu_s: float | None
    integral_s: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """One instance on both trees."""

    instance: str
    tasks: int
    before: Side
    after: Side

    @property
    def ratio(self) -> float | None:
        """CPU time after, of that before, both shifted; ``None`` where one is missing."""
        if self.before.cpu_s is None or self.after.cpu_s is None:
            return None
        return (self.after.cpu_s + SHIFT_S) / (self.before.cpu_s + SHIFT_S)

    def cells(self) -> list[str]:
        """Return its row in the table."""
        sides = self.before, self.after
        return [
            *(self.instance, str(self.tasks)),
            *(one.status for one in sides),
            *(number(one.cpu_s, ".2f") for one in sides),
            *(number(one.integral_s, ".3f") for one in sides),
        ]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the pairs add up to.

    Parameters
    ----------
    instances, proven_before, proven_after
        How many there are in both files, and are closed by each tree.
    left_out
        How many of these have no CPU time on one side and do not count for what follows.
    cpu_s_before, cpu_s_after, integral_s_before, integral_s_after
        Totals.
    ratio
        Geometric mean of the ratios of CPU times, shifted by `SHIFT_S`.
    slower
        How many instances took at least `SLOWER` times the CPU time, shifted.
    in_one_file
        How many instances stand in one file only.
    """

    instances: int
    proven_before: int
    proven_after: int
    left_out: int
    cpu_s_before: float
    cpu_s_after: float
    integral_s_before: float
    integral_s_after: float
    ratio: float
    slower: int
    in_one_file: int

    def lines(self) -> list[str]:
        """Return what people read."""
        return [
            f"Instances: {self.instances}; proven: {self.proven_before} before, "
            f"{self.proven_after} after; without CPU time on one side: {self.left_out}; "
            f"in one file only: {self.in_one_file}.",
            f"CPU: {self.cpu_s_before:.1f} s before, {self.cpu_s_after:.1f} s after; geometric "
            f"mean of the ratios of CPU times + {SHIFT_S:g} s: {self.ratio:.2f}; at least 10 % "
            f"slower by these: {self.slower}.",
            f"Primal integrals: {self.integral_s_before:.1f} s before, "
            f"{self.integral_s_after:.1f} s after.",
        ]


def pairs_of(before: Sequence[Measured], after: Sequence[Measured]) -> list[Pair]:
    """Return the instances that both trees have measured, in the order of the first.

    Raises
    ------
    SlotwiseError
        If an instance was not measured alike, or the trees prove different things.
    """
    others = {row.instance: row for row in after}
    pairs = []
    for row in before:
        other = others.get(row.instance)
        if other is None:
            continue
        _check_alike(row, other)
        best = min((values for one in (row, other) for _, values in one.improvements), default=None)
        pairs.append(Pair(row.instance, row.tasks, _side(row, best), _side(other, best)))
    return pairs


def _check_alike(row: Measured, other: Measured) -> None:
    for name in ("tasks", "nodes", "engine", "limit_s"):
        first, second = getattr(row, name), getattr(other, name)
        if first != second:
            raise SlotwiseError(f"{row.instance}: {name} is {first} before and {second} after")
    claims = [(one.status, [term.value for term in one.objective]) for one in (row, other)]
    if row.proven and other.proven and claims[0] != claims[1]:
        raise SlotwiseError(f"{row.instance}: proven {claims[0]} before and {claims[1]} after")


def _side(row: Measured, best: Values | None) -> Side:
    cpu_s = None if row.status == "refused" else row.cpu_s
    integral_s = None if best is None or cpu_s is None else primal_integral(row, best)
    return Side(row.status, cpu_s, integral_s)


def primal_integral(row: Measured, best: Values) -> float:
    """Return the primal integral of a run over its time limit, seconds; `best` values are known."""
    moments = [(0.0, 1.0), *((at, primal_gap(values, best)) for at, values in row.improvements)]
    ends = [at for at, _ in moments[1:]] + [row.limit_s]
    return sum(
        gap * max(min(end, row.limit_s) - at, 0.0)
        for (at, gap), end in zip(moments, ends, strict=True)
    )


def primal_gap(values: Values, best: Values) -> float:
    """Return how far values are from the best ones, from 0 to 1, in the first term that differs."""
    for value, least in zip(values, best, strict=True):
        if value != least:
            return min(1.0, abs(value - least) / max(abs(value), abs(least)))
    return 0.0


def summarise(pairs: Sequence[Pair], in_one_file: int = 0) -> Summary:
    """Return what `pairs` add up to."""
    proven = "optimal", "infeasible"
    known = [(one, one.ratio) for one in pairs if one.ratio is not None]
    sides = [[one.before for one, _ in known], [one.after for one, _ in known]]
    cpu_s = [sum(one.cpu_s or 0.0 for one in side) for side in sides]
    integral_s = [sum(one.integral_s or 0.0 for one in side) for side in sides]
    return Summary(
        instances=len(pairs),
        proven_before=sum(one.before.status in proven for one in pairs),
        proven_after=sum(one.after.status in proven for one in pairs),
        left_out=len(pairs) - len(known),
        cpu_s_before=cpu_s[0],
        cpu_s_after=cpu_s[1],
        integral_s_before=integral_s[0],
        integral_s_after=integral_s[1],
        ratio=math.exp(sum(math.log(ratio) for _, ratio in known) / max(len(known), 1)),
        slower=sum(ratio >= SLOWER for _, ratio in known),
        in_one_file=in_one_file,
    )


def read_rows(path: Path) -> list[Measured]:
    """Return the rows of a file, without its summary.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not such a row, or stands there twice.
    """
    rows: dict[str, Measured] = {}
    for at, line in enumerate(read_text(path).splitlines(), 1):
        with in_file(f"{path}, line {at}"):
            data = parse_json(line)
            if isinstance(data, dict) and "summary" in data:
                continue
            row = validated(Measured, data)
            _check_row(row)
            if row.instance in rows:
                raise InputError("stands there twice", field="instance", value=row.instance)
            rows[row.instance] = row
    return list(rows.values())


def _check_row(row: Measured) -> None:
    """Raise `InputError` where a row does not say what is compared."""
    again = "is missing; measure again with this tree"
    if row.cpu_s is None and row.status not in ("killed", "crashed"):
        raise InputError(again, field="cpu_s", has_value=False)
    if row.cpu_s is not None and not 0 <= row.cpu_s < math.inf:
        raise InputError("must be a time", field="cpu_s", value=row.cpu_s)
    if not row.improvements and any(term.value is not None for term in row.objective):
        raise InputError(again, field="improvements", has_value=False)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("before", type=Path, metavar="BEFORE.jsonl")
    parser.add_argument("after", type=Path, metavar="AFTER.jsonl")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(options: argparse.Namespace) -> None:
    """Print a row for each instance.

    Raises
    ------
    SlotwiseError
        If a file cannot be read, they have no instance in common, or do not compare.
    """
    before, after = read_rows(options.before), read_rows(options.after)
    pairs = pairs_of(before, after)
    if not pairs:
        rule = f"has no instance of {options.before}"
        raise InputError(rule, file=str(options.after), has_value=False)
    table = Table(COLUMNS, options.json)
    for one in pairs:
        table.add(asdict(one), one.cells())
    summary = summarise(pairs, len({row.instance for row in (*before, *after)}) - len(pairs))
    table.end(asdict(summary), summary.lines())
