"""Passes over the tasks of a problem: each task goes to the best node with room, in one order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.one_by_one import no_room
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.partitioning import scores
from slotwise.heuristics.partitioning.partition import FloatArray
from slotwise.heuristics.partitioning.task_graph import TaskGraph, task_graph
from slotwise.heuristics.placed_neighbours import PlacedNeighbours, links
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


class Pass:
    """One pass over the tasks, with the latest places of their neighbours."""

    def __init__(
        self, graph: TaskGraph, token: CancellationToken, log: DecisionLog | None = None
    ) -> None:
        self.token = token
        self.log = log
        problem = graph.problem
        self.graph = graph
        self.neighbours = PlacedNeighbours(problem, links(problem, lambda _, flow: flow))
        self.latest: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        """Start over: loads count from 0, neighbours where they are."""
        problem = self.graph.problem
        hard = {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}
        self.ledger = Ledger(problem, hard)
        self.load = np.zeros(problem.node_count)

    def gains(self, task: int) -> FloatArray:
        """Return the flow between `task` and its neighbours on each node."""
        gains = np.zeros(len(self.load))
        for node, gain in self.neighbours.gains(task).items():
            gains[node] = gain
        return gains

    def put(self, task: int, nodes: Iterator[int]) -> bool:
        """Place `task` on the first of `nodes` that takes it; return whether one does."""
        self.token.check()
        weight = self.graph.weights[task]
        for node in nodes:
            if self.load[node] + weight > self.graph.capacities[node]:
                continue
            worker = self.ledger.find_worker(task, node)
            if worker is not None:
                self.ledger.put(task, node, worker)
                self.load[node] += weight
                self.moved(task, node)
                return True
        return False

    def moved(self, task: int, node: int) -> None:
        """Note that the latest place of `task` is `node`."""
        if task in self.latest:
            self.neighbours.remove(task, self.latest[task])
        self.neighbours.put(task, node)
        self.latest[task] = node


Order = Callable[[Pass, int, Generator], Iterator[int]]
"""(pass, task, rng) -> nodes, the best one first."""


def by_score(rule: str) -> Order:
    """Return the order of the greedy step of `rule`."""

    def order(now: Pass, task: int, rng: Generator) -> Iterator[int]:
        graph = now.graph
        capacities, count = np.maximum(graph.capacities, 1e-9), len(now.load)
        gains = now.gains(task)
        if rule == "ldg":
            score = scores.ldg(gains, now.load, capacities)
        else:
            alpha = scores.fennel_alpha(count, float(graph.weights.sum()), graph.edge_weight)
            sizes = np.maximum(graph.sizes * count, 1e-9)
            score = scores.fennel(gains, now.load, float(graph.weights[task]), sizes, alpha)
        yield from np.lexsort((rng.random(count), now.load / capacities, -score)).tolist()

    return order


def by_hash(now: Pass, task: int, rng: Generator) -> Iterator[int]:
    """Yield nodes from a random one on, each as likely as it is large."""
    count = len(now.load)
    first = int(np.searchsorted(np.cumsum(now.graph.sizes), rng.random(), side="right"))
    yield from ((first + step) % count for step in range(count))


def streamed(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    order: Order,
    passes: int,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the placement of the last of `passes` over the tasks."""
    now = Pass(task_graph(problem), token, log)
    for _ in range(passes - 1):
        now.begin()
        for task in range(problem.task_count):
            now.put(task, order(now, task, rng))
    return last_pass(now, lambda task: order(now, task, rng))


def last_pass(now: Pass, order: Callable[[int], Iterator[int]]) -> Placement | Refusal:
    """Return the placement of a pass; topologies that do not fit are left out where allowed.

    Of all passes this one alone is noted in the log.
    """
    problem = now.graph.problem
    now.begin()
    now.ledger.log = now.log
    left_out: set[int] = set()
    for task in range(problem.task_count):
        t = problem.classes[problem.task_class[task]].topology
        if t in left_out or now.put(task, order(task)):
            continue
        if not problem.may_reject:
            return Refusal(f"topology {problem.rules[t].id}: {no_room(problem, task)}")
        left_out.add(t)
        now.ledger = now.ledger.without(t)
        now.load[:] = 0
        for other, (node, _) in now.ledger.places.items():
            now.load[node] += now.graph.weights[other]
    return now.ledger.placement()
