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


def equally_far(rng: np.random.Generator, tasks: int, nodes: int, *, alike: bool) -> dict[str, Any]:
    """A random assignment on equally distant nodes, with one or two capacities."""
    dims = int(rng.integers(1, 3))
    diagonal, apart = (0, 3) if rng.random() < 0.5 else (int(rng.integers(0, 9)), 4)
    weights = rng.integers(0, 6, (tasks, dims))
    room = int(weights.sum()) * rng.uniform(0.5, 1.6) / nodes / dims
    capacities = rng.integers(int(room), int(room) + 5, (nodes, dims))
    linear = None if rng.random() < 0.3 else rng.integers(0, 20, (tasks, nodes))
    if alike:
        capacities[1:] = capacities[1:2]
        if linear is not None:
            linear[:, 1:] = linear[:, 1:2]
    pairs = [(i, j) for i in range(tasks) for j in range(tasks) if i != j and rng.random() < 0.5]
    distance = np.where(np.eye(nodes, dtype=bool), diagonal, apart)
    return {
        "format": "matrix-assignment",
        "name": "random",
        "weights": weights.tolist(),
        "capacities": capacities.tolist(),
        "flow": [[i, j, int(rng.integers(0, 9))] for i, j in pairs],
        "distance": distance.tolist(),
        "linear": None if linear is None else linear.tolist(),
    }
