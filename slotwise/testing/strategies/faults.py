"""Faults of a cluster: nodes or a whole rack are lost, or a node has less than before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, to_places
from slotwise.testing.random_instances.lost_nodes import without_nodes

SLOTS = "slots"
"""Stands for the slots of a node where a resource is named."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a cluster.

    Parameters
    ----------
    kind
        ``nodes`` or ``rack`` where `nodes` are lost, ``capacity`` where they have less.
    nodes
        Ids of the nodes it happens to, at least one.
    resource
        Only for ``capacity``: the resource, or ``slots``.
    left
        Only for ``capacity``: what each of the nodes has left of it.
    """

    kind: str
    nodes: tuple[str, ...]
    resource: str = ""
    left: Decimal = Decimal(0)

    def __str__(self) -> str:
        """One line for people."""
        names = ", ".join(self.nodes)
        if self.kind == "capacity":
            return f"{names}: {self.left} left of {self.resource}"
        return f"lost rack: {names}" if self.kind == "rack" else f"lost: {names}"


def faults(instance: Instance) -> st.SearchStrategy[Fault]:
    """Return a strategy for faults that can happen to the cluster of an instance.

    At least one node is left. A resource or slots without a limit may get one. They shrink towards
    the loss of the first node; where there is only one node, towards one that has one slot left.
    """
    nodes = instance.cluster.nodes
    racks = instance.cluster.racks
    kinds = []
    if len(nodes) > 1:
        ids = st.sampled_from([node.id for node in nodes])
        lost = st.lists(ids, min_size=1, max_size=len(nodes) - 1, unique=True)
        kinds.append(lost.map(lambda lost: Fault("nodes", tuple(sorted(lost)))))
    if len(racks) > 1:
        kinds.append(st.sampled_from(racks).map(lambda rack: _lost_rack(instance, rack)))
    kinds.append(st.sampled_from(nodes).flatmap(_less))
    return st.one_of(kinds)


def apply(fault: Fault, instance: Instance, placement: Placement) -> Instance:
    """Return the instance after the fault, with what survives of the placement as `running`.

    Tasks on lost nodes run no more. Those on nodes that have less than before still do, even if
    they no longer fit.

    Parameters
    ----------
    fault
        Of the cluster of this instance.
    instance
        Before the fault.
    placement
        What ran until then; unplaced tasks did not.

    Raises
    ------
    InputError
        When the fault names other nodes, or all of them.
    """
    known = {node.id for node in instance.cluster.nodes}
    if not set(fault.nodes) <= known:
        raise InputError("must be nodes of the cluster", field="fault.nodes", value=fault.nodes)
    placed = replace(instance, running=to_places(instance, placement))
    if fault.kind != "capacity":
        if known == set(fault.nodes):
            raise InputError("must leave a node", field="fault.nodes", value=fault.nodes)
        return without_nodes(placed, fault.nodes)
    nodes = tuple(
        _reduced(node, fault) if node.id in fault.nodes else node for node in instance.cluster.nodes
    )
    return replace(placed, cluster=replace(instance.cluster, nodes=nodes))


def _lost_rack(instance: Instance, rack: str) -> Fault:
    return Fault("rack", tuple(n.id for n in instance.cluster.nodes if n.rack == rack))


def _less(node: Node) -> st.SearchStrategy[Fault]:
    """Return a strategy for the node having less: half of what it had, or nothing."""
    offers: dict[str, Decimal | int | None] = {SLOTS: node.slots, **node.resources}
    left = [
        (key, part)
        for key, amount in offers.items()
        for part in ((Decimal(1), Decimal(0)) if amount is None else _parts(key, Decimal(amount)))
    ]
    return st.sampled_from(left).map(lambda row: Fault("capacity", (node.id,), *row))


def _parts(key: str, amount: Decimal) -> tuple[Decimal, ...]:
    half = amount // 2 if key == SLOTS else (amount / 2).quantize(Decimal("0.000001")).normalize()
    return (half, Decimal(0))


def _reduced(node: Node, fault: Fault) -> Node:
    if fault.resource == SLOTS:
        return replace(node, slots=int(fault.left))
    return replace(node, resources={**node.resources, fault.resource: fault.left})
