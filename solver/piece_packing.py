"""Pieces into places: a plan of pieces is a placement if they find room in the places there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.piece_graph import Admits


def pack_pieces(pieces: Sequence[IntArray], places: int, admits: Admits) -> list[IntArray] | None:
    """Return the contents [K] of at most `places` places that hold all pieces.

    First fit, the pieces with the most tasks first. ``None`` where that needs more places; there
    may be a way all the same.
    """
    contents: list[IntArray] = []
    for piece in sorted(pieces, key=lambda piece: (-int(piece.sum()), piece.tolist())):
        if contents:
            rows = np.array(contents) + piece
            good = np.flatnonzero(admits(rows))
            if len(good):
                contents[int(good[0])] = rows[int(good[0])]
                continue
        if len(contents) == places:
            return None
        contents.append(piece)
    return contents
