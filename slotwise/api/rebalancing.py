"""Rebalancing running topologies: which few tasks to move, in which order, and the saving."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Unpack

from slotwise.api.exit_code import Exit
from slotwise.api.inputs import (
    NEEDS_RUNNING,
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_instance,
    compiled_as,
    warn_of_lost_nodes,
)
from slotwise.api.orphans import (
    FirstPlaces,
    Orphan,
    as_running_places,
    first_places,
    least_limit,
    orphans_of,
)
from slotwise.api.placing import as_method
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken
from slotwise.models.display import counted
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.formats.plan_file import PLAN_FORMAT
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import in_whole
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import place_of, running_placement
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.values import plain, whole
from slotwise.solver.core.limited import checked_limits
from slotwise.solver.core.result import Status
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.rebalance.front import Front, FrontPoint, front
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.plan import Plan, make_plan
from slotwise.solver.structure.matching import kept_running

OPTIMAL = "optimal"
"""The method that finds the best placement for each number of moves."""
DEFAULT_MAX_MOVES = 10
"""Default for the last point of the front."""
ORDER_S = 20.0
"""Seconds for the search for an order of the moves."""


def rebalance(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    method: str | Method = "optimal",
    max_moves: int | None = None,
    parking: int = 0,
    without_nodes: Collection[str] = (),
    on_first: Callable[[FirstPlaces], object] | None = None,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    **decoded: Unpack[DecodedCluster],
) -> Rebalanced:
    """Find which tasks to move from where they run now, in which order, and what that saves.

    Parameters
    ----------
    instance
        What runs: an `Instance`, a compiled problem, a path, a dict or text; see `read_instance`.
    placement
        Where the tasks run now, as in `read_placement`; ``None`` = as the instance's `running`
        says. It may be of a cluster with more nodes: tasks on those that are gone are orphans,
        and a `UserWarning` names the nodes.
    method
        ``optimal``: the best cost with at most 0, 1, 2, ... moves, each proven or bounded, and the
        moves of the last. Otherwise a method, such as ``stromax-reassign``, which moves running
        tasks, or ``r-storm``, which places all tasks again; equal things are exchanged so that few
        tasks move.
    max_moves
        Most tasks that may move, 0 or more; ``None`` = `DEFAULT_MAX_MOVES` for ``optimal``, any
        number for a method.
    parking
        Most tasks that may wait elsewhere for a while, in each part of the moves that shares no
        node with the others, where there is no order without that; these moves are in addition to
        `max_moves`.
    without_nodes
        Ids of machines that died: the cluster has them no more, and the tasks that ran there are
        orphans. They do not count as moved.
    on_first
        Called at once with places of the orphans, where there are any; for ``optimal`` the search
        for better ones follows.
    time_limit_s, workers, seed, memory_limit_mb
        As in `solve`; the time is that of the whole front.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, or where neither the instance nor `placement` says where tasks run now.
    MethodError
        When the method breaks down.

    Examples
    --------
    >>> import slotwise
    >>> done = slotwise.rebalance("docs/examples/running.json", max_moves=3)
    >>> [int(point.verdict.objective[1].value) for point in done.front.points]
    [38, 35, 32, 25]
    >>> [move.saves["network"] > 0 for move in done.plan.moves]
    [True, True, True]
    """
    started = time.perf_counter()
    limits = checked_limits(time_limit_s, workers, seed, memory_limit_mb)
    most = None if max_moves is None else whole(max_moves, "max_moves")
    spare = whole(parking, "parking")
    given = as_instance(instance, **decoded)
    running = _with_running(given, placement)
    compiled_as(instance if running is given else running, running)  # says which file is wrong
    if running is not given:
        warn_of_lost_nodes(running, without_nodes)
    if without_nodes:
        running = without(running, without_nodes)
    base = with_limit(running, None)
    now = running_placement(base)
    assert now is not None, "it has running"
    orphans = orphans_of(running)
    if orphans and on_first is not None:
        with counted_presses() as presses:
            on_first(first_places(running, most, presses.token.child(started + limits.time_s)))
    if method == OPTIMAL:
        best_front = front(running, DEFAULT_MAX_MOVES if most is None else most, limits)
        name, target, refused = OPTIMAL, _best(best_front), None
    else:
        chosen, best_front = as_method(method), None
        answer = run_method(with_limit(running, least_limit(running, most)), chosen, limits.seed)
        name = chosen.name
        refused = answer.reason if isinstance(answer, Refusal) else None
        target = None if isinstance(answer, Refusal) else kept_running(base, answer)
    plan = None
    if target is not None:
        token = CancellationToken(time.perf_counter() + ORDER_S)
        plan = make_plan(base, now, target, token, spare)
    seconds = time.perf_counter() - started
    verdict = judge(base, now)
    limit = least_limit(running, most)
    return Rebalanced(given, name, verdict, plan, best_front, limit, refused, seconds, orphans)


def _with_running(given: Instance, placement: PlacementLike | None) -> Instance:
    if placement is not None:
        return replace(given, running=as_running_places(placement, given))
    if given.running is None:
        raise InputError(f"{NEEDS_RUNNING}, or a placement", field="instance", has_value=False)
    return given


def _best(best_front: Front) -> Placement | None:
    return best_front.points[-1].placement


# The result of a rebalance: the moves, the front, the saving.


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """The tasks to move, and what that saves.

    Parameters
    ----------
    given
        The instance of the call: placements and plans belong to it.
    method
        ``optimal``, or the method that placed.
    now
        The judge's verdict on the current placement.
    plan
        The moves; ``None`` where there is no placement to move to.
    front
        Best cost and bound for each number of moves; ``None`` for a method.
    max_moves
        Most moves that were allowed; ``None`` = any number.
    refused
        Why the method placed nothing; ``None`` where it did.
    seconds
        Wall-clock time.
    orphans
        The tasks that run nowhere; empty = all run.
    """

    given: Instance
    method: str
    now: Verdict
    plan: Plan | None
    front: Front | None
    max_moves: int | None
    refused: str | None
    seconds: float
    orphans: tuple[Orphan, ...] = ()

    @property
    def rescue(self) -> FrontPoint | None:
        """The best places of the orphans with no other task moved; ``None`` without orphans."""
        return self.front.points[0] if self.orphans and self.front is not None else None

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The hard rules that the placement breaks, a limit of moves among them."""
        if self.plan is None:
            return ()
        broken, moved = list(self.plan.after.violations), self.plan.after.parts["moved"]
        if self.max_moves is not None and moved > self.max_moves:
            limit = judge(
                with_limit(self.now.problem.instance, self.max_moves), self.plan.placement
            )
            broken += [one for one in limit.violations if one.rule == "max_moved"]
        return tuple(broken)

    @property
    def status(self) -> str:
        """As in `Status`, or ``refused`` or ``violated`` of a method's answer."""
        if self.front is not None:
            return str(self.front.points[-1].status)
        if self.plan is None:
            return "refused"
        return "violated" if self.violations else "feasible"

    @property
    def exit_code(self) -> Exit:
        """Of ``rebalance``: failed where a rule is broken or no order found."""
        if self.front is not None and self.front.interrupted:
            return Exit.INTERRUPTED
        if self.plan is None:
            return Exit.NO_ANSWER if self.status == Status.UNKNOWN else Exit.FAILED
        return Exit.FAILED if self.violations or not self.plan.is_ordered else Exit.DONE

    def __repr__(self) -> str:
        """One line: the method, the number of moves, and the cost before and after."""
        if self.plan is None:
            return f"Rebalanced {self.given.name} by {self.method}: {self.status}"
        pairs = zip(self.now.objective, self.plan.after.objective, strict=True)
        costs = ", ".join(f"{a.term} {plain(a.value)} -> {plain(b.value)}" for a, b in pairs)
        moves = counted(len(self.plan.moves) + len(self.plan.rest), "move")
        return f"Rebalanced {self.given.name} by {self.method}: {self.status}, {moves}; {costs}"

    def plan_document(self) -> dict[str, Any] | None:
        """Return the content of a plan file (``slotwise schema plan``); ``None`` without a plan."""
        if self.plan is None:
            return None
        rest = [{**move.to_document(), "saves": {}, "parking": False} for move in self.plan.rest]
        return {
            "format": PLAN_FORMAT,
            "instance": instance_hash(self.given),
            "method": self.method,
            "ordered": self.plan.is_ordered,
            "moves": [move.to_document() for move in self.plan.moves] + rest,
            "placement": placement_document(self.given, self._in_given(self.plan.placement)),
        }

    def to_document(self) -> dict[str, Any]:
        """Return what ``rebalance --json`` prints."""
        plan = self.plan_document() or {"ordered": None, "moves": None, "placement": None}
        after = None if self.plan is None else _values(self.plan.after)
        return {
            "status": self.status,
            "reason": self.refused,
            "method": self.method,
            "instance": instance_hash(self.given),
            "before": _values(self.now),
            "after": after,
            "violations": [str(one) for one in self.violations],
            "orphans": [self._orphan_document(one) for one in self.orphans],
            "front": None if self.front is None else front_document(self.front),
            "ordered": plan["ordered"],
            "moves": plan["moves"],
            "missing": [one.to_document() for one in self.plan.missing] if self.plan else [],
            "order_proven": None if self.plan is None else self.plan.is_proven,
            "interrupted": self.front is not None and self.front.interrupted,
            "seconds": round(self.seconds, 3),
            "placement": plan["placement"],
        }

    def _in_given(self, placement: Placement) -> Placement:
        return in_whole(self.now.problem.instance, self.given, placement)

    def _orphan_document(self, orphan: Orphan) -> dict[str, Any]:
        """Return an orphan with its best place if no other task moves; null = none is known."""
        placement = None if self.rescue is None else self.rescue.placement
        place = None
        if placement is not None:
            node_and_worker = (placement.nodes[orphan.task], placement.workers[orphan.task])
            place = place_of(self.now.problem, *node_and_worker)
        was = orphan.was
        return {
            "task": orphan.name,
            "from": None if was is None else {"node": was.node, "worker": was.worker},
            "to": None if place is None else {"node": place[0], "worker": place[1]},
        }


def front_document(front: Front) -> list[dict[str, Any]]:
    """Return the points of a front, JSON-ready, and last the free optimum."""
    rows = [_point_document(front, point, point.max_moves) for point in front.points]
    return [*rows, _point_document(front, front.free, None)]


def _point_document(front: Front, point: FrontPoint, most: int | None) -> dict[str, Any]:
    bounds = zip(front.problem.terms, point.open_bounds, strict=False)
    return {
        "max_moves": most,
        "moves": point.moves,
        "status": str(point.status),
        "objective": None if point.verdict is None else _values(point.verdict),
        "bounds": [
            {"term": term.name, "bound": None if one is None else plain(one * term.unit)}
            for term, one in bounds
        ],
        "how": point.how,
        "seconds": round(point.seconds, 3),
    }


def _values(verdict: Verdict) -> list[dict[str, Any]]:
    return [{"term": one.term, "value": plain(one.value)} for one in verdict.objective]
