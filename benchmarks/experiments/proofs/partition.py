"""Balanced partitions: experiment ``partition_proofs --instances DIR``.

Every file ``matrix-assignment`` in a folder, solved by our engine and by the textbook's model of
equal parts in CP-SAT and in HiGHS, each in a process of its own on one core. One line a file: the
published value, our value, and of each of them seconds to the proof, or ``>`` the limit, with the
bound reached. Two proofs that differ end the run.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slotwise.benchmarks.experiments.proofs.assignment import read
from slotwise.benchmarks.experiments.proofs.engine_options import (
    add_engine_options,
    check_engine_options,
)
from slotwise.benchmarks.experiments.proofs.isolated_run import NO_TERM, Measured, measure
from slotwise.benchmarks.experiments.proofs.rstorm import check_agreement
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import InputError
from slotwise.models.importers.matrix_assignment import PublishedOptimum
from slotwise.models.instance_file import instance_from_data
from slotwise.models.values import plain, short_text

TEXTBOOK_NAMES = ("textbook-partition-cp-sat", "textbook-partition-highs")
COLUMNS = {
    "instance": "<26", "tasks": ">5", "parts": ">5", "published": ">9", "value": ">9",
    "s": ">7", "bound": ">9",
    "CP-SAT: value": ">13", "CP-SAT: s": ">9", "CP-SAT: bound": ">13",
    "MILP: value": ">11", "MILP: s": ">7", "MILP: bound": ">11",
}  # fmt: skip


def files_in(folder: Path) -> list[Path]:
    """Return the JSON files of a folder, numbers in names in their order.

    Raises
    ------
    InputError
        Where there are none.
    """
    files = [path for path in folder.glob("*.json") if path.is_file()]
    if not files:
        raise InputError("must be a folder with files *.json", field="--instances", value=folder)
    return sorted(files, key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)])


def _solved(measured: Measured) -> tuple[str, str, str]:
    """Return value, seconds and bound of the first term."""
    term = measured.objective[0] if measured.objective else NO_TERM
    seconds = f"{measured.seconds:.1f}" if measured.proven else f">{measured.limit_s:g}"
    return short_text(term.value), seconds, short_text(term.bound)


def _cells(published: PublishedOptimum, by_engine: Mapping[str, Measured]) -> tuple[str, ...]:
    ours, *theirs = by_engine.values()
    value, seconds, bound = _solved(ours)
    others = [cell for one in theirs for cell in _solved(one)]
    skipped = ["-"] * (len(COLUMNS) - 7 - len(others))
    published_text = short_text(published.value)
    sizes = (ours.instance.removeprefix("gpcap-"), str(ours.tasks), str(ours.nodes))
    return (*sizes, published_text, value, seconds, bound, *others, *skipped)


def _document(published: PublishedOptimum, by_engine: Mapping[str, Measured]) -> dict[str, Any]:
    best = published.value
    return {
        "published": None if best is None else plain(best),
        **{name: measured.to_document() for name, measured in by_engine.items()},
    }


def summary(rows: Sequence[Mapping[str, Measured]]) -> dict[str, int]:
    """Return how many files there are, and how many each engine proved."""
    names = rows[0]
    return {"files": len(rows), **{n: sum(row[n].proven for row in rows) for n in names}}


def run(options: argparse.Namespace) -> None:
    """Measure every file and print it."""
    check_engine_options(options, "time_limit", "textbook_limit")
    files = [read(path) for path in files_in(options.instances)]
    table, rows = Table(COLUMNS, options.json), []
    limits = {options.engine: options.time_limit}
    limits |= dict.fromkeys(options.textbook, options.textbook_limit)
    for data, published in files:
        instance = instance_from_data(data)
        row = {name: measure(instance, name, limit) for name, limit in limits.items()}
        for theirs in row.values():
            check_agreement(row[options.engine], theirs)
        rows.append(row)
        table.add(_document(published, row), _cells(published, row))
    counts = summary(rows)
    proven = ", ".join(f"{name} {counts[name]}" for name in limits)
    table.end(counts, [f"{counts['files']} files, proven by: {proven}"])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--instances", type=Path, required=True, metavar="DIR")
    add_engine_options(parser, TEXTBOOK_NAMES, textbook_limit_s=60.0)
