"""A grading that has all its rows already: recognised without Spark, by the files of its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from slotwise.benchmarks.grading.batch.start import Batch, Done
from slotwise.benchmarks.grading.environment import families_version
from slotwise.benchmarks.grading.row_file import NOT_PARQUET
from slotwise.benchmarks.grading.rows import (
    FAILED,
    KEY,
    MEANING,
    RIGHTLY_REFUSED,
    RunStatus,
    key_of,
    newest_rows,
)
from slotwise.benchmarks.grading.sources import Case, CaseRange
from slotwise.benchmarks.grading.store import INSTANCES, ROWS, parquet_files

MOST_RUNS = 100_000
"""For a larger plan Spark finds the remaining runs."""

Key = tuple[Any, ...]


def finished(batch: Batch, folder: Path) -> Done | None:
    """Return how the runs of `batch` ended where none is left; ``None`` = some may be.

    A folder that is not as a grading leaves it is left to Spark, which says what is wrong.
    """
    if batch.narrowed is not None:
        return None
    try:
        cases = _cases(batch, folder)
        if cases is None or len(cases) * len(batch.settings) > MOST_RUNS:
            return None
        statuses = _statuses(folder)
    except (*NOT_PARQUET, KeyError):
        return None
    plan = [
        (case, str(one.kind), one.method, one.version, one.seed, one.time_limit_s)
        for (case, subject), one in product(cases.items(), batch.settings)
        if one.subject == subject
    ]
    if not all(key in statuses for key in plan):
        return None
    ended = {key: statuses[key] for key in plan}
    if batch.retry_failed and any(status in FAILED for status in ended.values()):
        return None
    infeasible = {key[0] for key, status in ended.items() if status == RunStatus.INFEASIBLE}
    counts = Counter(
        RIGHTLY_REFUSED if status == RunStatus.REFUSED and key[0] in infeasible else status
        for key, status in ended.items()
    )
    return Done(len(cases), len(plan), len(plan), dict(sorted(counts.items())))


def _cases(batch: Batch, folder: Path) -> dict[str, str] | None:
    """Return the hash of each case -> its subject; ``None`` where the folder lacks one."""
    addresses = {
        (row["family"], row["case_index"]): (row["instance_hash"], row["subject"])
        for row in _known_cases(folder)
        if (row["case_seed"], row["made_by"]) == (batch.seed, families_version())
    }
    hashes: dict[str, str] = {}
    for part in batch.sources.parts:
        if isinstance(part, Case):
            hashes[part.hash] = str(part.subject)
        elif isinstance(part, CaseRange):
            for index in range(part.count):
                if (part.family, index) not in addresses:
                    return None
                instance, subject = addresses[part.family, index]
                hashes[instance] = subject
    return hashes


_KNOWN = ["family", "case_index", "case_seed", "made_by", "instance_hash", "subject"]


def _known_cases(folder: Path) -> Iterator[dict[str, Any]]:
    for file in parquet_files(folder / INSTANCES):
        if file.stat().st_size and set(_KNOWN) <= set(pq.read_schema(file).names):
            yield from pq.read_table(file, columns=_KNOWN).to_pylist()


def _statuses(folder: Path) -> dict[Key, str]:
    """Return how the newest row of each key ended; none of rows with another meaning."""
    columns = [*KEY, "batch", "status"]
    rows = [
        row
        for file in parquet_files(folder / ROWS)
        if file.stat().st_size
        for row in pq.read_table(file, columns=columns).to_pylist()
        if MEANING in (row["version"] or "").split(", ")
    ]
    return {key_of(row): row["status"] for row in newest_rows(rows)}
