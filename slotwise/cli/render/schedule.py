"""A round of Storm's scheduler and its exact counterparts, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from slotwise.api.scheduling import Scheduled, names
from slotwise.cli.render.tables import show, table
from slotwise.heuristics.ras.scheduler import WORST, DecisionOutcome, Round
from slotwise.solver.admission.exact_round import Counterpart, Exact
from slotwise.solver.admission.topology_selection import Moves
from slotwise.solver.core.result import Status


def show_scheduled(scheduled: Scheduled) -> None:
    """Show the result of ``schedule``."""
    done = scheduled.done
    show(_headline(done), _decisions(done), *_messages(done), *_evicted(done))
    broken = scheduled.violations
    if broken:
        show(f"The placement breaks hard rules, and is not written to a file: {broken[0]}")
    if scheduled.exact is not None:
        show(*_exact(scheduled.exact, done))


def _headline(done: Round) -> str:
    counts = dict.fromkeys(DecisionOutcome, 0)
    for decision in done.decisions:
        counts[decision.outcome] += 1
    return (
        f"One round, priority {done.instance.scheduler.priority_strategy}: "
        f"{counts[DecisionOutcome.SCHEDULED]} scheduled, "
        f"{counts[DecisionOutcome.RUNNING]} running already, "
        f"{counts[DecisionOutcome.REFUSED]} refused."
    )


def _decisions(done: Round) -> RenderableType:
    rows = []
    for entry, decision in zip(done.order, done.decisions, strict=True):
        topology = done.instance.topologies[entry.topology]
        rows.append(
            (
                topology.id,
                topology.owner,
                str(topology.priority),
                "-" if entry.score == WORST else f"{entry.score:.3f}",
                "yes" if entry.guaranteed else "no",
                str(decision.outcome),
                ", ".join(names(done, decision.evicted)),
            )
        )
    heads = ("topology", "owner", "priority", "score", "guaranteed", "outcome", "evicted for it")
    return table(rows, heads, ("priority", "score"))


def _messages(done: Round) -> Iterator[str]:
    for decision in done.decisions:
        if decision.outcome is DecisionOutcome.REFUSED:
            yield f"{done.instance.topologies[decision.topology].id}: {decision.message}"


def _evicted(done: Round) -> Iterator[str]:
    for one in done.evicted:
        who, by = (done.instance.topologies[t].id for t in (one.topology, one.by))
        yield f"{who} was evicted for {by}, and {'placed again' if one.again else 'is out'}."


def _exact(exact: Exact, done: Round) -> Iterator[RenderableType]:
    yield f"Exact: {_best_set(exact, done)}"
    yield from exact.notes
    if exact.answers:
        rows = [_row(answer, done) for answer in exact.answers]
        heads = ("to let in", "scheduler evicted", "smallest eviction", "proof")
        yield table(rows, heads)
    for answer in exact.answers:
        if answer.reason:
            yield f"{done.instance.topologies[answer.decision.topology].id}: {answer.reason}"


def _best_set(exact: Exact, done: Round) -> str:
    best_set = exact.best
    ours = f"the scheduler leaves out {_list(names(done, exact.left_out))} (cost {exact.cost})"
    best = f"{_list(names(done, best_set.left_out))} (cost {best_set.cost})"
    moved = "" if best_set.moved is None else f" Running tasks that move: {_moves(best_set.moved)}."
    if best_set.proven:
        return f"{ours}; the best set leaves out {best}: proven.{moved}"
    bound = "no bound" if best_set.bound is None else f"bound {best_set.bound}"
    return f"{ours}; the best set found leaves out {best} ({bound}, time limit reached).{moved}"


def _moves(moves: Moves) -> str:
    if moves.tasks == moves.bound:
        return f"{moves.tasks}, no fewer are possible"
    return f"{moves.tasks}" if moves.bound is None else f"{moves.tasks}, at least {moves.bound}"


def _row(answer: Counterpart, done: Round) -> tuple[str, str, str, str]:
    who = done.instance.topologies[answer.decision.topology].id
    refused = answer.decision.outcome is DecisionOutcome.REFUSED
    evicted = "refused" if refused else _list(names(done, answer.decision.evicted))
    eviction = answer.eviction
    if eviction is None:
        return who, evicted, "-", "not answered"
    if eviction.evicted is None:
        none = eviction.status is Status.INFEASIBLE
        return who, evicted, "none is enough" if none else "-", "proven" if none else "time limit"
    smallest = _list(names(done, eviction.evicted))
    if eviction.status is Status.OPTIMAL:
        return who, evicted, smallest, "proven"
    return who, evicted, smallest, f"time limit; at least {eviction.least_count}"


def _list(ids: list[str]) -> str:
    return ", ".join(ids) if ids else "nobody"
