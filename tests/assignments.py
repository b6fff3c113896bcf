"""Random assignment problems with general flows, as data of matrix files."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.models.instance_file import instance_from_data
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


def document(rng: np.random.Generator, tasks: int, nodes: int, load: float) -> dict[str, Any]:
    """A random assignment with any distances, loaded to the share `load`."""
    dims = int(rng.integers(1, 3))
    weights = rng.integers(1, 10, (tasks, dims))
    capacities = np.repeat([np.ceil(weights.sum(axis=0) / load / nodes)], nodes, axis=0)
    pairs = [(i, j) for i in range(tasks) for j in range(tasks) if i != j and rng.random() < 0.4]
    return {
        "format": "matrix-assignment",
        "name": "random",
        "weights": weights.tolist(),
        "capacities": capacities.astype(int).tolist(),
        "flow": [[i, j, int(rng.integers(0, 9))] for i, j in pairs],
        "distance": rng.integers(0, 9, (nodes, nodes)).tolist(),
        "linear": rng.integers(0, 20, (tasks, nodes)).tolist(),
    }


def planted(rng: np.random.Generator, nodes: int, each: int) -> Problem:
    """A problem whose nodes are filled to the last unit in every placement."""
    room = 100
    weights = []
    for _ in range(nodes):
        cuts = np.sort(rng.choice(np.arange(1, room), each - 1, replace=False))
        weights += np.diff([0, *cuts, room]).tolist()
    made = document(rng, nodes * each, nodes, 1.0)
    made["weights"] = [[int(w)] for w in rng.permutation(weights)]
    made["capacities"] = [[room]] * nodes
    return compile_problem(instance_from_data(made))
