"""Prices of repairs, so that the cheapest can come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import CPU, MEMORY
from slotwise.models.values import exact
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change

_RESOURCES = {"cpu": Decimal("0.01"), "memory_mb": Decimal("0.00025")}


@dataclass(frozen=True, slots=True)
class RepairPrices:
    """Prices of changes. One unit is what one core (100 points of cpu) costs.

    By default, hardware is bought at a price per resource; changing a limit is cheap but not free;
    changing the meaning of a topology (its rules, its parallelism, whether it runs at all) is
    expensive. All prices are 0 or more, with at most six decimals.

    Parameters
    ----------
    resources
        Resource -> price of one unit on one node: one point of cpu, one MB. 4000 MB cost as much
        as a core.
    other_resource
        The same for a resource that `resources` does not name.
    node
        A new node, on top of its resources.
    upgrade
        Changing the resources of one node, on top of what they cost.
    slot
        One more slot on one node.
    heap
        Changing the heap limit of a topology; on top each MB costs what a MB of a node costs.
    per_node
        Each further task of a component that may share a node, up to `max_per_node`.
    moved
        Each further task that may move.
    worker_min_cpu
        Lowering the least cpu of a worker; on top each point costs what one of a node does.
    rule
        Dropping a rule of a topology: an incompatible pair, one task or one component per worker.
    task
        Each task by which the parallelism of a component is lowered.
    evict
        Leaving out a topology, times its weight: 1 for the lowest priority of the instance, 1 more
        for each priority above it.
    """

    resources: Mapping[str, Decimal] = field(default_factory=lambda: dict(_RESOURCES))
    other_resource: Decimal = Decimal(1)
    node: Decimal = Decimal(1)
    upgrade: Decimal = Decimal("0.5")
    slot: Decimal = Decimal("0.25")
    heap: Decimal = Decimal("0.25")
    per_node: Decimal = Decimal(2)
    moved: Decimal = Decimal(1)
    worker_min_cpu: Decimal = Decimal(1)
    rule: Decimal = Decimal(5)
    task: Decimal = Decimal(4)
    evict: Decimal = Decimal(10)

    def __post_init__(self) -> None:
        """Check each price."""
        prices = {key: exact(value, f"resources.{key}") for key, value in self.resources.items()}
        object.__setattr__(self, "resources", prices)
        for key in self.__slots__:
            if key != "resources":
                object.__setattr__(self, key, exact(getattr(self, key), key))

    def of_resource(self, resource: str) -> Decimal:
        """Return the price of one unit of a resource on one node."""
        return self.resources.get(resource, self.other_resource)


def price_of(change: Change, instance: Instance, prices: RepairPrices) -> Decimal:
    """Return the price of a change of `instance`."""
    amount, kind = change.amount, change.kind
    if kind == kinds.ADD_NODES:
        template = next(node for node in instance.cluster.nodes if node.id == change.nodes[0])
        offered = sum(
            (prices.of_resource(key) * (value or 0) for key, value in template.resources.items()),
            Decimal(0),
        )
        return amount * (prices.node + offered)
    if kind == kinds.RAISE_CAPACITY:
        return len(change.nodes) * (prices.upgrade + amount * prices.of_resource(change.subject))
    if kind == kinds.RAISE_SLOTS:
        return len(change.nodes) * amount * prices.slot
    if kind == kinds.EVICT:
        lowest = max(topology.priority for topology in instance.topologies)
        evicted = [one for one in instance.topologies if one.id in change.topologies]
        return prices.evict * sum(lowest - one.priority + 1 for one in evicted)
    base, per_step = {
        kinds.RAISE_HEAP: (prices.heap, prices.of_resource(MEMORY)),
        kinds.LOWER_WORKER_MIN_CPU: (prices.worker_min_cpu, prices.of_resource(CPU)),
        kinds.ALLOW_PER_NODE: (Decimal(0), prices.per_node),
        kinds.ALLOW_MOVED: (Decimal(0), prices.moved),
        kinds.LOWER_PARALLELISM: (Decimal(0), prices.task),
        kinds.DROP_INCOMPATIBLE: (prices.rule, Decimal(0)),
        kinds.DROP_ONE_TASK: (prices.rule, Decimal(0)),
        kinds.DROP_ONE_COMPONENT: (prices.rule, Decimal(0)),
    }[kind]
    return base + per_step * amount
