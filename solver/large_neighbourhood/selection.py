"""Which nodes to free: some that exchange flow, now and then with an empty one."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import IntArray, Problem


def choose_nodes(
    problem: Problem, placement: Placement, size: int, empty_fraction: float, rng: Generator
) -> list[int]:
    """Return `size` nodes in use, or all of them, and perhaps an empty one of their racks.

    The first is drawn by its flow with other nodes, each further one by its flow with those before
    it; where there is none, any. At least one task must be placed.
    """
    used, counts = _contents(problem, placement)
    flow = np.zeros((len(problem.classes),) * 2)
    for (a, b), weight in problem.pair_flows().items():
        flow[a, b] = flow[b, a] = weight
    exchanged = counts @ flow @ counts.T
    np.fill_diagonal(exchanged, 0.0)
    chosen = [_drawn(exchanged.sum(axis=1), [], rng)]
    while len(chosen) < min(size, len(used)):
        chosen.append(_drawn(exchanged[chosen].sum(axis=0), chosen, rng))
    nodes = [int(used[i]) for i in chosen]
    empty = np.setdiff1d(np.flatnonzero(np.isin(problem.node_rack, problem.node_rack[nodes])), used)
    if len(empty) and rng.random() < empty_fraction:
        nodes.append(int(empty[rng.integers(len(empty))]))
    return nodes


def _contents(problem: Problem, placement: Placement) -> tuple[IntArray, IntArray]:
    """Return the nodes in use [U], and the tasks of each class on them [U, C]."""
    nodes = np.array(placement.nodes, dtype=np.int64)
    placed = nodes != UNPLACED
    used, at = np.unique(nodes[placed], return_inverse=True)
    counts = np.zeros((len(used), len(problem.classes)), dtype=np.int64)
    np.add.at(counts, (at, problem.task_class[placed]), 1)
    return used, counts


def _drawn(weights: np.ndarray, without: list[int], rng: Generator) -> int:
    """Return an index drawn by weight; by none where all weights are 0."""
    allowed = np.ones(len(weights))
    allowed[without] = 0.0
    weights = weights * allowed
    if not weights.any():
        weights = allowed
    return int(rng.choice(len(weights), p=weights / weights.sum()))
