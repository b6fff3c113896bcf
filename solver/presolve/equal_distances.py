"""Equal nodes that are all equally far apart: a matrix of distances says no more than two levels.

Where every two different nodes are ``far`` apart, and the tasks of one node ``near``, no node
differs from another by where it is. If the nodes are alike in all else, too, the problem is one of
identical parts (balanced graph partition), and the same with distances by level:
``near`` within a node, ``far`` within the one rack and beyond it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.node_types import node_types


def without_matrix(problem: Problem) -> Problem | None:
    """Return the same problem, same tasks and nodes, by levels; ``None`` where it is not the same.

    A placement has the same cost in both, for a matrix does not tell the workers of a node apart,
    and neither do these levels.
    """
    matrix = problem.matrix
    if matrix is None or len(node_types(problem)) != 1:
        return None
    near = np.unique(matrix.diagonal())
    far = np.unique(matrix[~np.eye(len(matrix), dtype=np.bool_)])
    if len(near) != 1 or len(far) > 1 or (len(far) and far[0] < near[0]):
        return None
    levels = [near[0], near[0], *([far[0]] * 2 if len(far) else [near[0]] * 2)]
    return replace(
        problem,
        matrix=None,
        distance=np.array(levels, dtype=np.int64),
        node_rack=np.zeros_like(problem.node_rack),
        racks=(" and ".join(problem.racks),),
    )
