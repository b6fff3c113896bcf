"""Sections of an explanation: costs in detail, why nothing is valid, what can still be placed.

The tables of costs serve `explained_method` and `explained_placement`, too.
"""

from __future__ import annotations

from fractions import Fraction

from slotwise.api.explanation_answers import ExplainedInstance
from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.results import compact
from slotwise.cli.render.tables import listed
from slotwise.models.display import counted
from slotwise.models.explanation.cost_split import LEVELS, CostSplit, StreamCost
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import NodeLoad, Verdict
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, short_text
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.comparison import FewestMoves
from slotwise.solver.explain.explanation import Conflict, Explanation, Feasibility, Member
from slotwise.solver.explain.first_mistake import FirstMistake

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
    """Return the cost in detail: terms of several parts, streams, soft resources, loads."""
    sections = [_terms(split)] if any(len(parts) > 1 for parts in split.terms.values()) else []
    if split.streams:
        sections.append(_streams(split))
    sections += [*_overloads(split), *_linear(split), *_names(split), _nodes(split)]
    return sections


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


def stream_name(stream: StreamCost, several: bool) -> str:
    """Return ``split -> count``, with the topology where there are several."""
    return f"{f'{stream.topology}: ' if several else ''}{stream.source} -> {stream.target}"


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


# The state after a method's first mistake, and the valid placement nearest to an invalid one.


def left_section(problem: Problem, mistake: FirstMistake) -> PageSection:
    """List the tasks left after the first mistake, and the capacity left for them."""
    verdict = judge(problem, mistake.fixed(problem.instance))
    done = {step.task for step in mistake.decisions[: mistake.impossible]}
    names = problem.instance.task_names()
    waiting = compact(
        "/".join(names[task]) for task in range(problem.task_count) if task not in done
    )
    dims = range(len(problem.dims))
    rows = tuple(
        (
            node.id,
            *(
                _free(problem.capacity[n, d], verdict.accounting.node_load[n, d], problem.units[d])
                for d in dims
            ),
        )
        for n, node in enumerate(problem.instance.cluster.nodes)
    )
    needs = tuple(_need(problem, c) for c, k in enumerate(problem.classes) if set(k.tasks) - done)
    return PageSection(
        "What was left then",
        (f"Waiting: {waiting}.", f"A task needs: {'; '.join(dict.fromkeys(needs))}."),
        PageTable(("node", *problem.dims), rows, problem.dims),
    )


def _free(capacity: int, load: int, unit: Fraction) -> str:
    return "no limit" if capacity == NO_LIMIT else short_text((int(capacity) - int(load)) * unit)


def _need(problem: Problem, c: int) -> str:
    amounts = [
        f"{short_text(int(amount) * unit)} {dim}"
        for amount, unit, dim in zip(problem.demand[c], problem.units, problem.dims, strict=True)
        if amount
    ]
    name = problem.components[problem.classes[c].component][1]
    return f"{name} {', '.join(amounts) or 'nothing'}"


def nearest_sections(problem: Problem, near: FewestMoves) -> list[PageSection]:
    """State how few tasks must move for a valid placement."""
    names = problem.instance.task_names()
    heading = "The nearest valid placement"
    if near.placement is None:
        text = (
            "There is none: no placement keeps all hard rules."
            if near.status is Status.INFEASIBLE
            else "None was found within the limit."
        )
        return [PageSection(heading, (text,))]
    parts = []
    left_out = frozenset(near.left_out)
    moved = tuple("/".join(names[task]) for task in near.moved if task not in left_out)
    if moved:
        parts.append(f"moves {counted(len(moved), 'task')} ({listed(moved)})")
    if near.placed:
        placed = tuple("/".join(names[task]) for task in near.placed)
        parts.append(f"places {counted(len(placed), 'task')} that had no place ({listed(placed)})")
    if left_out:
        topologies = tuple(dict.fromkeys(names[task][0] for task in near.left_out))
        parts.append(f"leaves out {listed(topologies)}, whose tasks count as moved")
    proven = "; fewer moves do not suffice" if near.status is Status.OPTIMAL else ""
    rows = tuple(
        (
            "/".join(names[task]),
            problem.instance.cluster.nodes[near.placement.nodes[task]].id,
            str(near.placement.workers[task]),
        )
        for task in (*near.moved, *near.placed)
        if near.placement.nodes[task] >= 0
    )
    lines = (f"It {' and '.join(parts)}{proven}." if parts else "It is the same one.",)
    table = PageTable(("task", "goes to node", "worker"), rows) if rows else None
    return [PageSection(heading, lines, table)]


# An instance explained: the cost of its best placement, or why it has none.

MOST_REPAIRS = 10
"""Most repairs in a table."""

