"""What a rebalance comes to: the moves, the front, what is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from slotwise.api.exit_code import Exit
from slotwise.api.running.orphans import Orphan
from slotwise.models.display import counted
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.formats.plan_file import PLAN_FORMAT
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import in_whole
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import place_of
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.values import plain
from slotwise.solver.core.result import Status
from slotwise.solver.rebalance.front import Front, FrontPoint
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.plan import Plan


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """What to move, and what that saves.

    Parameters
    ----------
    given
        The instance as it was given: placements and plans belong to it.
    method
        ``optimal``, or the method that placed.
    now
        What the judge says of what runs now.
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
        found, moved = list(self.plan.after.violations), self.plan.after.parts["moved"]
        if self.max_moves is not None and moved > self.max_moves:
            limit = judge(
                with_limit(self.now.problem.instance, self.max_moves), self.plan.placement
            )
            found += [one for one in limit.violations if one.rule == "max_moved"]
        return tuple(found)

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
        """One line: the method, how many moves, and the cost before and after."""
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
        """Return an orphan with its best place where no other task moves; null = none is known."""
        found = None if self.rescue is None else self.rescue.placement
        place = None
        if found is not None:
            here = (found.nodes[orphan.task], found.workers[orphan.task])
            place = place_of(self.now.problem, *here)
        was = orphan.was
        return {
            "task": orphan.name,
            "from": None if was is None else {"node": was.node, "worker": was.worker},
            "to": None if place is None else {"node": place[0], "worker": place[1]},
        }


def front_document(found: Front) -> list[dict[str, Any]]:
    """Return the points of a front, JSON-ready, and last the free optimum."""
    rows = [_point_document(found, point, point.max_moves) for point in found.points]
    return [*rows, _point_document(found, found.free, None)]


def _point_document(found: Front, point: FrontPoint, most: int | None) -> dict[str, Any]:
    bounds = zip(found.problem.terms, point.open_bounds, strict=False)
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
