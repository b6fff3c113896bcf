"""How a scheduler compares with the optimum: what it refuses, how far off it is, what it moves."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Refusal
from slotwise.models.judge.verdict import Verdict
from slotwise.solver.core.judged_result import gap_of
from slotwise.solver.core.result import Outcome, Status
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.properties.validity import first_of_each_rule
from slotwise.testing.checks.trial import Trial

NOT_PLACEABLE = "no placement of all tasks exists"


def admits(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that what can be placed whole is: not refused, left out, or placed against a rule."""
    answer = trial.answer(instance)
    if isinstance(answer, Refusal):
        _check_placeable(trial, instance)
        return Finding(f"refuses what can be placed: {answer.reason}", ("refuses",))
    if UNPLACED in answer.nodes:
        _check_placeable(trial, instance)
        return Finding("leaves out tasks that can all be placed", ("leaves out",))
    broken = first_of_each_rule(trial.verdict(instance).violations)
    if broken:
        _check_placeable(trial, instance)
        said = "; ".join(f"breaks {one}" for one in broken.values())
        return Finding(f"{said}, where a valid placement exists", tuple(broken))
    return None


def _check_placeable(trial: Trial, instance: Instance) -> None:
    if not trial.oracle.optimum(instance).is_complete:
        raise NotJudgedError(NOT_PLACEABLE)


def gap_is_at_most(trial: Trial, instance: Instance, most: float) -> Finding | None:
    """Hold the gap to the optimum against `most`.

    The gap is (value - optimum) / max(|value|, 10^-6) of the first term in which they differ:
    where the optimum is 0, any other value has the gap 1.
    """
    _, verdict = trial.valid(instance)
    best = trial.oracle.optimum(instance).values
    assert best is not None, "a valid placement exists"
    gap = _gap(verdict, best)
    if gap <= most:
        return None
    differ = (one for one in zip(verdict.objective, best, strict=True) if one[0].scaled != one[1])
    term, optimum = next(differ)
    unit = term.value / term.scaled
    shown = f"{term.term} is {float(term.value):g}, the optimum {float(optimum * unit):g}"
    return Finding(f"{shown}: a gap of {gap:.4g}, at most {most:g} is allowed")


def _gap(verdict: Verdict, best: tuple[int, ...]) -> float:
    claim = Outcome(Status.FEASIBLE, None, verdict.scaled, best, proof="")
    gap = gap_of(claim, verdict.problem.terms)
    assert gap is not None, "every term has a value and a bound"
    return gap


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
