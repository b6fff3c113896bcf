"""Placements explained: rules and costs of one, the difference of two, the places of one task."""

from __future__ import annotations

from slotwise.api.explanation_answers import ExplainedComparison, ExplainedPlacement, ExplainedTask
from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.explained import (
    cost_sections,
    cost_text,
    nearest_sections,
    proof_text,
    signed,
)
from slotwise.cli.render.tables import listed
from slotwise.models.display import counted
from slotwise.models.explanation.alternatives import Alternative
from slotwise.models.explanation.mending import cause
from slotwise.models.judge.moves import TaskMove
from slotwise.models.values import short_text
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.comparison import Comparison, NodeDifference

STUCK = "It cannot be anywhere else while all other tasks stay."


def placement_sections(answer: ExplainedPlacement) -> list[PageSection]:
    """Return the explanation of a placement."""
    sections = []
    if answer.mendings:
        count = len(answer.mendings)
        lead = f"Not valid: it breaks {counted(count, 'hard rule')}."
        rows = tuple((one.meaning, one.remedy) for one in answer.mendings)
        sections.append(
            PageSection("", (lead,), PageTable(("what is wrong", "what mends it"), rows))
        )
        if answer.nearest is not None:
            sections += nearest_sections(answer.problem, answer.nearest)
    else:
        line = f"Valid: every hard rule holds. Cost: {cost_text(answer.split)}."
        sections.append(PageSection("", (line,)))
    if answer.optimal is not None:
        sections.append(_distance(answer, answer.optimal))
    return [*sections, *cost_sections(answer.split)]


def _distance(answer: ExplainedPlacement, best: Result) -> PageSection:
    heading = "Distance to the optimum"
    if best.verdict is None:
        text = "No valid placement was found within the limit."
        if best.status is Status.INFEASIBLE:
            text = "There is no optimum: no placement keeps all hard rules."
        return PageSection(heading, (text,))
    rows = tuple(
        (
            now.term,
            short_text(now.value),
            short_text(then.value),
            signed(now.value - then.value),
            "proven" if state.proven else f"bound {short_text(state.bound)}",
        )
        for now, then, state in zip(
            answer.split.verdict.objective, best.verdict.objective, best.objective, strict=True
        )
    )
    heads = ("term", "here", "best found", "difference", "best is")
    return PageSection(
        heading,
        (f"The best placement found is {proof_text(best)}.",),
        PageTable(heads, rows, heads[1:4]),
    )


def comparison_sections(answer: ExplainedComparison) -> list[PageSection]:
    """Return where two placements differ."""
    one = answer.comparison
    sections = [_terms(one)]
    for number, split in (("first", one.first), ("second", one.second)):
        if not split.verdict.valid:
            reasons = "; ".join(cause(v) for v in split.verdict.violations[:3])
            sections.append(PageSection("", (f"The {number} is not valid: {reasons}.",)))
    if one.streams:
        several = len({s.topology for s in one.streams}) > 1
        rows = tuple(
            (
                f"{f'{s.topology}: ' if several else ''}{s.source} -> {s.target}",
                short_text(s.first),
                short_text(s.second),
                signed(s.change),
            )
            for s in one.streams
        )
        heads = ("stream", "first", "second", "change")
        sections.append(
            PageSection("Streams that pay differently", (), PageTable(heads, rows, heads[1:]))
        )
    if one.steps:
        sections.append(_steps(one))
    if one.nodes:
        sections.append(_nodes(one))
    if one.moves:
        sections.append(_moves(one))
    return sections


def _terms(one: Comparison) -> PageSection:
    rows = tuple(
        (term, short_text(first), short_text(second), signed(second - first))
        for term, first, second in one.terms
    )
    heads = ("term", "first", "second", "change")
    if not one.moves:
        lines: tuple[str, ...] = (
            "The two are the same, up to tasks, workers and nodes that are alike.",
        )
    else:
        count = len(one.moves)
        lines = (f"{counted(count, 'task')} {'differs' if count == 1 else 'differ'}.",)
        if one.renamed:
            names = tuple(f"{new} for {old}" for old, new in one.renamed.items())
            lines += (f"Equal nodes are exchanged in the second: {listed(names)}.",)
    return PageSection("", lines, PageTable(heads, rows, heads[1:]))


