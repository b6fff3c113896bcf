"""The local search on plain problems: its data as arrays for the compiled loop.

Plain: nothing but the network counts, all capacities are hard, and no rule reads anything but
demands, the least cpu of a worker, heaps, slots, isolation and numbers of tasks on a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.local_search.feasibility import NO_LABEL, classes_apart, node_groups
from slotwise.solver.local_search.solution import Snapshot
from slotwise.solver.structure.separability import only_network_counts

if TYPE_CHECKING:
    from slotwise.solver.local_search.kernels import Model, State
from dataclasses import dataclass

from slotwise.solver.parameters import Parameters


def is_plain(problem: Problem) -> bool:
    """Return whether the compiled loop takes the problem."""
    return (
        problem.matrix is None
        and bool(problem.hard.all())
        and not problem.regions
        and not problem.counts_moves
        and only_network_counts(problem)
    )


def make_model(problem: Problem, start: Placement) -> Model:
    """Return what does not change during a search for the tasks that `start` places."""
    from slotwise.solver.local_search.kernels import NONE, Model

    placed = [task for task, node in enumerate(start.nodes) if node != UNPLACED]
    near: list[list[tuple[int, int]]] = [[] for _ in problem.classes]
    for (a, b), weight in problem.pair_flows().items():
        near[a].append((b, weight))
        near[b].append((a, weight))
    flow_at, flow_to = _laid_out([to for to, _ in row] for row in near)
    apart_at, apart = _laid_out(
        classes_apart(problem, c).tolist() for c in range(len(problem.classes))
    )
    groups = node_groups(problem)
    group_at, group = _laid_out(groups)
    firsts = [members[0] for members in groups]
    better_at, better = _laid_out(
        [g for g, other in enumerate(firsts) if _is_larger(problem, other, n)] for n in firsts
    )
    task_at, task = _laid_out(
        [i for i in task_class.tasks if start.nodes[i] != UNPLACED]
        for task_class in problem.classes
    )
    most_of = np.full(len(problem.components), NO_LIMIT, dtype=np.int64)
    for rules in problem.rules:
        for component, most in rules.max_per_node:
            most_of[component] = most
    return Model(
        saving=np.diff(problem.distance),
        demand=problem.demand.copy(),
        heap=problem.heap.copy(),
        heap_limit=_ints(rules.heap_limit for rules in problem.rules),
        topology=_ints(task_class.topology for task_class in problem.classes),
        component=_ints(task_class.component for task_class in problem.classes),
        most_of=most_of,
        cpu=problem.cpu if problem.cpu is not None and problem.min_worker_cpu else NONE,
        least_cpu=problem.min_worker_cpu,
        capacity=problem.capacity.copy(),
        slots=problem.slots.copy(),
        rack=problem.node_rack.copy(),
        flow_at=flow_at,
        flow_to=flow_to,
        flow=_ints(weight for row in near for _, weight in row),
        apart_at=apart_at,
        apart=apart,
        group_at=group_at,
        group=group,
        better_at=better_at,
        better=better,
        task_at=task_at,
        task=task,
        placed=_ints(placed),
        task_class=problem.task_class.copy(),
        size=(problem.demand / np.maximum(problem.demand.mean(axis=0), 1)).sum(axis=1),
    )


def make_state(
    problem: Problem, model: Model, start: Placement, params: LocalSearchParams
) -> State:
    """Return the placement as the compiled loop keeps it."""
    from slotwise.solver.local_search.kernels import FREE, NONE, State, open_row, put

    rows = len(model.placed) + params.max_removed + 1  # a step opens at most as many as it empties
    nodes, classes = problem.node_count, len(problem.classes)
    nothing = np.full(rows, NONE, dtype=np.int64)
    state = State(
        numbers=np.zeros(5, dtype=np.int64),
        row=np.full(problem.task_count, NONE, dtype=np.int64),
        node=nothing.copy(),
        owner=nothing.copy(),
        held=_zeros(rows),
        row_heap=_zeros(rows),
        row_cpu=_zeros(rows),
        row_counts=_zeros(rows, classes),
        row_near=_zeros(rows, classes),
        following=nothing.copy(),
        first=np.full(nodes, NONE, dtype=np.int64),
        opened=_zeros(nodes),
        node_held=_zeros(nodes),
        load=_zeros(nodes, len(problem.dims)),
        node_near=_zeros(nodes, classes),
        of_component=_zeros(nodes, len(problem.components)),
        rack_near=_zeros(len(problem.racks), classes),
        used=_zeros(nodes),
        used_at=_zeros(nodes),
        free=np.arange(rows - 1, -1, -1),
        best_row=np.full(problem.task_count, NONE, dtype=np.int64),
        best_node=nothing.copy(),
        late=_zeros(params.history_length),
    )
    state.numbers[FREE] = rows
    larger = _larger_nodes(problem, sorted({start.nodes[i] for i in model.placed.tolist()}))
    row_of: dict[tuple[int, int, int], int] = {}
    for task in model.placed.tolist():
        topology = int(model.topology[problem.task_class[task]])
        key = (topology, start.nodes[task], start.workers[task])
        if key not in row_of:
            row_of[key] = open_row(state, topology, larger[start.nodes[task]])
        put(model, state, task, row_of[key])
    return state


def _is_larger(problem: Problem, node: int, other: int) -> bool:
    """Return whether a node of the same rack offers no less of anything, and more of something."""
    if problem.node_rack[node] != problem.node_rack[other]:
        return False
    more = problem.capacity[node] - problem.capacity[other]
    slots = int(problem.slots[node] - problem.slots[other])
    return bool((more >= 0).all()) and slots >= 0 and (bool(more.any()) or slots > 0)


def _larger_nodes(problem: Problem, used: Sequence[int]) -> dict[int, int]:
    """Return for each used node one of the largest that are free, or the node itself.

    What is on a node may move to a larger one of its rack as a whole at no cost. Step by step the
    search would never get there.
    """
    used_nodes = set(used)
    free = [node for node in range(problem.node_count) if node not in used_nodes]
    target: dict[int, int] = {}
    for node in used:
        best = node
        for other in free:
            if _is_larger(problem, other, best):
                best = other
        target[node] = best
        if best != node:
            free.remove(best)
            free.append(node)
    return target


class CompiledSearch:
    """A search from a valid placement by the compiled loop; see `engine.LocalSearch`."""

    def __init__(
        self, problem: Problem, start: Placement, seed: int, params: LocalSearchParams
    ) -> None:
        from slotwise.solver.local_search.kernels import MOST, NETWORK

        self._params = params
        self._rng = np.random.default_rng(seed)
        self._model = make_model(problem, start)
        self._state = make_state(problem, self._model, start, params)
        self._saved = int(self._state.numbers[NETWORK])
        self._state.numbers[MOST] = self._saved
        self._state.late[:] = self._saved
        self._state.best_row[:] = self._state.row
        self._state.best_node[:] = self._state.node
        self._first = judge(problem, start).scaled
        self._counts = [dict(term.parts).get("network", 0) for term in problem.terms]
        self.steps = 0

    @property
    def best(self) -> Placement:
        """The best placement so far."""
        labels = np.full_like(self._state.best_node, NO_LABEL)
        return Snapshot(self._state.best_row, self._state.best_node, labels).placement()

    @property
    def best_values(self) -> tuple[int, ...]:
        """Its value in each term."""
        from slotwise.solver.local_search.kernels import MOST

        more = int(self._state.numbers[MOST]) - self._saved
        pairs = zip(self._first, self._counts, strict=True)
        return tuple(value - multiplier * more for value, multiplier in pairs)

    def advance(self) -> bool:
        """Take one step, which is many of the loop's; return whether the best is better."""
        from slotwise.solver.local_search.kernels import MOST, advance

        self.steps += 1
        before = int(self._state.numbers[MOST])
        if len(self._model.placed):
            params = self._params
            advance(
                self._model,
                self._state,
                params.compiled_steps,
                params.max_removed,
                params.blink_fraction,
                self._rng,
            )
        return int(self._state.numbers[MOST]) > before


def _laid_out(lists: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Return where each list starts (and the last ends), and the lists end to end."""
    rows = [list(one) for one in lists]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in rows])]).astype(np.int64)
    return starts, _ints(value for one in rows for value in one)


def _ints(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)


def _zeros(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class LocalSearchParams(Parameters):
    """Of ruin and recreate with late acceptance.

    Parameters
    ----------
    max_removed
        Tasks taken out at once; each step draws its own limit up to it.
    history_length
        Late acceptance: steps back to the value that an outcome is compared with.
    blink_fraction
        Share of places that are overlooked, so that no two attempts are alike.
    compiled_from_tasks
        Tasks from which the compiled loop pays, on the problems that it takes.
    compiled_steps
        Steps of the compiled loop that are counted as one: they take about as long.
    max_cells
        Of its tables, 8 bytes each; a problem with more is not taken.
    """

    max_removed: int = 30
    history_length: int = 100
    blink_fraction: float = 0.02
    compiled_from_tasks: int = 64
    compiled_steps: int = 50
    max_cells: int = 10**8


LOCAL_SEARCH_DEFAULTS = LocalSearchParams()
