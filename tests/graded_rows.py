"""Rows of a grading made by hand, for tests of what is computed from them."""

from __future__ import annotations

import json
from typing import Any

from slotwise.benchmarks.grading.rows import COLUMNS, Row

TERMS = ("overload", "network")
EXACT = ("optimal", "feasible", "infeasible", "unknown")


def row(
    instance: str,
    method: str,
    status: str,
    values: tuple[str, ...] | None = None,
    bounds: tuple[str | None, ...] | None = None,
    terms: tuple[str, ...] = TERMS,
    **more: Any,
) -> Row:
    """Return the row of a run; a status of the exact engine makes it one."""
    blank: Row = dict.fromkeys(COLUMNS)
    cells = None
    if values is not None:
        known = bounds or (None,) * len(values)
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
        "wall_s": 0.5,
        **more,
    }


def optimum(instance: str, overload: str, network: str, **more: Any) -> Row:
    """Return the row of an exact engine that proved these values."""
    values = (overload, network)
    return row(instance, "auto", "optimal", values, values, **more)
