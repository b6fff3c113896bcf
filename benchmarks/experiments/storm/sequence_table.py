"""Rows of topologies placed in sequence, as a Markdown table or as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from slotwise.benchmarks.experiments.table import say


@dataclass(frozen=True, slots=True)
class Entry:
    """What one method made of one topology.

    Parameters
    ----------
    cost
        Network cost; ``None`` where it was not placed.
    bound
        Of the exact engine, proven; ``None`` elsewhere and where there is none.
    reason
        Why it was not placed; empty otherwise.
    seconds
        Wall clock.
    """

    cost: int | None
    bound: int | None
    reason: str
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether the cost is the least there is."""
        return self.cost is not None and self.cost == self.bound


@dataclass(frozen=True, slots=True)
class TopologyRow:
    """One topology: its tasks, the exact answer on the empty cluster, each method's entry."""

    topology: str
    tasks: int
    alone: Entry
    entries: dict[str, Entry]


@dataclass(frozen=True, slots=True)
class MethodSum:
    """What a method's entries add up to.

    Parameters
    ----------
    placed
        Number of topologies.
    at_bound
        Those as good as any placement can be, even on the empty cluster: proven.
    cost
        Network cost of all that it placed.
    bound
        Sum of the proven bounds of the same topologies on the empty cluster.
    common
        Network cost of those that all methods placed.
    failures
        Reason (its first words) -> number of topologies.
    seconds
        Wall clock, all topologies.
    """

    method: str
    placed: int
    at_bound: int
    cost: int
    bound: int
    common: int
    failures: dict[str, int]
    seconds: float


class SequenceTable:
    """Prints rows as they come; a cost that is the least there is has a star."""

    def __init__(self, methods: Sequence[str], as_json: bool) -> None:
        self._json = as_json
        if not as_json:
            say(_cells(["topology", "tasks", "alone", *methods]))
            say(_cells(["---", *["---:"] * (2 + len(methods))]))

    def add(self, row: TopologyRow) -> None:
        """Print one row."""
        if self._json:
            say(json.dumps(asdict(row)))
            return
        entries = [_cost(entry) for entry in row.entries.values()]
        say(_cells([row.topology, str(row.tasks), _cost(row.alone), *entries]))

    def end(self, sums: Sequence[MethodSum]) -> None:
        """Print what the rows add up to."""
        if self._json:
            say(json.dumps({"summary": [asdict(row) for row in sums]}))
            return
        say("")
        heads = ["placed", "at the bound", "network", "bound", "on the common", "seconds"]
        say(_cells(["method", *heads, "failures"]))
        say(_cells(["---", *["---:"] * 6, "---"]))
        for row in sums:
            failures = ", ".join(f"{count} {reason}" for reason, count in row.failures.items())
            numbers = [row.placed, row.at_bound, row.cost, row.bound, row.common]
            shown = [*map(str, numbers), f"{row.seconds:.1f}", failures or "-"]
            say(_cells([row.method, *shown]))


def _cost(entry: Entry) -> str:
    if entry.cost is None:
        return "-"
    if entry.proven:
        return f"{entry.cost}*"
    return str(entry.cost) if entry.bound is None else f"{entry.cost} (>= {entry.bound})"


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