def _steps(one: Comparison) -> PageSection:
    start, end = ("second", "first") if one.from_second else ("first", "second")
    rows = tuple(
        (
            f"{step.move.name}: {_route(step.move)}",
            ", ".join(f"{term} {short_text(value)}" for term, value in step.objective.items()),
            "; ".join(cause(v) for v in step.broken) or "-",
        )
        for step in one.steps
    )
    return PageSection(
        "The moves that explain most",
        (f"From the {start} to the {end}, which is cheaper. A state in between may break rules.",),
        PageTable(("move", "values after it", "broken then"), rows),
    )


def _route(move: TaskMove) -> str:
    def text(at: tuple[str, int] | None) -> str:
        return "no place" if at is None else f"{at[0]} worker {at[1]}"

    return f"{text(move.before)} -> {text(move.after)}"


def _nodes(one: Comparison) -> PageSection:
    rules = one.first.verdict.problem.rules
    topology = f"{rules[0].id}/" if len(rules) == 1 else ""
    rows = tuple(
        (
            n.node if n.node == n.stands_for else f"{n.node} ({n.stands_for} in the second)",
            _contents(n, topology),
            short_text(n.first),
            short_text(n.second),
            signed(n.second - n.first),
        )
        for n in one.nodes
    )
    heads = ("node", "in the second", "network, first", "second", "change")
    return PageSection("Nodes that hold other tasks", (), PageTable(heads, rows, heads[2:]))


def _contents(one: NodeDifference, topology: str) -> str:
    """Return ``+1 split, -2 count``; the prefix `topology` is left out where there is only one."""
    parts = [("+", count, name) for name, count in one.gains.items()]
    parts += [("-", count, name) for name, count in one.losses.items()]
    return ", ".join(f"{sign}{count} {name.removeprefix(topology)}" for sign, count, name in parts)


def _moves(one: Comparison) -> PageSection:
    rows = tuple((move.name, _route(move)) for move in one.moves)
    return PageSection("Tasks in different places", (), PageTable(("task", "place"), rows))


def task_sections(answer: ExplainedTask) -> list[PageSection]:
    """Return the cost of each other place of a task, or the rules that forbid it."""
    here = next(place for place in answer.places if place.here)
    allowed = [p for p in answer.places if not (p.here or p.forbidden_by or p.also_before)]
    lines = [f"{answer.name} is on {here.node}, worker {here.worker}."]
    if here.also_before:
        lines.append("The placement breaks a rule with the task here.")
    better = [p for p in allowed if p.steps < here.steps]
    if not allowed:
        mends = "Moving it alone does not mend that."
        lines.append(mends if here.also_before else STUCK)
    elif here.also_before:
        lines.append(f"Moving it alone to {allowed[0].node} mends that ({_change(allowed[0])}).")
    elif better:
        lines.append(
            f"Alone, it could move to a better place: {better[0].node} ({_change(better[0])})."
        )
    else:
        lines.append("No other place that is allowed is better while all other tasks stay.")
    rows = tuple(
        (
            place.node,
            f"{place.worker} (new)" if place.fresh and not place.here else str(place.worker),
            "here" if place.here else _change(place),
            _rule(place),
        )
        for place in answer.places
    )
    heads = ("node", "worker", "change of cost", "rule")
    return [PageSection("", tuple(lines), PageTable(heads, rows))]


def _rule(place: Alternative) -> str:
    """State which rules are broken with the task there, and which of them are broken anyway."""
    parts = ["; ".join(cause(v) for v in place.forbidden_by)] if place.forbidden_by else []
    if place.also_before:
        known = "; ".join(cause(v) for v in place.also_before)
        parts.append(known if place.here else f"also broken before: {known}")
    return "; ".join(parts) or "allowed"


def _change(place: Alternative) -> str:
    changed = [f"{term} {signed(value)}" for term, value in place.change.items() if value]
    return ", ".join(changed) or "no change"
