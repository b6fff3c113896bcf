"""Random assignment problems by matrices, from seeds: quadratic on grids, and constrained."""

from __future__ import annotations

from typing import Any

import numpy as np

GRIDS = ((12, 3, 4), (13, 2, 7), (14, 2, 7), (15, 3, 5))
"""Facilities, rows and columns."""
CTAP_KINDS = {"A": (100, 100), "B": (100, 10), "C": (10, 100), "D": (100, 0)}
"""Largest flow and largest cost of execution of Elloumi's four kinds."""


def grid_qap(seed: int) -> dict[str, Any]:
    """Quadratic assignment: facilities on the fields of a grid, distances along its lines.

    As Nugent et al. made them: flows of 0 to 10 between any two facilities, many of them 0.
    """
    rng = np.random.default_rng(seed)
    facilities, rows, columns = GRIDS[seed % len(GRIDS)]
    at = np.array([(r, c) for r in range(rows) for c in range(columns)])
    flow = [
        [i, j, int(rng.integers(1, 11))]
        for i in range(facilities)
        for j in range(i)
        if rng.random() < 0.6
    ]
    return {
        "format": "matrix-assignment",
        "name": f"grid-qap-{facilities}-{seed}",
        "weights": [[1]] * facilities,
        "capacities": [[1]] * len(at),
        "flow": flow,
        "distance": np.abs(at[:, None] - at[None]).sum(axis=2).tolist(),
        "linear": None,
    }


def constrained(seed: int, tasks: int = 24, nodes: int = 8) -> dict[str, Any]:
    """Constrained task assignment as Elloumi's: any two tasks communicate, all nodes are apart.

    Weights of 1 to 10, and one capacity: 1 to 2 times what a node would hold of them.
    """
    rng = np.random.default_rng(seed)
    kind = "ABCD"[seed % 4]
    most_flow, most_cost = CTAP_KINDS[kind]
    weights = rng.integers(1, 11, tasks)
    room = np.ceil(weights.sum() / nodes * rng.uniform(1.0, 2.0, nodes)).astype(int)
    linear = rng.integers(1, most_cost + 1, (tasks, nodes)).tolist() if most_cost else None
    return {
        "format": "matrix-assignment",
        "name": f"ctap-{tasks}x{nodes}-{kind}-{seed}",
        "weights": weights[:, None].tolist(),
        "capacities": room[:, None].tolist(),
        "flow": [
            [i, j, int(rng.integers(1, most_flow + 1))] for j in range(tasks) for i in range(j)
        ],
        "distance": (1 - np.eye(nodes, dtype=int)).tolist(),
        "linear": linear,
    }
