"""Placements of the least highest utilisation: small cases by hand, and who declines what."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from workloads import NOTHING, bolt, node, spout, stream, topology, workload

from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.baseline import simple_bounds
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Result
from slotwise.solver.engines import ENGINES
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve
from slotwise.solver.structure.node_types import equal_nodes, equal_racks

COUNTING = ("exhaustive", "cp-sat", "milp", "auto")


def pair(*terms: str, megabits: int = 0, **cluster: Any) -> Instance:
    """Two tasks of 30 % of a core each that send each other this much per second; two nodes."""
    nodes = [node(f"n{n}", bandwidth_in_mbit_s=1, bandwidth_out_mbit_s=1) for n in range(2)]
    parts = [spout("s", rate=10, service_ms=30), bolt("b", service_ms=30)]
    to = stream("s", "b", tuple_bytes=megabits * 10**6 // 8 // 10 // 100)
    instance = workload(nodes, [topology(parts, [to])], **cluster)
    return replace(instance, objective=Objective(terms or ("bottleneck",)))


def values(result: Result) -> list[Fraction | None]:
    assert result.status == "optimal"
    assert [term.bound for term in result.objective] == [term.value for term in result.objective]
    return [term.value for term in result.objective]


@pytest.mark.parametrize("engine", COUNTING)
def test_the_tasks_are_spread_while_the_network_is_idle(engine: str) -> None:
    assert values(solve(pair(), engine=engine)) == [Fraction(3, 10)]


@pytest.mark.parametrize("engine", COUNTING)
@pytest.mark.parametrize(("megabits", "best"), [(50, Fraction(1, 2)), (70, Fraction(6, 10))])
def test_they_are_spread_until_the_network_is_the_bottleneck(
    engine: str, megabits: int, best: Fraction
) -> None:
    """Apart the interfaces are in use to 50 or 70 %, together the cpu to 60 %."""
    assert values(solve(pair(megabits=megabits), engine=engine)) == [best]


@pytest.mark.parametrize("engine", COUNTING)
def test_the_order_of_terms_has_a_price(engine: str) -> None:
    """Spread: 0.3, network 2; together: 0.6, network 0."""
    first = values(solve(pair("bottleneck", "network"), engine=engine))
    last = values(solve(pair("network", "bottleneck"), engine=engine))
    assert (first, last) == ([Fraction(3, 10), 2], [0, Fraction(6, 10)])


@pytest.mark.parametrize("engine", COUNTING)
def test_sending_counts_by_level(engine: str) -> None:
    """Apart the spout's cpu is in use to 30 + 35 %, in one worker to 60 %, in two to 61 %."""
    sending = {**NOTHING, "node": 1, "rack": 35}
    instance = pair(serialise_ms=sending)
    assert values(solve(instance, engine=engine)) == [Fraction(6, 10)]
    apart = replace(instance.topologies[0], one_task_per_worker=True)
    assert values(solve(replace(instance, topologies=(apart,)), engine=engine)) == [
        Fraction(61, 100)
    ]


def racks(**uplinks: float) -> Instance:
    """Three tasks of 30 % each in a chain of 0.5 Mbit/s, on three nodes in two racks."""
    nodes = [
        node(name, rack, bandwidth_in_mbit_s=1, bandwidth_out_mbit_s=1)
        for name, rack in (("n0", "r0"), ("n1", "r0"), ("n2", "r1"))
    ]
    parts = [spout("s", rate=10, service_ms=30), bolt("b", service_ms=30), bolt("c", service_ms=30)]
    streams = [stream(a, b, tuple_bytes=6250) for a, b in (("s", "b"), ("b", "c"))]
    instance = workload(nodes, [topology(parts, streams)], uplink_mbit_s=uplinks)
    return replace(instance, objective=Objective(("bottleneck",)))


@pytest.mark.parametrize("engine", COUNTING)
def test_an_uplink_may_be_the_bottleneck(engine: str) -> None:
    assert values(solve(racks(r0=1, r1=1), engine=engine)) == [Fraction(1, 2)]
    assert values(solve(racks(r0=0.5, r1=0.5), engine=engine)) == [Fraction(6, 10)]


def local(**changes: Any) -> Instance:
    """A spout and two bolts that it prefers where they are in its worker."""
    to = stream("s", "b", grouping="local_or_shuffle")
    parts = [spout("s", rate=10, service_ms=30), bolt("b", 2, service_ms=20)]
    instance = workload([node("n0"), node("n1")], [topology(parts, [to])], **changes)
    return replace(instance, objective=Objective(("bottleneck",)))


