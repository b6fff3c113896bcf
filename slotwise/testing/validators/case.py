"""A case: an instance and a placement that just keeps, or just breaks, one rule.

Everything that a case does not say is without limit, so that no other rule can break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.placement import Placement, from_places
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge import rules

RULES = tuple(rule.name for rule in rules.RULES.values() if rule.is_hard)
"""The hard rules, by the names that the judge's violations have."""

MOST_TASKS, MOST_NODES = 3, 2
"""No case has more."""

Scene = tuple[Instance, Placement]
Build = Callable[[st.DrawFn, bool], Scene]
"""Draw a scene; true = the rule is broken, false = it is just kept."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a validator is asked about.

    Parameters
    ----------
    rule
        One of `RULES`.
    sub_case
        The part of the rule that it is about.
    keeps
        Whether the placement keeps every rule; otherwise it breaks `rule` and no other.
    instance, placement
        At most `MOST_TASKS` tasks on `MOST_NODES` nodes.
    """

    rule: str
    sub_case: str
    keeps: bool
    instance: Instance
    placement: Placement

    @property
    def size(self) -> str:
        """How many tasks and nodes, for people."""
        tasks, nodes = len(self.placement.nodes), len(self.instance.cluster.nodes)
        return f"{tasks} task{'s' * (tasks != 1)}, {nodes} node{'s' * (nodes != 1)}"


@dataclass(frozen=True, slots=True)
class SubCase:
    """One part of a rule, with the strategies of its two sides.

    Parameters
    ----------
    rule
        One of `RULES`.
    name
        What it is about; unique in the rule.
    build
        See `Build`. Where the rule has a limit, the placement is exactly at it, or above it by one
        unit.
    """

    rule: str
    name: str
    build: Build

    def cases(self, *, keeps: bool) -> st.SearchStrategy[Case]:
        """Return the strategy of the cases that just keep, or just break, the rule."""

        @st.composite
        def case(draw: st.DrawFn) -> Case:
            instance, placement = self.build(draw, not keeps)
            return Case(self.rule, self.name, keeps, instance, placement)

        return case()


STEPS = tuple(map(Decimal, ("1", "0.5", "0.1", "0.01", "0.000001")))
"""One unit of the amounts of a case."""

INEXACT = (("0.1", "0.2"), ("0.1", "0.1", "0.1"), ("0.2", "0.4"), ("0.7", "0.1", "0.3"))
"""Amounts whose sums are off in doubles: 0.1 + 0.2 is 0.30000000000000004 there."""

FINEST = STEPS[-1]

Spot = tuple[str, int]
"""Node id and worker label."""

Places = Mapping[str, Mapping[str, Spot]]
"""Topology id -> task -> spot; tasks that are not named are not placed."""

LEFT_OUT = Objective(("rejected", "network"))
"""An objective under which a topology may be left out whole."""


def node(key: str = "n0", *, slots: int | None = None, **resources: Decimal | None) -> Node:
    """Return a node; cpu and memory are without limit unless `resources` says otherwise."""
    return Node(key, "r0", slots=slots, resources={"cpu": None, "memory_mb": None, **resources})


def component(key: str, parallelism: int = 1, **demand: Decimal) -> Component:
    """Return a bolt."""
    return Component(key, "bolt", parallelism, demand)


def topology(*components: Component, key: str = "t", **fields: Any) -> Topology:
    """Return a topology without streams; `fields` are those of `Topology`."""
    return Topology(key, components, **fields)


def tasks(*topologies: Topology) -> list[tuple[str, str]]:
    """Return (topology id, task) of all tasks, in canonical order."""
    return [
        (one.id, f"{part.id}[{index}]")
        for one in topologies
        for part in one.placed_components
        for index in range(part.parallelism)
    ]


def put(topologies: Sequence[Topology], spots: Iterable[Spot | None]) -> Places:
    """Give each task, in canonical order, its spot; ``None`` = not placed."""
    places: dict[str, dict[str, Spot]] = {}
    for (owner, task), spot in zip(tasks(*topologies), spots, strict=True):
        if spot is not None:
            places.setdefault(owner, {})[task] = spot
    return places


def scene(
    draw: st.DrawFn,
    nodes: Sequence[Node],
    topologies: Sequence[Topology],
    spots: Iterable[Spot | None],
    *,
    running: Iterable[Spot | None] | None = None,
    objective: Objective | None = None,
    worker_min_cpu: Decimal = Decimal(0),
    matrix: tuple[tuple[Decimal, ...], ...] | None = None,
) -> Scene:
    """Return the instance with a spot for each task in canonical order; see `put`.

    A single node gets company now and then: an idle one that offers nothing, before or after it.
    `matrix` has the distances of two nodes.
    """
    company = draw(st.sampled_from(("none", "after", "before"))) if len(nodes) == 1 else "none"
    idle = [Node("idle", "r1", slots=0)]
    around = {"none": nodes, "after": [*nodes, *idle], "before": [*idle, *nodes]}[company]
    instance = Instance(
        "case",
        Cluster(tuple(around), matrix=matrix),
        tuple(topologies),
        Scheduler(worker_min_cpu=worker_min_cpu),
        running=None if running is None else _places(put(topologies, running)),
        objective=objective or Objective(),
    )
    return instance, from_places(instance, _places(put(topologies, spots)))


def _places(places: Places) -> dict[str, dict[str, Place]]:
    return {
        owner: {task: Place(*spot) for task, spot in spots.items()}
        for owner, spots in places.items()
    }


def amount(draw: st.DrawFn, step: Decimal, least: int = 1, most: int = 40) -> Decimal:
    """Draw from `least` to `most` steps."""
    return step * draw(st.integers(least, most))


def amounts(draw: st.DrawFn, step: Decimal, count: int) -> list[Decimal]:
    """Draw that many amounts, each of at least one step."""
    return [amount(draw, step) for _ in range(count)]


def components(demands: Iterable[Mapping[str, Decimal]]) -> list[Component]:
    """Return components a, b, c of one task each with these demands."""
    return [component(key, 1, **demand) for key, demand in zip("abc", demands, strict=False)]


def labels(draw: st.DrawFn, count: int, node_id: str = "n0") -> list[Spot]:
    """Draw spots on one node for `count` tasks, together or not."""
    return [(node_id, draw(st.integers(0, count - 1))) for _ in range(count)]


def any_label(draw: st.DrawFn) -> int:
    """Draw a label of a worker; labels need not be dense."""
    return draw(st.sampled_from((0, 1, 7, 6700)))


def other_than(label: int) -> int:
    """Return another label."""
    return label + 1
