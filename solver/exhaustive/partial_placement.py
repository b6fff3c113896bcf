"""Books of the engine ``exhaustive``: what a partial placement loads and costs, task by task.

A second, independent implementation of the problem's rules and terms. It shares nothing with the
judge, which counts classes with NumPy once a placement is complete: here one task is added at a
time, in plain Python integers, and what it changes is added to what stands. That the two agree is
a test of both. The rules of one worker and of one node are in `box_rules`.
"""

from __future__ import annotations

from typing import NamedTuple

from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.solver.exhaustive.box_rules import Box, BoxRules, Place

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
        "matrix",
    }
)
"""Rules that the search keeps, here or in `box_rules`."""

PARTS = ("overload", "network", "rejected", "nodes", "workers", "moved", "linear")
OVERLOAD, NETWORK, REJECTED, NODES, WORKERS, MOVED, LINEAR = range(len(PARTS))


class Undo(NamedTuple):
    """What `Books.put` wrote over."""

    node: int
    label: int
    node_before: Box
    worker_before: Box | None
    parts_before: tuple[int, ...]


class Books:
    """A partial placement that keeps every hard rule, and the parts of the objective so far.

    Attributes
    ----------
    workers
        The workers in use.
    nodes
        One box per node.
    placed
        (class, place) of each placed task, in the order they came.
    parts
        Value of each of `PARTS` so far.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._rules = BoxRules(problem)
        self._rack: list[int] = problem.node_rack.tolist()
        self._distance: list[int] = problem.distance.tolist()
        self._matrix = None if problem.matrix is None else problem.matrix.tolist()
        self._linear = None if problem.linear is None else problem.linear.tolist()
        self._flow = {(flow.source, flow.target): flow.weight for flow in problem.flows}
        empty = Box(-1, (), (0,) * len(problem.dims), 0, frozenset(), 0)
        self.nodes = [empty] * problem.node_count
        self.workers: dict[Place, Box] = {}
        self.placed: list[tuple[int, Place]] = []
        self.parts: tuple[int, ...] = (0,) * len(PARTS)

    def values(self) -> tuple[int, ...]:
        """Return each term of the objective, from the parts so far.

        A part that is not in `PARTS` is a `KeyError`.
        """
        parts = dict(zip(PARTS, self.parts, strict=True))
        return tuple(
            sum(factor * parts[part] for part, factor in term.parts) for term in self._problem.terms
        )

    def put(self, c: int, place: Place) -> Undo | None:
        """Add a task of class `c`; return how to undo it, ``None`` where a rule forbids it."""
        n, label = place
        worker, node = self.workers.get(place), self.nodes[n]
        worker_after = self._rules.joined(worker, c)
        if worker_after is None or not self._rules.worker_keeps_rules(worker_after):
            return None
        node_after = self._rules.loaded(node, worker, worker_after, c)
        if not self._rules.node_keeps_rules(n, node_after, c):
            return None
        undo = Undo(n, label, node, worker, self.parts)
        parts = self._parts_after(c, place, node, node_after)
        if parts[MOVED] > self._problem.move_limit:
            return None
        self.parts = parts
        self.workers[place], self.nodes[n] = worker_after, node_after
        self.placed.append((c, place))
        return undo

    def take_back(self, undo: Undo) -> None:
        """Undo the last `put`."""
        self.placed.pop()
        self.nodes[undo.node] = undo.node_before
        if undo.worker_before is None:
            del self.workers[undo.node, undo.label]
        else:
            self.workers[undo.node, undo.label] = undo.worker_before
        self.parts = undo.parts_before

    def reject(self, topology: int) -> tuple[int, ...] | None:
        """Leave a topology out whole; return the parts before, to be set again.

        Its tasks are not where they run now, so they count as moved; ``None`` where that is too
        many.
        """
        before = self.parts
        parts = list(before)
        rules = self._problem.rules[topology]
        parts[REJECTED] += rules.reject_weight
        homed = (self._problem.classes[c] for c in rules.classes)
        parts[MOVED] += sum(len(one.tasks) for one in homed if one.home is not None)
        if parts[MOVED] > self._problem.move_limit:
            return None
        self.parts = tuple(parts)
        return before

    def _parts_after(self, c: int, place: Place, before: Box, after: Box) -> tuple[int, ...]:
        n = place[0]
        parts = list(self.parts)
        parts[OVERLOAD] += self._rules.overload(n, after) - self._rules.overload(n, before)
        parts[NETWORK] += self._network(c, place)
        parts[NODES] += not before.workers
        parts[WORKERS] += after.workers - before.workers
        home = self._problem.classes[c].home
        parts[MOVED] += home is not None and home != place
        parts[LINEAR] += 0 if self._linear is None else self._linear[c][n]
        return tuple(parts)

    def _network(self, c: int, place: Place) -> int:
        """Return what a new task of class `c` pays to the tasks that are placed already."""
        total = 0
        for other, there in self.placed:
            total += self._flow.get((c, other), 0) * self._far(place, there)
            total += self._flow.get((other, c), 0) * self._far(there, place)
        return total

    def _far(self, here: Place, there: Place) -> int:
        if self._matrix is not None:
            return int(self._matrix[here[0]][there[0]])
        if here == there:
            return self._distance[WORKER]
        if here[0] == there[0]:
            return self._distance[NODE]
        same_rack = self._rack[here[0]] == self._rack[there[0]]
        return self._distance[RACK if same_rack else CLUSTER]
