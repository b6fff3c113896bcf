"""What an engine claims, against the judge's own sums."""

from __future__ import annotations

from slotwise.models.judge.verdict import Verdict
from slotwise.solver.core.result import Outcome, Status


def contradiction(engine: str, outcome: Outcome, verdict: Verdict | None) -> str | None:
    """Return how the judge contradicts an engine's claim, both numbers named; ``None`` if not.

    `verdict` is that of the outcome's placement; ``None`` where it has none.
    """
    if verdict is None:
        needs_one = outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
        return f"{engine} says {outcome.status} without a placement" if needs_one else None
    if outcome.status is Status.INFEASIBLE:
        return f"{engine} says {outcome.status} with a placement"
    if verdict.violations:
        return f"{engine} returned an invalid placement: {verdict.violations[0]}"
    if outcome.values != verdict.scaled:
        return f"{engine} claims {outcome.values}; the judge finds {verdict.scaled}"
    for value, bound in zip(verdict.scaled, outcome.bounds, strict=True):
        if bound is not None and bound > value:
            return f"{engine} claims the bound {bound}; the judge finds {value}"
        if value != bound:
            break
    proven = outcome.bounds == verdict.scaled
    if proven != (outcome.status == Status.OPTIMAL):
        return (
            f"{engine} says {outcome.status} with values {verdict.scaled} "
            f"and bounds {outcome.bounds}"
        )
    return None
