"""R-Storm's Linear, Diamond and Star in small, what is known of their tuples, and placements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from slotwise.benchmarks.reproduction.placements import best, placed
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.cluster import Cluster, LevelTimes, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Ackers, Component, Stream, Topology
from slotwise.models.prediction.assumptions import Assumptions, with_assumptions

ONHEAP_MB = 32
"""Declared by each task: memory limits nothing here."""

NODE_CPU = 100
"""Points of a node: Linear and Star need two nodes, Diamond three."""

NODE_MEMORY_MB = 1024

SIMULATED_S = 60.0
SOLVE_S = 20.0
"""Of each proof."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same for all rows.

    Parameters
    ----------
    interface_mbit_s, uplink_mbit_s
        Of a node's interface and a rack's uplink, in each direction.
    payload_bytes
        That a spout emits at a time.
    window
        Most tuples of a spout task in flight (``topology.max.spout.pending``).
    service_ms
        Of every task and acker; not measured apart: it hardly matters below a millisecond.
    timeout_s
        After which a tuple fails that was lost when its placement changed
        (``topology.message.timeout.secs``).
    """

    interface_mbit_s: int = 8
    uplink_mbit_s: int = 8
    payload_bytes: int = 4000
    window: int = 10
    service_ms: Decimal = Decimal("0.2")
    timeout_s: int = 3

    def assumptions(self) -> Assumptions:
        """Return what Nimbus does not know."""
        nothing = Decimal(0)
        interface = Decimal(self.interface_mbit_s)
        return Assumptions(
            service_ms=self.service_ms,
            service_scv=Decimal(1),
            message_bytes=Decimal(MESSAGE_BYTES),
            selectivity=Decimal(1),
            tuple_bytes=Decimal(wire_bytes(self.payload_bytes)),
            cores=1,
            bandwidth_in_mbit_s=interface,
            bandwidth_out_mbit_s=interface,
            uplink_mbit_s=Decimal(self.uplink_mbit_s),
            serialise_ms=LevelTimes(nothing, nothing, nothing, nothing),
            delay_ms=LevelTimes(nothing, nothing, nothing, nothing),
        )


SEGMENT_BYTES = 1448
"""Of a tuple in a packet of 1,500 bytes."""
HEADER_BYTES = 66
"""Of Ethernet, IP and TCP with its time stamps: the bucket counts all of them."""
STORM_BYTES = 40
"""Of Storm's message (6), the task and stream it comes from, and the roots of a tuple."""
MESSAGE_BYTES = 2 * HEADER_BYTES + STORM_BYTES
"""Of a message to or from an acker, alone in a packet, with the packet that acknowledges it."""


def wire_bytes(payload: int) -> int:
    """Return the bytes of a tuple on the wire, headers included."""
    whole = payload + STORM_BYTES
    return whole + -(-whole // SEGMENT_BYTES) * HEADER_BYTES


def _topology(name: str, sizes: Mapping[str, tuple[int, int]], streams: str) -> Topology:
    """Return a topology from component -> (parallelism, cpu) and ``a>b a>c``."""
    arrows = [stream.split(">") for stream in streams.split()]
    fed = {target for _, target in arrows}
    heap = Decimal(ONHEAP_MB)
    return Topology(
        id=name,
        components=tuple(
            Component(
                id=key,
                kind="bolt" if key in fed else "spout",
                parallelism=count,
                resources={"cpu": Decimal(cpu), "onheap_mb": heap},
            )
            for key, (count, cpu) in sizes.items()
        ),
        streams=tuple(Stream(source, target) for source, target in arrows),
        ackers=Ackers(2, resources={"cpu": Decimal(4), "onheap_mb": heap}),
    )


TOPOLOGIES: Mapping[str, Topology] = {
    one.id: one
    for one in (
        _topology(
            "linear",
            {"word": (2, 40), "b1": (2, 16), "b2": (2, 16), "b3": (2, 16)},
            "word>b1 b1>b2 b2>b3",
        ),
        _topology(
            "diamond",
            {
                "head": (2, 40),
                **dict.fromkeys(("b1", "b2", "b3"), (2, 16)),
                "b4": (2, 24),
                "out": (2, 24),
            },
            "head>b1 head>b2 head>b3 head>b4 b1>out b2>out b3>out b4>out",
        ),
        _topology(
            "star",
            {"s0": (1, 40), "s1": (1, 40), "center": (2, 16), "o0": (2, 16), "o1": (2, 16)},
            "s0>center s1>center center>o0 center>o1",
        ),
    )
}
"""The last versions of R-Storm's sources (`rstorm_last_versions`) with a third of their tasks.

A node has 100 points of cpu and not 120, so that demands are four fifths of R-Storm's.
"""


def with_workload(imported: Instance, setting: Setting) -> Instance:
    """Return what Nimbus says, with what `Setting` adds, for prediction and simulation.

    Nodes are in the order of their hosts, so that a placement fits every snapshot.
    """
    nodes = tuple(sorted(imported.cluster.nodes, key=lambda one: one.host))
    cluster = replace(imported.cluster, nodes=nodes)
    bare = replace(imported, cluster=cluster, objective=Objective(("network",)))
    return with_assumptions(bare, setting.assumptions())[0]


def _solved(instance: Instance, *terms: str) -> Placement:
    placement = best(instance, terms, 1, SOLVE_S)
    if placement is None:
        raise SlotwiseError(f"the best placement by {terms[0]} is not proven in {SOLVE_S:g} s")
    return placement


def _with_rates(instance: Instance) -> Instance:
    """Return the instance with a rate of its spouts in place of the window, for ``bottleneck``."""
    (topology,) = instance.topologies
    components = tuple(
        replace(component, rate=Decimal(100)) if component.kind == "spout" else component
        for component in topology.components
    )
    open_topology = replace(topology, window=None, components=components)
    return replace(instance, topologies=(open_topology,))


PLACEMENTS: Mapping[str, Callable[[Instance], Placement]] = {
    "round-robin": lambda instance: placed(instance, "round-robin"),
    "r-storm": lambda instance: placed(instance, "r-storm"),
    "ras-default": lambda instance: placed(instance, "ras-default"),
    "least network": lambda instance: _solved(instance, "network"),
    "highest rate": lambda instance: _solved(_with_rates(instance), "bottleneck", "network"),
}
"""Name -> who places: three schedulers, and two proven optima."""


def alone(topology: Topology) -> Instance:
    """Return a topology on any machine, to be written down."""
    return Instance(topology.id, Cluster((Node("any", "any"),)), (topology,))
