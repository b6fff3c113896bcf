"""Engine ``connected`` agrees with exhaustive search on tiny instances under each rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from conftest import DEEP
from connected_cases import RULES, check_claim, few_slots, proven, small, unchanged, with_another
from engine_cases import LIMITS

from slotwise.models.problem.compile import compile_problem
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE

COUNT = 1000 if DEEP else 20


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_agrees_with_exhaustive_search(rule: str, note: list[str]) -> None:
    """Claims are right, and proofs as many as each place that counts the rule makes possible.

    `test_connected_left_out` leaves these places out: then there are fewer where the rule binds.
    """
    ruled, rng = RULES[rule], np.random.default_rng([5, *map(ord, rule)])
    seen: Counter[str] = Counter()
    for number in range(COUNT):
        problem = compile_problem(small(rng, ruled.change))
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        if truth.status not in (Status.OPTIMAL, Status.INFEASIBLE):  # 13 tasks take a minute
            seen["not settled"] += 1
            continue
        reason = CONNECTED.supports(problem)
        if reason is not None:  # it says that overload comes first, never 0
            assert rule == "soft, overload first", reason
            assert truth.values is None or truth.values[0] > 0, number
            seen["declined"] += 1
            continue
        found = CONNECTED.run(problem, LIMITS, None)
        seen["with a placement"] += truth.values is not None
        seen[f"{truth.status}/{found.status}"] += 1
        check_claim(problem, truth, found, number)
    seen["where it binds"] = proven(rule)
    note.append(f"connected, {rule} (truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= max(COUNT // 8, ruled.of_drawn * seen["with a placement"])
    assert seen["where it binds"] >= ruled.of_binding


HARD_RULES = [
    name
    for name, ruled in RULES.items()
    if "soft" not in name and ruled.otherwise and ruled.change not in (unchanged, few_slots)
]


@pytest.mark.slow
def test_several_topologies_agree_with_exhaustive_search(note: list[str]) -> None:
    rng = np.random.default_rng(9)
    seen: Counter[str] = Counter()
    for number in range(2 * COUNT):
        rule = HARD_RULES[number % len(HARD_RULES)]
        one = small(rng, RULES[rule].change if rng.random() < 0.7 else unchanged)
        both = with_another(one, rng)
        if rng.random() < 0.5:  # the second has rules of the first kind
            constrained = RULES[rule].change(replace(both, topologies=both.topologies[1:]), rng)
            both = replace(both, topologies=(both.topologies[0], *constrained.topologies))
        problem = compile_problem(both)
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        if truth.status not in (Status.OPTIMAL, Status.INFEASIBLE):  # 13 tasks take a minute
            seen["not settled"] += 1
            continue
        assert CONNECTED.supports(problem) is None
        found = CONNECTED.run(problem, LIMITS, None)
        seen["with a placement"] += truth.values is not None
        seen[f"{truth.status}/{found.status}"] += 1
        check_claim(problem, truth, found, number)
        alone = [
            EXHAUSTIVE.run(compile_problem(replace(both, topologies=(t,))), LIMITS, None).values
            for t in both.topologies
        ]
        if truth.values is not None:
            seen["they compete"] += truth.values[0] > sum(one[0] for one in alone if one)
    note.append(f"connected, several topologies (truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= max(COUNT // 2, 0.68 * seen["with a placement"])
    assert seen["they compete"] >= COUNT // 20
