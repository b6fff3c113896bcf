"""The greedy step of equations 5 and 10: the node with most neighbours, less what it has taken.

index = argmax over nodes i of gain_i (1 - |P_i| / w_i), where gain_i is the weight of the task's
neighbours on node i, |P_i| what is on it and w_i its capacity. How the gaps are read:

- The score is 0 on every node while no neighbour is placed, and on a full node too: nodes on which
  the task exceeds the capacity are left out. ``<`` (equation 7) against ``<=`` (3): ``<=``.
- Ties: the least |P_i|, then the lowest index.
- |P_i| counts what earlier topologies have on the node; else capacities would not hold.
- The article knows no other limits. Hard rules of the instance leave a node out as well, and the
  tasks of a node go first fit into workers there.
- A task that no node takes: its topology is not placed.

Scores are compared as exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.placed_neighbours import Links, PlacedNeighbours
from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import Problem


class GreedyStream:
    """Tasks assigned one after another; none is moved again.

    Parameters
    ----------
    ledger
        What is placed already.
    capacity
        Of each node: most that the costs of its tasks may add up to.
    costs
        Cost of a task of each class, in the unit of `capacity`.
    linked
        Neighbours of the tasks and what they count.
    token
        Checked for each task.
    """

    def __init__(
        self,
        ledger: Ledger,
        capacity: Sequence[int],
        costs: Sequence[int],
        linked: Links,
        token: CancellationToken,
    ) -> None:
        self._token = token
        self.ledger = ledger
        problem = ledger.problem
        self._class: list[int] = problem.task_class.tolist()
        self._capacity = capacity
        self._costs = costs
        self._neighbours = PlacedNeighbours(problem, linked)
        self._load = np.zeros(problem.node_count, dtype=np.int64)
        for task, (node, _) in ledger.places.items():
            self._count(task, node)

    def assign(self, task: int) -> bool:
        """Place `task`; return whether a node takes it."""
        self._token.check()
        cost = self._costs[self._class[task]]
        for node in self._by_score(task):
            if self._load[node] + cost > self._capacity[node]:
                continue
            worker = self.ledger.find_worker(task, node)
            if worker is not None:
                self.ledger.put(task, node, worker)
                self._count(task, node)
                return True
        return False

    def _by_score(self, task: int) -> Iterator[int]:
        """Yield nodes by score, load and index; those that are full may be among them."""
        scores = {
            node: self._score(node, gain) for node, gain in self._neighbours.gains(task).items()
        }
        above = [node for node, score in scores.items() if score > 0]
        yield from sorted(above, key=lambda node: (-scores[node], self._load[node], node))
        positive = set(above)
        for node in np.argsort(self._load, kind="stable").tolist():
            if node not in positive:
                yield node

    def _score(self, node: int, gain: int) -> Fraction:
        capacity, load = self._capacity[node], int(self._load[node])
        return Fraction(gain * (capacity - load), capacity) if capacity else Fraction(0)

    def _count(self, task: int, node: int) -> None:
        self._load[node] += self._costs[self._class[task]]
        self._neighbours.put(task, node)


def hard_dimensions(problem: Problem) -> set[int]:
    """Return the dimensions that may not be exceeded."""
    return {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}
