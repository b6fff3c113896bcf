"""What runs now: whether it keeps the rules, and what the placement that was found moves."""

from __future__ import annotations

from collections import Counter

from rich.console import RenderableType

from slotwise.cli.render.tables import MOST_ROWS, more_rows, table
from slotwise.models.display import counted
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Result


def running_lines(result: Result) -> list[str]:
    """Return which hard rules are broken by what runs now, in at most three lines."""
    now = result.running
    if now is None:
        return []
    if now.valid:
        return ["What runs now keeps every hard rule."] if result.placement is not None else []
    lines, limit = _broken(now), move_limit(result)
    if result.contradiction is not None and limit is not None:
        lines.append(f"At most {limit} running tasks may move; try more, or slotwise explain.")
    return lines


def move_limit(result: Result) -> int | None:
    """Return how many running tasks may move at most; ``None`` = any number."""
    limit = None if result.running is None else result.running.problem.move_limit
    return None if limit == NO_LIMIT else limit


def _broken(now: Verdict) -> list[str]:
    lost = sum(map(len, now.problem.instance.lost.values()))
    if lost and all(violation.rule == "placed" for violation in now.violations):
        return [f"{counted(lost, 'task')} of machines that are gone: without a place now."]
    counts = Counter(violation.rule for violation in now.violations)
    rules = ", ".join(f"{rule} ({count})" for rule, count in counts.items())
    return [
        f"What runs now breaks hard rules: {rules}. slotwise judge INSTANCE --running lists them.",
        f"  {now.violations[0]}",
    ]


def moves_parts(result: Result) -> list[RenderableType]:
    """Return the tasks that the placement moves from where they run now, as a table."""
    if result.running is None:
        return []
    problem = result.running.problem
    running = sum(one.size for one in problem.classes if one.home is not None)
    moves = result.moves
    if not moves:
        return [f"Moves: none of the {running} running tasks.", ""]
    counted = "moved" in problem.instance.objective.parts
    hint = [] if counted else ['Fewer moves may do: "moved" is not in objective.terms.']
    rows = [
        (move.name, *_columns(move.before), *_columns(move.after)) for move in moves[:MOST_ROWS]
    ]
    heads = ("task", "from node", "worker", "to node", "worker")
    return [
        f"Moves: {len(moves)} of the {running} running tasks.",
        table(rows, heads),
        *more_rows(len(moves), "moves"),
        *hint,
    ]


def _columns(place: tuple[str, int] | None) -> tuple[str, str]:
    return ("(left out)", "") if place is None else (place[0], str(place[1]))
