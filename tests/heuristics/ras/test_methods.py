"""Storm's RAS strategies as methods: where they apply, what they refuse, that they are valid."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from ras_cases import ras_instance

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.testing import instances

NAMES = [*STRATEGIES, "ras-paper"]
NODE = {"cpu": Decimal(100), "memory_mb": Decimal(1000)}


def answer(instance: Instance, name: str = "ras-default") -> Placement | Refusal:
    return run_method(compile_problem(instance), HEURISTICS[name], 0)


def topology(key: str, tasks: int, cpu: int = 30, kind: str = "spout") -> Topology:
    need = {"cpu": Decimal(cpu), "onheap_mb": Decimal(100)}
    return Topology(key, (Component("s", kind, tasks, need),))


def instance(*topologies: Topology, objective: Objective | None = None) -> Instance:
    nodes = tuple(Node(f"n{i}", "r", slots=2, resources=NODE) for i in range(2))
    return Instance("small", Cluster(nodes), topologies, objective=objective or Objective())


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_what_a_strategy_places_is_valid(one: Instance) -> None:
    problem = compile_problem(one)
    for name in NAMES:
        found = run_method(problem, HEURISTICS[name], 0)
        assert isinstance(found, Refusal) or judge(problem, found).valid, name


@pytest.mark.slow
def test_placements_on_racks_with_all_rules_are_valid() -> None:
    for name in NAMES:
        placed, refused = 0, 0
        for seed in range(30):
            problem = compile_problem(ras_instance(seed))
            found = run_method(problem, HEURISTICS[name], 0)
            if isinstance(found, Refusal):
                refused += 1
            else:
                placed += 1
                assert judge(problem, found).valid, (name, seed)
        assert placed
        assert refused


def test_executors_share_a_worker_as_far_as_the_node_goes() -> None:
    found = answer(instance(topology("t", 4)))
    assert isinstance(found, Placement)
    assert sorted(found.nodes) == [0, 0, 0, 1]
    assert len({*zip(found.nodes, found.workers, strict=True)}) == 2


def test_too_much_in_all_is_refused_in_storms_words() -> None:
    found = answer(instance(topology("t", 7)))
    assert isinstance(found, Refusal)
    assert found.reason.startswith(
        "topology t: Not enough resources to schedule after evicting lower priority topologies. "
    )
    assert "Additional CPU Required" in found.reason


def test_what_fits_nowhere_is_refused_with_the_strategys_message() -> None:
    found = answer(instance(topology("t", 2, cpu=60), topology("u", 2, cpu=20)))
    assert isinstance(found, Placement)
    found = answer(instance(topology("t", 3, cpu=60), topology("u", 2, cpu=5)))
    assert isinstance(found, Refusal)
    assert "Cannot schedule by DefaultResourceAwareStrategy (" in found.reason
    assert "of 3 executors scheduled)" in found.reason


def test_a_topology_without_spouts_is_refused() -> None:
    found = answer(instance(topology("t", 1, kind="bolt")))
    assert isinstance(found, Refusal)
    assert "Cannot find a Spout!" in found.reason


def test_a_lost_executor_of_storms_is_no_placement() -> None:
    # Two nodes with 40 points left each: the only executor finds no slot, and Storm calls it
    # "Running - Fully Scheduled".
    found = answer(instance(topology("t", 4), topology("u", 1, cpu=80)))
    assert isinstance(found, Refusal)
    assert found.reason.startswith("topology u: Running - Fully Scheduled by Default")
    assert found.reason.endswith("though some of its tasks have no place")


def test_a_topology_is_left_out_where_that_is_allowed() -> None:
    objective = Objective(("rejected", "network"))
    found = answer(instance(topology("t", 4), topology("u", 3, cpu=60), objective=objective))
    assert isinstance(found, Placement)
    assert UNPLACED not in found.nodes[:4]
    assert found.nodes[4:] == (UNPLACED,) * 3


def test_what_runs_stays() -> None:
    running = {"t": {"s[1]": Place("n1", 7)}}
    found = answer(replace(instance(topology("t", 2)), running=running))
    assert isinstance(found, Placement)
    # The rack's node with an executor comes first; its worker is not joined, a new one opens.
    assert found.nodes == (1, 1)
    assert found.workers[1] == 7
    assert found.workers[0] != 7


def test_where_the_strategies_do_not_apply() -> None:
    plain = instance(topology("t", 1))
    limits = Constraints((("s", "s"),))
    constrained = replace(topology("t", 1), constraints=limits)
    row = (Decimal(0), Decimal(1))
    nodes = plain.cluster.nodes
    unlimited = replace(nodes[0], resources={**NODE, "gpu": None})
    two_racks = tuple(replace(n, host="h", rack=f"r{i}") for i, n in enumerate(nodes))
    no_memory = tuple(replace(n, resources={"cpu": Decimal(100)}) for n in nodes)
    broken = replace(plain, running={"t": {"s[0]": Place("n0", 0)}})
    tiny = replace(nodes[0], resources={"cpu": Decimal(1), "memory_mb": Decimal(1)})
    reasons = {
        "node by node": replace(plain, cluster=replace(plain.cluster, matrix=(row, row[::-1]))),
        "is limited": replace(broken, objective=Objective(limits={"moved": 0})),
        "has constraints": instance(constrained),
        "no limit of gpu": replace(plain, cluster=Cluster((unlimited,))),
        "in two racks": replace(plain, cluster=Cluster(two_racks)),
        "no node offers memory_mb": replace(plain, cluster=Cluster(no_memory)),
        "running tasks break the rule capacity": replace(broken, cluster=Cluster((tiny,))),
    }
    for reason, one in reasons.items():
        found = answer(one)
        assert isinstance(found, Refusal)
        assert reason in found.reason
    assert isinstance(answer(instance(constrained), "ras-constraint-solver"), Placement)
    assert isinstance(answer(plain), Placement)


def test_a_node_that_lacks_memory_has_none_of_it() -> None:
    plain = instance(topology("t", 3))
    lacking = replace(plain.cluster.nodes[0], resources={"cpu": Decimal(100)})
    found = answer(replace(plain, cluster=Cluster((lacking, plain.cluster.nodes[1]))))
    assert isinstance(found, Placement)
    assert found.nodes == (1, 1, 1)


@pytest.mark.parametrize("name", NAMES)
def test_soft_resources_are_hard_here(name: str) -> None:
    objective = Objective(soft={"cpu": 1})
    assert isinstance(answer(instance(topology("t", 7), objective=objective), name), Refusal)