MINIMAL = "These constraints conflict; dropping any one of them resolves the conflict:"
NOT_PROVEN_MINIMAL = (
    "These constraints conflict. Whether all of them are needed was not proven in time:"
)
VERIFIED = (
    "Each was verified by placing all tasks of the repaired instance. By default, prices are in "
    "units of one CPU core (100 points), and upgrading a node adds 0.5."
)
PROVEN_CHEAPEST = "Proven: no combination of changes, however many, costs less than the first."
PROVEN_NONE = "Proven: no combination of the changes that are considered helps."
COUNTED = ("tasks", "workers")
"""Units with a singular."""

PERHAPS_LESS = " (less may suffice)"


def instance_sections(answer: ExplainedInstance) -> list[PageSection]:
    """Return the explanation of an instance."""
    run, result = answer.run, answer.result
    if result is None or result.status is Status.INFEASIBLE:
        lead = "No placement exists: the hard rules cannot all hold."
        if run is not None:
            verb = "refuses" if run.refused else "fails"
            lead = f"{run.method} {verb}, as any method must: not all tasks can be placed."
        short = () if answer.infeasible is None else answer.infeasible.contradictions
        sections = [PageSection("", (lead, *(one.text for one in short)))]
        if answer.infeasible is not None:
            sections += infeasible_sections(answer.infeasible)
        return sections
    if answer.split is None:
        line = (
            "No placement was found within the limit, and no proof that there is none. Give it "
            "more time with --time-limit."
        )
        return [PageSection("", (line,))]
    line = f"Feasible: a valid placement exists, {cost_text(answer.split)} ({proof_text(result)})."
    return [PageSection("", (line,)), *_left_out(answer), *cost_sections(answer.split)]


def _left_out(answer: ExplainedInstance) -> list[PageSection]:
    """State why topologies are left out."""
    why, split = answer.infeasible, answer.split
    if why is None or split is None:
        return []
    names = listed(split.rejected)
    if why.status is Feasibility.INFEASIBLE:
        lead = f"Left out: {names}. No placement has all topologies; the constraints say why."
        return [PageSection("Topologies left out", (lead,)), *infeasible_sections(why)]
    if why.status is Feasibility.FEASIBLE:
        lead = f"Left out: {names}. All topologies can be placed, but the objective is then worse."
    else:
        lead = f"Left out: {names}. Whether all can be placed was not decided within the limit."
    return [PageSection("Topologies left out", (lead,))]


def proof_text(result: Result) -> str:
    """Return what is proven about a result, in a few words."""
    if result.status is Status.OPTIMAL:
        return "proven optimal"
    first = next((t for t in result.objective if not t.proven), None)
    if first is None or first.bound is None:
        return "no bound is proven"
    return f"no placement has {first.term} below {short_text(first.bound)}"


def infeasible_sections(explanation: Explanation) -> list[PageSection]:
    """Return conflicts and repairs."""
    sections = []
    for number, conflict in enumerate(explanation.conflicts, 1):
        heading = "Why no placement exists" if number == 1 else f"Another conflict ({number})"
        lines = (conflict.summary, MINIMAL if conflict.minimal else NOT_PROVEN_MINIMAL)
        sections.append(PageSection(heading, lines, _members(conflict)))
    if explanation.repairs:
        rows = tuple(
            (repair.text + ("" if repair.least else PERHAPS_LESS), short_text(repair.price))
            for repair in explanation.repairs[:MOST_REPAIRS]
        )
        sections.append(
            PageSection(
                "The cheapest repairs",
                (VERIFIED, *_open_ends(explanation)),
                PageTable(("repair", "price"), rows, ("price",)),
            )
        )
    elif explanation.conflicts:
        none = "No combination of changes was found that leaves a placement."
        sections.append(PageSection("The cheapest repairs", (none, *_open_ends(explanation))))
    if explanation.notes:
        sections.append(PageSection("", explanation.notes))
    return sections


def _open_ends(one: Explanation) -> list[str]:
    """State what was left out."""
    lines = []
    if one.cheapest_proven:
        lines.append(PROVEN_CHEAPEST if one.repairs else PROVEN_NONE)
    if not one.complete:
        cheaper = "" if one.cheapest_proven else ": a cheaper one may exist"
        lines.append(f"Time ran out before all changes were tried{cheaper}.")
    if len(one.repairs) > MOST_REPAIRS:
        lines.append(f"The first {MOST_REPAIRS} of {len(one.repairs)}; --json has all.")
    return lines


def _members(conflict: Conflict) -> PageTable:
    rows = tuple(
        (
            m.constraint.name,
            _amount(m, required=True),
            _amount(m, required=False),
            m.detail or "-",
        )
        for m in conflict.members
    )
    heads = ("constraint", "required", "available", "of what")
    return PageTable(heads, rows, ("required", "available"))


def _amount(member: Member, *, required: bool) -> str:
    value = member.required if required else member.available
    if value is None:
        return "-"
    unit = member.unit.removesuffix("s") if value == 1 and member.unit in COUNTED else member.unit
    return f"{short_text(value)} {unit}".strip()
