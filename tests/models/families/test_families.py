"""Families of generated instances."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.families.random_planted import (
    RANDOM,
    RandomParameters,
    random_family,
    random_instance,
)
from slotwise.models.families.registry import FAMILIES
from slotwise.models.families.rstorm import shapes
from slotwise.models.families.rstorm_scaled import Scaled, scaled
from slotwise.models.families.stick_breaking import StickBreaking, stick_breaking
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_text, instance_hash, instance_text
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

# What a seed makes is a promise: results of older runs name these hashes.
PINNED = {
    ("rstorm", 3, 0): ("sha256:c5b36d15c51fcb152bdcd58ed1bffca486be3fc8dc85cb5a4c25bb72f0a9f315"),
    ("rstorm-3d", 3, 0): (
        "sha256:e850ac6ed5a738357d716d881c9a351c7bbbe5aa44ca14b57680250b30eb0151"
    ),
    ("random", 3, 0): ("sha256:ea1acd349ea53ad5674753a5b990c124a6a4a9234953114fe9acb4fb1a560e33"),
    ("random", 3, 1): ("sha256:6ea6ece13ce08dafbfb64ebc7d3d9a55891136eb3f4c34dbac54c2c86f980d66"),
    ("stick-breaking", 3, 0): (
        "sha256:2df7d19413fa768b54cc9e4b90a1515544a5ddc001c1da2c3c3fd0562278ab54"
    ),
    ("storm-like", 3, 0): "sha256:36a5af89c6fc3de982cfed96030c415280f893966e899cde7525884ee8a83b0c",
    ("storm-like-held-out", 3, 0): (
        "sha256:7012b47fd6a58066c971c89035bfc572985a3094b2a904508e239d61e26eac6c"
    ),
}

FILES = 12
"""So many instances of each family go through a file; those of storm-like have 1,000 nodes."""


@pytest.mark.parametrize("name", FAMILIES)
def test_the_dict_names_each_family_by_its_name(name: str) -> None:
    family = FAMILIES[name]
    assert family.name == name
    assert "\n" not in family.description
    assert family.count > 0


@pytest.mark.parametrize("name", FAMILIES)
def test_same_seed_same_instances_whatever_the_count(name: str) -> None:
    family = FAMILIES[name]
    few = [instance_hash(instance) for instance in family.generate(3, seed=7)]
    many = [instance_hash(instance) for instance in family.generate(9, seed=7)]
    alone = instance_hash(family.make(2, 7))
    assert few == many[:3]
    assert many[2] == alone
    assert len(set(many)) == 9


@pytest.mark.parametrize("name", FAMILIES)
def test_instances_are_made_one_by_one(name: str) -> None:
    made = FAMILIES[name].generate(9)
    assert isinstance(next(made), Instance)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_instances_compile_and_survive_their_file(name: str) -> None:
    for instance in islice(FAMILIES[name].generate(), FILES):
        assert compile_problem(instance).task_count == len(instance.task_names())
        assert instance_from_text(instance_text(instance)) == instance


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_names_are_unique_over_indices_and_seeds(name: str) -> None:
    family = FAMILIES[name]
    seeds = (0,) if family.limited else (0, 1, 10)
    names = [instance.name for seed in seeds for instance in family.generate(9, seed)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.limited])
def test_other_seeds_make_other_instances(name: str) -> None:
    family = FAMILIES[name]
    assert instance_hash(family.make(0, 0)) != instance_hash(family.make(0, 1))


@pytest.mark.parametrize(("name", "index", "seed"), PINNED)
def test_instances_stay_what_they_are(name: str, index: int, seed: int) -> None:
    made = instance_hash(FAMILIES[name].make(index, seed))
    assert made == PINNED[name, index, seed]


def test_another_process_makes_the_same() -> None:
    code = (
        "from slotwise.models.families.registry import FAMILIES\n"
        "from slotwise.models.formats.instance_writer import instance_hash\n"
        "print(instance_hash(FAMILIES['random'].make(5, 2)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == instance_hash(RANDOM.make(5, 2))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_negative_index_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="index = -1"):
        FAMILIES[name].make(-1, 0)


# R-Storm


def test_rstorm_has_nine_shapes_of_known_size() -> None:
    tasks = {shape.id: sum(p for _, _, p, _ in shape.components) for shape in shapes()}
    points = {shape.id: sum(p * cpu for _, _, p, cpu in shape.components) for shape in shapes()}
    assert tasks == {
        "linear-a": 58,
        "linear-b": 18,
        "diamond-a": 48,
        "diamond-b": 24,
        "star-a": 72,
        "star-b": 40,
        "star-c": 18,
        "page-load": 21,
        "processing": 46,
    }
    assert list(points.values()) == [780, 600, 1080, 660, 1920, 1280, 480, 570, 810]


def test_rstorm_is_the_papers_problem() -> None:
    for instance in FAMILIES["rstorm"].generate():
        (topology,) = instance.topologies
        assert instance.name == topology.id
        assert instance.cluster.distance.levels == (0, 0, 1, 2)
        assert Counter(node.rack for node in instance.cluster.nodes) == {"rack-0": 6, "rack-1": 6}
        assert {node.slots for node in instance.cluster.nodes} == {1}
        assert topology.worker_max_heap_mb is None
        assert topology.workers == 12
        assert {c.resources["onheap_mb"] for c in topology.components} == {128}
        assert instance.objective.soft == {"cpu": 1}


def test_rstorm_has_no_tenth() -> None:
    with pytest.raises(InputError, match=r"index = 9: .* has indices from 0 to 8"):
        FAMILIES["rstorm"].make(9, 0)
    with pytest.raises(InputError, match="count = 10: the family rstorm has 9 instances"):
        FAMILIES["rstorm"].generate(10)


def test_rstorm_scaled_has_equal_parallelism_and_its_load() -> None:
    for instance in FAMILIES["rstorm-scaled"].generate():
        (topology,) = instance.topologies
        assert len({component.parallelism for component in topology.components}) == 1
        _, tasks, *_ = instance.name.split("-")
        assert len(instance.task_names()) == int(tasks)
        demand = sum(c.parallelism * c.resources["cpu"] for c in topology.components)
        assert 0.74 <= demand / 1200 <= 0.8
        assert (
            len({c.resources["cpu"] for c in topology.components}) > 1 or "equal" in instance.name
        )
        assert instance.cluster == FAMILIES["rstorm"].make(0, 0).cluster


def test_rstorm_scaled_takes_other_sizes() -> None:
    assert scaled(Scaled("star", 25)).name == "star-25"
    with pytest.raises(InputError, match="tasks = 26: must be a multiple of 5 above 0"):
        Scaled("star", 26)
    with pytest.raises(InputError, match="shape = 'ring'"):
        Scaled("ring", 12)


def test_rstorm_3d_has_three_resources_and_fits_by_first_fit() -> None:
    for instance in FAMILIES["rstorm-3d"].generate(45):
        problem = compile_problem(instance)
        assert problem.dims == ("bandwidth", "cpu", "memory_mb")
        assert problem.hard.tolist() == [False, False, True]
        assert judge(problem, first_fit(instance)).valid


def first_fit(instance: Instance) -> Placement:
    """Return the placement of each task on the first node that has memory left for it."""
    left = [node.resources["memory_mb"] for node in instance.cluster.nodes]
    nodes = []
    for component in instance.topologies[0].components:
        need = component.resources["onheap_mb"]
        for _ in range(component.parallelism):
            node = next(n for n, free in enumerate(left) if free is not None and free >= need)
            free = left[node]
            assert free is not None
            left[node] = free - need
            nodes.append(node)
    return Placement(tuple(nodes), (0,) * len(nodes))


# random

sizes = st.builds(
    RandomParameters,
    tasks=st.integers(6, 40),
    components=st.integers(2, 6),
    topologies=st.integers(1, 2),
    nodes=st.integers(1, 8),
    racks=st.integers(1, 3),
    tightness_percent=st.integers(10, 100),
    heterogeneity_percent=st.integers(0, 100),
    infeasible_percent=st.sampled_from([0, 50, 100]),
)


@given(sizes, st.integers(0, 1000))
def test_labels_are_true(parameters: RandomParameters, index: int) -> None:
    instance, placement = random_instance(parameters, index, seed=3)
    label = random_family(parameters).label(index, 3)
    if placement is None:
        assert label == "infeasible"
        reason = instance.name.rpartition("-infeasible-")[2]
        assert no_placement_because(instance, reason)
    else:
        assert label == "feasible"
        assert instance.name.endswith("-feasible")
        assert judge(instance, placement).violations == ()
        assert len(instance.task_names()) == parameters.tasks


def no_placement_because(instance: Instance, reason: str) -> bool:
    """Check the stated reason by counting, with the compiled numbers alone."""
    problem = compile_problem(instance)
    assert problem.hard.all()
    demand = sum(problem.demand[c.item()] for c in problem.task_class)
    memory, cpu = problem.dims.index("memory_mb"), problem.dims.index("cpu")
    first = problem.rules[0]
    own = [c for c in first.classes if problem.classes[c].size]
    return {
        "memory": lambda: bool(problem.capacity[:, memory].sum() < demand[memory]),
        "task": lambda: bool(problem.demand[:, cpu].max() > problem.capacity[:, cpu].max()),
        "heap": lambda: bool(max(problem.heap[c] for c in own) > first.heap_limit),
        "slots": lambda: (
            first.one_task_per_worker
            and bool(problem.slots.sum() < sum(problem.classes[c].size for c in own))
        ),
    }[reason]()


def test_both_labels_and_every_reason_occur() -> None:
    labels = Counter(RANDOM.label(index, 0) for index in range(200))
    assert 20 <= labels["infeasible"] <= 60
    assert labels["feasible"] == 200 - labels["infeasible"]
    reasons = Counter(
        RANDOM.make(index, 0).name.rpartition("-infeasible-")[2]
        for index in range(200)
        if RANDOM.label(index, 0) == "infeasible"
    )
    assert set(reasons) == {"memory", "task", "heap", "slots"}


def test_random_instances_use_the_rules() -> None:
    made = [RANDOM.make(index, 0) for index in range(50)]
    topologies = [topology for instance in made for topology in instance.topologies]
    assert any(t.constraints.incompatible for t in topologies)
    assert any(t.constraints.max_per_node for t in topologies)
    assert any(t.worker_max_heap_mb is None for t in topologies)
    assert any(t.worker_max_heap_mb is not None for t in topologies)


@pytest.mark.parametrize("percent", [40, 90])
def test_tightness_is_that_of_the_planted_placement(percent: int) -> None:
    parameters = RandomParameters(
        tasks=60,
        nodes=6,
        tightness_percent=percent,
        heterogeneity_percent=100,
        infeasible_percent=0,
    )
    instance, placement = random_instance(parameters, 0, 0)
    assert placement is not None
    problem = compile_problem(instance)
    load = account(problem, placement).node_load
    used = load.sum(axis=0) / problem.capacity.sum(axis=0)
    assert used == pytest.approx([percent / 100] * 2, abs=0.05)


def test_without_heterogeneity_all_are_equal() -> None:
    parameters = RandomParameters(heterogeneity_percent=0, infeasible_percent=0)
    instance, _ = random_instance(parameters, 0, 0)
    assert len({tuple(n.resources.items()) for n in instance.cluster.nodes}) == 1
    components = instance.topologies[0].components
    assert len({tuple(c.resources.items()) for c in components}) == 1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"tasks": 4}, r"components = 5: must be at most tasks \(4\)"),
        ({"topologies": 6}, r"topologies = 6: must be at most components \(5\)"),
        ({"nodes": 0}, "nodes = 0: must be 1 or more"),
        ({"tightness_percent": 0}, "tightness_percent = 0: must be 1 or more"),
        ({"heterogeneity_percent": 101}, "heterogeneity_percent = 101: must be at most 100"),
    ],
)
def test_parameters_are_checked(keys: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RandomParameters(**keys)


# Stick breaking


@given(st.integers(0, 10_000))
def test_sticks_are_broken_as_upstream_does(index: int) -> None:
    most = StickBreaking()
    instance = stick_breaking(most).make(index, 0)
    (topology,) = instance.topologies
    components = topology.components
    assert 1 <= len(components) <= most.max_executors
    assert [c.kind for c in components] == [
        ("spout", "bolt")[i % 2] for i in range(len(components))
    ]
    assert sum(c.resources["cpu"] for c in components) <= most.max_cpu
    assert sum(c.resources["onheap_mb"] for c in components) <= most.max_memory
    for c, component in enumerate(components):
        assert 1 <= component.parallelism <= most.max_executors - c
    assert sum(node.slots or 0 for node in instance.cluster.nodes) <= most.max_slots
    assert 1 <= len(instance.cluster.nodes) <= most.max_nodes
    assert len(instance.cluster.racks) <= most.max_racks


@given(st.integers(0, 10_000))
def test_each_component_feeds_one_other_bolt(index: int) -> None:
    (topology,) = FAMILIES["stick-breaking"].make(index, 0).topologies
    kinds = {c.id: c.kind for c in topology.components}
    bolts = sum(kind == "bolt" for kind in kinds.values())
    assert all(kinds[s.target] == "bolt" and s.source != s.target for s in topology.streams)
    fed = Counter(s.source for s in topology.streams)
    for component, kind in kinds.items():
        assert fed[component] == (bolts - (kind == "bolt") > 0)
