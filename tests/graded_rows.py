"""Rows of a grading made by hand, for tests of what is computed from them, and folders of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.grading.row_file import ROW_SCHEMA as SCHEMA
from slotwise.benchmarks.grading.rows import COLUMNS, MEANING, Row

TERMS = ("overload", "network")
EXACT = ("optimal", "feasible", "infeasible", "unknown")


def row(
    instance: str,
    method: str,
    status: str,
    values: Sequence[str] | None = None,
    bounds: Sequence[str | None] | None = None,
    terms: Sequence[str] = TERMS,
    **more: Any,
) -> Row:
    """Return the row of a run; a status of the exact engine makes it one.

    The bounds of an optimum are its values, where none are given.
    """
    blank: Row = dict.fromkeys(COLUMNS)
    cells = None
    if values is not None:
        known = bounds or (values if status == "optimal" else (None,) * len(values))
        cells = [
            {"term": term, "value": value, "bound": bound}
            for term, value, bound in zip(terms, values, known, strict=True)
        ]
    return {
        **blank,
        "instance_hash": f"sha256:{instance}",
        "instance": instance,
        "tasks": 4,
        "nodes": 2,
        "topologies": 1,
        "tightness": 0.5,
        "kind": "exact" if status in EXACT else "heuristic",
        "method": method,
        "parameters": "{}",
        "seed": 0,
        "time_limit_s": 10.0,
        "workers": 1,
        "version": f"slotwise 0, {MEANING}",
        "versions": json.dumps({"slotwise": "0"}),
        "status": status,
        "terms": cells,
        "reason": "no room" if status == "refused" else None,
        "wall_s": 1.0,
        **more,
    }


def optimum(instance: str, overload: str, network: str, **more: Any) -> Row:
    """Return the row of an exact engine that proved these values."""
    return row(instance, "auto", "optimal", (overload, network), **more)


def write_rows(folder: Path, *chunks: Sequence[Row]) -> Path:
    """Write each chunk as a file, the oldest first, as a grading does."""
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(chunks):
        path = folder / "rows" / f"rows-{number:08d}-{secrets.token_hex(4)}.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows), schema=SCHEMA), path)
    return folder
