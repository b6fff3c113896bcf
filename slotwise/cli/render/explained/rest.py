"""What was left after a method's first mistake, and the valid placement nearest to a broken one."""

from __future__ import annotations

from fractions import Fraction

from slotwise.benchmarks.report.explanation_page import PageSection, PageTable
from slotwise.cli.render.results import compact
from slotwise.cli.render.tables import listed
from slotwise.models.display import counted
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, short_text
from slotwise.solver.core.result import Status
from slotwise.solver.explain.comparison import FewestMoves
from slotwise.solver.explain.first_mistake import FirstMistake


def left_section(problem: Problem, one: FirstMistake) -> PageSection:
    """Say what waits after the first mistake, and what the nodes have left for it."""
    verdict = judge(problem, one.fixed(problem.instance))
    done = {step.task for step in one.decisions[: one.impossible]}
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
    """Say how few tasks must move for a valid placement."""
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
    if near.moved:
        moved = tuple("/".join(names[task]) for task in near.moved)
        parts.append(f"moves {counted(len(moved), 'task')} ({listed(moved)})")
    if near.placed:
        placed = tuple("/".join(names[task]) for task in near.placed)
        parts.append(f"places {counted(len(placed), 'task')} that had no place ({listed(placed)})")
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
    return [PageSection(heading, lines, PageTable(("task", "goes to node", "worker"), rows))]
