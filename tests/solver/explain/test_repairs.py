"""Repairs of two changes, evictions, prices, and what is said when time runs out."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from explained import check_explanation, exists

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge import rules
from slotwise.models.judge.judge import judge
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.explain import elastic
from slotwise.solver.explain import repairs as search
from slotwise.solver.explain.change import apply_change
from slotwise.solver.explain.conflict import CoreSearch
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Cause, Feasibility
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.prices import RepairPrices


def topology(name: str, tasks: int, priority: int = 29, **demand: int) -> Topology:
    """Return a topology of one component."""
    resources = {key: Decimal(value) for key, value in demand.items()}
    return Topology(name, (Component("a", "spout", tasks, resources),), priority=priority)


def on_one_node(*topologies: Topology, **resources: int) -> Instance:
    """Return an instance on one node."""
    capacity = {key: Decimal(value) for key, value in resources.items()}
    return Instance("one", Cluster((Node("n1", "r1", resources=capacity),)), topologies)


TWO_SHORTAGES = on_one_node(
    topology("t", 1, cpu=90, gpu=2), topology("u", 1, cpu=30), cpu=100, gpu=1
)
THREE = on_one_node(
    topology("high", 1, 0, cpu=60), topology("mid", 1, 10, cpu=50), topology("low", 2, cpu=50),
    cpu=100,
)  # fmt: skip


def test_two_changes_are_combined_where_no_single_one_keeps_all_tasks() -> None:
    found = explain_infeasible(TWO_SHORTAGES)
    check_explanation(TWO_SHORTAGES, found)
    causes = {conflict.cause for conflict in found.conflicts}
    assert causes == {Cause.TASK_TOO_LARGE, Cause.SHORTAGE}
    pair = next(one for one in found.repairs if len(one.changes) == 2)
    assert {change.text for change in pair.changes} == {
        "raise gpu of node n1 by 1, from 1 to 2",
        "raise cpu of node n1 by 20, from 100 to 120",
    }
    for change in pair.changes:
        assert not exists(apply_change(TWO_SHORTAGES, change)), "each is needed"


def test_the_set_of_topologies_with_the_least_weight_is_evicted() -> None:
    instance = replace(THREE, topologies=(*THREE.topologies, topology("last", 1, cpu=100)))
    prices = RepairPrices(upgrade=Decimal(1000), node=Decimal(1000), task=Decimal(1000))
    found = explain_infeasible(instance, prices=prices)
    evicted = found.repairs[0]
    assert [change.kind for change in evicted.changes] == ["evict"]
    assert judge(evicted.instance, evicted.placement).valid
    weights = {"high": 30, "mid": 20, "low": 1, "last": 1}
    assert evicted.price == 10 * sum(weights[name] for name in evicted.changes[0].topologies)
    assert evicted.price == 10 * (20 + 1 + 1), "mid and high do not fit together"


def test_prices_decide_the_order() -> None:
    instance = on_one_node(topology("t", 3, cpu=50), cpu=100)
    first = explain_infeasible(instance).repairs[0]
    assert first.text == "raise cpu of node n1 by 50, from 100 to 150"
    assert first.price == 1
    first = explain_infeasible(instance, prices=RepairPrices(task=Decimal("0.5"))).repairs[0]
    assert first.text == "run 2 tasks of a instead of 3 (t)"
    assert first.price == Decimal("0.5")


def test_a_wrong_price_is_refused() -> None:
    with pytest.raises(InputError, match="task"):
        RepairPrices(task=Decimal(-1))


def test_nothing_is_claimed_that_was_not_proven_in_time() -> None:
    late = Decider(1e-9)
    assert late.decide(THREE).status is Feasibility.UNDECIDED
    assert CoreSearch(THREE, late).find() is None
    found = explain_infeasible(THREE, time_limit_s=1e-9)
    assert found.status is Feasibility.UNDECIDED
    assert (found.conflicts, found.repairs, found.placement) == ((), (), None)


def test_a_core_without_time_for_its_proof_is_not_called_minimal() -> None:
    class NoWitness(Decider):
        """Proves that there is none, and never finds a placement."""

        def until(self, fraction: float) -> Decider:
            return self

        def decide(self, instance: Instance, *, fraction: float | None = None):  # type: ignore[no-untyped-def]
            found = super().decide(instance, fraction=fraction)
            if found.status is Feasibility.FEASIBLE:
                return replace(found, status=Feasibility.UNDECIDED, placement=None)
            return found

    core = CoreSearch(THREE, NoWitness(60.0)).find()
    assert core is not None
    assert not core.is_minimal
    assert not exists(core.instance)


def test_the_document_is_json() -> None:
    document = json.loads(json.dumps(explain_infeasible(THREE).to_document()))
    assert document["status"] == "infeasible"
    assert document["conflicts"][0]["minimal"] is True
    assert {"text", "price", "least", "changes"} <= set(document["repairs"][0])


def test_nodes_are_added_to_a_matrix_of_distances() -> None:
    matrix = ((Decimal(0),),)
    instance = replace(THREE, cluster=replace(THREE.cluster, matrix=matrix))
    added = next(one for one in explain_infeasible(instance).repairs if "like n1" in one.text)
    size = len(added.instance.cluster.nodes)
    assert added.instance.cluster.matrix is not None
    assert size == len(added.instance.cluster.matrix) > 1


def test_a_model_that_is_declined_leaves_single_changes_by_bisection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def decline(*_: object) -> None:
        raise NotTakenError("the model would be too large")

    monkeypatch.setattr(search, "ElasticModel", decline)
    node = Node("n1", "r1", slots=2, resources={"cpu": Decimal(100)})
    instance = Instance("one", Cluster((node,)), (topology("t", 3, cpu=50),))
    found = explain_infeasible(instance)
    assert found.repairs[0].text == "raise cpu of node n1 by 50, from 100 to 150"
    assert found.repairs[0].least
    assert not found.cheapest_proven
    assert found.notes == ("Combinations of changes were not tried: the model would be too large.",)


def test_the_elastic_model_states_rules_that_there_are() -> None:
    """It declines others by name, so that a new rule has only single changes as repairs."""
    assert set(rules.RULES) >= elastic.RULES
    assert len(elastic.RULES) >= 12


def test_amounts_of_many_digits_are_exact_and_confirmed() -> None:
    cpu = Decimal("40000000.000001")
    node = Node("n1", "r1", resources={"cpu": cpu})
    parts = (Component("a", "spout", 2, {"cpu": Decimal(30000000)}),)
    asked = Instance("digits", Cluster((node,)), (Topology("t", parts),))
    prices = RepairPrices(task=Decimal(10**6), node=Decimal(10**6))
    first = explain_infeasible(asked, prices=prices).repairs[0]
    assert first.changes[0].amount == Decimal("19999999.999999")
    assert first.least


def test_free_amounts_are_no_larger_than_needed() -> None:
    node = Node("n1", "r1", slots=1, resources={"cpu": Decimal(100)})
    asked = Instance("free", Cluster((node,)), (topology("t", 1, cpu=80), topology("u", 1, cpu=30)))
    found = explain_infeasible(asked, prices=RepairPrices(slot=Decimal(0)))
    check_explanation(asked, found)
    assert {change.text for change in found.repairs[0].changes} == {
        "give node n1 1 more slot, from 1 to 2",
        "raise cpu of node n1 by 10, from 100 to 110",
    }
