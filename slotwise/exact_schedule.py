"""The exact counterparts of a round as JSON."""

from __future__ import annotations

from typing import Any

from slotwise.heuristics.ras_round import Round
from slotwise.solver.exact_round import Answer, Exact


def exact_document(exact: Exact, done: Round) -> dict[str, Any]:
    """Return the counterparts as JSON-ready data."""
    best = exact.best
    return {
        "best_set": {
            "proven": best.proven,
            "left_out": names(done, best.left_out),
            "cost": best.cost,
            "bound": best.bound,
            "moved": None if best.moved is None else best.moved.tasks,
            "moved_bound": None if best.moved is None else best.moved.bound,
            "scheduler_left_out": names(done, exact.left_out),
            "scheduler_cost": exact.cost,
            "seconds": round(best.seconds, 3),
        },
        "evictions": [_answer_document(answer, done) for answer in exact.answers],
        "notes": list(exact.notes),
    }


def _answer_document(answer: Answer, done: Round) -> dict[str, Any]:
    found = answer.eviction
    own: dict[str, Any] = {
        "topology": done.instance.topologies[answer.decision.topology].id,
        "scheduler_evicted": names(done, answer.decision.evicted),
    }
    if found is None:
        return own | {"status": "not-answered", "reason": answer.reason}
    return own | {
        "status": str(found.status),
        "evicted": None if found.evicted is None else names(done, found.evicted),
        "weight": found.weight,
        "least_count": found.least_count,
        "least_weight": found.least_weight,
        "seconds": round(found.seconds, 3),
    }


def names(done: Round, topologies: tuple[int, ...]) -> list[str]:
    """Return the ids of topologies."""
    return [done.instance.topologies[t].id for t in topologies]