@pytest.mark.parametrize("engine", ["exhaustive", "auto"])
def test_local_streams_are_solved_by_search(engine: str) -> None:
    """A bolt in the spout's worker would get all: 30 + 20 %; apart, both get half of 20 %."""
    assert values(solve(local(), engine=engine)) == [Fraction(3, 10)]


@pytest.mark.parametrize("engine", ["cp-sat", "milp"])
@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (local(), "streams by local_or_shuffle"),
        (pair(megabits=50, matrix=[[0, 1], [1, 0]]), "distances by matrix"),
        (pair(serialise_ms={**NOTHING, "worker": 1}), "costs more between nearer tasks"),
    ],
)
def test_compact_models_say_what_they_do_not_count(
    engine: str, instance: Instance, reason: str
) -> None:
    with pytest.raises(UntakenError, match=reason):
        solve(instance, engine=engine)
    assert solve(instance).status == "optimal"


def test_a_stream_to_itself_is_declined() -> None:
    parts = [spout("s", rate=10), bolt("b", 2)]
    streams = [stream("s", "b"), stream("b", "b", selectivity=0.5, tuple_bytes=10)]
    sending = {**NOTHING, "rack": 0.001}
    instance = workload([node("n0"), node("n1")], [topology(parts, streams)], serialise_ms=sending)
    instance = replace(instance, objective=Objective(("bottleneck",)))
    with pytest.raises(UntakenError, match="a stream from a component to itself"):
        solve(instance, engine="cp-sat")
    plain = replace(
        instance, cluster=replace(instance.cluster, serialise_ms=LevelTimes(*(Decimal(0),) * 4))
    )
    for engine in ("cp-sat", "auto"):
        assert values(solve(plain, engine=engine)) == [Fraction(10 * 2, 1000) / 2]


@pytest.mark.parametrize("engine", sorted(ENGINES.keys() - {*COUNTING}))
def test_all_others_decline_what_is_no_capacity(engine: str) -> None:
    with pytest.raises(UntakenError, match="capacities of nodes, and an interface or an uplink"):
        solve(pair(megabits=50), engine=engine)


def test_the_bound_is_the_mean_of_the_cpus_or_the_largest_task() -> None:
    problem = compile_problem(pair())
    assert Fraction(simple_bounds(problem)[0]) * problem.terms[0].unit == Fraction(3, 10)
    parts = [spout("s", rate=10, service_ms=30), bolt("b", service_ms=90)]
    nodes = [node("n0"), node("n1", resources={"cpu": 200})]
    instance = workload(nodes, [topology(parts, [stream("s", "b")])])
    problem = compile_problem(replace(instance, objective=Objective(("bottleneck",))))
    assert Fraction(simple_bounds(problem)[0]) * problem.terms[0].unit == Fraction(45, 100)


def test_the_bound_counts_tasks_that_must_share_a_cpu() -> None:
    """Five tasks on two nodes: three are on one."""
    instance = workload(
        [node("n0"), node("n1")], [topology([spout("s", 5, rate=50, service_ms=9)], [])]
    )
    problem = compile_problem(replace(instance, objective=Objective(("bottleneck",))))
    assert Fraction(simple_bounds(problem)[0]) * problem.terms[0].unit == Fraction(27, 100)


def test_nodes_differ_by_their_interfaces_and_racks_by_their_uplinks() -> None:
    nodes = [node("n0"), node("n1", bandwidth_in_mbit_s=1), node("n2", "r2"), node("n3", "r3")]
    parts = [spout("s", 2, rate=10), bolt("b")]
    streams = [stream("s", "b", tuple_bytes=10)]
    uplinks = {"r1": 1, "r2": 1, "r3": 2}
    instance = workload(nodes, [topology(parts, streams)], uplink_mbit_s=uplinks)
    plain = compile_problem(instance)
    problem = compile_problem(replace(instance, objective=Objective(("bottleneck",))))
    assert [0, 1] in equal_nodes(plain)
    assert [0, 1] not in equal_nodes(problem)
    assert [[2], [3]] in equal_racks(plain)
    assert [[2], [3]] not in equal_racks(problem)


def test_the_first_task_of_a_global_stream_is_a_class_of_its_own() -> None:
    parts = [spout("s", rate=10), bolt("b", 3, service_ms=30)]
    to = stream("s", "b", grouping="global")
    instance = workload([node("n0"), node("n1")], [topology(parts, [to])])
    assert [one.size for one in compile_problem(instance).classes] == [1, 3]
    problem = compile_problem(replace(instance, objective=Objective(("bottleneck",))))
    assert [one.size for one in problem.classes] == [1, 1, 2]
    assert EXHAUSTIVE.supports(problem) is None


def test_more_threads_change_nothing() -> None:
    assert values(solve(pair("network", "bottleneck"), workers=2)) == [0, Fraction(6, 10)]
