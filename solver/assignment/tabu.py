"""Any-time local search for assignments: tabu search over shifts and swaps, with kicks.

Robust tabu search (Taillard 1991) carried over to capacities: a move shifts one task or swaps two,
the best one that is not tabu is made, and an overload is allowed at a penalty that adapts (as in
Cordeau et al. 2006 for the generalized quadratic assignment problem). Deterministic for a seed and
a number of steps; the clock only decides how many steps there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.assignment.model import Assignment, FloatArray

EVALUATIONS_A_CALL = 2 * 10**7
"""Moves looked at between two looks at the clock: some 0.1 s."""
FIRST_CALL = 50
"""Steps of the first call, so that a first assignment is there at once."""

OnBetter = Callable[[IntArray, int], None]
"""Called with each better valid assignment and its cost."""


@dataclass(slots=True, eq=False)
class TabuSearch:
    """The state of a search; `advance` may be called again and again.

    Its best assignment is an array that compiled loops write to; engines offer it to `Incumbent`.

    Parameters
    ----------
    model
        What is searched.
    rng
        Of every random choice.
    start
        Node of each task to start from; it need not keep the capacities.
    """

    model: Assignment
    rng: Generator
    nodes: IntArray
    best: IntArray
    load: IntArray
    gain: IntArray
    until: IntArray
    numbers: IntArray
    floats: FloatArray
    scale: FloatArray
    allowed: BoolArray

    @property
    def cost(self) -> int | None:
        """Least cost of a valid assignment so far; ``None`` = none found yet."""
        from slotwise.solver.assignment.tabu_kernels import BEST, NONE

        return None if self.numbers[BEST] == NONE else int(self.numbers[BEST])

    @property
    def steps(self) -> int:
        """Steps so far."""
        from slotwise.solver.assignment.tabu_kernels import STEP

        return int(self.numbers[STEP])

    def advance(self, steps: int) -> None:
        """Do `steps` more steps."""
        from slotwise.solver.assignment.tabu_kernels import tabu_search

        model = self.model
        tabu_search(
            steps, self.nodes, self.load, self.gain, self.best, self.numbers, self.floats,
            self.until, self.rng, model.demand, model.capacity, self.scale, self.allowed,
            model.flow, model.distance,
        )  # fmt: skip


def make_search(model: Assignment, rng: Generator, start: IntArray | None = None) -> TabuSearch:
    """Return a search at its start: at `start`, or where best-fit decreasing leads."""
    from slotwise.solver.assignment.tabu_kernels import NONE, costs_in_place

    nodes = best_fit(model) if start is None else start.copy()
    gain = np.asarray(costs_in_place(nodes, model.linear, model.flow, model.distance))
    cost = model.cost(nodes)
    load = np.zeros_like(model.capacity)
    np.add.at(load, nodes, model.demand)
    valid = model.is_valid(nodes)
    mean = model.demand.mean(axis=0)
    return TabuSearch(
        model=model,
        rng=rng,
        nodes=nodes,
        best=nodes.copy(),
        load=load,
        gain=gain,
        until=np.zeros_like(gain),
        numbers=np.array([cost, cost if valid else NONE, 0, 0], dtype=np.int64),
        floats=np.array([max(1.0, cost / len(nodes)), 0.0]),
        scale=1.0 / np.where(mean > 0, mean, 1.0),
        allowed=model.allowed(),
    )


def best_fit(model: Assignment) -> IntArray:
    """Return the assignment of best-fit decreasing: large tasks first, where least room is left.

    A task that fits nowhere goes where it overloads least; the search repairs that.
    """
    scale = 1.0 / np.maximum(1.0, model.demand.mean(axis=0))
    left = model.capacity.copy()
    nodes = np.zeros(model.task_count, dtype=np.int64)
    for i in np.argsort(-(model.demand * scale).sum(axis=1), kind="stable"):
        after = (left - model.demand[i]) * scale
        fits = (after >= 0).all(axis=1)
        over = np.minimum(after, 0.0).sum(axis=1)
        nodes[i] = (
            np.argmin(np.where(fits, after.sum(axis=1), np.inf))
            if fits.any()
            else (np.argmax(over))
        )
        left[nodes[i]] -= model.demand[i]
    return nodes


def search_assignment(
    model: Assignment,
    rng: Generator,
    token: CancellationToken,
    *,
    seconds: float,
    steps: int | None = None,
    start: IntArray | None = None,
    target: int | None = None,
    on_better: OnBetter | None = None,
) -> IntArray | None:
    """Return the best valid assignment found, or ``None``.

    Parameters
    ----------
    model, rng, start
        As in `make_search`.
    token
        Checked between calls of the compiled loop: `CancelledError` where it is cancelled.
    seconds
        Wall-clock time limit.
    steps
        Most steps; ``None`` = no limit. With it, and time enough, the answer is reproducible.
    target
        Stop at this cost, for example a proven bound.
    on_better
        Called with each better assignment, between calls of the compiled loop.
    """
    deadline = token.now() + seconds
    if not model.allowed().any(axis=1).all():
        return None
    search = make_search(model, rng, start)
    a_call = _steps_a_call(model)
    best_cost: int | None = None
    chunk = FIRST_CALL
    while True:
        cost = search.cost
        if cost is not None and (best_cost is None or cost < best_cost):
            best_cost = cost
            if on_better is not None:
                on_better(search.best.copy(), cost)
        is_out_of_steps = steps is not None and search.steps >= steps
        is_target_reached = best_cost is not None and target is not None and best_cost <= target
        if is_out_of_steps or is_target_reached or token.now() >= deadline:
            return None if best_cost is None else search.best.copy()
        token.check()
        search.advance(chunk if steps is None else min(chunk, steps - search.steps))
        chunk = a_call


def _steps_a_call(model: Assignment) -> int:
    tasks = model.task_count
    return max(1, EVALUATIONS_A_CALL // (tasks * (model.node_count + tasks // 2 + 1)))
