"""Rows of a grading that nobody ran: for pages with many of them."""

from __future__ import annotations

import random

from slotwise.benchmarks.grading.rows import COLUMNS, MEANING, Row, TermRow


def made_rows(cases: int, methods: int) -> list[Row]:
    """Return the rows of an exact engine and some methods, a few of which fail."""
    rng = random.Random(0)
    return [row for case in range(cases) for row in _case(rng, case, methods)]


def _case(rng: random.Random, case: int, methods: int) -> list[Row]:
    overload, network = rng.choice((0, 0, 0, 40)), rng.randint(10, 1000)
    common: Row = {
        **dict.fromkeys(COLUMNS),
        "instance_hash": f"sha256:{case:064x}",
        "instance": f"made-{case:05d}",
        "family": "made",
        "case_index": case,
        "tasks": rng.randint(5, 200),
        "nodes": 12,
        "topologies": 1,
        "tightness": rng.random(),
        "seed": 0,
        "time_limit_s": 10.0,
        "workers": 1,
        "version": MEANING,
        "versions": "{}",
        "wall_s": rng.random(),
    }
    exact: Row = {**common, "kind": "exact", "method": "auto", "status": "optimal"}
    rows: list[Row] = [{**exact, "terms": _terms(overload, network, proven=True)}]
    for method in range(methods):
        row: Row = {**common, "kind": "heuristic", "method": f"method-{method}"}
        luck = rng.random()
        if luck < 0.02 * method:
            rows.append({**row, "status": "broken rule", "violations": ["capacity: node n1"]})
        elif luck < 0.03 * method:
            rows.append({**row, "status": "refused", "reason": f"no node for {case % 100}"})
        else:
            more = 40 * (rng.random() < 0.1)
            terms = _terms(overload + more, network + rng.randint(0, 20 * method + 5))
            rows.append({**row, "status": "valid", "terms": terms})
    return rows


def _terms(overload: int, network: int, *, proven: bool = False) -> list[TermRow]:
    return [
        {"term": name, "value": str(value), "bound": str(value) if proven else None}
        for name, value in (("overload", overload), ("network", network))
    ]
