"""Which sorter of nodes a strategy call uses."""

from __future__ import annotations

from slotwise.heuristics.ras_fit import Fit
from slotwise.heuristics.ras_node_sorter import PlainNodeSorter


def node_sorter(fit: Fit, kind: str) -> PlainNodeSorter:
    """Return the sorter."""
    return PlainNodeSorter(fit, kind)
