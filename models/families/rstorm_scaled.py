"""R-Storm's three shapes with equal parallelism, on R-Storm's own cluster loaded to about 75 %.

The shapes are linear-a, diamond-a and star-a (components and streams); each component gets as
many tasks as every other. Demands keep the authors' ratios (``linear-48``), or are equal for all
tasks (``linear-48-equal``), and are scaled so that the cpu of all tasks is about 75 % of the
cluster's. Memory is hard, cpu soft, one worker slot a node, as in the family ``rstorm``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.families.family import Family, always_feasible, check_index
from slotwise.models.families.rstorm import ONHEAP_MB, TopologyShape, cluster, shapes
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.values import one_of

NAME = "rstorm-scaled"
LOAD = Fraction(3, 4)
STEPS_PER_POINT = 2
"""Demands are whole halves of a point."""

BASES = {"linear": "linear-a", "diamond": "diamond-a", "star": "star-a"}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A scaled topology.

    Parameters
    ----------
    shape
        One of `BASES`.
    tasks
        In all: a multiple of the shape's number of components (4, 6, 5).
    equal
        Whether all tasks have the same demand, or the ratios of the authors.
    """

    shape: str
    tasks: int
    equal: bool = False

    def __post_init__(self) -> None:
        """Check each field, then that the tasks divide."""
        one_of(self.shape, tuple(BASES), "shape")
        components = len(self.base.components)
        if self.tasks < 1 or self.tasks % components:
            raise InputError(
                f"must be a multiple of {components} above 0", field="tasks", value=self.tasks
            )

    @property
    def base(self) -> TopologyShape:
        """The authors' topology."""
        return next(shape for shape in shapes() if shape.id == BASES[self.shape])

    @property
    def name(self) -> str:
        """Name of the instance."""
        return f"{self.shape}-{self.tasks}" + ("-equal" if self.equal else "")


MEMBERS = tuple(
    Scaled(shape, tasks, equal)
    for equal in (False, True)
    for shape, tasks in (
        ("linear", 48),
        ("diamond", 72),
        ("star", 60),
        ("linear", 120),
        ("diamond", 90),
        ("star", 90),
    )
)
"""Parallelism 12 of each component, then the larger ones."""


def scaled(parameters: Scaled) -> Instance:
    """Return the instance with these parameters."""
    where = cluster()
    base = parameters.base
    parallelism = parameters.tasks // len(base.components)
    weights = [1 if parameters.equal else cpu for *_, cpu in base.components]
    demands = _demands(where, weights, parallelism)
    components = tuple(
        Component(name, kind, parallelism, {"cpu": cpu, "onheap_mb": Decimal(ONHEAP_MB)})
        for (name, kind, *_), cpu in zip(base.components, demands, strict=True)
    )
    streams = tuple(Stream(*stream) for stream in base.streams)
    nodes = len(where.nodes)
    return Instance(
        name=parameters.name,
        cluster=where,
        topologies=(
            Topology(parameters.name, components, streams, strategy="r-storm", workers=nodes),
        ),
        objective=Objective(("overload", "network"), {"cpu": 1}),
    )


def _demands(where: Cluster, weights: list[int], parallelism: int) -> list[Decimal]:
    """Return the cpu of a task of each component: `LOAD` of the cluster's, in these ratios."""
    offered = sum(Fraction(node.resources["cpu"] or 0) for node in where.nodes)
    unit = LOAD * offered / (sum(weights) * parallelism)
    steps = [max(1, round(weight * unit * STEPS_PER_POINT)) for weight in weights]
    return [Decimal(step) / STEPS_PER_POINT for step in steps]


def make(index: int, seed: int) -> Instance:
    """Return the instance of member `index`; the seed plays no part."""
    check_index(NAME, index, len(MEMBERS))
    return scaled(MEMBERS[index])


RSTORM_SCALED = Family(
    name=NAME,
    description="R-Storm's shapes with equal parallelism at 75 % load, 48 to 120 tasks",
    count=len(MEMBERS),
    make=make,
    parameters={"load_percent": int(100 * LOAD), "onheap_mb": ONHEAP_MB},
    label=always_feasible,  # a node has memory for 16 tasks, the largest member has 120
    limited=True,
)
