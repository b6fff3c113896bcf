"""A scheduling round with its exact counterparts: exit code and JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from slotwise.cli import inputs
from slotwise.cli.exits import Exit
from slotwise.heuristics.ras.scheduler.round import Round
from slotwise.models.instance.instance import Instance
from slotwise.models.judge.verdict import Verdict
from slotwise.solver.admission.exact_round import Counterpart, Exact


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A round, judged, with its exact counterparts if they were asked for.

    `given` is the instance of the file: the placement is written as its own.
    """

    given: Instance
    done: Round
    verdict: Verdict
    exact: Exact | None

    @property
    def code(self) -> Exit:
        """The exit code."""
        if self.exact is not None and self.exact.interrupted:
            return Exit.INTERRUPTED
        return Exit.FAILED if self.done.refused or not self.valid else Exit.DONE

    @property
    def valid(self) -> bool:
        """Whether what is placed keeps all hard rules; topologies left out are no matter."""
        return not broken_rules(self.verdict)

    def to_document(self) -> dict[str, Any]:
        """Return what ``schedule --json`` prints."""
        done = self.done
        topologies = done.instance.topologies
        return {
            **inputs.hashed(self.given),
            "priority": done.instance.scheduler.priority_strategy,
            "topologies": [
                {
                    "topology": topologies[entry.topology].id,
                    "owner": topologies[entry.topology].owner,
                    "score": entry.score,
                    "guaranteed": entry.guaranteed,
                    "outcome": str(decision.outcome),
                    "message": decision.message,
                    "evicted": names(done, decision.evicted),
                    "tried_evicting": names(done, decision.tried),
                    "attempts": decision.attempts,
                    "states": decision.states,
                    "backtracked": decision.backtracked,
                }
                for entry, decision in zip(done.order, done.decisions, strict=True)
            ],
            "evicted": [
                {"topology": topologies[e.topology].id, "by": topologies[e.by].id, "again": e.again}
                for e in done.evicted
            ],
            "violations": [str(violation) for violation in broken_rules(self.verdict)],
            "exact": None if self.exact is None else exact_document(self.exact, done),
            "placement": inputs.placement_or_none(self.given, done.placement),
        }


def broken_rules(verdict: Verdict) -> list[Any]:
    """Return the violations except for topologies that are not placed, which the round reports."""
    return [violation for violation in verdict.violations if violation.rule != "placed"]


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


def _answer_document(answer: Counterpart, done: Round) -> dict[str, Any]:
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
