"""Every kind of instance is what it says."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings

from slotwise.benchmarks.experiments.agreement.rule_coverage import RULES, rules_in
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing import (
    KINDS,
    REASONS,
    clusters,
    feasible_pairs,
    infeasible_with_reason,
    instances,
    topologies,
)
from slotwise.testing.random_instances import feasible
from slotwise.testing.random_instances.feasible import keeping
from slotwise.testing.random_instances.features import is_constrained

FEASIBLE = [kind for kind in KINDS if kind not in ("any", "infeasible")]
RULES_OF_THE_JUDGE = {
    *("capacity", "slots", "heap", "one_topology_per_worker", "one_task_per_worker"),
    *("one_component_per_worker", "incompatible", "max_per_node", "max_moved"),
}


def status_of(instance: Instance) -> Status:
    return EXHAUSTIVE.run(compile_problem(instance), Limits(), None).status


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_feasible_or_not_as_they_say(kind: str) -> None:
    found: Counter[Status] = Counter()
    allowed = {Status.OPTIMAL} if kind != "infeasible" else set()
    allowed |= {Status.INFEASIBLE} if kind not in FEASIBLE else set()

    @given(instances(kind))
    def run(instance: Instance) -> None:
        assert 1 <= len(instance.cluster.nodes) <= 4
        assert len(instance.task_names()) <= 6
        status = status_of(instance)
        assert status in allowed
        found[status] += 1

    run()
    assert set(found) == allowed


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEASIBLE)
def test_planted_placements_are_valid(kind: str) -> None:
    @given(feasible_pairs(kind))
    def run(pair: tuple[Instance, Placement]) -> None:
        assert judge(*pair).violations == ()

    run()


@pytest.mark.slow
def test_any_has_every_rule() -> None:
    found: set[str] = set()

    @settings(max_examples=500)
    @given(instances())
    def run(instance: Instance) -> None:
        found.update(rules_in(instance))

    run()
    assert found == RULES


@pytest.mark.slow
@pytest.mark.parametrize("reason", [reason.name for reason in REASONS])
def test_every_reason_makes_infeasible(reason: str) -> None:
    @settings(max_examples=40)
    @given(infeasible_with_reason(reason=reason))
    def run(pair: tuple[Instance, object]) -> None:
        assert status_of(pair[0]) == Status.INFEASIBLE

    run()


@pytest.mark.slow
def test_reasons_are_of_every_rule_and_occur() -> None:
    assert {reason.rule for reason in REASONS} == RULES_OF_THE_JUDGE
    found: set[str] = set()

    @settings(max_examples=300)
    @given(infeasible_with_reason())
    def run(pair: tuple[Instance, object]) -> None:
        found.add(getattr(pair[1], "rule", ""))

    run()
    assert found == RULES_OF_THE_JUDGE


@given(infeasible_with_reason(1, 1))
def test_reasons_need_no_more_than_there_is(pair: tuple[Instance, object]) -> None:
    assert (len(pair[0].task_names()), len(pair[0].cluster.nodes)) == (1, 1)


def test_limits_of_components_with_one_name_are_raised_enough() -> None:
    limit = Constraints(max_per_node={"spout": 1})
    pair = [
        Topology(f"topology-{t}", (Component("spout", "spout", 4 - t),), constraints=limit)
        for t in (1, 2)
    ]
    instance = Instance("two", Cluster((Node("n1", "r1"),)), tuple(pair))
    kept, placement = keeping(instance, Placement((0,) * 5, (0, 0, 0, 1, 1)))
    assert judge(kept, placement).valid


def test_a_rule_that_no_limit_repairs_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasible, "WORKER_RULES", ())  # so that no task gets a worker of its own
    topology = Topology("wc", (Component("spout", "spout", 2),), one_task_per_worker=True)
    instance = Instance("one", Cluster((Node("n1", "r1"),)), (topology,))
    assert not judge(instance, Placement((0, 0), (0, 0))).valid
    repaired, placement = keeping(instance, Placement((0, 0), (0, 0)))
    assert judge(repaired, placement).valid
    assert not repaired.topologies[0].one_task_per_worker


@pytest.mark.slow
@given(feasible_pairs("tight"))
def test_tight_leaves_hardly_a_unit(pair: tuple[Instance, Placement]) -> None:
    instance, placement = pair
    verdict = judge(instance, placement)
    spare = []
    for d, dim in enumerate(verdict.problem.dims):
        if not verdict.problem.hard[d] or not verdict.accounting.node_load[:, d].any():
            continue
        load = int(verdict.accounting.node_load[:, d].sum())
        room = int(verdict.problem.capacity[:, d].sum())
        spare.append((room - load) * verdict.problem.units[d] <= 1 or room - load <= 0.05 * load)
        assert dim not in instance.objective.soft
    assert any(spare)


@given(instances("heterogeneous"))
def test_heterogeneous_nodes_differ(instance: Instance) -> None:
    shapes = [(node.slots, node.resources) for node in instance.cluster.nodes]
    assert any(shape != shapes[0] for shape in shapes)


@given(instances("cyclic"))
def test_cyclic_streams_have_a_cycle_of_tasks(instance: Instance) -> None:
    def has_cycle(topology: Topology) -> bool:
        tasks = {c.id for c in topology.components if c.parallelism}
        ends = [(s.source, s.target) for s in topology.streams if s.source != s.target]
        graph = nx.DiGraph([pair for pair in ends if tasks.issuperset(pair)])
        return not nx.is_directed_acyclic_graph(graph)

    assert any(map(has_cycle, instance.topologies))


@settings(max_examples=50)
@given(instances("constrained"), instances("shared-memory"))
def test_constrained_and_shared_memory(constrained: Instance, shared: Instance) -> None:
    assert any(map(is_constrained, constrained.topologies))
    assert any(topology.shared_memory for topology in shared.topologies)


@pytest.mark.slow
@settings(max_examples=50)
@given(instances("several-topologies"), instances("running"))
def test_several_topologies_and_running(several: Instance, running: Instance) -> None:
    assert len({topology for topology, _ in several.task_names()}) == 2
    assert running.running


@given(topologies(most_components=2, most_tasks=3), clusters(most_nodes=2, most_racks=1))
def test_sizes_are_kept(topology: Topology, cluster: Cluster) -> None:
    assert len(topology.components) <= 2
    assert 1 <= sum(c.parallelism for c in topology.placed_components) <= 3
    assert len(cluster.nodes) <= 2
    assert cluster.racks == ("r1",)


@given(topologies(resources=["cpu"], rates=True), clusters(resources=["cpu"]))
def test_resources_are_those_asked_for(topology: Topology, cluster: Cluster) -> None:
    assert {key for c in topology.placed_components for key in c.resources} <= {"cpu"}
    assert all(set(node.resources) == {"cpu"} for node in cluster.nodes)
    assert all(stream.rate is not None for stream in topology.streams)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: instances("tigth"), "kind = 'tigth': unknown kind; did you mean 'tight'?"),
        (lambda: feasible_pairs("any"), "kind = 'any': not a feasible kind"),
        (lambda: instances("any", 0), "most_tasks = 0"),
        (lambda: instances("cyclic", 1), "most_tasks = 1: must be 2 or more"),
        (lambda: instances("heterogeneous", 1, 1), "most_nodes = 1: must be 2 or more"),
        (lambda: infeasible_with_reason(reason="heat"), "did you mean 'heap'?"),
        (lambda: infeasible_with_reason(2, reason="fragmentation"), "most_tasks = 2"),
        (lambda: clusters(resources=["ram"]), "resources = 'ram'"),
    ],
)
def test_mistakes_are_told_at_once(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)
