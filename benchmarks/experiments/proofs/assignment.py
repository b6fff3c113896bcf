"""Public assignment instances: experiment ``assignment_proofs FILE...``.

Files ``matrix-assignment``, each solved in a process of its own on one core. Prints, per file, the
published value and what is known of it, then our value, bound, gap, status, engine, seconds and
peak memory; at the end how many were proven and how many reach the published value.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.benchmarks.experiments.proofs.engine_options import check_engine_options
from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, measure
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.importers.matrix_assignment import (
    MATRIX_FORMAT,
    PublishedOptimum,
    published_optimum,
)
from slotwise.models.instance_file import instance_from_data
from slotwise.models.values import plain, short_text, whole

COLUMNS = {
    "instance": "<22", "tasks": ">5", "nodes": ">5", "published": ">12", "which is": "<10",
    "value": ">12", "bound": ">12", "gap": ">8", "status": "<10", "seconds": ">7", "MB": ">6",
    "engine": "<28",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PublishedProof:
    """One file: what is published, and what came of it."""

    published: PublishedOptimum
    measured: Measured

    @property
    def value(self) -> float | None:
        """Our value; ``None`` = no placement."""
        terms = self.measured.objective
        return terms[0].value if terms else None

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

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        measured = self.measured
        return (
            measured.instance,
            str(measured.tasks),
            str(measured.nodes),
            short_text(self.published.value),
            self.published.status,
            short_text(self.value),
            short_text(measured.objective[0].bound if measured.objective else None),
            number(measured.gap, ".1%"),
            measured.status,
            f"{measured.seconds:.1f}",
            number(measured.memory_mb, ".0f"),
            measured.error or measured.by or measured.engine,
        )


def summary(rows: Sequence[PublishedProof]) -> dict[str, int]:
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
    check_engine_options(options, "time_limit")
    whole(options.seed, "--seed")
    files = [read(path) for path in options.files]
    table, rows = Table(COLUMNS, options.json), []
    for data, published in files:
        measured = measure(
            instance_from_data(data), options.engine, options.time_limit, options.seed
        )
        rows.append(PublishedProof(published, measured))
        table.add(rows[-1].to_document(), rows[-1].cells())
    counts = summary(rows)
    words = "{files} files, {proven} proven; {reached} of {published} published values reached"
    table.end(counts, [words.format(**counts)])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
