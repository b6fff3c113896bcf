"""The result of ``rebalance``: cost before and after, the front, the ordered moves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from slotwise.cli.exits import note
from slotwise.cli.render.curves import Line, plot_lines
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.display import counted
from slotwise.models.judge.moves import TaskMove, place_of
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import NO_LIMIT, short_text
from slotwise.solver.core.result import Result, Status

if TYPE_CHECKING:
    from slotwise.api.rebalancing import Rebalanced
    from slotwise.api.sparing import Spare
    from slotwise.solver.rebalance.front import Front, FrontPoint
    from slotwise.solver.rebalance.plan import Plan
    from slotwise.solver.rebalance.spare import Loss, Missing


def show_spare(spare: Spare) -> None:
    """Show the consequences of each loss, the worst first."""
    rows = [
        (
            f"{one.kind} {one.name}",
            str(one.orphans),
            _SPARED[one.status],
            _fewest(one),
            "; ".join(map(_short, one.missing)),
        )
        for one in spare.losses
    ]
    good = sum(one.status == "placed" for one in spare.losses)
    heads = ("loss of", "orphans", "a place for all", "other moves", "missing")
    show(
        f"All tasks have a place after {good} of {len(rows)} losses; the worst first:",
        table(rows, heads, ("orphans", "other moves")),
    )


_SPARED = {"placed": "yes", "impossible": "no", "open": "open"}


def _fewest(loss: Loss) -> str:
    if loss.moves is None:
        return "-"
    return str(loss.moves) if loss.moves == loss.fewest else f"{loss.fewest} to {loss.moves}"


def _short(one: Missing) -> str:
    short = short_text(one.needed - one.available)
    return f"{one.what} {one.where}: {short} short ({short_text(one.needed)} needed)"


def show_rebalanced(done: Rebalanced) -> None:
    """Show places of orphans, cost before and after, the front, and the moves."""
    parts: list[RenderableType] = _orphans(done)
    if done.front is not None:
        parts += _front(done.front)
    if done.plan is None:
        why = done.refused or _NOTHING.get(done.status, "no placement was found")
        if _is_hopeless(done):
            why = "proven: no placement keeps all hard rules, whatever moves (slotwise explain)"
        show(*parts, f"{done.method}: {why}.")
        return
    if done.orphans:
        parts.append(f"Cost now, without {counted(len(done.orphans), 'orphan')}, and after:")
    parts += [_costs(done, done.plan), *_moves(done.plan)]
    show(*parts, *(f"Broken: {one}" for one in done.violations))


def draw(path: Path, done: Rebalanced) -> None:
    """Draw best cost and bound against moves: of the first term that moves change."""
    if done.front is None or not any(point.verdict for point in done.front.points):
        note(f"--svg = {str(path)!r}: not written: there is no front to draw")
        return
    index, term = _varying(done.front)
    unit = done.front.problem.terms[index].unit
    values = [
        (point.max_moves, float(point.values[index] * unit))
        for point in done.front.points
        if point.values is not None
    ]
    bounds = [
        (point.max_moves, float(bound * unit))
        for point in done.front.points
        for bound in point.open_bounds[index : index + 1]
        if bound is not None
    ]
    plot_lines(path, (Line("best cost", values), Line("bound", bounds)), "moves", term)


_NOTHING = {
    "infeasible": "proven: no placement within that many moves keeps all hard rules",
    "unknown": "no placement was found within the limits",
}


def _is_hopeless(done: Rebalanced) -> bool:
    """Whether it is proven that no number of moves leads to a placement."""
    return done.front is not None and done.front.free.status is Status.INFEASIBLE


def _varying(front: Front) -> tuple[int, str]:
    """Return the first term whose value differs between points, else the first."""
    values = [point.values for point in front.points if point.values is not None]
    names = [term.name for term in front.problem.terms]
    index = next((i for i in range(len(names)) if len({one[i] for one in values}) > 1), 0)
    return index, names[index]


def _orphans(done: Rebalanced) -> list[RenderableType]:
    """Return the best places of orphans if no other task moves."""
    point = done.rescue
    if point is None:
        return []
    if point.placement is None:
        proven = point.status is Status.INFEASIBLE
        return [
            "Orphans: proven to have no place"
            + (", whatever moves." if _is_hopeless(done) else " unless other tasks move.")
            if proven
            else "Orphans: no places were found with 0 other moves."
        ]
    rows = []
    for one in done.orphans[:MOST_ROWS]:
        node_and_worker = (point.placement.nodes[one.task], point.placement.workers[one.task])
        to = place_of(done.now.problem, *node_and_worker)
        was = "" if one.was is None else one.was.node
        rows.append((one.name, was, *(("(left out)", "") if to is None else (to[0], str(to[1])))))
    proof = "proven best" if point.is_proven else "not proven best"
    return [
        f"New places with 0 other moves, {proof}:",
        table(rows, ("task", "was on", "to node", "worker")),
        *more_rows(len(done.orphans), "tasks"),
    ]


def _front(front: Front) -> list[RenderableType]:
    terms = [term.name for term in front.problem.terms]
    rows = [(str(point.max_moves), *_cells(front, point)) for point in front.points]
    last = front.points[-1]
    free = "free" if last.values != front.free.values or not last.is_proven else None
    if free is not None:
        rows.append((free, *_cells(front, front.free)))
    heads = ("at most", "moves", *terms, "bound", "proven")
    return ["Best cost for each number of moves:", table(rows, heads, heads[:-1])]


def _cells(front: Front, point: FrontPoint) -> tuple[str, ...]:
    """Return moves, values, the bound of the first open term, and whether it is proven."""
    count = len(front.problem.terms)
    if point.values is None:
        status = "infeasible" if point.status is Status.INFEASIBLE else "open"
        return ("-", *("-",) * count, "-", status)
    units = [term.unit for term in front.problem.terms]
    values = [short_text(v * unit) for v, unit in zip(point.values, units, strict=True)]
    index = next((i for i in range(count) if point.open_bounds[i] != point.values[i]), count - 1)
    bound = point.open_bounds[index]
    shown = "-" if bound is None else short_text(bound * units[index])
    return (str(point.moves), *values, shown, "yes" if point.is_proven else "no")


def _costs(done: Rebalanced, plan: Plan) -> RenderableType:
    rows = [
        (a.term, short_text(a.value), short_text(b.value), short_text(a.value - b.value))
        for a, b in zip(done.now.objective, plan.after.objective, strict=True)
    ]
    heads = ("term", "now", "after", "saved")
    return table(rows, heads, heads[1:])


def _moves(plan: Plan) -> list[RenderableType]:
    if not plan.moves and not plan.rest:
        return ["Moves: none."]
    parts: list[RenderableType] = []
    if plan.moves:
        terms = _changed(plan)
        orphans = sum(one.move.before is None for one in plan.moves)
        of = f" ({orphans} of orphans)" if orphans else ""
        order = "in this order; no state between breaks a hard rule that holds now"
        rows = [
            (
                str(number),
                one.move.name,
                *_places(one.move),
                *(short_text(one.saves[term]) for term in terms),
                "parked" if one.is_parking else "",
            )
            for number, one in enumerate(plan.moves[:MOST_ROWS], 1)
        ]
        saved = tuple(f"saves {term}" for term in terms)
        heads = ("", *PLACES, *saved, "")
        parts += [f"Moves: {len(plan.moves)}{of}, {order}.", table(rows, heads, ("", *saved))]
        parts += more_rows(len(plan.moves), "moves")
    return parts + _rest(plan)


PLACES = ("task", "from node", "worker", "to node", "worker")


def _rest(plan: Plan) -> list[RenderableType]:
    if plan.is_ordered:
        return []
    why = "proven to have no order" if plan.is_proven else "no order was found"
    parts: list[RenderableType] = [
        f"{len(plan.rest)} more moves: {why}; swap space is missing. --parking 1 may help.",
        table([(one.name, *_places(one)) for one in plan.rest[:MOST_ROWS]], PLACES),
        *more_rows(len(plan.rest), "moves"),
    ]
    rows = [
        (one.violation.place, one.violation.rule, one.violation.subject, short_text(one.missing))
        for one in plan.missing[:MOST_ROWS]
    ]
    return [*parts, table(dict.fromkeys(rows), ("where", "rule", "of", "lacks"), ("lacks",))]


def _places(move: TaskMove) -> tuple[str, str, str, str]:
    before, after = (
        ("(nowhere)", "") if place is None else (place[0], str(place[1]))
        for place in (move.before, move.after)
    )
    return (*before, *after)


def _changed(plan: Plan) -> list[str]:
    """Return the terms that some move changes, else the last."""
    terms = list(plan.moves[0].saves)
    return [t for t in terms if any(one.saves[t] for one in plan.moves)] or terms[-1:]


# The current placement: whether it keeps the rules, and what the new placement moves.


def running_lines(result: Result) -> list[str]:
    """Return the hard rules that the current placement breaks, in at most three lines."""
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
    """Return the most running tasks that may move; ``None`` = any number."""
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
