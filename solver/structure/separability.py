"""Objectives whose costs add up over parts of the flow: only network and overload count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem

ADDITIVE_PARTS = frozenset(("overload", "network"))


def only_network_counts(problem: Problem) -> bool:
    """Return whether every term is made of network and overload alone.

    Linear costs are ignored where there are none.
    """
    free = ADDITIVE_PARTS if problem.linear is not None else ADDITIVE_PARTS | {"linear"}
    return all(part in free for term in problem.terms for part, _ in term.parts)


# A matrix of distances that is equivalent to levels: node, rack and cluster.
#
# The tasks of one node are ``near``; two different nodes are ``middle`` or ``far`` apart, and
# nodes ``middle`` apart make groups, which are the racks. Where all nodes are equally far apart
# there is one rack. Then position distinguishes no two nodes of a rack; if they are equal in all
# else, too, and there is one rack, the problem is one of identical parts (balanced graph
# partition).


def without_matrix(problem: Problem) -> Problem | None:
    """Return the same problem with levels instead of the matrix; ``None`` if not equivalent.

    A placement has the same cost in both: neither the matrix nor these levels distinguish the
    workers of a node.
    """
    matrix = problem.matrix
    if matrix is None:
        return None
    near = np.unique(matrix.diagonal()).tolist()
    apart = np.unique(matrix[~np.eye(len(matrix), dtype=np.bool_)]).tolist() or near
    if len(near) != 1 or len(apart) > 2 or apart[0] < near[0]:
        return None
    rack = _groups((matrix == apart[0]) | np.eye(len(matrix), dtype=np.bool_))
    if rack is None:
        return None
    levels = [near[0], near[0], apart[0], apart[-1]]
    count = int(rack.max()) + 1
    name = " and ".join(problem.racks)
    return replace(
        problem,
        matrix=None,
        distance=np.array(levels, dtype=np.int64),
        node_rack=rack.astype(problem.node_rack.dtype),
        racks=(name,) if count == 1 else tuple(f"{name} ({r})" for r in range(count)),
    )


def _groups(same: BoolArray) -> IntArray | None:
    """Return the number of each node's group; ``None`` where `same` is not an equivalence."""
    first = same.argmax(axis=1)
    if not (same == (first[:, None] == first[None])).all():
        return None
    return np.unique(first, return_inverse=True)[1]
