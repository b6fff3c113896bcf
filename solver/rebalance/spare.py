"""Whether every task still has a place when a machine or a rack dies, and with how few moves.

Each loss is a problem of its own: the tasks that ran there are orphans. A quick search places them
without moving another task; where it cannot, engines find the fewest moves, and prove them. Costs
play no part here, and no topology may be left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import without_nodes
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, plain
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Limits, Result, Status
from slotwise.solver.orphans.engine import ORPHANS
from slotwise.solver.orphans.first_placement import current_placement, first_placement
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.solve import solve

IN_ALL = "in all"
AT_ONCE_FRACTION = 0.5
"""Share of the time for quick searches; what they do not reach is left to the engines."""
LEAST_S = 0.5
"""Seconds for each search of the engines, at least."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A shortage after a loss.

    Parameters
    ----------
    what
        A resource, or ``slots``.
    where
        ``in all``, or the task that no node has room for.
    needed, available
        In the user's unit; in one node for a task.
    """

    what: str
    where: str
    needed: Fraction
    available: Fraction

    def to_document(self) -> dict[str, Any]:
        """Return it, JSON-ready."""
        amounts = {"needed": plain(self.needed), "available": plain(self.available)}
        return {"what": self.what, "where": self.where} | amounts


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a machine or a rack, and its consequences for the tasks.

    Parameters
    ----------
    kind, name
        ``node`` or ``rack``, and its name.
    nodes
        Ids of the nodes that die.
    orphans
        Number of tasks without a place then: those that ran there, and those that had none before.
    status
        ``placed``: all tasks have a place; ``impossible``: proven that they have none, within the
        limit of moves; ``open``: none was found in time.
    moves
        Number of other tasks that move in the best placement found; ``None`` without one.
    fewest
        Proven least number that must move.
    missing
        Shortages, where not all tasks have a place; empty = counting finds none.
    """

    kind: str
    name: str
    nodes: tuple[str, ...]
    orphans: int
    status: str
    moves: int | None
    fewest: int
    missing: tuple[Missing, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return it, JSON-ready."""
        return {
            "kind": self.kind,
            "name": self.name,
            "nodes": list(self.nodes),
            "orphans": self.orphans,
            "status": self.status,
            "moves": self.moves,
            "fewest_moves": self.fewest,
            "missing": [one.to_document() for one in self.missing],
        }


def losses(
    instance: Instance,
    max_moves: int | None,
    limits: Limits,
    parent: CancellationToken,
    on_loss: Callable[[Loss], object] = lambda loss: None,
) -> tuple[Loss, ...]:
    """Return the loss of every machine and, if there are several, of every rack; worst first.

    Parameters
    ----------
    instance
        With `running`.
    max_moves
        Most other tasks that may move; ``None`` = any number, or the instance's own limit.
    limits
        Of all of them together.
    parent
        Ends the search: what is not decided is left open.
    on_loss
        Called with each that is decided.

    Raises
    ------
    InputError
        For an instance without `running`.
    """
    if instance.running is None:
        raise InputError("needs an instance with `running`", field="running", has_value=False)
    started = time.perf_counter()
    own = instance.objective.limits.get("moved")
    allowed = min((n for n in (max_moves, own) if n is not None), default=None)
    fewest_moves = replace(instance.objective, terms=("moved",), limits={})
    bare = replace(instance, objective=fewest_moves, linear=())
    all_losses: list[Loss] = []
    token = parent.child(started + limits.time_s)
    at_once = parent.child(started + AT_ONCE_FRACTION * limits.time_s)
    quick = [_at_once(bare, loss, at_once) for loss in _open_losses(instance)]
    for index, loss in enumerate(quick):
        if loss.status == "open" and not token.is_cancelled:
            share = token.remaining / _open(quick[index:])
            loss = _searched(bare, loss, allowed, replace(limits, time_s=max(share, LEAST_S)))
        all_losses.append(loss)
        on_loss(loss)
    return tuple(sorted(all_losses, key=_badness))


def _open(losses: Sequence[Loss]) -> int:
    return sum(loss.status == "open" for loss in losses)


def _badness(loss: Loss) -> tuple[object, ...]:
    rank = ("impossible", "open", "placed").index(loss.status)
    return (rank, -(loss.moves or 0), -loss.orphans, loss.kind != "rack", loss.name)


def _open_losses(instance: Instance) -> list[Loss]:
    """Return everything that may be lost, nothing decided; a single rack is left out."""
    nodes, racks = instance.cluster.nodes, instance.cluster.racks
    candidates: list[tuple[str, str, tuple[str, ...]]] = []
    candidates += [("node", node.id, (node.id,)) for node in nodes]
    for rack in racks if len(racks) > 1 else ():
        candidates.append(("rack", rack, tuple(node.id for node in nodes if node.rack == rack)))
    running = (instance.still_running or {}).values()
    on_node = Counter(place.node for tasks in running for place in tasks.values())
    nowhere = len(instance.task_names()) - on_node.total()
    return [
        Loss(kind, name, lost, nowhere + sum(on_node[node] for node in lost), "open", None, 0)
        for kind, name, lost in candidates
        if len(lost) < len(nodes)
    ]


def _at_once(instance: Instance, loss: Loss, token: CancellationToken) -> Loss:
    """Return the loss as a quick search finds it: placed without other moves, or open."""
    if token.is_cancelled:
        return loss
    problem = with_limit(without_nodes(instance, loss.nodes), 0)
    try:
        placement = first_placement(problem, token)
    except CancelledError:
        return loss
    if placement is not None and judge(problem, placement).valid:
        return replace(loss, status="placed", moves=0)
    return loss


def _searched(instance: Instance, loss: Loss, allowed: int | None, limits: Limits) -> Loss:
    """Return the loss with the results of exact engines."""
    left = without_nodes(instance, loss.nodes)
    fixed = with_limit(left, 0)
    if ORPHANS.supports(fixed) is None:
        try:
            result = _solved(fixed, limits, 0.3, ORPHANS.name)
        except UntakenError:
            result = None
        if result is not None and result.placement is not None:
            return replace(loss, status="placed", moves=0)
        if result is not None and result.status is Status.INFEASIBLE:
            loss = replace(loss, fewest=1)
            if allowed == 0:
                missing = _missing(fixed)
                return replace(loss, status="impossible", missing=missing)
    problem = with_limit(left, allowed)
    missing = _missing(problem)
    if any(one.where == IN_ALL for one in missing):
        return replace(loss, status="impossible", missing=missing)
    result = _solved(problem, limits, 0.7, "auto")
    if result.status is Status.INFEASIBLE:
        return replace(loss, status="impossible", missing=missing)
    if result.placement is None or result.verdict is None:
        return replace(loss, missing=missing)
    bound = result.objective[0].bound
    fewest = loss.fewest if bound is None else max(loss.fewest, int(bound))
    return replace(loss, status="placed", moves=int(result.verdict.parts["moved"]), fewest=fewest)


def _solved(problem: Problem, limits: Limits, share: float, engine: str) -> Result:
    return solve(
        problem,
        engine=engine,
        time_limit_s=share * limits.time_s,
        workers=limits.workers,
        seed=limits.seed,
        memory_limit_mb=limits.memory_mb,
    )


def _missing(problem: Problem) -> tuple[Missing, ...]:
    """Return shortages in total, which prove that there is no placement; else for one task."""
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    missing = []
    for d, name in enumerate(problem.dims):
        offered = problem.capacity[:, d].tolist()
        if problem.hard[d] and NO_LIMIT not in offered and demand[d] > sum(offered):
            unit = problem.units[d]
            missing.append(Missing(name, IN_ALL, int(demand[d]) * unit, sum(offered) * unit))
    slots, used = problem.slots.tolist(), sum(bool(rules.classes) for rules in problem.rules)
    if NO_LIMIT not in slots and used > sum(slots):
        missing.append(Missing("slots", IN_ALL, Fraction(used), Fraction(sum(slots))))
    return tuple(missing) or _largest(problem)


def _largest(problem: Problem) -> tuple[Missing, ...]:
    """Return the first shortage of an orphan that fits on no node beside the running tasks."""
    current = current_placement(problem, CancellationToken())
    names = problem.instance.task_names()
    load = np.array([node.load for node in current.partial.nodes], dtype=np.int64)
    free = np.where(problem.capacity == NO_LIMIT, NO_LIMIT, problem.capacity - load)
    for task in current.orphans:
        need = problem.demand[int(problem.task_class[task])]
        for d, name in enumerate(problem.dims):
            most = int(free[:, d].max())
            if problem.hard[d] and need[d] > most:
                unit = problem.units[d]
                return (
                    Missing(name, "/".join(names[task]), int(need[d]) * unit, max(0, most) * unit),
                )
    return ()
