"""The layouts known of each topology, cheapest first; equal topologies share them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.solver.whole_cluster.layout import Layout, layout_of
from slotwise.solver.whole_cluster.topologies import TopologyPart


class KnownLayouts:
    """At most `most` layouts of each topology, no two with the same fragments."""

    def __init__(self, parts: Sequence[TopologyPart], most: int) -> None:
        self._parts = parts
        self._most = most
        self._of: list[list[Layout]] = [[] for _ in parts]

    def of(self, part: int) -> Sequence[Layout]:
        """Return the layouts of a topology, cheapest first."""
        return self._of[self._parts[part].like]

    def learn(self, part: int, placement: Placement) -> Layout | None:
        """Keep a topology's own placement, on nodes of the whole cluster.

        Return its layout, or ``None`` where it is not valid.
        """
        layout = layout_of(self._parts[part].problem, placement)
        if layout is not None:
            known = self._of[self._parts[part].like]
            if all(
                _fragments(one) != _fragments(layout) for one in known if one.cost == layout.cost
            ):
                insort(known, layout, key=lambda one: (one.cost, len(one.nodes)))
                del known[self._most :]
        return layout


def _fragments(layout: Layout) -> tuple[bytes, ...]:
    """Return the fragments of each rack, in an order of their own."""
    rows = np.column_stack([layout.load, layout.workers])
    return tuple(
        sorted(b"".join(sorted(row.tobytes() for row in rows[group])) for group in layout.groups)
    )
