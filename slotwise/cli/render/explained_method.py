"""A method's failure explained: its first mistake and the placement it missed."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.api.explanation_answers import ExplainedMethod
from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.explained import cost_text, left_section, nearest_sections
from slotwise.cli.render.tables import listed
from slotwise.heuristics.decision_log import TaskDecision
from slotwise.models.explanation.alternatives import Alternative
from slotwise.models.explanation.mending import cause
from slotwise.models.instance.placement import Placement
from slotwise.solver.explain.explanation import Explanation
from slotwise.solver.explain.first_mistake import FirstMistake, StuckTask

MOST_PLACES = 12
"""Most reasons listed for a task without a place."""


def method_sections(answer: ExplainedMethod) -> list[PageSection]:
    """Return the explanation of a method's run."""
    run = answer.run
    if not run.failed:
        line = f"{run.method} places all tasks and keeps every hard rule: nothing went wrong."
        return [PageSection("", (line,))]
    lines = [_outcome(answer)]
    if answer.missed is None:
        lines.append(
            "No placement was found within the limit, and no proof that there is none: give it "
            "more time with --time-limit."
        )
        return [PageSection("", tuple(lines))]
    lines.append(f"Yet a valid placement of all tasks exists ({cost_text(answer.missed)}).")
    sections = [PageSection("", tuple(lines))]
    if answer.mistake is None:
        sections.append(PageSection("Where it went wrong", (answer.not_told,)))
    else:
        sections += _mistake(answer, answer.mistake)
    if answer.nearest is not None:
        sections += nearest_sections(answer.problem, answer.nearest)
    if answer.missed_placement is not None:
        sections.append(_missed(answer, answer.missed_placement))
    return sections


def _outcome(answer: ExplainedMethod) -> str:
    run = answer.run
    if run.refused is not None:
        return f"{run.method} refuses: {run.refused}."
    assert run.verdict is not None, "what did not refuse was judged"
    broken = [cause(v) for v in run.verdict.violations]
    if broken:
        return f"{run.method} breaks a rule: {_some(broken)}."
    return f"{run.method} leaves topologies out."


def _some(reasons: Sequence[str]) -> str:
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + more


def _mistake(answer: ExplainedMethod, one: FirstMistake) -> list[PageSection]:
    total, count = len(one.decisions), answer.problem.task_count
    if not one.decisions:
        gave_up = "It gave up before its first decision, for rules of its own."
        return [PageSection("Where it went wrong", (gave_up,))]
    lines = []
    if answer.run.left_out:
        lines.append(f"Where it got furthest, it had placed {total} of {count} tasks.")
    if one.possible:
        lines.append(
            f"After {_prefix(answer, one.decisions[: one.possible])} "
            "everything could still be placed."
        )
    else:
        lines.append("Before its first decision everything could be placed.")
    if one.decision is not None:
        lines.append(
            f"Decision {one.possible + 1} made it impossible: {_put(answer, one.decision)}."
        )
        lines += _because(answer, one)
    elif one.settled:
        lines.append(
            "No decision was a mistake: all that it had decided could be completed. It gave up for "
            "rules of its own, not for those of the instance."
        )
    elif one.impossible is None:
        lines.append("Whether the later ones were right was not settled within the limit.")
    else:
        lines.append(
            f"After decision {one.impossible} nothing more was possible; those between were not "
            "settled within the limit (--time-limit)."
        )
    sections = [PageSection("Where it went wrong", tuple(lines))]
    if one.decision is not None and not one.broken:
        sections.append(left_section(answer.problem, one))
    if one.decisions:
        sections.append(_decisions(answer, one))
    return sections


def _because(answer: ExplainedMethod, one: FirstMistake) -> list[str]:
    if one.broken:
        return [f"With it, {_some([cause(v) for v in one.broken])}."]
    if one.stuck:
        return [line for stuck in one.stuck[:3] for line in _no_place(answer, stuck)]
    lines = ["Each task that is left would still fit alone, but not all of them together."]
    if answer.remaining is not None:
        lines += _together(answer.remaining)
    return lines


def _together(remaining: Explanation) -> list[str]:
    """State which rules the remaining tasks cannot keep together."""
    return [
        "With these in place, the following cannot hold together: "
        + "; ".join(
            member.constraint.name
            for member in conflict.members
            if member.constraint.rule != "max_moved"  # this is how tasks are fixed
        )
        + "."
        for conflict in remaining.conflicts[:1]
    ]


def _no_place(answer: ExplainedMethod, stuck: StuckTask) -> list[str]:
    """State that a task has no place, with the reason for each node."""
    reasons: dict[str, list[str]] = {}
    for place in stuck.places:
        reasons.setdefault(_reason(place), [])
        if place.node not in reasons[_reason(place)]:
            reasons[_reason(place)].append(place.node)
    lines = [f"Then {_name(answer, stuck.task)} has no place left:"]
    shown = list(reasons.items())[:MOST_PLACES]
    lines += [f"  on {listed(tuple(nodes), 6)}: {reason}" for reason, nodes in shown]
    if len(reasons) > MOST_PLACES:
        lines.append(f"  and so on for {len(reasons) - MOST_PLACES} more (see --json)")
    return lines


def _reason(place: Alternative) -> str:
    return cause(place.forbidden_by[0])


def _prefix(answer: ExplainedMethod, decisions: Sequence[TaskDecision]) -> str:
    if len(decisions) == 1:
        return f"its first decision ({_name(answer, decisions[0].task)})"
    first, last = (_name(answer, one.task) for one in (decisions[0], decisions[-1]))
    return f"its first {len(decisions)} decisions ({first} .. {last})"


def _put(answer: ExplainedMethod, one: TaskDecision) -> str:
    node = answer.problem.instance.cluster.nodes[one.node].id
    return f"{_name(answer, one.task)} on {node}, worker {one.worker}"


def _name(answer: ExplainedMethod, task: int) -> str:
    return "/".join(answer.problem.instance.task_names()[task])


def _decisions(answer: ExplainedMethod, one: FirstMistake) -> PageSection:
    """List the decisions around the first mistake; long sequences are cut."""
    names = answer.problem.instance.task_names()
    nodes = answer.problem.instance.cluster.nodes
    first = max(0, one.possible - 6) if len(one.decisions) > 12 else 0
    last = min(len(one.decisions), one.possible + 4) if first else len(one.decisions)
    rows = tuple(
        (
            str(i + 1),
            "/".join(names[step.task]),
            nodes[step.node].id,
            str(step.worker),
            _standing(one, i + 1),
        )
        for i, step in enumerate(one.decisions[first:last], first)
    )
    heads = ("", "task", "node", "worker", "afterwards")
    return PageSection("Its decisions, in order", (), PageTable(heads, rows, ("",)))


def _standing(one: FirstMistake, count: int) -> str:
    if count <= one.possible:
        return "everything still fits"
    return "impossible" if one.impossible is not None and count >= one.impossible else "?"


def _missed(answer: ExplainedMethod, placement: Placement) -> PageSection:
    problem = answer.problem
    groups: dict[tuple[str, int], list[str]] = {}
    rows = zip(problem.instance.task_names(), placement.nodes, placement.workers, strict=True)
    for (topology, task), node, worker in rows:
        name = problem.instance.cluster.nodes[node].id
        groups.setdefault((name, worker), []).append(f"{topology}/{task}")
    return PageSection(
        "A placement that it missed",
        (),
        PageTable(
            ("node", "worker", "tasks"),
            tuple(
                (node, str(worker), listed(tuple(tasks), 40))
                for (node, worker), tasks in sorted(groups.items())
            ),
        ),
    )
