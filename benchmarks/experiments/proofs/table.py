"""Proofs as rows of a table."""

from __future__ import annotations

from slotwise.benchmarks.experiments.proofs.isolated_run import NO_TERM, Measured
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.values import short_text

COLUMNS = {
    "instance": "<36", "tasks": ">6", "engine": "<28", "status": "<10", "term": "<9",
    "value": ">12", "bound": ">12", "gap": ">8", "seconds": ">9", "MB": ">7",
}  # fmt: skip


class ProofTable(Table):
    """A row for each engine on each instance."""

    def __init__(self, as_json: bool) -> None:
        super().__init__(COLUMNS, as_json)

    def add_proof(self, row: Measured) -> None:
        """Print one row."""
        self.add(row.to_document(), _cells(row))


def _cells(row: Measured) -> tuple[str, ...]:
    term = row.first_open or NO_TERM
    engine = row.engine if not row.by or row.engine.startswith("textbook") else row.by
    return (
        row.instance,
        str(row.tasks),
        engine.partition(" (")[0],
        row.status,
        term.term,
        short_text(term.value),
        short_text(term.bound),
        number(row.gap, ".2%"),
        f"{row.seconds:.2f}",
        number(row.memory_mb, ".0f"),
    )
