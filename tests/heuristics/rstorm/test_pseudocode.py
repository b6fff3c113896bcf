"""R-Storm's pseudo-code: the paper's algorithms on vectors by hand, and properties."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.rstorm.metric import RStormWeights
from slotwise.heuristics.rstorm.pseudocode import r_storm_pseudocode
from slotwise.heuristics.rstorm.task_order import bfs_topology_traversal, task_selection
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, Refusal, to_places
from slotwise.models.instance.topology import Ackers, Component, Constraints, Stream, Topology
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.testing import instances

PSEUDOCODE = HEURISTICS["r-storm-pseudocode"]
SOFT_CPU = Objective(soft={"cpu": 1})
METRIC = Distance(Decimal(0), Decimal(0), Decimal(1), Decimal(2))


def node(key: str, rack: str, cpu: int, memory: int, slots: int | None = 4) -> Node:
    resources = {"cpu": Decimal(cpu), "memory_mb": Decimal(memory)}
    return Node(key, rack, slots=slots, resources=resources)


def part(key: str, count: int, cpu: int, memory: int, kind: str = "bolt") -> Component:
    return Component(key, kind, count, {"cpu": Decimal(cpu), "onheap_mb": Decimal(memory)})


def chain(*components: Component, key: str = "t") -> Topology:
    ids = [component.id for component in components]
    streams = tuple(Stream(a, b) for a, b in pairwise(ids))
    return Topology(key, components, streams)


def instance_of(
    nodes: list[Node], *topologies: Topology, objective: Objective = SOFT_CPU
) -> Instance:
    return Instance("vector", Cluster(tuple(nodes), METRIC), topologies, objective=objective)


def placed(instance: Instance, weights: RStormWeights | None = None) -> list[str]:
    """Return the node of each task, as ``n1/0`` with its worker."""
    method = PSEUDOCODE if weights is None else r_storm_pseudocode(weights)
    answer = run_method(compile_problem(instance), method, 0)
    assert isinstance(answer, Placement), answer
    ids = [node.id for node in instance.cluster.nodes]
    return [
        "-" if n < 0 else f"{ids[n]}/{w}" for n, w in zip(answer.nodes, answer.workers, strict=True)
    ]


# Algorithm 2


def graph(kinds: dict[str, str], *streams: str) -> Topology:
    components = tuple(Component(key, kind, 1) for key, kind in kinds.items())
    return Topology(
        "t", components, tuple(Stream(a, b) for a, b in (stream.split(">") for stream in streams))
    )


def test_traversal_goes_level_by_level_from_the_spout() -> None:
    kinds = {"d": "bolt", "c": "bolt", "b": "bolt", "s": "spout"}
    topology = graph(kinds, "s>b", "s>c", "b>d", "c>d")
    assert bfs_topology_traversal(topology) == ["s", "b", "c", "d"]


def test_traversal_follows_streams_backwards_and_so_finds_other_spouts() -> None:
    kinds = {"s1": "spout", "s2": "spout", "join": "bolt", "out": "bolt"}
    topology = graph(kinds, "s1>join", "s2>join", "join>out")
    # From s1: join; from join first what it sends to (out), then what it receives from (s2).
    assert bfs_topology_traversal(topology) == ["s1", "join", "out", "s2"]


def test_traversal_starts_again_at_a_spout_not_reached() -> None:
    kinds = {"a": "spout", "b": "spout", "x": "bolt", "y": "bolt"}
    assert bfs_topology_traversal(graph(kinds, "a>x", "b>y")) == ["a", "x", "b", "y"]


def test_traversal_ends_in_a_cycle() -> None:
    kinds = {"s": "spout", "a": "bolt", "b": "bolt"}
    topology = graph(kinds, "s>a", "a>b", "b>a", "b>b", "a>b")
    assert bfs_topology_traversal(topology) == ["s", "a", "b"]


def test_unreachable_components_and_ackers_follow() -> None:
    kinds = {"lost": "bolt", "found": "bolt", "s": "spout", "b": "bolt"}
    topology = replace(graph(kinds, "s>b", "lost>found"), ackers=Ackers(1))
    assert bfs_topology_traversal(topology) == ["s", "b", "lost", "found", "__acker"]


def test_a_topology_without_spouts_is_traversed_from_its_first_component() -> None:
    kinds = {"a": "bolt", "b": "bolt"}
    assert bfs_topology_traversal(graph(kinds, "b>a", "a>b")) == ["a", "b"]


# Algorithm 3


def test_one_task_of_each_component_in_turn() -> None:
    topology = chain(part("s", 2, 0, 0, "spout"), part("a", 3, 0, 0), part("b", 1, 0, 0))
    problem = compile_problem(instance_of([node("n", "r", 1, 1)], topology))
    names = [problem.instance.task_names()[task][1] for task in task_selection(problem, 0)]
    assert names == ["s[0]", "a[0]", "b[0]", "s[1]", "a[1]", "a[2]"]


def test_a_component_without_tasks_is_passed_through() -> None:
    topology = chain(part("s", 1, 0, 0, "spout"), part("none", 0, 0, 0), part("b", 2, 0, 0))
    problem = compile_problem(instance_of([node("n", "r", 1, 1)], topology))
    names = [problem.instance.task_names()[task][1] for task in task_selection(problem, 0)]
    assert names == ["s[0]", "b[0]", "b[1]"]


# Algorithm 4


TWO_RACKS = [node("n1", "a", 100, 1000), node("n2", "a", 100, 1000), node("n3", "b", 100, 1000)]
CHAIN = chain(part("s", 1, 50, 500, "spout"), part("b", 2, 50, 250))


def test_tasks_gather_at_the_reference_node_and_overload_its_cpu() -> None:
    # Rack a has 2 * (1 + 1) = 4, rack b 2; n1 is before n2 by id: reference n1, s[0] goes there.
    # n1 has 500 MB, 50 points left. d^2 of b[0] (250 MB, 50 points):
    #   n1 (0.25 - 0.5)^2 + 0 + 0 = 0.0625;   n2 0.75^2 + 0.5^2 + 1/2 = 1.3125;   n3 0.8125 + 2/2
    # n1 has 250 MB, 0 points left. b[1]: n1 0 + 0.5^2 + 0 = 0.25; n2 1.3125. 150 of 100 points.
    instance = instance_of(TWO_RACKS, CHAIN)
    assert placed(instance) == ["n1/0", "n1/0", "n1/0"]
    answer = run_method(compile_problem(instance), PSEUDOCODE, 0)
    assert isinstance(answer, Placement)
    assert judge(instance, answer).scaled == (50, 0)


def test_a_hard_cpu_is_not_exceeded() -> None:
    # As before, but n1 cannot take b[1]: n2 at 1.3125 is nearer than n3 at 1.8125.
    instance = instance_of(TWO_RACKS, CHAIN, objective=Objective())
    assert placed(instance) == ["n1/0", "n1/0", "n2/0"]


def test_memory_that_just_suffices_suffices_and_one_more_megabyte_does_not() -> None:
    # 500 + 250 + 250 = 1000 MB fit n1 (above); with 251 MB a bolt the second one does not.
    bigger = chain(part("s", 1, 50, 500, "spout"), part("b", 2, 50, 251))
    assert placed(instance_of(TWO_RACKS, bigger)) == ["n1/0", "n1/0", "n2/0"]


def test_memory_is_hard_even_where_the_instance_has_it_soft() -> None:
    bigger = chain(part("s", 1, 50, 500, "spout"), part("b", 2, 50, 251))
    soft = Objective(soft={"cpu": 1, "memory_mb": 1})
    assert placed(instance_of(TWO_RACKS, bigger, objective=soft)) == ["n1/0", "n1/0", "n2/0"]


def test_the_first_task_goes_to_the_reference_node_and_not_to_the_nearest() -> None:
    # The demand (250 MB, 50 points) is n2 to the letter, yet n1 has most: 2 against 0.75.
    # b[0]: n1 has 750 MB, 50 points left: 0.5^2 = 0.25; n2 0 + 1/2 for the network: n1.
    # Without the network n2 is nearer: 0 against 0.25.
    nodes = [node("n1", "a", 100, 1000), node("n2", "a", 50, 250)]
    topology = chain(part("s", 1, 50, 250, "spout"), part("b", 1, 50, 250))
    instance = instance_of(nodes, topology)
    assert placed(instance) == ["n1/0", "n1/0"]
    assert placed(instance, RStormWeights(network=Fraction(0))) == ["n1/0", "n2/0"]


def test_the_rack_with_most_comes_before_the_node_with_most() -> None:
    # Shares of the largest node (1000 MB, 100 points):
    #   a: n1 0.6 + 0.6, n2 0.7 + 0.7: 2.6 together; b: n3 1 + 1 = 2. Reference: n2.
    nodes = [node("n1", "a", 60, 600), node("n2", "a", 70, 700), node("n3", "b", 100, 1000)]
    assert placed(instance_of(nodes, chain(part("s", 1, 10, 10, "spout")))) == ["n2/0"]


def test_a_first_task_too_large_for_the_reference_goes_to_the_nearest_that_takes_it() -> None:
    # Reference n1 (1 + 0.5 = 1.5 against n2 0.2 + 1 = 1.2) has 500 MB only; 600 MB fit n2, n3.
    # n2: (0.6 - 1)^2 + (0.1 - 0.2)^2 + 1/2 = 0.67; n3 0 + 0 + 2/2 = 1.
    # The reference stays n1: b (100 MB, 10 points) finds
    #   n1 (0.1 - 0.5)^2 + 0.9^2 + 0 = 0.97;  n2 (0.1 - 0.4)^2 + 0 + 1/2 = 0.59: n2.
    nodes = [node("n1", "a", 100, 500), node("n2", "a", 20, 1000), node("n3", "b", 10, 600)]
    topology = chain(part("s", 1, 10, 600, "spout"), part("b", 1, 10, 100))
    assert placed(instance_of(nodes, topology)) == ["n2/0", "n2/0"]


def test_network_distance_is_not_squared() -> None:
    # Reference n1 is full after s (1000 MB). n2, same rack: 0.9^2 + w * 1; n3, other rack:
    # 0 + w * 2 without normalising, memory 1 = 1 MB. b needs 100 MB; n2 has 110, n3 100.
    #   n2 10^2 + w, n3 2 w: w = 99 n2 199, n3 198: n3; w = 101: n2 201, n3 202: n2.
    #   (Squared, n3 would cost 4 w, and w = 99 would already choose n2.)
    nodes = [node("n1", "a", 0, 1000), node("n2", "a", 0, 110), node("n3", "b", 0, 100)]
    instance = instance_of(nodes, chain(part("s", 1, 0, 1000, "spout"), part("b", 1, 0, 100)))
    near, far = (RStormWeights(network=Fraction(w), normalise=False) for w in (101, 99))
    assert placed(instance, near) == ["n1/0", "n2/0"]
    assert placed(instance, far) == ["n1/0", "n3/0"]


def test_an_explicit_matrix_gives_the_network_distance() -> None:
    nodes = tuple(node(key, "a", 0, 100) for key in ("n1", "n2", "n3"))
    matrix = tuple(tuple(map(Decimal, row)) for row in ((0, 5, 1), (5, 0, 5), (1, 5, 0)))
    topology = chain(part("s", 1, 0, 100, "spout"), part("b", 1, 0, 100))
    instance = Instance("matrix", Cluster(nodes, matrix=matrix), (topology,))
    assert placed(instance) == ["n1/0", "n3/0"]


def test_each_topology_has_its_own_reference_node() -> None:
    # After t (800 MB on n1) n2 has most left, so u starts there.
    nodes = [node("n1", "a", 100, 1000), node("n2", "a", 100, 1000)]
    t, u = (chain(part("s", 1, 0, 800, "spout"), key=key) for key in "tu")
    assert placed(instance_of(nodes, t, u)) == ["n1/0", "n2/0"]


# Workers


def test_one_worker_per_topology_and_node_with_the_first_free_label() -> None:
    nodes = [node("n1", "a", 100, 1000)]
    t, u = (chain(part("s", 2, 0, 10, "spout"), key=key) for key in "tu")
    assert placed(instance_of(nodes, t, u)) == ["n1/0", "n1/0", "n1/1", "n1/1"]


def test_a_node_without_a_free_slot_is_not_chosen() -> None:
    nodes = [node("n1", "a", 100, 1000, slots=1), node("n2", "a", 50, 500)]
    t, u = (chain(part("s", 1, 0, 10, "spout"), key=key) for key in "tu")
    assert placed(instance_of(nodes, t, u)) == ["n1/0", "n2/0"]


def test_workers_are_filled_first_fit_up_to_the_heap_limit() -> None:
    # 60 in worker 0; 50 does not fit with it (110 > 100): worker 1; 40 does (100): worker 0.
    parts = (part("s", 1, 0, 60, "spout"), part("b", 1, 0, 50), part("c", 1, 0, 40))
    topology = replace(chain(*parts), worker_max_heap_mb=Decimal(100))
    assert placed(instance_of([node("n1", "a", 0, 1000)], topology)) == ["n1/0", "n1/1", "n1/0"]


def test_other_rules_of_workers_open_workers_too() -> None:
    parts = (part("s", 1, 0, 1, "spout"), part("b", 1, 0, 1))
    nodes = [node("n1", "a", 0, 1000)]
    isolated = replace(chain(*parts), one_task_per_worker=True)
    assert placed(instance_of(nodes, isolated)) == ["n1/0", "n1/1"]
    apart = replace(chain(*parts), constraints=Constraints(incompatible=(("b", "s"),)))
    assert placed(instance_of(nodes, apart)) == ["n1/0", "n1/1"]


# No room


def test_no_room_is_refused_naming_the_task() -> None:
    topology = chain(part("s", 1, 0, 600, "spout"), part("b", 2, 0, 600))
    nodes = [node("n1", "a", 0, 1000), node("n2", "a", 0, 1000)]
    answer = run_method(compile_problem(instance_of(nodes, topology)), PSEUDOCODE, 0)
    assert answer == Refusal("topology t: no node has room for task b[1]")


def test_a_topology_without_room_leaves_nothing_behind_where_it_may_be_rejected() -> None:
    objective = Objective(terms=("rejected", "network"))
    nodes = [node("n1", "a", 0, 1000, slots=1), node("n2", "a", 0, 1000, slots=1)]
    huge = chain(part("s", 3, 0, 600, "spout"), key="huge")
    small = chain(part("s", 2, 0, 600, "spout"), key="small")
    instance = instance_of(nodes, huge, small, objective=objective)
    assert placed(instance) == ["-", "-", "-", "n1/0", "n2/0"]


# Weights


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_weights_are_numbers_of_zero_or_more(value: float) -> None:
    with pytest.raises(InputError, match="cpu"):
        RStormWeights(cpu=value)  # type: ignore[arg-type]


# Properties


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_no_hard_rule_and_no_memory_is_ever_exceeded(instance: Instance) -> None:
    problem = compile_problem(instance)
    answer = run_method(problem, PSEUDOCODE, 0)
    if isinstance(answer, Refusal):
        assert not problem.may_reject
        return
    verdict = judge(problem, answer)
    # The paper knows no running placement, hence no limit of moves.
    assert {v.rule for v in verdict.violations} <= {"max_moved"}
    if problem.memory is not None:
        load = verdict.accounting.node_load[:, problem.memory]
        assert (load <= problem.capacity[:, problem.memory]).all()


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_the_order_of_the_nodes_changes_nothing(instance: Instance) -> None:
    matrix = instance.cluster.matrix
    backwards = Cluster(
        instance.cluster.nodes[::-1],
        instance.cluster.distance,
        None if matrix is None else tuple(row[::-1] for row in matrix[::-1]),
    )
    other = replace(instance, cluster=backwards)
    answers = [run_method(compile_problem(one), PSEUDOCODE, 0) for one in (instance, other)]
    places = [
        answer if isinstance(answer, Refusal) else to_places(one, answer)
        for one, answer in zip((instance, other), answers, strict=True)
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize("seed", range(5))
def test_names_of_unequal_nodes_change_nothing(seed: int) -> None:
    sizes = [(100, 900), (90, 1000), (40, 700), (75, 310), (61, 530)]
    names = [f"n{index}" for index in np.random.default_rng(seed).permutation(5).tolist()]
    topology = chain(part("s", 3, 20, 150, "spout"), part("b", 5, 13, 170), part("c", 4, 31, 90))

    def nodes_for(ids: list[str]) -> list[int]:
        nodes = [
            node(key, "ab"[index % 2], cpu, memory)
            for index, (key, (cpu, memory)) in enumerate(zip(ids, sizes, strict=True))
        ]
        answer = run_method(compile_problem(instance_of(nodes, topology)), PSEUDOCODE, 0)
        assert isinstance(answer, Placement)
        return list(answer.nodes)

    assert nodes_for(names) == nodes_for([f"n{index}" for index in range(5)])


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_the_ledger_counts_as_the_judge_does(instance: Instance) -> None:
    """Any construction: tasks in order, each on the first node that takes it."""
    problem = compile_problem(instance)
    ledger = Ledger(problem, np.flatnonzero(problem.hard).tolist())
    for task in range(problem.task_count):
        for n in range(problem.node_count):
            worker = ledger.find_worker(task, n)
            if worker is not None:
                ledger.put(task, n, worker)
                break
    accounting = account(problem, ledger.placement())
    floor = 0 if problem.cpu is None else problem.min_worker_cpu
    for n, state in enumerate(ledger.nodes):
        assert state.load == accounting.node_load[n].tolist(), floor
    broken = {v.rule for v in judge(problem, ledger.placement()).violations}
    assert broken <= {"placed", "max_moved"}


@pytest.mark.slow
def test_each_topology_of_a_large_storm_cluster_fits_alone(shared: Path) -> None:
    file = shared / "storm" / "clusters" / "largeCluster03.json"
    ids = [topology["id"] for topology in json.loads(file.read_text())["topologies"]]
    assert len(ids) == 50
    for key in ids:
        problem = compile_problem(read_instance(file, topology=key))
        answer = run_method(problem, PSEUDOCODE, 0)
        assert isinstance(answer, Placement), (key, answer)
        assert judge(problem, answer).violations == (), key
