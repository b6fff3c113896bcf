"""Branch and bound over the tasks, one a level, with bounds by dual ascent.

The bound at the root (`rlt_bound`) is raised as long as it pays; below it a few rounds must do.
The node of least bound comes first, so the bound of what is open rises as the search goes on. From
some memory on the search is depth first, below the node of least bound.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import Assignment
from slotwise.solver.assignment.params import DualAscentParams
from slotwise.solver.assignment.rlt_bound import StarState
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.result import Limits


class OutOfTimeError(Exception):
    """The limit is reached."""


class HopelessError(Exception):
    """Too little of the tree is done."""


@dataclass(slots=True, eq=False)
class Parent:
    """A node of the tree that was branched on, and how many of its children are open."""

    state: StarState
    left: int


@dataclass(slots=True, order=True)
class OpenNode:
    """A node of the tree that is still to be looked at, ordered by its bound.

    Parameters
    ----------
    bound
        Scaled cost that nothing below it undercuts.
    number
        Among equal bounds: minus the number of the node, for the last one created is the deepest.
    parent, task, node
        The node of the tree above it, and what is placed besides.
    share
        Part of the whole tree.
    """

    bound: int
    number: int
    parent: Parent = field(compare=False)
    task: int = field(compare=False)
    node: int = field(compare=False)
    share: float = field(compare=False)


@dataclass(slots=True)
class TreeSearch:
    """One run: the incumbent, the clock, and how much of the tree is done.

    Parameters
    ----------
    visited, created, progress
        Nodes of the tree looked at and created, and the share of the tree that is done.
    tree_since
        Seconds of the run after which branching began.
    open_nodes
        Heap of what is to be looked at, the least bound first.
    dive
        What comes before it, a stack: depth-first search where memory is short.
    parents
        Nodes of the tree with open children, whose states are kept for them.
    symmetries
        [S, N] see `node_symmetries`.
    """

    model: Assignment
    limits: Limits
    best: Incumbent
    params: DualAscentParams
    visited: int = 0
    created: int = 0
    progress: float = 0.0
    tree_since: float = math.inf
    open_nodes: list[OpenNode] = field(default_factory=list)
    dive: list[OpenNode] = field(default_factory=list)
    parents: int = 0
    symmetries: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.symmetries = np.zeros((0, self.model.node_count), dtype=np.int64)

    @property
    def value(self) -> int | None:
        """The incumbent's value of the term that decides, in its steps; ``None`` = no incumbent."""
        values = self.best.values
        return None if values is None else values[self.model.term]

    @property
    def bound(self) -> int | None:
        """The bound of the same term; ``None`` = none yet."""
        bounds = self.best.bounds
        return bounds[self.model.term] if bounds else None

    def offer(self, nodes: IntArray, cost: int) -> None:
        """Keep a valid assignment that is better than the incumbent."""
        if self.value is None or cost < self.value:
            self.best.offer_solution(self.model.placement(nodes))

    def prove(self, bound: int) -> None:
        """Note a bound of the term that decides; the others are 0 at every placement."""
        self.best.prove([*[0] * self.model.term, bound])

    def close(self) -> None:
        """Note that nothing is better than the incumbent, or that there is no placement."""
        if self.best.values is None:
            self.best.prove_infeasible()
        else:
            self.best.prove(self.best.values)

    def check_clock(self) -> None:
        """Raise `OutOfTimeError` when the time is over, `HopelessError` when too little is done."""
        self.best.reporter.token.check()
        if self.best.seconds > self.limits.time_s:
            raise OutOfTimeError
        in_tree, params = self.best.seconds - self.tree_since, self.params
        enough = self.progress >= params.least_progress_fraction
        if enough or self.model.task_count <= params.max_hopeful_tasks:
            return
        if in_tree > params.give_up_fraction * self.limits.time_s:
            raise HopelessError

    def tighten(self, root: StarState) -> None:
        """Raise the bound at the root as long as it pays."""
        params = self.params
        work = root.star.size * self.model.node_count
        rounds = min(params.root_rounds, max(1, params.root_work // work))
        while not root.is_closed:
            if self.value is not None:
                root.aim_below(self.value)
            before = root.bound
            root.ascend(rounds, 0.0)
            if not root.is_closed:
                self.prove(root.value)
            self.check_clock()
            if root.bound - before < params.root_gain_fraction * (root.limit - root.bound):
                return

    def branch(self, root: StarState) -> None:
        """Search below `root` until nothing is open."""
        self.tree_since = self.best.seconds
        self.symmetries = node_symmetries(self.model)
        room = self.best.reporter.token.has_room
        most = self.params.max_open_bytes // root.bytes_alone
        if not room(self.params.max_open_bytes, "the open nodes of the tree, best first"):
            most = 0
        self._open(root, 1.0, deep=False)
        while self.open_nodes or self.dive:
            self._tell_bound()
            self.check_clock()
            deep = bool(self.dive) or self.parents > most
            node = self.dive.pop() if self.dive else heapq.heappop(self.open_nodes)
            self._look_at(node, deep=deep)

    def _tell_bound(self) -> None:
        """Tell the least bound of what is open, or the incumbent where that is less."""
        first = (*self.open_nodes[:1], *self.dive)
        least = min(node.parent.state.rounded_up(node.bound) for node in first)
        self.prove(least if self.value is None else min(least, self.value))

    def _look_at(self, node: OpenNode, *, deep: bool) -> None:
        """Place one task more and raise the bound; then branch, unless nothing better is left."""
        node.parent.left -= 1
        self.parents -= not node.parent.left
        above = node.parent.state
        if self.value is not None:
            above.aim_below(self.value)
        if node.bound < above.limit:
            self.visited += 1
            child = above.with_task(node.task, node.node)
            if child.free.any():
                child.ascend(self.params.node_rounds, self.params.node_gain_fraction)
                if not child.is_closed and child.ok[child.free].any(axis=1).all():
                    self._open(child, node.share, deep=deep)
                    return
            elif self.model.is_valid(child.nodes):
                self.offer(child.nodes, self.model.cost(child.nodes))
        self.progress += node.share

    def _open(self, state: StarState, share: float, *, deep: bool) -> None:
        """Branch on the next task; of nodes that a symmetry exchanges, on one."""
        task = state.next_task()
        places = different_nodes(state.places(task), state.nodes[~state.free], self.symmetries)
        if not places:
            self.progress += share
            return
        parent = Parent(state, len(places))
        self.parents += 1
        for node in reversed(places):  # the cheapest is created last, and first among equals
            self.created += 1
            bound = state.bound + int(state.single[task, node])
            child = OpenNode(bound, -self.created, parent, task, node, share / len(places))
            if deep:
                self.dive.append(child)
            else:
                heapq.heappush(self.open_nodes, child)


# Symmetries of the nodes: permutations that change neither capacities nor costs.

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
    symmetries = list(_extended(model.distance, alike, most_steps))
    identity = np.arange(model.node_count)
    nontrivial = [image for image in symmetries if (image != identity).any()]
    return np.array(nontrivial, dtype=np.int64).reshape(len(nontrivial), model.node_count)


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
    stabiliser = symmetries[(symmetries[:, used] == used).all(axis=1)]
    representatives: list[int] = []
    for node in nodes:
        images = set(stabiliser[:, node].tolist())
        if not images.intersection(representatives):
            representatives.append(node)
    return representatives
