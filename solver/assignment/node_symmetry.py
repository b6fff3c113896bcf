"""Symmetries of the nodes: permutations that change neither capacities nor costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import Assignment

MOST_STEPS = 20_000
"""Of the search for symmetries: what it has found by then is a part of them, and as valid."""


def node_symmetries(model: Assignment, most_steps: int = MOST_STEPS) -> IntArray:
    """Return [S, N] permutations of the nodes that keep capacities, linear costs and distances.

    Not the identity; perhaps not all of them. A 3 x 4 grid has three.
    """
    alike = (model.capacity[:, None] == model.capacity[None]).all(axis=2)
    alike &= (model.linear.T[:, None] == model.linear.T[None]).all(axis=2)
    own = model.distance.diagonal()
    alike &= own[:, None] == own[None]
    rows = np.sort(model.distance, axis=1)
    alike &= (rows[:, None] == rows[None]).all(axis=2)
    found = list(_extended(model.distance, alike, most_steps))
    identity = np.arange(model.node_count)
    kept = [image for image in found if (image != identity).any()]
    return np.array(kept, dtype=np.int64).reshape(len(kept), model.node_count)


def _extended(distance: IntArray, alike: BoolArray, most_steps: int) -> Iterator[IntArray]:
    """Yield permutations that keep the distances, node by node, in at most `most_steps` steps."""
    size = len(distance)
    image = np.zeros(size, dtype=np.int64)
    open_images = [np.flatnonzero(alike[0]).tolist()]
    for _ in range(most_steps):
        while open_images and not open_images[-1]:
            open_images.pop()
        if not open_images:
            return
        depth = len(open_images) - 1
        image[depth] = open_images[-1].pop()
        if depth == size - 1:
            yield image.copy()
            continue
        before, node = image[: depth + 1], depth + 1
        fits = alike[node].copy()
        fits[before] = False
        fits &= (distance[before] == distance[: depth + 1, node, None]).all(axis=0)
        fits &= (distance[:, before] == distance[node, : depth + 1]).all(axis=1)
        open_images.append(np.flatnonzero(fits).tolist())


def different_nodes(nodes: Sequence[int], used: IntArray, symmetries: IntArray) -> list[int]:
    """Return those of `nodes` that no symmetry which leaves the `used` nodes maps to one before.

    Whatever can be done with a node left out can be done, at the same cost, with one that is kept.
    """
    still = symmetries[(symmetries[:, used] == used).all(axis=1)]
    kept: list[int] = []
    for node in nodes:
        images = set(still[:, node].tolist())
        if not images.intersection(kept):
            kept.append(node)
    return kept
