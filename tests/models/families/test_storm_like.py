"""The families ``storm-like`` and ``storm-like-held-out``."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli

import slotwise
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.models.errors import InputError
from slotwise.models.families.family import of_sizes, task_range
from slotwise.models.families.registry import FAMILIES
from slotwise.models.families.storm_like_family import (
    STORM_LIKE,
    STORM_LIKE_HELD_OUT,
    StormLike,
    draw_cluster,
    draw_demands,
    draw_topology,
    holds,
    rng_of,
    storm_like,
)
from slotwise.models.families.storm_like_statistics import (
    COMPONENT_STATISTICS,
    KINDS,
    TOPOLOGY_STATISTICS,
    component_statistics,
    joined,
    kind_of,
    tables,
    topology_statistics,
)
from slotwise.models.families.storm_like_streams import draw_structure, usual
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_hash


@cache
def instances() -> tuple[Instance, ...]:
    return tuple(STORM_LIKE.generate(40))


@cache
def topologies() -> tuple[Topology, ...]:
    return tuple(draw_topology(rng_of(index, 0, held_out=False)) for index in range(200))


def topology(*tasks: int, streams: str = "", cpu: int = 10) -> Topology:
    """Return components a, b, ... with these numbers of tasks; streams as "ab bc"."""
    demand = {"cpu": Decimal(cpu), "onheap_mb": Decimal(128)}
    components = (Component(chr(97 + n), "bolt", count, demand) for n, count in enumerate(tasks))
    pairs = (Stream(a, b) for a, b in streams.split())
    return Topology("t", tuple(components), tuple(pairs))


def test_one_topology_of_the_sizes_on_an_empty_cluster() -> None:
    for instance in instances():
        (one,) = instance.topologies
        assert 50 <= len(instance.task_names()) <= 5000
        assert instance.name.endswith(kind_of(one))
        assert instance.scheduler.worker_min_cpu == 0
        assert instance.objective.terms == ("overload", "network")
        assert instance.running is None
        assert holds(instance.cluster, one)


def test_the_halves_share_no_instance() -> None:
    """Seed S is 2 S of the draw for development, 2 S + 1 held out; neither reaches the other."""
    ours = {instance_hash(STORM_LIKE.make(index, seed)) for seed in range(4) for index in range(3)}
    theirs = {
        instance_hash(STORM_LIKE_HELD_OUT.make(index, seed))
        for seed in range(4)
        for index in range(3)
    }
    assert len(ours) == len(theirs) == 12
    assert not ours & theirs
    assert rng_of(0, 1, held_out=False).random() != rng_of(0, 0, held_out=True).random()


def test_what_is_held_out_is_graded_on_demand_only() -> None:
    names = {case.family for case in read_cases([], seed=0, count=1)}
    assert "storm-like" in names
    assert "storm-like-held-out" not in names
    (case,) = read_cases(["storm-like-held-out"], seed=0, count=1)
    assert case.family == "storm-like-held-out"
    assert [name for name, one in FAMILIES.items() if one.held_out] == ["storm-like-held-out"]


def test_nearly_all_have_a_placement() -> None:
    """Methods that know the rules place them: the cluster is drawn so that it holds them."""
    small = list(storm_like(StormLike(50, 300)).generate(20))
    placed = 0
    for instance in small:
        outcome = slotwise.place(instance, "ras-default", seed=0)
        placed += slotwise.judge(instance, outcome).valid
    assert placed >= 19


def test_kinds() -> None:
    assert kind_of(topology(48, 96, 144, streams="ab bc")) == "row"
    assert kind_of(topology(1, 2, 3, 4, streams="ab cd")) == "pairs"
    assert kind_of(topology(1, 2, 3, 4, streams="ab ac ad")) == "star"
    assert kind_of(topology(2, 2, 2, streams="ab bc ca")) == "star"
    assert kind_of(topology(*[2] * 10, streams="ab ac ad ae af ag ah ai aj")) == "web"
    assert kind_of(topology(4, *[1] * 6, streams="ab ac ad ae af ag")) == "coordinated"


def test_statistics_of_a_topology_by_hand() -> None:
    one = topology(4, 4, 1, 0, 6, streams="ab ba bc ad aa")
    found = topology_statistics(one)
    assert (found["tasks"], found["components"], found["parts"]) == (15, 4, 2)
    assert (found["hub"], found["hubs"], found["leaves"]) == (2 / 3, 0, 3 / 4)
    assert (found["extra_edges"], found["singles"], found["level"]) == (0, 1 / 4, 4)
    assert (found["repeats"], found["cpu_level"], found["cpu_kinds"]) == (1, 10, 1 / 4)
    assert "correlation" not in found  # all demands are the same
    assert sorted(component_statistics(one)["degree"]) == [0, 1, 1, 2]
    assert set(found) <= set(TOPOLOGY_STATISTICS)
    assert set(component_statistics(one)) == set(COMPONENT_STATISTICS)


def test_rank_correlation_is_spearmans() -> None:
    pairs = ((1, 10), (2, 30), (2, 20), (4, 40))
    components = tuple(
        Component(f"c{n}", "bolt", 1, {"cpu": Decimal(cpu), "onheap_mb": Decimal(memory)})
        for n, (cpu, memory) in enumerate(pairs)
    )
    ranks = np.array([1, 2.5, 2.5, 4]), np.array([1, 3, 2, 4])
    expected = np.corrcoef(*ranks)[0, 1]
    found = topology_statistics(Topology("t", components))["correlation"]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", KINDS)
def test_a_drawn_structure_is_a_graph_of_its_kind(name: str) -> None:
    kind = tables().kinds[name]
    parts = Counter[int]()
    for seed in range(60):
        found = draw_structure(name, kind, np.random.default_rng(seed))
        count = len(found.degrees)
        assert sum(found.degrees) == 2 * len(found.streams)
        assert len(set(found.streams)) == len(found.streams)
        assert all(0 <= a < count and 0 <= b < count and a != b for a, b in found.streams)
        assert all(parent is None or parent < one for one, parent in enumerate(found.parents))
        least, *_, most = kind.values["components"]
        assert least <= count <= most
        parts[found.parents.count(None)] += 1
        if name in ("row", "pairs"):
            assert max(found.degrees) <= 2
    if name in ("row", "pairs"):
        assert (max(parts), min(parts)) == ((1, 1) if name == "row" else (4, 4))
    else:
        assert max(parts) > 1


def test_streams_make_no_circles() -> None:
    for one in topologies():
        order = {component.id: 0 for component in one.components}
        for _ in one.components:  # the longest row there can be
            for stream in one.streams:
                order[stream.target] = max(order[stream.target], order[stream.source] + 1)
        assert max(order.values()) < len(order)


def test_medians_are_near_those_of_the_clusters() -> None:
    """A coarse check of the draw; `storm_like_fit` measures all distributions."""
    drawn = [topology_statistics(one) for one in topologies()]
    known = tables().all
    for name in ("components", "level", "cpu_level", "memory_level", "heap"):
        values = [one[name] for one in drawn if name in one]
        assert 0.5 < np.median(values) / np.median(known[name]) < 2, name
    for name in ("hub", "leaves", "singles", "cpu_kinds", "memory_kinds", "offheap"):
        values = [one[name] for one in drawn if name in one]
        assert abs(np.mean(values) - np.mean(known[name])) < 0.15, name


def test_statistics_stay_within_those_of_the_clusters() -> None:
    known = tables().all
    for one in topologies():
        found, parts = topology_statistics(one), component_statistics(one)
        assert found["components"] <= known["components"][-1]
        assert max(parts["cpu"]) <= known["cpu"][-1]
        assert max(parts["memory"]) <= known["memory"][-1]
        assert found["level"] <= 2 * known["level"][-1] if "level" in found else True
        assert found.get("heap", 1) >= 1


@pytest.mark.slow
def test_the_hard_shapes_can_be_drawn() -> None:
    """Rows of large components, single tasks at a coordinator, many memory sizes, several parts."""
    large = list(storm_like(StormLike(50, 600)).generate(80))
    found = [one.topologies[0] for one in large]
    kinds = Counter(map(kind_of, found))
    assert set(kinds) == set(KINDS)
    tasks = [[c.parallelism for c in one.components] for one in found]
    assert any(len(t) == 3 and min(t) > 20 and len(set(t)) == 3 for t in tasks)
    coordinated = [one for one in found if kind_of(one) == "coordinated"]
    assert any(
        len(one.components) >= 20 and max(degree for _, degree in joined(one).degree) >= 5
        for one in coordinated
    )
    memories = [{c.resources["onheap_mb"] for c in one.components} for one in found]
    assert max(map(len, memories)) >= 4


def test_every_demand_fits_a_worker() -> None:
    for name, kind in tables().kinds.items():
        for seed in range(40):
            found = draw_demands((1, 1, 1, 4, 4, 9), kind, np.random.default_rng(seed))
            assert len(found.cpu) == len(found.onheap_mb) == len(found.offheap_mb) == 6, name
            assert min(*found.cpu, *found.onheap_mb, *found.offheap_mb) >= 0
            assert (found.worker_max_heap_mb or 0) >= max(found.onheap_mb)


def test_twins_have_as_many_tasks_and_the_same_demand() -> None:
    """Of four components with 5 tasks, a kind of few types lets most share a demand."""
    tasks = (5, 5, 5, 5, 1, 1)
    kind = replace(tables().kinds["web"], values={**tables().kinds["web"].values, "types": (0.5,)})
    for seed in range(20):
        found = draw_demands(tasks, kind, np.random.default_rng(seed))
        demands = list(zip(found.cpu, found.onheap_mb, found.offheap_mb, strict=True))
        assert len(set(zip(tasks, demands, strict=True))) <= 3


def test_clusters_are_like_the_two() -> None:
    known = tables()
    capacities = {(kind.slots, Decimal(kind.memory_mb)) for kind in known.nodes}
    for seed in range(30):
        cluster = draw_cluster(known, np.random.default_rng(seed))
        sizes = Counter(node.rack for node in cluster.nodes)
        assert known.racks[0] <= len(sizes) <= known.racks[1]
        assert len(set(sizes.values())) == 1
        assert known.nodes_per_rack[0] <= sizes.most_common()[0][1] <= known.nodes_per_rack[1]
        assert {(n.slots, n.resources["memory_mb"]) for n in cluster.nodes} <= capacities


def test_a_cluster_does_not_hold_what_fills_it() -> None:
    cluster = draw_cluster(tables(), np.random.default_rng(0))
    offered = sum(int(node.resources["cpu"] or 0) for node in cluster.nodes)
    assert holds(cluster, topology(offered // 100 // 2, cpu=100))
    assert not holds(cluster, topology(offered // 100, cpu=100))
    assert not holds(cluster, topology(1, cpu=100_000))


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0.2, 1), (3.4, 3), (11.4, 12), (47, 48), (97, 96), (141, 144), (990, 1000), (2300, 2400)],
)
def test_usual_numbers_of_tasks(number: float, expected: int) -> None:
    assert usual(number) == expected


def test_sizes_can_be_chosen() -> None:
    family = of_sizes(STORM_LIKE, 60, 90)
    made = list(family.generate(8))
    assert all(60 <= len(instance.task_names()) <= 90 for instance in made)
    assert made[0].name.startswith("storm-like-60-90-0-0000-")
    assert of_sizes(STORM_LIKE_HELD_OUT, 60, 90).held_out


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (0, 5, "least_tasks = 0: must be 1 or more"),
        (9, 5, r"least_tasks = 9: must be at most most_tasks \(5\)"),
    ],
)
def test_sizes_are_checked(least: int, most: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        of_sizes(STORM_LIKE, least, most)


def test_sizes_that_no_draw_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.models.families.storm_like_family.ATTEMPTS", 10)
    with pytest.raises(InputError, match="no topology of 900000 to 900000 tasks among 10 draws"):
        of_sizes(STORM_LIKE, 900_000, 900_000).make(0, 0)


def test_ranges_are_written_least_to_most() -> None:
    assert task_range("50-600") == (50, 600)
    for text in ("50", "50-", "a-b", "-5-6", "50..60"):
        with pytest.raises(InputError, match="must be two whole numbers, as 50-600"):
            task_range(text)


def test_commands_know_it(cli: Cli, tmp_path: Path) -> None:
    listed = {one["name"]: one for one in cli("families", "--json").json["families"]}
    assert "held out" in listed["storm-like-held-out"]["description"]
    words = ("generate", "storm-like", "--count", 2, "--tasks", "50-60", "--out", tmp_path)
    files = cli(*words, "--json").json["files"]
    assert [Path(file).name.rpartition("-")[0] for file in files] == [
        "storm-like-50-60-0-0000",
        "storm-like-50-60-0-0001",
    ]
    other = cli("generate", "rstorm", "--tasks", "50-60", "--out", tmp_path)
    assert other.code == 2
    assert "--tasks" in other.err
    assert "sizes of the family rstorm are fixed" in other.err
    wrong = cli("generate", "storm-like", "--tasks", "60", "--out", tmp_path)
    assert wrong.code == 2
    assert "--tasks = '60': must be two whole numbers" in wrong.err
