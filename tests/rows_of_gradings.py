"""Folders of gradings with rows made by hand, as a grading stores them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from graded_rows import row as made_row

from slotwise.benchmarks.grading.rows import COLUMNS, Row

_TYPES = {
    **dict.fromkeys(("case_index", "tasks", "nodes", "topologies", "workers"), pa.int32()),
    **dict.fromkeys(("seed", "violation_count"), pa.int64()),
    **dict.fromkeys(("tightness", "time_limit_s", "gap", "wall_s", "cpu_s"), pa.float64()),
    **dict.fromkeys(("peak_memory_mb", "work", "work_limit"), pa.float64()),
    "terms": pa.list_(pa.struct([(key, pa.string()) for key in ("term", "value", "bound")])),
    "violations": pa.list_(pa.string()),
}
SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in COLUMNS])


def hash_of(instance: str) -> str:
    return f"sha256:{sha256(instance.encode()).hexdigest()}"


def row(
    instance: str,
    method: str,
    status: str,
    values: tuple[str, ...] | None = None,
    bounds: tuple[str | None, ...] | None = None,
    **more: Any,
) -> Row:
    """Return a row as a grading stores it; the bounds of an optimum are its values."""
    stored: dict[str, Any] = {
        "instance_hash": hash_of(instance),
        "tasks": 5,
        "tightness": 0.4,
        "version": "slotwise 1, rows 2",
        "versions": "{}",
        "reason": None,
        "wall_s": 1.0,
    }
    proven = values if status == "optimal" else None
    return made_row(instance, method, status, values, bounds or proven, **(stored | more))


def write_rows(folder: Path, *chunks: Sequence[Row]) -> Path:
    """Write each chunk as a file, the oldest first, as a grading does."""
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(chunks):
        path = folder / "rows" / f"rows-{number:08d}-{secrets.token_hex(4)}.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows), schema=SCHEMA), path)
    return folder
