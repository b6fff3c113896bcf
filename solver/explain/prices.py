"""What repairs cost, so that the cheapest can be named first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.values import exact

_RESOURCES = {"cpu": Decimal("0.01"), "memory_mb": Decimal("0.00025")}


@dataclass(frozen=True, slots=True)
class RepairPrices:
    """Prices of changes. One unit is what one core (100 points of cpu) costs.

    The defaults say: hardware is bought at a price per resource; settings of limits are cheap but
    not free; what changes the meaning of a topology (its rules, its parallelism, whether it runs
    at all) is dear. All are 0 or more, with at most six decimals.

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
        Lowering the least cpu that a worker counts; on top each point costs what one of a node does.
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
