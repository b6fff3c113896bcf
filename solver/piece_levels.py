"""Pieces on nodes together with their split into workers: columns of both levels at once.

With prices of nodes and prices of workers, a piece on a node loses
``a * (loss on its node) + b * (least loss of its split into workers)`` against both. All pieces
that lose at most a budget are among those whose loss on the node alone does.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem import BoolArray, IntArray
from slotwise.solver.master import Column
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_list import list_pieces
from slotwise.solver.piece_places import PiecePlaces
from slotwise.solver.piece_plan import PiecePlans
from slotwise.solver.piece_prices import Prices
from slotwise.solver.worker_split import WorkerSplit
from slotwise.solver.worker_tables import split_gains


def plans_of_levels(
    places: PiecePlaces, graph: PieceGraph, nodes: Prices, workers: Prices, split: WorkerSplit
) -> PiecePlans:
    """Return the plans worth ``a`` per unit of flow inside nodes and ``b`` inside workers.

    `a` and `b` are the savings of `places`, both above 0; `graph` is that of the prices of nodes.
    """
    a, b = places.node_saving, places.worker_saving

    def columns(budget: int) -> Column:
        pieces = list_pieces(graph, nodes.scale, nodes.prices, budget // a)
        gains = graph.gains(pieces)
        left = (budget - a * (pieces @ nodes.prices - nodes.scale * gains)) // b
        inside, kept = _inside(pieces, left, budget // b)
        counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), pieces[kept]])
        worths = np.concatenate([[0], (a * gains + b * inside)[kept]])
        return Column(counts, np.asarray(worths, dtype=np.int64))

    def _inside(pieces: IntArray, left: IntArray, most: int) -> tuple[IntArray, BoolArray]:
        """Return the flow inside workers, and which pieces lose no more than is left for that."""
        assert places.workers is not None
        small = list_pieces(places.workers, workers.scale, workers.prices, most)
        found = split_gains(pieces, small, places.workers.gains(small))
        if found is None:
            found = split.gains(pieces, left)
        inside, possible = found
        lost = pieces @ workers.prices - workers.scale * np.where(possible, inside, 0)
        return inside, np.asarray(possible & (lost <= left))

    prices = a * nodes.prices + b * workers.prices
    return PiecePlans(places.kinds.sizes, nodes.scale, prices, columns)
