"""Public assignment instances: ``python -m slotwise.benchmarks assignment_proofs FILE...``.

Files ``matrix-assignment``, each solved in a process of its own on one core. Prints, per file, the
published value and what is known of it, then our value, bound, gap, status, engine, seconds and
peak memory; at the end how many were proven and how many reach the published value.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.benchmarks.program import exit_code
from slotwise.benchmarks.proofs.isolated_run import Measured, measure
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.importers.matrix_assignment import (
    MATRIX_FORMAT,
    PublishedOptimum,
    published_optimum,
)
from slotwise.models.instance_file import instance_from_data
from slotwise.models.number_text import short_text
from slotwise.models.values import plain

LINE = (
    "{name:<22} {tasks:>5} {nodes:>5} {published:>12} {known:<10} {value:>12} {bound:>12} "
    "{gap:>8} {status:<10} {seconds:>7} {mb:>6}  {engine}"
)
HEADS = {
    "name": "instance", "tasks": "tasks", "nodes": "nodes", "published": "published",
    "known": "which is", "value": "value", "bound": "bound", "gap": "gap", "status": "status",
    "seconds": "seconds", "mb": "MB", "engine": "engine",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One file: what is published, and what came of it."""

    published: PublishedOptimum
    measured: Measured

    @property
    def value(self) -> float | None:
        """Our value; ``None`` = no placement."""
        terms = self.measured.objective
        return terms[0]["value"] if terms else None

    @property
    def reaches(self) -> bool:
        """Whether our value is the published one or less."""
        value, best = self.value, self.published.value
        return value is not None and best is not None and value <= plain(best)

    def to_document(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        best = self.published.value
        return {
            **self.measured.to_document(),
            "published": None if best is None else plain(best),
            "published_status": self.published.status,
        }

    def __str__(self) -> str:
        """One line of the table."""
        one, best = self.measured, self.published.value
        return LINE.format(
            name=one.instance,
            tasks=one.tasks,
            nodes=one.nodes,
            published=short_text(best),
            known=self.published.status,
            value=short_text(self.value),
            bound=short_text(one.objective[0]["bound"] if one.objective else None),
            gap="-" if one.gap is None else f"{100 * one.gap:.1f} %",
            status=one.status,
            seconds=f"{one.seconds:.1f}",
            mb="-" if one.memory_mb is None else f"{one.memory_mb:.0f}",
            engine=one.error or one.by or one.engine,
        ).rstrip()


def summary(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many files there are, were proven, have a published value and reach it."""
    return {
        "files": len(rows),
        "proven": sum(row.measured.proven for row in rows),
        "published": sum(row.published.value is not None for row in rows),
        "reached": sum(row.reaches for row in rows),
    }


def read(path: Path) -> tuple[Any, PublishedOptimum]:
    """Return the data of a ``matrix-assignment`` file and what it says of the optimum."""
    data, file = read_data(path)
    with in_file(file):
        if not isinstance(data, dict) or data.get("format") != MATRIX_FORMAT:
            raise InputError(f"must be a file {MATRIX_FORMAT!r}", has_value=False)
        return data, published_optimum(data)


def run(options: argparse.Namespace) -> None:
    """Measure every file and print it."""
    rows = []
    if not options.json:
        sys.stdout.write(LINE.format(**HEADS) + "\n")
    for path in options.files:
        data, published = read(path)
        measured = measure(
            instance_from_data(data), options.engine, options.time_limit, options.seed
        )
        rows.append(Row(published, measured))
        line = json.dumps(rows[-1].to_document()) if options.json else str(rows[-1])
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    counts = summary(rows)
    words = "{files} files, {proven} proven; {reached} of {published} published values reached"
    shown = json.dumps({"summary": counts}) if options.json else words.format(**counts)
    sys.stdout.write(f"{shown}\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m slotwise.benchmarks assignment_proofs",
        description="Proofs for files of assignment problems, each in a process of its own.",
    )
    made.add_argument("files", type=Path, nargs="+", metavar="FILE")
    made.add_argument("--engine", default="auto")
    made.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--json", action="store_true", help="one JSON object a line")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parser().parse_args(arguments)
    return exit_code("assignment_proofs", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
