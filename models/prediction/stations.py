"""Threads that share the cores of their nodes.

A thread processes one tuple at a time, on one core at most. Where more threads are busy than their
node has cores, they share them evenly. `CoreSharing` says by how much that slows each of them down.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from slotwise.models.prediction.flows import FloatArray, Flows, IntArray

MOST_ROUNDS = 10_000
"""Rounds until slowdowns at given loads change no more."""
SETTLED = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Nodes with as many cores as each other, and more tasks than that.

    Parameters
    ----------
    cores
        Of each.
    groups
        [W, M] groups on each node; unused places hold 0.
    size
        [W, M] number of their tasks; 0 in unused places.
    """

    cores: int
    groups: IntArray
    size: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CoreSharing:
    """How threads slow each other down.

    A thread j that is busy for rho_j of the time when it is alone takes f_j times as long, where

        f_j = E max(1, (1 + K_j) / cores),

    and K_j is the number of other busy threads of its node, independent of each other, thread i
    with probability rho_i min(f_i, f_j): while j is busy, i neither takes more than an even share
    nor does more work than it gets. With one core and equal threads with exponential service this
    is exact for Poisson arrivals: a tuple takes 1 / (1 - rho) times as long, rho being the load of
    the core. With one core and unequal threads it is stable wherever the load is below 1.
    """

    nodes: tuple[_Nodes, ...]
    count: int

    @classmethod
    def of(cls, flows: Flows, working: IntArray) -> Self:
        """Return the sharing of a placement; `working` are the groups that have anything to do."""
        groups = flows.groups
        there: dict[int, list[int]] = defaultdict(list)
        for group in working.tolist():
            there[int(groups.node[group])].append(group)
        by_cores: dict[int, list[list[int]]] = defaultdict(list)
        for node, some in there.items():
            cores = flows.instance.cluster.nodes[node].cores
            if cores is not None and int(groups.size[some].sum()) > cores:
                by_cores[cores].append(some)
        nodes = []
        for cores, rows in sorted(by_cores.items()):
            width = max(map(len, rows))
            padded = np.zeros((width, len(rows)), dtype=np.int64)
            size = np.zeros((width, len(rows)))
            for column, some in enumerate(rows):
                padded[: len(some), column] = some
                size[: len(some), column] = groups.size[some]
            nodes.append(_Nodes(cores, padded, size))
        return cls(tuple(nodes), len(groups.size))

    def slowdown(self, rho: FloatArray, before: FloatArray) -> FloatArray:
        """Return f of each group after one round.

        Parameters
        ----------
        rho
            [G] share of the time that one task of a group is busy, if it has a core to itself.
        before
            [G] f of the round before; at first 1.
        """
        factors = np.ones(self.count)
        for some in self.nodes:
            alone, now = rho[some.groups], before[some.groups]
            taken = _more_than_cores(some, alone, now) / some.cores
            load = np.ascontiguousarray((alone * some.size).T).sum(axis=1) / some.cores
            # A thread is not busier than it is alone, or than its node's cores are.
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(alone > 0, np.maximum(1.0, load / alone), np.inf)
            real = some.size > 0
            factors[some.groups[real]] = np.minimum(1 + taken, most)[real]
        return factors

    def settled(self, rho: FloatArray) -> FloatArray:
        """Return f of each group at these loads, which are below 1 on every thread and node."""
        now = np.ones(self.count)
        for _ in range(MOST_ROUNDS if self.nodes else 0):
            before, now = now, self.slowdown(rho, now)
            if float(np.abs(now - before).max(initial=0.0)) <= SETTLED * float(now.max()):
                break
        return now


def _more_than_cores(nodes: _Nodes, rho: FloatArray, slowdown: FloatArray) -> FloatArray:
    """Return E max(0, 1 + K - cores) of each group, K being its busy neighbours.

    K is a sum of independent events; the binomial distribution of the same mean and variance stands
    for its own (W. Ehm, Statistics & Probability Letters 11(1), 1991). It is the same where all
    threads are alike, and does not matter where there is one core.
    """
    mean, variance = np.zeros_like(rho), np.zeros_like(rho)
    busy, others = np.empty_like(rho), np.empty_like(rho)
    beside = np.maximum(nodes.size - 1, 0.0)
    for i, size in enumerate(nodes.size):
        np.minimum(slowdown[i], slowdown, out=busy)
        np.minimum(np.multiply(rho[i], busy, out=busy), 1.0, out=busy)
        np.multiply(size, busy, out=others)
        others[i] = beside[i] * busy[i]
        mean += others
        variance += np.multiply(others, np.subtract(1, busy, out=busy), out=others)
    if nodes.cores == 1:
        return mean
    more, real = np.zeros_like(mean), nodes.size > 0
    more[real] = _excess(mean[real], variance[real], nodes.cores - 1)
    return more


def _excess(mean: FloatArray, variance: FloatArray, most: int) -> FloatArray:
    """Return E max(0, K - most) of binomial K, their number of trials a real one; `most` >= 1.

    With chance p of n trials it is n p P(K' >= most) - most P(K >= most + 1), K' of one trial less.
    Both are regularised incomplete beta functions of p with the same second parameter,
    b = n - most, which are finite sums: I_p(a, b) = 1 - (1 - p)^b sum over j < a of (b)_j p^j / j!.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(mean > 0, 1 - variance / mean, 0.5)
    chance = np.clip(chance, 1e-9, 1 - 1e-9)
    rest = mean / chance - most
    b = np.maximum(rest, 1e-9)
    term = np.exp(b * np.log1p(-chance))
    below = term.copy()
    for j in range(1, most):
        term = term * chance * ((b + j - 1) / j)
        below += term
    with_last = below + term * chance * ((b + most - 1) / most)
    excess = np.where(rest > 0, mean * (1 - below) - most * (1 - with_last), 0.0)
    return np.maximum(0.0, excess)
