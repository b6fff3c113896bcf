"""Results, verdicts and lists for people: Rich tables and plain sentences."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table

from slotwise.cli.render.rebalanced import move_limit, moves_parts, running_lines
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted
from slotwise.models.instance.placement import Placement, tasks_by_worker
from slotwise.models.values import short_text
from slotwise.solver.core.result import Result, Status, TermResult

if TYPE_CHECKING:
    from slotwise.api.placing import Placed
    from slotwise.benchmarks.grading.grade_summary import GradeSummary
    from slotwise.models.judge.verdict import NodeLoad, Verdict, Violation

_NOT_FOUND = {
    Status.INFEASIBLE: (
        "Proven infeasible: no placement keeps all hard rules. Add capacity, or make a resource "
        "soft (objective.soft) to see how much of it is missing."
    ),
    Status.UNKNOWN: (
        "No placement found within the limit, and no proof that there is none. Give it more time "
        "(--time-limit), another --engine, or a placement to start from (--hint)."
    ),
}

_TOO_FEW_MOVES = (
    "Proven infeasible: at most {} running tasks may move, and no such placement keeps all hard "
    "rules. Allow more moves, or see slotwise explain; if no number of moves is enough, add "
    "capacity, or make a resource soft (objective.soft) to see how much of it is missing."
)

_CONTRADICTED = (
    "Proven infeasible: no placement keeps all hard rules. {} The cheapest repairs: slotwise "
    "explain INSTANCE."
)

_INTERRUPTED = "Interrupted before a placement was found, and before a proof that there is none."

_GAVE_UP = (
    "The engine ended before its time limit without a placement, and without a proof that there is "
    "none. Try another --engine, or give it a placement to start from (--hint)."
)


def show_result(result: Result, out: Path | None = None) -> None:
    """Show the result of ``solve``; `out` is the file that its placement is written to."""
    if result.placement is None or result.verdict is None:
        show(*_distrusted(result), _not_found(result), *running_lines(result), *_notes(result))
        return
    show(
        _headline(result),
        *running_lines(result),
        _terms(result),
        *moves_parts(result),
        *_places(result.verdict, result.placement),
        *_picked(result),
        *_distrusted(result),
        *_notes(result),
        _next_step(result, out),
    )


def _terms(result: Result) -> Table:
    """Return value, bound and gap of each term, and its present value where tasks run."""
    first_open = next((t for t in result.objective if not t.proven), None)
    rows = [
        (t.term, short_text(t.value), short_text(t.bound), _gap(result, t, t is first_open))
        for t in result.objective
    ]
    if result.running is None:
        return table(rows, ("term", "value", "bound", "gap"), ("value", "bound"))
    now = [short_text(term.value) for term in result.running.objective]
    with_now = [(term, cost, *rest) for (term, *rest), cost in zip(rows, now, strict=True)]
    return table(with_now, ("term", "now", "best", "bound", "gap"), ("now", "best", "bound"))


def _not_found(result: Result) -> str:
    if result.contradiction is not None:
        return _CONTRADICTED.format(result.contradiction.text)
    if result.interrupted and result.status is Status.UNKNOWN:
        return _INTERRUPTED
    limit = move_limit(result)
    if result.status is Status.INFEASIBLE and limit is not None:
        return _TOO_FEW_MOVES.format(limit)
    gave_up = result.status is Status.UNKNOWN and _ended_early(result)
    return _GAVE_UP if gave_up else _NOT_FOUND[result.status]


def _ended_early(result: Result) -> bool:
    """Return whether the engine ended of itself before its time limit."""
    spent = result.deterministic_work if result.limits.by_work else result.seconds
    return spent is not None and spent < result.limits.time_s and not result.interrupted


def _headline(result: Result) -> str:
    by = f"{result.engine} {result.version}".strip()
    if result.status is Status.OPTIMAL:
        confirmed = ", confirmed," if result.confirmed else ""
        return f"Proven optimal by {by}{confirmed} in {result.seconds:.2f} s."
    first = next((t for t in result.objective if not t.proven), None)
    if first is None or first.bound is None or result.gap is None:
        return f"Best found by {by} in {result.seconds:.2f} s; no bound is proven."
    return (
        f"Best found by {by} in {result.seconds:.2f} s: {first.term} {short_text(first.value)}, "
        f"bound {short_text(first.bound)} ({first.bound_kind}), gap {100 * result.gap:.2f} %."
    )


def _picked(result: Result) -> list[str]:
    """Return which engines ``auto`` chose and why; one line for several runs of an engine."""
    if len(result.picked) < 2:
        return []
    seconds: dict[tuple[str, str], list[float]] = {}
    for pick in result.picked:
        seconds.setdefault((pick.engine, pick.why), []).append(pick.seconds)
    lines = [
        f"  {engine} ({_times(len(some))}{sum(some):.2f} s): {why}"
        for (engine, why), some in seconds.items()
    ]
    return ["What ran, and why:", *lines, ""]


def _times(count: int) -> str:
    return "" if count == 1 else f"{count} times, "


def _distrusted(result: Result) -> list[str]:
    """Return which engines were found wrong, and how."""
    if not result.distrusted:
        return []
    lines = [f"  {one.engine}: {one.reason}" for one in result.distrusted]
    return [
        "These engines were found wrong, so their bounds do not count (please report this):",
        *lines,
        "",
    ]


def _notes(result: Result) -> list[str]:
    """Return what an engine left out, and what lack of memory ended."""
    if not result.notes:
        return []
    lines = [f"  {note}" for note in result.notes]
    return ["Notes:", *lines, ""]


def _gap(result: Result, term: TermResult, first_open: bool) -> str:
    if term.proven:
        return "0 % (proven)"
    return f"{100 * result.gap:.2f} %" if first_open and result.gap is not None else "open"


def _next_step(result: Result, out: Path | None) -> str:
    if result.status is Status.OPTIMAL:
        if out is None:
            return (
                "Keep the placement with --out PLAN; compare methods with: slotwise place, grade."
            )
        return "Compare methods with: slotwise place, grade."
    keep = "keep this placement with --out PLAN, then " if out is None else ""
    plan = "PLAN" if out is None else shlex.quote(str(out))
    if _ended_early(result):
        return (
            f"The engine ended before its time limit without a proof. To continue: {keep}try "
            f"another --engine, or auto, with --hint {plan}."
        )
    return (
        f"To continue: {keep}solve again with --hint {plan} and a longer --time-limit or more "
        "--workers."
    )


def show_placed(placed: Placed) -> None:
    """Show the placement of ``place`` with its values, or why it failed."""
    by = f"{placed.method} (seed {placed.seed})"
    if placed.verdict is None or placed.placement is None:
        show(f"{by} refuses: {placed.refused}")
        return
    if placed.verdict.valid:
        show(f"Placed by {by} in {placed.seconds:.2f} s; every hard rule holds.")
    else:
        broken = counted(len(placed.verdict.violations), "hard rule")
        show(f"{by} breaks {broken}: a failure, not written to a file.")
    _show_judged(placed.verdict, placed.placement)


def show_verdict(verdict: Verdict) -> None:
    """Show the judge's verdict."""
    if verdict.valid:
        show("Valid: every hard rule holds.")
    else:
        show(f"Not valid: breaks {counted(len(verdict.violations), 'hard rule')}.")
    _show_judged(verdict, verdict.placement)


