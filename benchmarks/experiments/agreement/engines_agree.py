"""Whether the exact engines agree, rule by rule.

Random instances are solved by all engines; `panel` says what must hold. The table counts, for
each rule, the instances where it occurs, how they ended, and how many of them each engine settled.
An instance on which something does not hold is written to a file, and printed with the command
that asks about it again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slotwise.benchmarks.experiments.agreement.mid_size import mid_instance
from slotwise.benchmarks.experiments.agreement.panel import PANEL, ask, disagreements
from slotwise.benchmarks.experiments.agreement.presolve import presolve_instance, presolve_mutation
from slotwise.benchmarks.experiments.agreement.rule_coverage import rules_in
from slotwise.benchmarks.experiments.agreement.tally import InstanceRow, Said, Tally
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.formats.row_file import RowFile
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_text, read_instance, write_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits
from slotwise.testing.random_instances.tiny import mixed_instance, widely_scaled_instance
from slotwise.testing.random_instances.workloads import workload_instance

PROGRAM = "python -m slotwise.benchmarks.experiments engines_agree"
FAMILIES: dict[str, Callable[[np.random.Generator], Instance]] = {
    "tiny": mixed_instance,
    "mid-size": mid_instance,
    "widely-scaled": widely_scaled_instance,
    "presolve": presolve_mutation,
    "workload": workload_instance,
}
"""``widely-scaled``: tiny instances with rates from 10^-6 to 10^7. ``presolve``: see
`presolve`; number 0 is the instance itself. ``workload``: tiny instances that count
``bottleneck``."""


def made(family: str, seed: int, number: int) -> Instance:
    """Return instance `number` of a family and seed."""
    if family == "presolve" and number == 0:
        return presolve_instance()
    return FAMILIES[family](np.random.default_rng((seed, number)))


def look_at(instance: Instance, number: int, engines: Sequence[str], limits: Limits) -> InstanceRow:
    """Ask engines about one instance."""
    problem = compile_problem(instance)
    answers = [ask(name, problem, limits) for name in engines]
    rules = tuple(sorted(rules_in(instance)))
    claims = tuple(Said.of(answer) for answer in answers)
    return InstanceRow(number, rules, claims, disagreements(problem, answers))


@dataclass(frozen=True, slots=True)
class Sweep:
    """Which instances of a family are asked about, and whom.

    Parameters
    ----------
    family, seed, numbers
        Which instances; number n has seed n for the engines.
    engines
        Names of `PANEL`.
    time_s
        Seconds per engine and instance.
    faults
        Folder for instances on which something does not hold; ``None`` = they are not written.
    rows
        File of what was said so far: instances in it are not asked about again, save those with a
        mismatch, whose latest row counts; ``None`` = none is kept.
    """

    family: str
    seed: int
    numbers: range
    engines: tuple[str, ...] = tuple(PANEL)
    time_s: float = 60.0
    faults: Path | None = None
    rows: Path | None = None

    def run(self) -> Tally:
        """Ask."""
        tally = Tally(self.engines)
        file = RowFile(self.rows, InstanceRow)
        latest = {row.number: row for row in file.rows}
        finished = {number: row for number, row in latest.items() if not row.mismatches}
        for row in finished.values():
            tally.add(row)
        for number in self.numbers:
            if number not in finished:
                row = self._look_at(number)
                tally.add(row)
                file.append(row)
                self._progress(tally)
        return tally

    def _look_at(self, number: int) -> InstanceRow:
        instance = made(self.family, self.seed, number)
        limits = Limits(time_s=self.time_s, seed=number)
        row = look_at(instance, number, self.engines, limits)
        if row.mismatches and self.faults:
            self.faults.mkdir(parents=True, exist_ok=True)
            path = self.faults / f"{self.family}-{self.seed}-{number}.json"
            write_instance(path, instance)
            again = f"{PROGRAM} {path} --seed {number} --engines {','.join(self.engines)}"
            lines = (*row.mismatches, "again: " + again, instance_text(instance))
            sys.stderr.write("\n".join(lines))
        return row

    def _progress(self, tally: Tally) -> None:
        if tally.instances % 100 == 0:
            sys.stderr.write(
                f"{self.family}: {tally.instances} of {len(self.numbers)} looked at, "
                f"{len(tally.mismatches)} mismatches\n"
            )


def on_files(paths: Sequence[str], seed: int, engines: tuple[str, ...], time_s: float) -> Tally:
    """Ask about the instances in files."""
    tally = Tally(engines)
    for number, path in enumerate(paths):
        tally.add(look_at(read_instance(path), number, engines, Limits(time_s, seed=seed)))
    return tally


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("files", nargs="*", metavar="INSTANCE", help="files instead of a family")
    parser.add_argument("--family", choices=FAMILIES, default="tiny")
    parser.add_argument("--count", type=int, default=2000, help="how many instances")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="every N-th of them")
    parser.add_argument("--seed", type=int, default=0, help="of the family; of the engines")
    parser.add_argument("--engines", default=",".join(PANEL), help="default: all")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per engine")
    parser.add_argument(
        "--faults", default="disagreements", metavar="DIR", help="for instances that show a fault"
    )
    parser.add_argument(
        "--rows", metavar="FILE", help="keep the results, and resume where FILE ends"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(options: argparse.Namespace) -> None:
    """Ask and print.

    Raises
    ------
    SlotwiseError
        When something does not hold.
    """
    if options.files:
        engines = _engines(options.engines)
        tally = on_files(options.files, options.seed, engines, options.time_limit)
    else:
        tally = sweep_of(options).run()
    shown = [json.dumps(tally.to_document())] if options.json else tally.lines()
    sys.stdout.writelines(f"{line}\n" for line in shown)
    if tally.mismatches:
        raise SlotwiseError(f"{len(tally.mismatches)} mismatches")


def sweep_of(options: argparse.Namespace) -> Sweep:
    """Return what the command line asks for."""
    return Sweep(
        options.family,
        options.seed,
        _shard(range(options.first, options.first + options.count), options.shard),
        _engines(options.engines),
        options.time_limit,
        Path(options.faults),
        Path(options.rows) if options.rows else None,
    )


def _shard(numbers: range, text: str) -> range:
    index, _, shards = text.partition("/")
    if not (index.isdecimal() and shards.isdecimal() and int(index) < int(shards)):
        raise InputError("must be I/N with 0 <= I < N", field="shard", value=text)
    return numbers[int(index) :: int(shards)]


def _engines(names: str) -> tuple[str, ...]:
    chosen = tuple(names.split(","))
    for name in chosen:
        if name not in PANEL:
            raise InputError(f"must be among {', '.join(PANEL)}", field="engines", value=name)
    return chosen
