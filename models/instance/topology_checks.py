"""Rules between the parts of a topology, one function each; all raise `InputError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.models.errors import InputError
from slotwise.models.values import distinct

if TYPE_CHECKING:
    from slotwise.models.instance.topology import Topology

ACKER = "__acker"
"""Component id of the tasks that `Ackers` makes."""


def check_component_ids(topology: Topology) -> None:
    """Refuse repeated ids, and ackers given twice."""
    distinct((c.id for c in topology.components), "components[].id")
    for index, component in enumerate(topology.components):
        if component.id == ACKER and topology.ackers is not None:
            raise InputError(
                "is made from `ackers`; give one of the two",
                field=f"components[{index}].id",
                value=ACKER,
            )


def _check_known(topology: Topology, key: str, where: str) -> None:
    if key not in {c.id for c in topology.placed_components}:
        raise InputError(f"must be a component of topology {topology.id!r}", field=where, value=key)


def check_streams(topology: Topology) -> None:
    """Refuse streams from or to unknown components."""
    for index, stream in enumerate(topology.streams):
        _check_known(topology, stream.source, f"streams[{index}].from")
        _check_known(topology, stream.target, f"streams[{index}].to")


def check_constraints(topology: Topology) -> None:
    """Refuse constraints on unknown components."""
    for index, pair in enumerate(topology.constraints.incompatible):
        for key in pair:
            _check_known(topology, key, f"constraints.incompatible[{index}]")
    for key in topology.constraints.max_per_node:
        _check_known(topology, key, "constraints.max_per_node")


def check_shared_memory(topology: Topology) -> None:
    """Refuse repeated regions, and regions of unknown components."""
    distinct((region.id for region in topology.shared_memory), "shared_memory[].id")
    for index, region in enumerate(topology.shared_memory):
        for key in region.components:
            _check_known(topology, key, f"shared_memory[{index}].components")
