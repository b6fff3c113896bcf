"""Rows of a grading made by hand, for tests of what is computed from them, and folders of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.grading.rows import COLUMNS, Row

TERMS = ("overload", "network")
EXACT = ("optimal", "feasible", "infeasible", "unknown")

_TYPES = {
    **dict.fromkeys(("case_index", "tasks", "nodes", "topologies", "workers"), pa.int32()),
    **dict.fromkeys(("seed", "violation_count"), pa.int64()),
    **dict.fromkeys(("tightness", "time_limit_s", "gap", "wall_s", "cpu_s"), pa.float64()),
    **dict.fromkeys(("peak_memory_mb", "work", "work_limit"), pa.float64()),
    "terms": pa.list_(pa.struct([(key, pa.string()) for key in ("term", "value", "bound")])),
    "violations": pa.list_(pa.string()),
}
SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in COLUMNS])


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
        "version": "slotwise 0, rows 2",
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
