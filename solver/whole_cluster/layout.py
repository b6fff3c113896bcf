"""A placement of one topology as fragments: what it puts on each node that it uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import IntArray, Problem


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
        [F, D] what is taken from each of them.
    workers
        [F] its workers there.
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
