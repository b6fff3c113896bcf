"""What the report's page says of software and machines, of the methods and of the families."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.text import DASH, number
from slotwise.heuristics.registry import describe
from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES

TERMS = {
    "overload": "what the load of nodes exceeds their capacity by, in units of each soft resource "
    "times its weight",
    "network": "flow times distance, over all pairs of tasks that communicate; a pair has the flow "
    "1, or its tuples per second where the instance counts rates",
    "nodes": "nodes in use",
    "workers": "workers in use",
    "moved": "tasks that are not where they run now",
    "rejected": "topologies left out, each as much as its priority",
    "linear": "cost of tasks on nodes, in the unit of the instance",
    "slots": "slots that the dataflow needs",
}
"""What each part of a term counts, and in which unit."""


def terms_counted(names: Iterable[str]) -> dict[str, str]:
    """Return what the parts of these terms count, by part."""
    parts = dict.fromkeys(part for name in names for part in name.split("+"))
    return {part: TERMS[part] for part in parts if part in TERMS}


def facts(rows: Sequence[Row]) -> dict[str, str]:
    """Return what all rows together say about software, machines and limits."""
    columns = {
        "time limit, s": {number(limit) for limit in {row["time_limit_s"] for row in rows}},
        "seeds": {str(row["seed"]) for row in rows},
        "engines": {row["engine"] for row in rows if row["engine"]},
        "versions": {
            ", ".join(f"{name} {v}" for name, v in json.loads(versions).items())
            for versions in {row["versions"] for row in rows}
        },
        "git revision": {row["git_revision"] or "none" for row in rows},
        "CPU": {row["cpu_model"] for row in rows if row["cpu_model"]},
        "seconds": {"only the call"},
    }
    return {name: "; ".join(sorted(found)) or DASH for name, found in columns.items()}


def descriptions(summary: Aggregate, labels: Mapping[str, str]) -> dict[str, str]:
    """Return what each method on the page does, in one sentence, by what it is called.

    `labels`: method -> label. What a label stands for is part of its description.
    """
    found: dict[str, str] = {}
    for one in summary.methods:
        name = one.method
        text = PAIRS[name].description if name in PAIRS else describe(name)
        parts = [name if name in labels else "", text or ""]
        if one.kind != Kind.EXACT and any(parts):
            found[label_of(name, labels)] = ". ".join(filter(None, parts))
    return found


def families(rows: Sequence[Row]) -> dict[str, str]:
    """Return what the families of the rows hold, by name, with their notes."""
    names = {row["family"] or "" for row in rows}
    known = FAMILIES | ALLOCATION_FAMILIES
    found = (known[name] for name in sorted(names & known.keys()))
    return {one.name: f"{one.description}. {one.note}".strip() for one in found}
