"""Two exact engines, the judge and the heuristics on the same random tiny instances."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
import pytest
from conftest import DEEP
from hypothesis import given
from solved import Solved, solved

from slotwise.benchmarks.experiments.agreement.rule_coverage import RULES, rules_in
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing import instances

X = TypeVar("X")
LIMITS = Limits(time_s=60.0, workers=1, seed=0)
INSTANCES = 300 if DEEP else 100
WITH_KAHIP = 20
"""Instances that KaHIP is asked about, too: it starts a process for each."""


@dataclass
class Tally:
    """What a cross-check saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    placements: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        yield f"{sum(self.statuses.values())} instances: {dict(self.statuses)}"
        yield "seconds: " + ", ".join(f"{k} {v:.1f}" for k, v in self.seconds.items())
        yield "valid placements by methods: " + ", ".join(
            f"{name} {count}" for name, count in sorted(self.placements.items())
        )
        yield "rules: " + ", ".join(f"{rule} {count}" for rule, count in self.rules.most_common())


def check(instance: Instance, problem: Problem, truth: Outcome, tally: Tally) -> None:
    """Compare both engines with each other, the judge and the heuristics."""
    tally.rules.update(rules_in(instance))
    tally.statuses[str(truth.status)] += 1
    assert truth.status in (Status.OPTIMAL, Status.INFEASIBLE)
    agrees_with_judge(problem, truth)
    assert CP_SAT.supports(problem) is None
    other = timed("cp-sat", tally, lambda: CP_SAT.run(problem, LIMITS, None))
    assert (other.status, other.values) == (truth.status, truth.values)
    agrees_with_judge(problem, other)
    timed("methods", tally, lambda: no_heuristic_is_better(problem, truth, tally))


def timed(what: str, tally: Tally, call: Callable[[], X]) -> X:
    start = time.perf_counter()
    answer = call()
    tally.seconds[what] += time.perf_counter() - start
    return answer


def agrees_with_judge(problem: Problem, outcome: Outcome) -> None:
    """A claim is what the judge says, and its bounds are its values."""
    if outcome.status is Status.INFEASIBLE:
        assert outcome.placement is None
        assert outcome.values is None
        return
    assert outcome.placement is not None
    verdict = judge(problem, outcome.placement)
    assert verdict.violations == ()
    assert verdict.scaled == outcome.values == outcome.bounds


def no_heuristic_is_better(problem: Problem, truth: Outcome, tally: Tally) -> None:
    for name, method in HEURISTICS.items():
        if name == "kahip" and tally.statuses.total() > WITH_KAHIP:
            continue
        if method.supports(problem) is not None:
            continue
        answer = method.place(problem, np.random.default_rng(0))
        if not isinstance(answer, Placement):
            continue
        verdict = judge(problem, answer)
        if not verdict.valid:
            continue
        tally.placements[name] += 1
        assert truth.values is not None, f"{name} placed what is proven infeasible"
        assert verdict.scaled >= truth.values, f"{name} beats a proven optimum"


def cross_check(numbers: range) -> Tally:
    """Check instances of `solved`; a failure names the number."""
    tally = Tally()
    for number in numbers:
        one: Solved = timed("exhaustive", tally, partial(solved, number))
        try:
            check(one.instance, one.problem, one.truth, tally)
        except AssertionError as error:
            error.add_note(f"instance {number}: {sorted(rules_in(one.instance))}")
            raise
    return tally


@pytest.mark.slow
def test_exact_engines_agree(note: list[str]) -> None:
    tally = cross_check(range(INSTANCES))
    note += ["exact engines agree:", *tally.lines()]
    assert set(tally.rules) == RULES
    assert min(tally.rules.values()) >= 5
    assert tally.statuses["optimal"] >= INSTANCES // 2
    assert tally.statuses["infeasible"] >= INSTANCES // 10


@pytest.mark.deep
def test_exact_engines_agree_on_many(note: list[str]) -> None:
    note += list(cross_check(range(1000, 6000)).lines())


@pytest.mark.slow
def test_exact_engines_agree_on_any_instance() -> None:
    tally = Tally()

    @given(instances(most_tasks=4, wide_numbers=True))
    def run(instance: Instance) -> None:
        problem = compile_problem(instance)
        check(instance, problem, EXHAUSTIVE.run(problem, LIMITS, None), tally)

    run()
