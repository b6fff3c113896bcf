"""What is left on every node, and the first fit of a layout into it."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.whole_cluster.layout import Layout


class Room:
    """Capacity [N, D] and slots [N] that the layouts put in so far leave."""

    def __init__(self, problem: Problem) -> None:
        self.capacity = problem.capacity.copy()
        self.slots = problem.slots.copy()
        self.rack = problem.node_rack
        self._bounded = problem.capacity != NO_LIMIT
        self._slotted = problem.slots != NO_LIMIT
        finite = np.where(self._bounded, problem.capacity, 0).max(axis=0, initial=0)
        self._scale = np.maximum(finite, 1).astype(np.float64)

    def put(self, layout: Layout) -> None:
        """Take what `layout` needs where it is."""
        self._change(layout, -1)

    def remove(self, layout: Layout) -> None:
        """Give back what `layout` has taken."""
        self._change(layout, 1)

    def _change(self, layout: Layout, sign: int) -> None:
        load = np.where(self._bounded[layout.nodes], layout.load, 0)
        self.capacity[layout.nodes] += sign * load
        self.slots[layout.nodes] += sign * np.where(self._slotted[layout.nodes], layout.workers, 0)

    def holds(self, layout: Layout) -> bool:
        """Return whether `layout` fits where it is."""
        nodes = layout.nodes
        return bool(
            (layout.load <= self.capacity[nodes]).all()
            and (layout.workers <= self.slots[nodes]).all()
        )

    def fitted(self, layout: Layout, rng: Generator | None = None) -> Layout | None:
        """Return `layout` on nodes with room for it; ``None`` where this finds none.

        Each rack's fragments go to one rack of their own, largest fragment first, each onto the
        node that it leaves the least of (best fit). `rng` lets it choose among the racks; without
        it the rack that is left with the least is taken.
        """
        targets = np.full(len(layout.nodes), -1, dtype=np.int64)
        taken: set[int] = set()
        for group in layout.groups:
            found: list[tuple[float, int, IntArray]] = []
            for rack in sorted(set(self.rack.tolist()) - taken):
                fit = self._fit(layout, group, np.flatnonzero(self.rack == rack))
                if fit is not None:
                    found.append((fit[0] if rng is None else float(rng.random()), rack, fit[1]))
            if not found:
                return None
            _, rack, nodes = min(found, key=lambda one: one[:2])
            taken.add(rack)
            targets[group] = nodes
        return layout.moved(targets)

    def _fit(
        self, layout: Layout, group: IntArray, nodes: IntArray
    ) -> tuple[float, IntArray] | None:
        """Return what is left on the chosen nodes of one rack, as a share, and these nodes."""
        if len(nodes) < len(group):
            return None
        capacity, slots = self.capacity[nodes], self.slots[nodes]
        bounded = self._bounded[nodes]
        left = np.where(bounded, capacity, 0) / self._scale
        free = np.ones(len(nodes), dtype=np.bool_)
        targets = np.empty(len(group), dtype=np.int64)
        share = (layout.load[group] / self._scale).max(axis=1, initial=0.0)
        wasted = 0.0
        for i in np.argsort(-share, kind="stable").tolist():
            load, workers = layout.load[group[i]], layout.workers[group[i]]
            fits = free & (load <= capacity).all(axis=1) & (workers <= slots)
            if not fits.any():
                return None
            slack = np.where(fits, left.sum(axis=1), np.inf)
            best = int(np.argmin(slack))
            free[best] = False
            wasted += float(slack[best])
            targets[i] = nodes[best]
        return wasted, targets
