"""Storm's own tests as vectors: every vector on every strategy it names.

The folders are ``shared/storm/vectors``, ``tests/vectors`` and what ``--vectors DIR`` adds. A
vector without rounds runs twice: strategy by strategy on an empty cluster, and through the outer
loop.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from ras_expectations import CHECKS, ELSEWHERE, Run, check_all
from ras_vector_cases import pytest_generate_tests
from ras_vectors import Vector, instances_of

from slotwise.heuristics.ras.model import ras_model
from slotwise.heuristics.ras.scheduler import RoundLimits, priority_order, schedule_rounds
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies import strategy as ras_strategy
from slotwise.heuristics.ras.strategies.strategy import schedule_topology

__all__ = ["pytest_generate_tests"]

NEEDS_LOOP = {"status_prefix", "attempted_evictions_last_round"}


def test_every_expectation_has_a_check(vector: Vector) -> None:
    known = set(CHECKS) | ELSEWHERE
    assert set(vector.expected) <= known, vector.path


@pytest.mark.slow
@pytest.mark.vectors_with("topologies")
def test_strategies_alone(vector: Vector, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "steps" in vector.given:
        pytest.skip(f"{vector.name}: its steps are those of test_a_rack_with_workers_is_preferred")
    turned_if_asked(vector, monkeypatch)
    (instance,) = instances_of(vector)
    model = ras_model(instance)
    state = RasState(model)
    for turn in priority_order(instance):
        schedule_topology(state, turn.topology, strategy)
    names = tuple(t.id for t in instance.topologies)
    run = Run(vector, strategy, model, (state.placement(),), (names,))
    check_all(run, set(CHECKS) - NEEDS_LOOP)
    if "after" in vector.expected:
        assert vector.expected["after"] == AFTER
        free_every_second_worker(state)
        for t in range(len(names)):
            assert schedule_topology(state, t, strategy).success
        again = replace(run, placements=(state.placement(),))
        check_all(again, {"scheduled", "valid"})


AFTER = "free every 2nd worker, reschedule: success and valid again"


def free_every_second_worker(state: RasState) -> None:
    slots = [(node, label) for node, workers in enumerate(state.workers) for label in workers]
    for slot in slots[::2]:
        state.free_slot(slot)


def turned_if_asked(vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn the order of the executors where the vector says so, which makes the search go back."""
    if vector.given.get("reverse_executor_order"):
        order = ras_strategy.executor_order
        monkeypatch.setattr(ras_strategy, "executor_order", lambda *given: order(*given)[::-1])


@pytest.mark.slow
@pytest.mark.vectors_with("topologies", "rounds")
def test_the_outer_loop(vector: Vector, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "steps" in vector.given:
        pytest.skip(f"{vector.name}: its steps are those of test_a_rack_with_workers_is_preferred")
    turned_if_asked(vector, monkeypatch)
    instances = instances_of(vector)
    limits = RoundLimits(attempts=vector.given.get("max_attempts", 5))
    rounds = list(schedule_rounds(instances, limits, strategy))
    last = rounds[-1]
    ids = tuple(tuple(t.id for t in one.topologies) for one in instances)
    run = Run(
        vector,
        strategy,
        ras_model(instances[-1]),
        tuple(one.placement for one in rounds),
        ids,
        {ids[-1][d.topology]: d.message for d in last.decisions},
        tuple(ids[-1][t] for d in last.decisions for t in d.tried),
    )
    check_all(run, set(CHECKS) - {"executor_order_upstream_comment", "executor_order"})
