"""The least highest utilisation by search over capacities: by hand, and against enumeration."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from workloads import NOTHING, bolt, node, spout, stream, topology, workload

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.capacities import TaskWork, task_work
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Result, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

BY_CAPACITIES = ("configurations", "connected", "partition", "subset-dp", "dual-ascent")
"""Engines that do not count ``bottleneck`` and take problems without limits of moves."""
SEED = 20


def small(*terms: str, cores: tuple[int, ...] = (1, 1), tasks: int = 3, **options: Any) -> Instance:
    """A spout and bolts of 10 tuples/s, each task of 30 ms a tuple; nodes with these cores."""
    nodes = [node(f"n{n}", resources={"cpu": 100 * one}) for n, one in enumerate(cores)]
    parts = [spout("s", rate=10, service_ms=30), bolt("b", tasks - 1, service_ms=30 * (tasks - 1))]
    instance = workload(nodes, [topology(parts, [stream("s", "b")], **options)])
    return replace(instance, objective=Objective(terms or ("bottleneck",)))


def values(result: Result) -> list[Fraction | None]:
    assert [term.bound for term in result.objective] == [term.value for term in result.objective]
    return [term.value for term in result.objective]


@pytest.mark.parametrize("engine", ["configurations", "connected", "partition", "subset-dp"])
def test_two_tasks_share_a_cpu(engine: str) -> None:
    result = solve(small(), engine=engine)
    assert (result.status, values(result)) == ("optimal", [Fraction(6, 10)])
    assert "capacities" in result.proof


def test_a_node_of_two_cores_takes_two_of_three() -> None:
    result = solve(small(cores=(1, 2)), engine="configurations")
    assert values(result) == [Fraction(3, 10)]


def test_terms_on_either_side() -> None:
    """Apart: 0.6 and 2 pairs over a node; together 0.9 and none."""
    first = solve(small("bottleneck", "network"), engine="configurations")
    last = solve(small("network", "bottleneck"), engine="configurations")
    between = solve(small("nodes", "bottleneck", "network"), engine="configurations")
    assert values(first)[0] == Fraction(6, 10)
    assert values(last) == [0, Fraction(9, 10)]
    assert values(between) == [1, Fraction(9, 10), 0]


def test_one_place_alone() -> None:
    assert values(solve(small(cores=(1,)), engine="configurations")) == [Fraction(9, 10)]


def test_no_place_at_all() -> None:
    """Each task needs a worker, and there are two slots."""
    instance = small(one_task_per_worker=True)
    nodes = tuple(replace(one, slots=1) for one in instance.cluster.nodes)
    instance = replace(instance, cluster=replace(instance.cluster, nodes=nodes))
    assert solve(instance, engine="configurations").status == "infeasible"


def test_work_and_capacities_are_those_of_the_judge() -> None:
    """Sending takes the same time at every level, also within a worker."""
    instance = replace(small(), cluster=replace(small().cluster))
    parts = [spout("s", 2, rate=20, service_ms=5), bolt("b", 2, service_ms=7)]
    nodes = [node("n0"), node("n1", resources={"cpu": 250})]
    streams = [stream("s", "b", grouping="all"), stream("b", "b", selectivity=0.5)]
    sending = dict.fromkeys(NOTHING, 3)
    instance = workload(nodes, [topology(parts, streams)], serialise_ms=sending)
    problem = compile_problem(replace(instance, objective=Objective(("bottleneck",))))
    work = task_work(problem)
    assert isinstance(work, TaskWork)
    for seed in range(20):
        random = Random(seed)
        result = solve(problem, engine="exhaustive")
        assert result.placement is not None
        where = tuple(random.randrange(2) for _ in range(problem.task_count))
        placement = replace(result.placement, nodes=where)
        loads = [0, 0]
        for task, n in enumerate(where):
            loads[n] += int(work.demand[problem.task_class[task]] * work.steps[n])
        assert judge(problem, placement).scaled == (max(loads),)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"serialise_ms": {**NOTHING, "cluster": 1, "rack": 1}}, "costs more over some distances"),
        ({}, "an interface or an uplink"),
    ],
)
def test_what_is_no_capacity_is_named(changes: dict[str, Any], reason: str) -> None:
    nodes = [node(f"n{n}", bandwidth_out_mbit_s=1) for n in range(2)]
    parts = [spout("s", rate=10, service_ms=30), bolt("b", service_ms=30)]
    size = 0 if changes else 5000
    instance = workload(nodes, [topology(parts, [stream("s", "b", tuple_bytes=size)])], **changes)
    instance = replace(instance, objective=Objective(("bottleneck",)))
    with pytest.raises(UntakenError, match=reason):
        solve(instance, engine="configurations")


def test_a_network_that_is_never_the_bottleneck() -> None:
    """At most 0.4 of an interface, and at least 0.6 of a cpu."""
    nodes = [node(f"n{n}", bandwidth_out_mbit_s=1, bandwidth_in_mbit_s=1) for n in range(2)]
    parts = [spout("s", rate=10, service_ms=60), bolt("b", service_ms=60)]
    instance = workload(nodes, [topology(parts, [stream("s", "b", tuple_bytes=5000)])])
    instance = replace(instance, objective=Objective(("bottleneck",)))
    assert values(solve(instance, engine="configurations")) == [Fraction(6, 10)]


def test_rejected_afterwards_is_declined() -> None:
    instance = small("bottleneck", "rejected")
    with pytest.raises(UntakenError, match="no topology would be the least"):
        solve(instance, engine="configurations")
    assert values(solve(small("rejected", "bottleneck"), engine="configurations"))[0] == 0


def test_what_is_found_and_proven_by_the_limit_counts() -> None:
    parts = [spout("s", 20, rate=20, service_ms=1)]
    parts += [bolt(f"b{k}", 7, service_ms=Random(k).randint(100, 999)) for k in range(9)]
    streams = [stream("s", f"b{k}") for k in range(9)]
    instance = workload([node(f"n{n}") for n in range(9)], [topology(parts, streams)])
    instance = replace(instance, objective=Objective(("bottleneck", "network")))
    result = solve(instance, engine="configurations", time_limit_s=0.3)
    (first, _) = result.objective
    assert first.bound is not None
    assert first.value is None or first.bound <= first.value
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN, Status.OPTIMAL)


def random_instance(seed: int) -> Instance:
    """One to three nodes, two to six tasks, sending that costs the same everywhere or nothing."""
    random = Random(seed)
    cores = [random.choice([100, 100, 150, 200]) for _ in range(random.randint(1, 3))]
    nodes = [
        node(f"n{n}", random.choice(["r0", "r0", "r1"]), slots=random.randint(1, 3))
        | {"resources": {"cpu": cpu, "memory_mb": random.choice([300, 1000])}}
        for n, cpu in enumerate(cores)
    ]
    parts = [spout("s", random.randint(1, 2), rate=10, service_ms=random.randint(5, 40))]
    for k in range(random.randint(1, 2)):
        parts.append(bolt(f"b{k}", random.randint(1, 2), service_ms=random.randint(0, 40)))
    for one in parts:
        one["resources"] = {"onheap_mb": random.choice([0, 100, 150])}
    streams = [
        stream(
            "s" if k == 0 or random.random() < 0.6 else "b0",
            f"b{k}",
            grouping=random.choice(["shuffle", "fields", "all", "global"]),
            tuple_bytes=random.choice([0, 0, 1]),
        )
        for k in range(len(parts) - 1)
    ]
    instance = workload(
        nodes,
        [topology(parts, streams, one_task_per_worker=random.random() < 0.2)],
        serialise_ms=dict.fromkeys(NOTHING, random.choice([0, 0, 3])),
        uplink_mbit_s={one["rack"]: 1000 for one in nodes},
    )
    terms = random.choice(
        [
            ("bottleneck",),
            ("bottleneck", "network"),
            ("network", "bottleneck"),
            ("nodes", "bottleneck", "network"),
            ("bottleneck", "nodes"),
            ("rejected", "bottleneck"),
        ]
    )
    return replace(instance, objective=Objective(terms))


def check(seeds: range) -> Counter[str]:
    """Compare each engine with enumeration; return how many instances each has settled."""
    settled: Counter[str] = Counter()
    for seed in seeds:
        instance = random_instance(seed)
        problem = compile_problem(instance)
        best = solve(problem, engine="exhaustive")
        for name in (*BY_CAPACITIES, "auto"):
            if name in ENGINES and ENGINES[name].supports(problem) is not None:
                continue
            found = solve(problem, engine=name, time_limit_s=20)
            settled[name] += found.status in ("optimal", "infeasible")
            if found.status == "optimal":
                assert values(found) == [term.value for term in best.objective], (seed, name)
            elif found.status == "infeasible":
                assert best.status == "infeasible", (seed, name)
            else:
                first, least = found.objective[0], best.objective[0].value
                assert least is None or first.bound is None or first.bound <= least, (seed, name)
    return settled


def test_engines_agree_with_enumeration() -> None:
    settled = check(range(SEED, SEED + 12))
    assert all(settled[name] for name in ("configurations", "connected", "auto"))


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.deep)])
def test_engines_agree_with_enumeration_on_many(count: int) -> None:
    settled = check(range(count))
    assert settled["configurations"] >= 0.9 * count
    assert settled["auto"] == count
    assert all(settled[name] > count / 25 for name in BY_CAPACITIES)


def test_an_engine_that_counts_it_is_left_alone() -> None:
    assert CP_SAT.supports(compile_problem(small())) is None
    assert "capacities" not in solve(small(), engine="cp-sat").proof
