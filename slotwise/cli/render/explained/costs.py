"""What makes up a cost, as sections for people."""

from __future__ import annotations

from fractions import Fraction

from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.tables import listed
from slotwise.models.explanation.cost_split import LEVELS, CostSplit, StreamCost
from slotwise.models.judge.verdict import NodeLoad, Verdict
from slotwise.models.values import short_text

LEVEL_HEADS = ("in a worker", "on a node", "in a rack", "across racks")


def values_text(verdict: Verdict) -> str:
    """Return the values of the terms: ``overload 0, network 23``."""
    return ", ".join(f"{t.term} {short_text(t.value)}" for t in verdict.objective)


def cost_text(split: CostSplit) -> str:
    """Return the values of the terms of a split."""
    return values_text(split.verdict)


def signed(value: Fraction) -> str:
    """Return a change with its sign; 0 is ``0``."""
    return f"+{short_text(value)}" if value > 0 else short_text(value)


def cost_sections(split: CostSplit) -> list[PageSection]:
    """Return what makes up the cost: terms of several parts, streams, soft resources, loads."""
    found = [_terms(split)] if any(len(parts) > 1 for parts in split.terms.values()) else []
    if split.streams:
        found.append(_streams(split))
    found += [*_overloads(split), *_linear(split), *_names(split), _nodes(split)]
    return found


def _terms(split: CostSplit) -> PageSection:
    lines = tuple(
        f"{term} = " + " + ".join(f"{part} {short_text(v)}" for part, v in parts.items())
        for term, parts in split.terms.items()
        if len(parts) > 1
    )
    return PageSection("Terms", lines)


def _streams(split: CostSplit) -> PageSection:
    several = len({one.topology for one in split.streams}) > 1
    rows = tuple(
        (
            stream_name(one, several),
            *(_level(one, level) for level in range(len(LEVELS))),
            short_text(one.total),
        )
        for one in split.streams
    )
    network = split.verdict.parts["network"]
    return PageSection(
        "Cost by stream",
        (
            f"Network cost {short_text(network)}: flow x distance, by the smallest unit (worker, "
            "node, rack) that holds both tasks.",
        ),
        PageTable(("stream", *LEVEL_HEADS, "cost"), rows, (*LEVEL_HEADS, "cost")),
    )


def stream_name(one: StreamCost, several: bool) -> str:
    """Return ``split -> count``, with the topology where there are several."""
    return f"{f'{one.topology}: ' if several else ''}{one.source} -> {one.target}"


def _level(one: StreamCost, level: int) -> str:
    flow, cost = one.flow[level], one.cost[level]
    return f"{short_text(flow)}, cost {short_text(cost)}" if flow else "-"


def _overloads(split: CostSplit) -> list[PageSection]:
    if not split.overloads:
        return []
    rows = tuple(
        (one.node, one.resource, short_text(one.over), short_text(one.cost))
        for one in split.overloads
    )
    heads = ("node", "resource", "above capacity", "cost")
    return [PageSection("Overload of soft resources", (), PageTable(heads, rows, heads[2:]))]


def _linear(split: CostSplit) -> list[PageSection]:
    if not split.linear:
        return []
    rows = tuple(
        (f"{one.topology}/{one.component}", one.node, str(one.tasks), short_text(one.cost))
        for one in split.linear
    )
    heads = ("component", "node", "tasks", "cost")
    return [PageSection("Linear costs", (), PageTable(heads, rows, heads[2:]))]


def _names(split: CostSplit) -> list[PageSection]:
    lines = []
    if split.moved:
        lines.append(f"Moved from where they run: {listed(split.moved)}.")
    if split.rejected:
        lines.append(f"Topologies left out: {listed(split.rejected)}.")
    return [PageSection("", tuple(lines))] if lines else []


def _nodes(split: CostSplit) -> PageSection:
    rows = []
    loads = split.verdict.node_loads()
    used = {int(n) for t in split.verdict.accounting.topologies for n in t.node_ids}
    for n in sorted(used):
        load = loads[n]
        network = split.node_network.get(load["node"], Fraction(0))
        rows.append((load["node"], load["rack"], load_text(load), short_text(network)))
    return PageSection(
        "Nodes in use",
        ("A pair's network cost counts half on the sender's node and half on the receiver's.",),
        PageTable(("node", "rack", "load / capacity", "network"), tuple(rows), ("network",)),
    )


def load_text(row: NodeLoad) -> str:
    """Return the loads of a node: ``cpu 160/200, memory_mb 1024/2048``."""
    return ", ".join(
        f"{name} {short_text(load)}/{short_text(row['capacity'][name], missing='no limit')}"
        for name, load in row["load"].items()
    )
