"""Pieces on nodes together with their split into workers: columns of both levels at once.

With prices of nodes and prices of workers, a piece on a node loses
``a * (loss on its node) + b * (least loss of its split into workers)`` against both. All pieces
that lose at most a budget are among those whose loss on the node alone does.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.enumeration import list_pieces
from slotwise.solver.column_generation.connected.level import Level
from slotwise.solver.column_generation.connected.place_model import PiecePlaces
from slotwise.solver.column_generation.connected.plan import PiecePlans
from slotwise.solver.column_generation.connected.worker_split import WorkerSplit
from slotwise.solver.column_generation.restricted_master import Column
from slotwise.solver.column_generation.worker_packing.subset_table import split_gains


def plans_of_levels(
    places: PiecePlaces, nodes: Level, workers: Level, split: WorkerSplit
) -> PiecePlans:
    """Return the plans worth ``a`` per unit of flow inside nodes and ``b`` inside workers.

    `a` and `b` are the savings of `places`, both above 0.
    """
    a, b = places.node_saving, places.worker_saving
    scale = nodes.prices.scale

    def columns(budget: int, deadline: float) -> Column:
        room = budget // a - nodes.profile.lost_beside
        pieces = list_pieces(nodes.graph, scale, nodes.prices.prices, room, deadline)
        gains = nodes.graph.gains(pieces)
        left = (budget - a * nodes.losses(pieces, gains)) // b - workers.profile.beside(pieces)
        pieces, gains, left = pieces[left >= 0], gains[left >= 0], left[left >= 0]
        inside, kept = _inside(pieces, left, deadline)
        counts = np.concatenate([np.zeros((1, nodes.graph.count), dtype=np.int64), pieces[kept]])
        worths = np.concatenate([[0], (a * gains + b * inside)[kept]])
        return Column(counts, np.asarray(worths, dtype=np.int64))

    def _inside(pieces: IntArray, left: IntArray, deadline: float) -> tuple[IntArray, BoolArray]:
        """Return the flow inside workers, and which pieces lose no more than is left for that."""
        prices = workers.prices.prices
        small = list_pieces(workers.graph, scale, prices, int(left.max(initial=0)), deadline)
        found = split_gains(pieces, small, workers.graph.gains(small))
        if found is None:
            found = split.gains(pieces, left)
        inside, possible = found
        lost = pieces @ prices - scale * np.where(possible, inside, 0)
        return inside, np.asarray(possible & (lost <= left))

    prices = a * nodes.prices.prices + b * workers.prices.prices
    lost = a * nodes.profile.lost + b * workers.profile.lost
    return PiecePlans(places.kinds.sizes, scale, prices, lost, columns)
