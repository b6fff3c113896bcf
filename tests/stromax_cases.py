"""Small instances for the tests of StroMAX and the partitioners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from hypothesis import strategies as st

from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

EDGE_CUT = Distance(Decimal(0), Decimal(0), Decimal(1), Decimal(1))


def cluster(capacities: Sequence[int | None], resource: str = "cpu") -> Cluster:
    nodes = tuple(
        Node(f"n{i}", "r", resources={resource: None if c is None else Decimal(c)})
        for i, c in enumerate(capacities)
    )
    return Cluster(nodes, EDGE_CUT)


def topology(
    name: str, components: Mapping[str, tuple[int, int]], streams: Sequence[str]
) -> Topology:
    """Components as id -> (tasks, cpu); streams as ``a>b`` or ``a>b:rate``; spouts begin with s."""
    made = []
    for stream in streams:
        ends, _, rate = stream.partition(":")
        source, _, target = ends.partition(">")
        made.append(Stream(source, target, rate=Decimal(rate or 1)))
    return Topology(
        name,
        tuple(
            Component(key, "spout" if key[0] == "s" else "bolt", tasks, {"cpu": Decimal(cpu)})
            for key, (tasks, cpu) in components.items()
        ),
        tuple(made),
    )


def problem(
    where: Cluster,
    *topologies: Topology,
    running: Mapping[str, Mapping[str, Place]] | None = None,
    terms: tuple[str, ...] = ("network",),
    limits: Mapping[str, int] | None = None,
    flow: str = "pairs",
    soft: Mapping[str, int] | None = None,
) -> Problem:
    objective = Objective(terms, dict(soft or {}), dict(limits or {}))
    return compile_problem(
        Instance("case", where, topologies, running=running, objective=objective, flow=flow)
    )


@st.composite
def random_problems(draw: st.DrawFn) -> Problem:
    """Acyclic topologies of up to 24 tasks on up to five nodes."""
    made = []
    for t in range(draw(st.integers(1, 2))):
        count = draw(st.integers(1, 4))
        components = {
            ("s" if c == 0 else "b") + str(c): (draw(st.integers(0, 3)), draw(st.integers(0, 4)))
            for c in range(count)
        }
        ids = list(components)
        pairs = [(a, b) for j, b in enumerate(ids) for a in ids[:j]]
        chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
        streams = [f"{a}>{b}:{draw(st.integers(0, 5))}" for a, b in sorted(chosen)]
        made.append(topology(f"t{t}", components, streams))
    capacities = draw(st.lists(st.integers(0, 12), min_size=1, max_size=5))
    flow = draw(st.sampled_from(("pairs", "rates")))
    return problem(cluster(capacities), *made, flow=flow)
