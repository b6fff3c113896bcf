"""Whether names and the order of things change what a placement costs."""

from __future__ import annotations

from fractions import Fraction

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.models.judge.judge import judge
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.properties.renamed import renamed
from slotwise.testing.checks.properties.reordered import reordered
from slotwise.testing.checks.scheduler import HASH_SEEDS
from slotwise.testing.checks.trial import NOT_VALID, REFUSED, Trial, on_variant

Costs = tuple[Fraction, ...]


def ignores_names(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, racks, topologies and components with other names cost the same."""
    return _same(trial, instance, renamed(instance), "with other names")


def ignores_order(trial: Trial, instance: Instance) -> Finding | None:
    """Hold it that nodes, topologies, components and streams in reverse order cost the same."""
    return _same(trial, instance, reordered(instance), "in reverse order")


def _same(trial: Trial, instance: Instance, other: Instance, how: str) -> Finding | None:
    before = _costs(trial, instance, HASH_SEEDS[0])
    with on_variant(how):
        after = _costs(trial, other, HASH_SEEDS[1])
    if before is None and after is None:
        raise NotJudgedError(REFUSED)
    if before == after:
        return None
    terms = instance.objective.terms
    return Finding(f"{_shown(terms, before)}; {how} {_shown(terms, after)}")


def _costs(trial: Trial, instance: Instance, hash_seed: int) -> Costs | None:
    """Return the value of each term; ``None`` for a refusal."""
    answer = trial.answer(instance, hash_seed)
    if isinstance(answer, Refusal):
        return None
    verdict = judge(instance, answer)
    if not verdict.valid:
        raise NotJudgedError(NOT_VALID)
    return tuple(term.value for term in verdict.objective)


def _shown(terms: tuple[str, ...], costs: Costs | None) -> str:
    if costs is None:
        return "refuses"
    return ", ".join(f"{t} {float(c):g}" for t, c in zip(terms, costs, strict=True))
