"""What Storm's own tests see refused, explained: which vectors have no placement, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from ras_vectors import instances_of, read_vector

from slotwise.models.judge.judge import judge
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Cause, Feasibility

REFUSED = {
    "evict_on_node_shared_memory": (
        Cause.SHORTAGE,
        "These tasks (testTopology-id-0: bolt-1, bolt-2; testTopology-id-1: spout) need 2020 MB of "
        "memory in all, but all nodes together have 2000: 20 short.",
        "raise memory_mb of node r000s000 by 500, from 2000 to 2500",
    ),
    "gras_eviction_by_gpu": (
        Cause.SHORTAGE,
        "These tasks (hasGpu1: spout; hasGpu2: spout) need 6 gpu.count in all, but all nodes "
        "together have 4: 2 short.",
        "raise gpu.count of node r000s000 by 2, from 1 to 3",
    ),
    "max_heap_fail": (
        Cause.SHORTAGE,
        "These tasks (topology2: wordSpout2) need at least 5 workers, but all nodes together have "
        "4 slots.",
        "give node r000s000 1 more slot, from 2 to 3",
    ),
}
"""Vectors of Storm's tests whose last round has no placement: cause, sentence, cheapest repair."""

OUR_OWN = {
    "round_robin_loses_the_last_executor": Cause.FRAGMENTATION,
    "the_only_executor_is_lost": Cause.TASK_TOO_LARGE,
}
"""The same of `tests/vectors`."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_storm_refuses_is_explained(name: str, shared: Path) -> None:
    instance = instances_of(read_vector(shared / "storm" / "vectors" / f"{name}.json"))[-1]
    found = explain_infeasible(instance)
    first = found.conflicts[0]
    assert first.minimal
    assert (first.cause, first.summary, found.repairs[0].text) == REFUSED[name]
    assert all(judge(repair.instance, repair.placement).valid for repair in found.repairs)


@pytest.mark.parametrize("name", OUR_OWN)
def test_our_own_vectors_are_explained(name: str, root: Path) -> None:
    instance = instances_of(read_vector(root / "tests" / "vectors" / f"{name}.json"))[-1]
    found = explain_infeasible(instance)
    assert found.conflicts[0].cause is OUR_OWN[name]
    assert found.conflicts[0].minimal
    assert found.complete


@pytest.mark.deep
def test_every_vector_without_placement_has_a_minimal_conflict_and_a_repair(shared: Path) -> None:
    explained = 0
    for path in sorted((shared / "storm" / "vectors").glob("*.json")):
        vector = read_vector(path)
        if "topologies_spec" in vector.given or "constraints_raw" in vector.given:
            continue
        for instance in instances_of(vector) if "nodes" in vector.given else ():
            found = explain_infeasible(instance)
            assert found.status is not Feasibility.UNDECIDED, path.name
            if found.status is Feasibility.INFEASIBLE:
                explained += 1
                assert all(conflict.minimal for conflict in found.conflicts), path.name
                assert found.repairs, path.name
    assert explained >= 14
