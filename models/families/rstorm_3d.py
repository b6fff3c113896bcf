"""R-Storm's shapes with drawn demands in three resources: its full problem, QM3DKP.

The paper's problem has cpu, memory and bandwidth; its own topologies only set cpu. Here each
component draws one demand per task in all three. Memory is hard, cpu and bandwidth are soft with
weight 1. The most memory a task may draw keeps every instance feasible: 72 tasks of 288 MB are
20,736 MB, and first fit fills each of the 12 nodes to at least 1,760 MB before it gives up.
"""

from __future__ import annotations

from slotwise.models.families.family import Family, always_feasible, check_index, child_rng, draw
from slotwise.models.families.rstorm import cluster, shapes, topology
from slotwise.models.instance.instance import Instance, Objective

NAME = "rstorm-3d"
NODE_MBPS = 100
"""Bandwidth of a node: R-Storm's network cards."""

STEPS = {"cpu": (5, 50, 5), "onheap_mb": (64, 288, 32), "bandwidth": (1, 20, 1)}
"""Least, most and step of one task's demand: points, MB, Mbps."""


def make(index: int, seed: int) -> Instance:
    """Return shape ``index % 9`` with the demands of this seed and index."""
    check_index(NAME, index)
    shape = shapes()[index % len(shapes())]
    rng = child_rng(NAME, seed, index)
    demands = tuple(
        {
            key: least + step * draw(rng, 0, (most - least) // step)
            for key, (least, most, step) in STEPS.items()
        }
        for _ in shape.components
    )
    return Instance(
        name=f"{NAME}-{shape.id}-{seed}-{index:04d}",
        cluster=cluster({"bandwidth": NODE_MBPS}),
        topologies=(topology(shape, demands),),
        objective=Objective(("overload", "network"), {"cpu": 1, "bandwidth": 1}),
    )


RSTORM_3D = Family(
    name=NAME,
    description="R-Storm's shapes with drawn demands of cpu, memory and bandwidth (QM3DKP)",
    count=9,
    make=make,
    parameters={key: f"{low}..{high} by {step}" for key, (low, high, step) in STEPS.items()}
    | {"node_bandwidth": NODE_MBPS},
    label=always_feasible,  # memory is the only hard resource, and it always fits
)
