"""A plan: one layout per topology, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.whole_cluster.topologies import TopologyPart


class Plan:
    """Layouts that fit side by side, and the room that they leave."""

    def __init__(self, problem: Problem, parts: Sequence[TopologyPart]) -> None:
        self._problem = problem
        self._parts = parts
        self.layouts: list[Layout | None] = [None] * len(parts)
        self.room = Room(problem)

    def copy(self) -> Plan:
        """Return a plan with the same layouts."""
        other = Plan(self._problem, self._parts)
        for i, layout in enumerate(self.layouts):
            if layout is not None:
                other.put(i, layout)
        return other

    def put(self, part: int, layout: Layout) -> None:
        """Place a topology that is left out."""
        self.layouts[part] = layout
        self.room.put(layout)

    def take_out(self, part: int) -> Layout | None:
        """Leave a topology out; return its previous layout."""
        layout = self.layouts[part]
        if layout is not None:
            self.room.remove(layout)
            self.layouts[part] = None
        return layout

    @property
    def left_out(self) -> list[int]:
        """The topologies that are not placed."""
        return [i for i, layout in enumerate(self.layouts) if layout is None]

    @property
    def value(self) -> tuple[int, ...]:
        """The weight of the topologies left out, then the cost of the others in each term.

        A topology that may not be left out weighs 1.
        """
        weights = [self._parts[i].weight for i in self.left_out]
        costs = [layout.cost for layout in self.layouts if layout is not None]
        sums = tuple(map(sum, zip(*costs, strict=True))) if costs else ()
        return (sum(1 if weight is None else weight for weight in weights), *sums)

    def placement(self) -> Placement:
        """Return the placement of the whole problem; workers get new labels on each node."""
        nodes = [UNPLACED] * self._problem.task_count
        labels = [UNPLACED] * self._problem.task_count
        used = [0] * self._problem.node_count
        for part, layout in zip(self._parts, self.layouts, strict=True):
            if layout is None:
                continue
            renamed: dict[tuple[int, int], int] = {}
            own = layout.placement
            for task, node, label in zip(part.part.tasks, own.nodes, own.workers, strict=True):
                if (node, label) not in renamed:
                    renamed[node, label] = used[node]
                    used[node] += 1
                nodes[task], labels[task] = node, renamed[node, label]
        return Placement(tuple(nodes), tuple(labels))


def own_placement(part: TopologyPart, placement: Placement) -> Placement | None:
    """Return a topology's part of a placement; ``None`` where it is not placed whole."""
    own = part.part.own_placement(placement)
    return None if UNPLACED in own.nodes else own


# The room left on every node, and the first fit of a layout into it.


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
        """Subtract what `layout` needs on its nodes."""
        self._change(layout, -1)

    def remove(self, layout: Layout) -> None:
        """Add back what `layout` needs on its nodes."""
        self._change(layout, 1)

    def _change(self, layout: Layout, sign: int) -> None:
        load = np.where(self._bounded[layout.nodes], layout.load, 0)
        self.capacity[layout.nodes] += sign * load
        self.slots[layout.nodes] += sign * np.where(self._slotted[layout.nodes], layout.workers, 0)

    def holds(self, layout: Layout) -> bool:
        """Return whether `layout` fits on its nodes."""
        nodes = layout.nodes
        return bool(
            (layout.load <= self.capacity[nodes]).all()
            and (layout.workers <= self.slots[nodes]).all()
        )

    def fitted(self, layout: Layout, rng: Generator | None = None) -> Layout | None:
        """Return `layout` on nodes with room for it; ``None`` where first fit finds none.

        Each rack's fragments go to one rack of their own, largest fragment first, each onto the
        node that it leaves the least of (best fit). `rng` lets it choose among the racks; without
        it the rack that is left with the least is taken.
        """
        targets = np.full(len(layout.nodes), -1, dtype=np.int64)
        used: set[int] = set()
        for group in layout.groups:
            fits: list[tuple[float, int, IntArray]] = []
            for rack in sorted(set(self.rack.tolist()) - used):
                fit = self._fit(layout, group, np.flatnonzero(self.rack == rack))
                if fit is not None:
                    fits.append((fit[0] if rng is None else float(rng.random()), rack, fit[1]))
            if not fits:
                return None
            _, rack, nodes = min(fits, key=lambda one: one[:2])
            used.add(rack)
            targets[group] = nodes
        return layout.moved(targets)

    def _fit(
        self, layout: Layout, group: IntArray, nodes: IntArray
    ) -> tuple[float, IntArray] | None:
        """Return the free share of the chosen nodes of one rack, and these nodes."""
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


# A placement of one topology as fragments: its tasks on each node that it uses.


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A placement with its fragments.

    Fragments may move to other nodes: where those of one rack stay together in a rack, and no two
    share a node, the placement costs at most what it did.

    Parameters
    ----------
    placement
        Of the topology's own tasks.
    cost
        Value per term of the topology's own problem, in integer steps.
    nodes
        [F] the nodes in use, ascending.
    load
        [F, D] its load on each of them.
    workers
        [F] its number of workers there.
    groups
        The fragments (indices into `nodes`) of each rack, largest groups first.
    """

    placement: Placement
    cost: tuple[int, ...]
    nodes: IntArray
    load: IntArray
    workers: IntArray
    groups: tuple[IntArray, ...]

    def moved(self, targets: IntArray) -> Layout:
        """Return the layout with fragment f on node ``targets[f]``, all of them different."""
        order = np.argsort(targets)
        rank = np.argsort(order)
        target = dict(zip(self.nodes.tolist(), targets.tolist(), strict=True))
        nodes = tuple(target[n] for n in self.placement.nodes)
        return Layout(
            placement=Placement(nodes, self.placement.workers),
            cost=self.cost,
            nodes=targets[order],
            load=self.load[order],
            workers=self.workers[order],
            groups=tuple(rank[group] for group in self.groups),
        )


def layout_of(problem: Problem, placement: Placement) -> Layout | None:
    """Return the layout of a topology's placement; ``None`` where the judge finds it invalid."""
    verdict = judge(problem, placement)
    if not verdict.valid:
        return None
    nodes, workers = np.unique(verdict.accounting.worker_nodes(), return_counts=True)
    racks = problem.node_rack[nodes]
    groups = [np.flatnonzero(racks == rack) for rack in np.unique(racks)]
    return Layout(
        placement=placement,
        cost=verdict.scaled,
        nodes=nodes,
        load=verdict.accounting.node_load[nodes],
        workers=workers.astype(np.int64),
        groups=tuple(sorted(groups, key=len, reverse=True)),
    )
