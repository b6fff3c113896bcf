"""Engine ``subset-dp``: dynamic programming over sets of tasks (design section 8, step 8).

For few tasks and any two different nodes equally far apart. A node's content T then decides its
part of the cost alone: with distance d between nodes and d_k on node k,

    cost = d * (all flow) + sum over nodes of c_k(T_k),
    c_k(T) = linear costs of T on k - (d - d_k) * (flow inside T),

and with f_k(S) = the least cost of the tasks S on the first k nodes,

    f_k(S) = min over T in S that fit node k of f_{k-1}(S - T) + c_k(T).

Exact in 64-bit integers. The first and the last node are cheap (no choice of T is left), so the
two nodes with most fitting sets come first and last; nodes alike from some node on are filled in
the order of their lowest task.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import numpy as np

from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import BoolArray, IntArray, Problem
from slotwise.solver.assignment_model import Assignment, make_assignment, reason_against
from slotwise.solver.engine import Engine, NotTakenError
from slotwise.solver.result import Improvement, Limits, Outcome, Status

MOST_TASKS = 22
MOST_BYTES = 2 * 2**30
"""Of the tables f_k, one entry a set."""
STEPS_A_CALL = 2 * 10**8
"""Steps of the inner loop between two looks at the clock, well under a second."""
INFINITE = 2**62
NO_WAY = 2**61
"""From here on a table entry means that there is no way."""


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is not None:
        return reason
    tasks = problem.task_count
    if tasks > MOST_TASKS:
        return f"{tasks} tasks; sets of at most {MOST_TASKS} are enumerated"
    if problem.node_count * 2**tasks * 8 > MOST_BYTES:
        return f"tables for {tasks} tasks on {problem.node_count} nodes exceed {MOST_BYTES:,} bytes"
    apart = _apart(make_assignment(problem))
    if len(apart) > 1:
        return f"two different nodes are {len(apart)} distances apart, not one"
    return None


def _apart(model: Assignment) -> IntArray:
    """Return the distances that occur between different nodes."""
    different = ~np.eye(model.node_count, dtype=np.bool_)
    return np.unique(model.distance[different])


@dataclass(slots=True)
class _Tables:
    """Values by set of tasks.

    Parameters
    ----------
    model
        What is solved.
    apart
        Distance between different nodes.
    inside
        [2^T] flow inside each set.
    order
        Nodes in the order in which they are filled.
    alike_from
        Position in `order` from which all nodes are alike.
    """

    model: Assignment
    apart: int
    inside: IntArray
    order: tuple[int, ...]
    alike_from: int
    levels: list[IntArray] = field(default_factory=list)

    @property
    def full(self) -> int:
        """The set of all tasks."""
        return (1 << self.model.task_count) - 1

    def contents(self, node: int) -> tuple[IntArray, IntArray]:
        """Return the sets that fit the node, ascending, and their costs there."""
        sets = np.flatnonzero(_fitting(self.model, node)).astype(np.int64)
        saved = self.apart - int(self.model.distance[node, node])
        return sets, _sums(self.model.linear[:, node])[sets] - saved * self.inside[sets]


def _sums(values: IntArray) -> IntArray:
    from slotwise.solver.subset_kernels import subset_sums

    return np.asarray(subset_sums(np.ascontiguousarray(values)))


def _fitting(model: Assignment, node: int) -> BoolArray:
    fits = np.ones(2**model.task_count, dtype=np.bool_)
    for d, most in enumerate(model.capacity[node].tolist()):
        fits &= _sums(model.demand[:, d]) <= most
    return fits


def _make_tables(model: Assignment) -> _Tables:
    from slotwise.solver.subset_kernels import inner_flows

    apart = _apart(model)
    order, alike_from = _order(model)
    return _Tables(
        model=model,
        apart=int(apart[0]) if len(apart) else 0,
        inside=np.asarray(inner_flows(np.ascontiguousarray(model.flow + model.flow.T))),
        order=order,
        alike_from=alike_from,
    )


def _order(model: Assignment) -> tuple[tuple[int, ...], int]:
    """Return the nodes in the order of filling, and from which position on they are alike."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for n in range(model.node_count):
        key = (*model.capacity[n], *model.linear[:, n], model.distance[n, n])
        groups.setdefault(key, []).append(n)
    alike = max(groups.values(), key=len)
    fits = {n: int(_fitting(model, n).sum()) for n in range(model.node_count)}
    if len(alike) > 1:
        others = sorted((n for n in fits if n not in alike), key=lambda n: (-fits[n], n))
        return (*others, *alike), len(others)
    last, first, *middle = sorted(fits, key=lambda n: (-fits[n], n)) if len(fits) > 1 else (0, 0)
    order = (first, *middle, last) if len(fits) > 1 else (0,)
    return order, model.node_count


