"""How many running tasks a scheduler moves."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.instance import Instance, Objective
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.trial import Trial

NOTHING_RUNS = "nothing runs"
MORE_NEEDED = "more moves are needed"


def moves_at_most(trial: Trial, instance: Instance, most: float) -> Finding | None:
    """Hold it that at most `most` running tasks move where that many are enough."""
    if not instance.running:
        raise NotJudgedError(NOTHING_RUNS)
    _, verdict = trial.valid(instance)
    moved = verdict.parts["moved"]
    if moved <= most:
        return None
    objective = Objective(("moved",), instance.objective.soft, instance.objective.limits)
    fewest = trial.oracle.optimum(replace(instance, objective=objective)).values
    if fewest is None or fewest[0] > most:
        raise NotJudgedError(MORE_NEEDED)
    return Finding(f"moves {moved} running tasks, where {fewest[0]} are enough; at most {most:g}")
