"""An instance explained: the cost of its best placement, or why it has none."""

from __future__ import annotations

from slotwise.api.explanations.answers import ExplainedInstance
from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.explained.costs import cost_sections, cost_text
from slotwise.cli.render.tables import listed
from slotwise.models.values import short_text
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.explanation import Conflict, Explanation, Feasibility, Member

MOST_REPAIRS = 10
"""Repairs in a table."""

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
        found = [PageSection("", (lead, *(one.text for one in short)))]
        if answer.infeasible is not None:
            found += infeasible_sections(answer.infeasible)
        return found
    if answer.split is None:
        line = (
            "No placement was found within the limit, and no proof that there is none. Give it "
            "more time with --time-limit."
        )
        return [PageSection("", (line,))]
    line = f"Feasible: a valid placement exists, {cost_text(answer.split)} ({proof_text(result)})."
    return [PageSection("", (line,)), *_left_out(answer), *cost_sections(answer.split)]


def _left_out(answer: ExplainedInstance) -> list[PageSection]:
    """Say why topologies are left out."""
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


def infeasible_sections(one: Explanation) -> list[PageSection]:
    """Return conflicts and repairs."""
    found = []
    for number, conflict in enumerate(one.conflicts, 1):
        heading = "Why no placement exists" if number == 1 else f"Another conflict ({number})"
        lines = (conflict.summary, MINIMAL if conflict.minimal else NOT_PROVEN_MINIMAL)
        found.append(PageSection(heading, lines, _members(conflict)))
    if one.repairs:
        rows = tuple(
            (repair.text + ("" if repair.least else PERHAPS_LESS), short_text(repair.price))
            for repair in one.repairs[:MOST_REPAIRS]
        )
        found.append(
            PageSection(
                "The cheapest repairs",
                (VERIFIED, *_open_ends(one)),
                PageTable(("repair", "price"), rows, ("price",)),
            )
        )
    elif one.conflicts:
        none = "No combination of changes was found that leaves a placement."
        found.append(PageSection("The cheapest repairs", (none, *_open_ends(one))))
    if one.notes:
        found.append(PageSection("", one.notes))
    return found


def _open_ends(one: Explanation) -> list[str]:
    """Say what was left out."""
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
