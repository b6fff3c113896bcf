"""Lower bounds of assignments by dual ascent; states that a search copies and narrows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import Assignment

LARGEST = 2**50
"""Costs are scaled up to about this before they are split, so that rounding loses little."""


@dataclass(slots=True, eq=False)
class StarState:
    """A lower bound, the costs it leaves, and what is decided; see `rlt_kernels`.

    Parameters
    ----------
    scale
        Every cost is that many times the true one.
    step
        All true costs are multiples of it.
    bound
        Scaled cost that no assignment within this state undercuts.
    limit
        Scaled cost that is of no interest any more.
    single, star
        [T, N] and [T, N, T, N] costs left.
    ok
        [T, N] places still open.
    free
        [T] tasks not yet placed.
    nodes
        [T] node of each placed task.
    star_multipliers, multipliers
        [T, N, N, D] and [N, D] multipliers of the capacities.
    need, room
        [T, D] demands and [N, D] what is left of the capacities.
    units
        Whether every task takes 1 of the only capacity: the number of tasks that a node can hold.
    """

    scale: int
    step: int
    bound: int
    limit: int
    single: IntArray
    star: IntArray
    ok: BoolArray
    free: BoolArray
    nodes: IntArray
    star_multipliers: IntArray
    multipliers: IntArray
    need: IntArray
    room: IntArray
    units: bool

    @property
    def is_closed(self) -> bool:
        """Whether nothing below the limit is left."""
        return self.bound >= self.limit

    @property
    def bytes_alone(self) -> int:
        """Memory of one copy."""
        return self.star.nbytes + self.star_multipliers.nbytes

    @property
    def bytes_down(self) -> int:
        """Memory of the copies from here to where every task is placed."""
        return self.bytes_alone * int(self.free.sum())

    @property
    def value(self) -> int:
        """The bound in the steps of the term."""
        return self.rounded_up(self.bound)

    def rounded_up(self, bound: int) -> int:
        """Return a scaled bound in the steps of the term: the least cost that is not below it."""
        return -(-bound // (self.scale * self.step)) * self.step

    def aim_below(self, cost: int) -> None:
        """Look only for assignments that cost less than `cost`."""
        self.limit = min(self.limit, (cost - self.step) * self.scale + 1)

    def ascend(self, rounds: int, least_gain: float) -> None:
        """Raise the bound; see `rlt_kernels.ascend`."""
        from slotwise.solver.assignment.rlt_kernels import ascend

        self.bound = ascend(
            rounds, self.bound, self.limit, self.single, self.star, self.ok, self.free,
            self.star_multipliers, self.multipliers, self.need, self.room, least_gain, self.units,
        )  # fmt: skip

    def places(self, task: int) -> list[int]:
        """Return the open nodes of a task that may lead below the limit, cheapest first."""
        open_nodes = np.flatnonzero(
            self.ok[task] & (self.bound + self.single[task] < self.limit)
        ).tolist()
        return sorted(open_nodes, key=lambda k: (int(self.single[task, k]), k))

    def next_task(self) -> int:
        """Return the free task with fewest places left; among equals the one that costs most."""
        reduced = np.where(self.ok, np.minimum(self.single, self.limit - self.bound), 0)
        open_places = (self.ok & (self.bound + self.single < self.limit)).sum(axis=1)
        dearness = reduced.sum(axis=1) + (~self.ok).sum(axis=1) * (self.limit - self.bound)
        free = np.flatnonzero(self.free).tolist()
        return min(free, key=lambda i: (open_places[i] > 1, -int(dearness[i]), i))

    def with_task(self, task: int, node: int) -> StarState:
        """Return a copy in which `task` is on `node`."""
        after = StarState(
            scale=self.scale,
            step=self.step,
            bound=self.bound + int(self.single[task, node]),
            limit=self.limit,
            single=self.single.copy(),
            star=self.star.copy(),
            ok=self.ok.copy(),
            free=self.free.copy(),
            nodes=self.nodes.copy(),
            star_multipliers=self.star_multipliers.copy(),
            multipliers=self.multipliers.copy(),
            need=self.need,
            room=self.room.copy(),
            units=self.units,
        )
        after._place(task, node)
        return after

    def _place(self, task: int, node: int) -> None:
        from slotwise.solver.assignment.rlt_kernels import NEVER

        self.nodes[task] = node
        self.free[task] = False
        self.room[node] -= self.need[task]
        pair_costs = self.star[task, node] + self.star[:, :, task, node]
        others = self.free[:, None] & self.ok
        self.ok &= ~(others & (pair_costs >= NEVER))
        self.ok &= ~self.free[:, None] | (self.need[:, None, :] <= self.room[None]).all(axis=2)
        self.single[others & self.ok] += pair_costs[others & self.ok]


def state_bytes(model: Assignment) -> int:
    """Return the memory that `make_state` takes."""
    tasks, size = model.task_count, model.node_count
    pairs, dims = (tasks * size) ** 2, int(model.demand.shape[1])
    return 8 * (2 * pairs + dims * (2 * tasks**2 * size + tasks * size**2))


def make_state(model: Assignment, largest_cost: int) -> StarState:
    """Return the state in which nothing is decided; no cost exceeds `largest_cost`."""
    from slotwise.solver.assignment.rlt_kernels import NEVER

    tasks, size = model.linear.shape
    scale = max(1, LARGEST // (max(1, largest_cost) * tasks))
    star = np.einsum("ij,kl->ikjl", model.flow * scale, model.distance)
    star = np.ascontiguousarray(star, dtype=np.int64)
    pair_demand = model.demand[:, None, None, :] + model.demand[None, :, None, :]
    too_much: BoolArray = np.asarray((pair_demand > model.capacity).any(axis=3))
    too_much[np.arange(tasks), np.arange(tasks)] = False
    for i, j, k in np.argwhere(too_much).tolist():
        star[i, k, j, k] = NEVER
    units = _units(model, too_much)
    need = model.demand if units is None else np.ones((tasks, 1), dtype=np.int64)
    dims = need.shape[1]
    return StarState(
        scale=scale,
        step=model.cost_step,
        bound=0,
        limit=(largest_cost + 1) * scale,
        single=model.linear * scale,
        star=star,
        ok=model.allowed(),
        free=np.ones(tasks, dtype=np.bool_),
        nodes=np.full(tasks, -1, dtype=np.int64),
        star_multipliers=np.zeros((tasks, size, size, dims), dtype=np.int64),
        multipliers=np.zeros((size, dims), dtype=np.int64),
        need=np.ascontiguousarray(need),
        room=model.capacity.copy() if units is None else units[:, None],
        units=units is not None,
    )


def _units(model: Assignment, too_much: BoolArray) -> IntArray | None:
    """Return [N] tasks that each node can hold if that is all the capacities say, else ``None``.

    So it is where no two tasks fit on one node, and where all tasks have one size; ``None``, too,
    where all tasks fit one node.
    """
    tasks = model.task_count
    if tasks > 1 and too_much.sum() == tasks * (tasks - 1) * model.node_count:
        return np.ones(model.node_count, dtype=np.int64)
    size = model.demand[0]
    if (model.demand != size).any():
        return None
    demanded = size > 0
    room = (model.capacity[:, demanded] // size[demanded]).min(axis=1, initial=tasks)
    return None if (room >= tasks).all() else np.asarray(room, dtype=np.int64)
