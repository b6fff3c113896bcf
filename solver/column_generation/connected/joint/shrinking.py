"""Contents that break a rule made smaller until they keep all: columns to start with."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph

STEPS = 32
"""A content is shrunk in steps of this part of it."""


def shrunk(graph: FlowGraph, contents: IntArray) -> IntArray:
    """Return contents [Y, K] that keep all rules, each the largest of its fractions that does."""
    kept = contents[graph.admits(contents)]
    parts = np.arange(STEPS - 1, 0, -1)[:, None]
    smaller = [_fullest(graph, row * parts // STEPS) for row in contents[~graph.admits(contents)]]
    return np.concatenate([kept, *smaller])


def _fullest(graph: FlowGraph, options: IntArray) -> IntArray:
    """Return [Y, K] the first option that keeps all rules, filled up with each kind in turn."""
    good = np.flatnonzero(graph.admits(options) & options.any(axis=1))
    if not len(good):
        return options[:0]
    found = [options[good[0]]]
    for k in range(graph.count):
        more = np.repeat(found[0][None, :], int(graph.most[k]) + 1, axis=0)
        more[:, k] = np.arange(len(more))
        found.append(more[np.flatnonzero(graph.admits(more))[-1]])
    return np.array(found)
