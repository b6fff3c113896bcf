"""An instance without some of its nodes, which nothing in it names any more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slotwise.models.instance import lost_nodes
from slotwise.models.instance.instance import Instance


def without_nodes(instance: Instance, lost: Collection[str]) -> Instance:
    """Return the instance without the nodes `lost`, given by id; at least one node must be left.

    What refers to them goes, too, also tasks that run there.
    """
    left = lost_nodes.without_nodes(instance, lost)
    return replace(left, running=left.still_running)