def _show_judged(verdict: Verdict, plan: Placement) -> None:
    show(*_violations(verdict.violations), _values(verdict), *_places(verdict, plan))


def show_grading(summary: GradeSummary) -> None:
    """Show the runs of a grading, and the next step."""
    rows = [(status, str(count)) for status, count in summary.statuses.items()]
    show(
        f"{counted(summary.planned, 'run')} on {counted(summary.instances, 'instance')} "
        f"in {summary.folder}: "
        f"{summary.planned - summary.skipped:,} run now in {summary.seconds:.1f} s, "
        f"{summary.skipped:,} already there.",
        table(rows, ("status", "runs"), ("runs",)),
        f"Make the report: slotwise report {summary.folder}",
    )


def _values(verdict: Verdict) -> Table:
    rows = [(t.term, short_text(t.value)) for t in verdict.objective]
    return table(rows, ("term", "value"), ("value",))


def _violations(violations: Sequence[Violation]) -> list[RenderableType]:
    lines: list[RenderableType] = [f"  {violation}" for violation in violations[:MOST_ROWS]]
    return [*lines, *more_rows(len(violations), "violations")]


def _places(verdict: Verdict, placement: Placement) -> list[RenderableType]:
    loads = verdict.node_loads()
    held = tasks_by_worker(verdict.problem.instance, placement)
    tasks = sorted(held.items(), key=lambda item: item[0][1:])
    shown, before = [], -1
    for (topology, node, worker), names in tasks[:MOST_ROWS]:
        load = "" if node == before else _load(loads[node])
        shown.append((loads[node]["node"], str(worker), topology, compact(names), load))
        before = node
    used = len({node for _, node, _ in held})
    workers = len({(node, worker) for _, node, worker in held})
    return [
        f"Nodes used: {used} of {len(loads)}; workers used: {workers}.",
        table(shown, ("node", "worker", "topology", "tasks", "node's load / capacity")),
        *more_rows(len(tasks), "workers"),
    ]


def _load(row: NodeLoad) -> str:
    capacity = row["capacity"]
    return ", ".join(
        f"{name} {short_text(load)}/{short_text(capacity[name])}"
        for name, load in row["load"].items()
    )


def compact(tasks: Iterable[str]) -> str:
    """Shorten a list of tasks: ``split[0-2,5] count[1]``."""
    numbers: dict[str, list[int]] = {}
    for task in tasks:
        component, _, index = task[:-1].rpartition("[")
        numbers.setdefault(component, []).append(int(index))
    return " ".join(f"{component}[{_ranges(found)}]" for component, found in numbers.items())


def _ranges(numbers: Iterable[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