def run(problem: Problem, limits: Limits, hint: Placement | None) -> Outcome:
    """Fill the tables node by node; a valid hint is the answer where time runs out."""
    reason = supports(problem)
    if reason is not None:
        raise NotTakenError(reason)
    started = time.perf_counter()
    outcome = _known(problem, hint)
    tables = _make_tables(make_assignment(problem))
    steps = 0
    try:
        for done in _fill(tables):
            steps += done
            if time.perf_counter() - started > limits.time_s:
                return replace(outcome, deterministic_work=float(steps))
    except KeyboardInterrupt:
        return replace(outcome, deterministic_work=float(steps), interrupted=True)
    return _proven(problem, tables, steps, time.perf_counter() - started)


def _known(problem: Problem, hint: Placement | None) -> Outcome:
    """Return what is known before the search: the hint where it is valid."""
    nothing: tuple[None, ...] = (None,) * len(problem.terms)
    if hint is not None:
        verdict = judge(problem, hint)
        if verdict.valid:
            return Outcome(Status.FEASIBLE, hint, verdict.scaled, nothing, "")
    return Outcome(Status.UNKNOWN, None, None, nothing, "")


def _proven(problem: Problem, tables: _Tables, steps: int, seconds: float) -> Outcome:
    """Return the optimum in the full tables, or that there is none."""
    work = float(steps)
    proof = f"dynamic programming over all sets of {problem.task_count} tasks"
    if tables.levels[-1][tables.full] >= NO_WAY:
        nothing: tuple[None, ...] = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, proof, work)
    placement = tables.model.placement(_backtrack(tables))
    term = tables.model.term
    bounds = [0] * len(problem.terms)
    bounds[term] = int(tables.levels[-1][tables.full]) + tables.apart * int(tables.model.flow.sum())
    return Outcome(
        status=Status.OPTIMAL,
        placement=placement,
        values=tuple(bounds),
        bounds=tuple(bounds),
        proof=proof,
        deterministic_work=work,
        trace=(Improvement(seconds, term, bounds[term], bounds[term]),),
    )


def _fill(tables: _Tables) -> Iterator[int]:
    """Fill the table of each node in turn; yield the steps done since the last time."""
    from slotwise.solver.subset_kernels import extend

    size = tables.full + 1
    before = np.full(size, INFINITE, dtype=np.int64)
    before[0] = 0
    for position, node in enumerate(tables.order):
        sets, costs = tables.contents(node)
        after = np.full(size, INFINITE, dtype=np.int64)
        tables.levels.append(after)
        if position == 0 and tables.alike_from:
            after[sets] = costs
            yield len(sets)
        elif position == len(tables.order) - 1:
            after[tables.full] = (before[tables.full & ~sets] + costs).min(initial=INFINITE)
            yield len(sets)
        else:
            lowest = position >= tables.alike_from
            if lowest:
                np.copyto(after, before)  # the empty content, which has no lowest task
            for part in _parts(sets, tables.model.task_count):
                extend(before, after, sets[part], costs[part], tables.full, lowest)
                yield part.stop - part.start
        before = after


def _parts(sets: IntArray, tasks: int) -> Iterator[slice]:
    """Yield slices of `sets` with at most `STEPS_A_CALL` pairs of a set and its supersets."""
    work = np.cumsum(2.0 ** (tasks - np.bitwise_count(sets)))
    start = 0
    while start < len(sets):
        reached = (work[start - 1] if start else 0.0) + STEPS_A_CALL
        stop = max(start + 1, int(np.searchsorted(work, reached, side="right")))
        yield slice(start, stop)
        start = stop


def _backtrack(tables: _Tables) -> IntArray:
    """Return the node of each task in a best placement, the last node first."""
    nodes = np.zeros(tables.model.task_count, dtype=np.int64)
    left = tables.full
    for position in range(len(tables.order) - 1, -1, -1):
        node = tables.order[position]
        sets, costs = tables.contents(node)
        inside = sets & ~left == 0
        sets, costs = sets[inside], costs[inside]
        if position:
            reached = tables.levels[position - 1][left & ~sets] + costs
        else:
            reached = np.where(sets == left, costs, INFINITE)
        chosen = int(sets[np.flatnonzero(reached == tables.levels[position][left])[0]])
        nodes[[i for i in range(len(nodes)) if chosen >> i & 1]] = node
        left &= ~chosen
    return nodes


SUBSET_DP = Engine(
    name="subset-dp",
    run=run,
    supports=supports,
    version=lambda: f"numba {version('numba')}",
)
