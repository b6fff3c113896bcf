"""Engine ``subset-dp``: dynamic programming over sets of tasks (docs/design.md, 8.8).

For few tasks and any two different nodes equally far apart. A node's content T then decides its
part of the cost alone: with distance d between nodes and d_k on node k,

    cost = d * (all flow) + sum over nodes of c_k(T_k),
    c_k(T) = linear costs of T on k - (d - d_k) * (flow inside T),

and with f_k(S) = the least cost of the tasks S on the first k nodes,

    f_k(S) = min over T in S that fit node k of f_{k-1}(S - T) + c_k(T).

Exact in 64-bit integers. The first and the last node are cheap (no choice of T is left), so the
two nodes with most fitting sets come first and last; nodes alike from some node on are filled in
the order of their lowest task. A tabu search finds an incumbent beforehand, and reduced
costs rule out the sets that nothing as good can have on a node (`subset_fixing`). For more tasks
than tables have room for, the sets that fit a node are listed where they are few, priced in the
same way, and those within the gap are searched (`prove_by_contents`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.assignment.model import Assignment, make_assignment, reason_against
from slotwise.solver.assignment.params import SUBSET_DP_DEFAULTS, SubsetDpParams
from slotwise.solver.assignment.subset_fixing import (
    NodeSubsets,
    Priced,
    fix_by_reduced_cost,
    price,
)
from slotwise.solver.assignment.tabu import search_assignment
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome


def supports(problem: Problem, params: SubsetDpParams = SUBSET_DP_DEFAULTS) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    reason = reason_against(problem)
    if reason is not None:
        return reason
    if problem.task_count > MOST_BITS:  # before tables of all pairs of tasks are made
        return f"{problem.task_count} tasks; sets of at most {MOST_BITS} are enumerated"
    model = make_assignment(problem)
    distances = distances_apart(model)
    if len(distances) > 1:
        return f"two different nodes are {len(distances)} distances apart, not one"
    if _has_tables(model, params):
        return None
    tasks, contents = model.task_count, most_contents(model)
    if contents > params.max_contents:
        return f"{tasks} tasks; about {contents:.2g} sets of them fit the nodes"
    return None


def _has_tables(model: Assignment, params: SubsetDpParams) -> bool:
    """Return whether tables over all sets of tasks are small enough."""
    tasks = model.task_count
    return tasks <= params.max_tasks and model.node_count * 2**tasks * 8 <= params.max_bytes


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: SubsetDpParams = SUBSET_DP_DEFAULTS,
) -> Outcome:
    """Find an incumbent, fix by reduced costs, fill the tables node by node."""
    reason = supports(problem, params)
    if reason is not None:
        raise NotTakenError(reason)
    reporter = reporter or null_reporter(problem, "subset-dp")
    best = Incumbent(problem, reporter)
    if hint is not None:
        best.offer(hint)
    steps, proof = 0, ""
    try:
        model = make_assignment(problem)
        _search(model, best, limits, params)
        if best.seconds > limits.time_s:
            return best.outcome()
        if not _has_tables(model, params):
            return _by_contents(model, best, limits, params)
        tables = make_tables(model, reporter.token)
        if best.values is not None:
            until = reporter.token.child(best.started + limits.time_s)
            _prove_by_fixing(tables, best, best.values[model.term], until)
            proof = "Lagrangian bound over all sets of tasks of a node"
            if best.is_settled:
                return best.outcome(proof)
        for done in fill(tables):
            steps += done
            reporter.token.check()
            if best.seconds > limits.time_s:
                return best.outcome(proof, float(steps))
    except CancelledError:
        best.interrupted = reporter.token.is_cancelled
        return best.outcome(proof, float(steps))
    _prove_by_tables(tables, best)
    proof = f"dynamic programming over all sets of {problem.task_count} tasks"
    return best.outcome(proof, float(steps))


def _by_contents(
    model: Assignment, best: Incumbent, limits: Limits, params: SubsetDpParams
) -> Outcome:
    """Search among the contents of the nodes instead of tables over all sets."""
    token = best.reporter.token
    distances = distances_apart(model)
    apart = int(distances[0]) if len(distances) else 0
    until = token.child(best.started + limits.time_s)
    try:
        prove_by_contents(model, apart, best, params, until)
    except CancelledError:
        best.interrupted = token.is_cancelled
    except TooManySetsError:
        pass  # what is proven by then stands in `best`
    return best.outcome(PROOF if best.bounds or best.infeasible else "")


def _search(model: Assignment, best: Incumbent, limits: Limits, params: SubsetDpParams) -> None:
    """Offer what a short tabu search finds."""
    nodes = search_assignment(
        model,
        np.random.default_rng(limits.seed),
        best.reporter.token,
        seconds=limits.time_s * params.search_fraction,
        steps=params.steps_per_place * model.task_count * model.node_count,
        start=None if best.placement is None else np.array(best.placement.nodes),
    )
    if nodes is not None:
        best.offer_solution(model.placement(nodes))


def _prove_by_fixing(tables: Tables, best: Incumbent, value: int, token: RunToken) -> None:
    """Narrow the tables to sets of placements as good, and bound the cost."""
    incumbent = value - tables.constant
    tables.chosen, bound = fix_by_reduced_cost(
        tables.chosen, tables.model.task_count, incumbent, token
    )
    best.prove(_terms(tables.model, best, max(0, min(bound + tables.constant, value))))


def _prove_by_tables(tables: Tables, best: Incumbent) -> None:
    """Take the optimum from the full tables, or the proof that there is no placement."""
    cost = int(tables.levels[-1][tables.full])
    if cost >= NO_WAY:
        best.prove_infeasible()
        return
    best.offer_solution(tables.model.placement(backtrack(tables)))
    best.prove(_terms(tables.model, best, cost + tables.constant))
    if not best.is_settled:
        raise InternalError(f"the tables say {best.bounds}, the judge {best.values}")


def _engine(params: SubsetDpParams) -> Engine:
    return Engine(
        name="subset-dp",
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lambda: f"numba {version('numba')}",
        compiles=True,
    )


SUBSET_DP = configurable(_engine, SUBSET_DP_DEFAULTS)


PROOF = "contents of the nodes priced by Lagrangian duals, those within the gap searched"


def prove_by_contents(
    model: Assignment, apart: int, best: Incumbent, params: SubsetDpParams, token: RunToken
) -> None:
    """Prove `best` optimal, or find what is better; bounds are reported on the way.

    `apart` is the distance of any two different nodes.

    Raises
    ------
    TooManySetsError
        When the search grows too large; what is proven by then is reported.
    """
    constant = apart * int(model.flow.sum())
    upper = None if best.values is None else best.values[model.term]
    contents = list_all(model, apart, token)
    target = model.largest_cost if upper is None else upper
    priced = price(contents, model.task_count, target - constant, token)
    gap = priced.gap
    if upper is not None:
        best.prove(_terms(model, best, min(max(0, priced.least_cost + constant), upper)))
        gap -= priced.scale * model.cost_step
    if gap >= 0:
        search = ContentSearch(priced, model.task_count, params.max_sets, token)
        for loss, nodes in search.widening(gap):
            if nodes is not None:
                _settle(model, best, nodes)
                return
            bound = -(-(priced.bound + loss + 1) // priced.scale) + constant
            if loss < gap:
                best.prove(_terms(model, best, max(0, bound)))
    if best.values is None:
        best.prove_infeasible()
    else:
        best.prove(best.values)


def _settle(model: Assignment, best: Incumbent, nodes: IntArray) -> None:
    """Take the placement of least loss, which is an optimum."""
    best.offer_solution(model.placement(nodes))
    best.prove(_terms(model, best, model.cost(nodes)))


def _terms(model: Assignment, best: Incumbent, cost: int) -> tuple[int, ...]:
    """Return the value of each term: 0, but for the cost."""
    return tuple(cost * (t == model.term) for t in range(len(best.problem.terms)))


# Search among the contents of the nodes whose reduced cost fits the gap.
#
# A placement gives each node k a content S, and its cost is a Lagrangian bound plus the reduced
# costs of its contents (`subset_fixing`), its *loss*. Half of the nodes are joined one after the
# other to sets of placed tasks with their least loss, so is the other half, and two sets that
# complement each other make a placement. All losses stay within the gap, which starts small and
# widens: nothing found within a loss raises the bound to it.

PAIRS_A_CALL = 10**8
"""Pairs of a set and a content between two looks at the clock, well under a second."""
WIDENING = 4
"""Of the loss, from one search to the next."""
FIRST_SHARE = 64
"""The first loss is this part of the gap."""

Layer = tuple[IntArray, IntArray]
"""Sets of placed tasks, ascending, and the least loss of each."""


class TooManySetsError(Exception):
    """More sets of placed tasks than the search may keep."""


@dataclass(frozen=True, slots=True, eq=False)
class ContentSearch:
    """The search among `priced` contents.

    Parameters
    ----------
    priced
        Contents and reduced costs.
    tasks
        Number of tasks.
    most_sets
        Sets of placed tasks to keep at most.
    """

    priced: Priced
    tasks: int
    most_sets: int
    token: RunToken

    def widening(self, gap: int) -> Iterator[tuple[int, IntArray | None]]:
        """Yield losses up to `gap` and the best placement of at most such a loss, if any.

        Ends with the first placement, the node of each task.

        Raises
        ------
        TooManySetsError
            When a search grows too large.
        """
        loss = gap // FIRST_SHARE
        while True:
            assignment = self.best_within(loss)
            yield loss, assignment
            if assignment is not None or loss >= gap:
                return
            loss = min(gap, max(1, loss * WIDENING))

    def best_within(self, most: int) -> IntArray | None:
        """Return the node of each task in the placement of least loss, if that is within `most`."""
        nodes = sorted(
            self.priced.losses, key=lambda k: (len(self._contents_within(k, most)[0]), k)
        )
        halves = [nodes[::2], nodes[1::2]]
        first, second = (self._layers(half, most) for half in halves)
        full = (1 << self.tasks) - 1
        (sets, losses), (others, other_losses) = first[-1], second[-1]
        at = np.searchsorted(others, full ^ sets)
        at[at == len(others)] = 0
        disjoint = (
            np.flatnonzero(others[at] == full ^ sets) if len(others) else np.zeros(0, np.int64)
        )
        total = losses[disjoint] + other_losses[at[disjoint]] if len(disjoint) else disjoint
        if not len(disjoint) or total.min() > most:
            return None
        best = disjoint[total.argmin()]
        assignment = np.zeros(self.tasks, dtype=np.int64)
        for half, layers, placed in zip(
            halves, (first, second), (int(sets[best]), full ^ int(sets[best])), strict=True
        ):
            self._trace(half, layers, placed, assignment)
        return assignment

    def _contents_within(self, node: int, most: int) -> tuple[IntArray, IntArray]:
        """Return the contents of a node of at most such a loss, the least loss first."""
        sets, losses = self.priced.sets[node], self.priced.losses[node]
        near = np.flatnonzero(losses <= most)
        near = near[np.argsort(losses[near], kind="stable")]
        return sets[near], losses[near]

    def _layers(self, nodes: list[int], most: int) -> list[Layer]:
        """Return the sets of tasks that the first of these nodes can hold, for each number."""
        layers: list[Layer] = [(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))]
        for node in nodes:
            layers.append(self._joined(layers[-1], self._contents_within(node, most), most))
        return layers

    def _joined(self, placed: Layer, contents: tuple[IntArray, IntArray], most: int) -> Layer:
        from slotwise.solver.assignment.subset_kernels import join

        nothing = np.zeros(0, dtype=np.int64)
        parts: list[Layer] = [(nothing, nothing)]
        step = max(1, PAIRS_A_CALL // max(1, len(contents[0])))
        set_count = 0
        for start in range(0, len(placed[0]), step):
            self.token.check()
            chunk = (placed[0][start : start + step], placed[1][start : start + step])
            count = join(*chunk, *contents, most, nothing, nothing)
            if set_count + count > self.most_sets:
                raise TooManySetsError
            joined = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
            join(*chunk, *contents, most, *joined)
            parts.append(_least_losses(*joined))
            set_count += len(parts[-1][0])
        return _least_losses(*(np.concatenate(one) for one in zip(*parts, strict=True)))

    def _trace(
        self, nodes: list[int], layers: list[Layer], placed: int, assignment: IntArray
    ) -> None:
        """Write the nodes of the tasks `placed` into `assignment`, the last node first."""
        for position in range(len(nodes) - 1, -1, -1):
            node, (sets, losses) = nodes[position], layers[position]
            after_sets, after_losses = layers[position + 1]
            loss = int(after_losses[np.searchsorted(after_sets, placed)])
            contents, content_losses = self.priced.sets[node], self.priced.losses[node]
            inside = np.flatnonzero((contents & ~placed) == 0)
            rest = placed ^ contents[inside]
            at = np.minimum(np.searchsorted(sets, rest), len(sets) - 1)
            fits = (sets[at] == rest) & (losses[at] + content_losses[inside] == loss)
            content = int(contents[inside[np.flatnonzero(fits)[0]]])
            assignment[[i for i in range(self.tasks) if content >> i & 1]] = node
            placed ^= content


def _least_losses(sets: IntArray, losses: IntArray) -> Layer:
    """Return each set once, with its least loss."""
    order = np.lexsort((losses, sets))
    sets, losses = sets[order], losses[order]
    first = np.ones(len(sets), dtype=np.bool_)
    first[1:] = sets[1:] != sets[:-1]
    return sets[first], losses[first]


# The contents that a node can have: sets of tasks, where capacities leave few of them.

MOST_BITS = 62
"""Tasks of a set that one number holds."""
UNITS = 2_000
"""Units of a capacity when the number of contents is bounded."""


def most_contents(model: Assignment) -> float:
    """Return about how many contents all nodes have together, at most.

    The tightest capacity alone, in coarse units, rounded down.
    """
    dims = range(model.demand.shape[1])
    set_counts: dict[tuple[int, int], float] = {}
    total = 0.0
    for capacity in model.capacity.tolist():
        least = 2.0**model.task_count
        for d in dims:
            key = (d, capacity[d])
            if key not in set_counts:
                set_counts[key] = _sets_within(model.demand[:, d], capacity[d])
            least = min(least, set_counts[key])
        total += least
    return total


def _sets_within(weights: IntArray, capacity: int) -> float:
    """Return how many sets of tasks weigh at most `capacity` in coarse units."""
    capacity = min(capacity, int(weights.sum()))
    unit = -(-max(capacity, 1) // UNITS)
    ways = np.zeros(capacity // unit + 1)
    ways[0] = 1.0
    for weight in (weights // unit).tolist():
        before = ways.copy()
        ways[weight:] += before[: max(0, len(ways) - weight)]
    return float(ways.sum())


def list_all(model: Assignment, apart: int, token: RunToken) -> NodeSubsets:
    """Return the contents of each node, with their costs: linear less what is saved by sharing.

    `apart` is the distance of any two different nodes.
    """
    from slotwise.solver.assignment.subset_kernels import list_contents

    pair_flow = model.flow + model.flow.T
    nothing = np.zeros(0, dtype=np.int64)
    chosen, costs_above = np.zeros((2, model.task_count + 1), dtype=np.int64)
    subsets: NodeSubsets = {}
    for node in range(model.node_count):
        token.check()
        linear = np.ascontiguousarray(model.linear[:, node])
        saved = (apart - int(model.distance[node, node])) * pair_flow
        room = model.capacity[node]
        count = list_contents(
            model.demand, room, linear, saved, chosen, costs_above, nothing, nothing
        )
        token.check_room(6 * 8 * count, f"{count:,} sets of tasks on a node")
        sets, costs = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        list_contents(model.demand, room, linear, saved, chosen, costs_above, sets, costs)
        subsets[node] = (sets, costs)
    return subsets


# Tables of the subset dynamic programme: the least cost of each set of tasks on the first nodes.
#
# See `subset_dp` for the recursion.

STEPS_A_CALL = 2 * 10**8
"""Steps of the inner loop between two looks at the clock, well under a second."""
INFINITE = 2**62
NO_WAY = 2**61
"""Table entries from this value on mark unreachable states."""


def distances_apart(model: Assignment) -> IntArray:
    """Return the distances that occur between different nodes."""
    different = ~np.eye(model.node_count, dtype=np.bool_)
    return np.unique(model.distance[different])


@dataclass(slots=True)
class Tables:
    """Values by set of tasks, a bit mask.

    Parameters
    ----------
    model
        What is solved.
    apart
        Distance between different nodes.
    order
        Nodes in the order in which they are filled.
    alike_from
        Position in `order` from which all nodes are alike.
    chosen
        Sets that each node may hold, ascending, and their costs there.
    levels
        [2^T] f_k for each position in `order`.
    """

    model: Assignment
    apart: int
    order: tuple[int, ...]
    alike_from: int
    chosen: NodeSubsets
    levels: list[IntArray] = field(default_factory=list)

    @property
    def full(self) -> int:
        """The set of all tasks."""
        return (1 << self.model.task_count) - 1

    @property
    def constant(self) -> int:
        """What every placement costs besides the sets on its nodes."""
        return self.apart * int(self.model.flow.sum())


def _sums(values: IntArray) -> IntArray:
    from slotwise.solver.assignment.subset_kernels import subset_sums

    return np.asarray(subset_sums(np.ascontiguousarray(values)))


def _fitting(model: Assignment, node: int) -> BoolArray:
    fits = np.ones(2**model.task_count, dtype=np.bool_)
    for d, most in enumerate(model.capacity[node].tolist()):
        fits &= _sums(model.demand[:, d]) <= most
    return fits


def make_tables(model: Assignment, token: RunToken) -> Tables:
    """Return the tables before the first node is filled: every set that fits may be chosen."""
    from slotwise.solver.assignment.subset_kernels import inner_flows

    levels = 8 * (model.node_count + 4) << model.task_count
    token.check_room(
        levels, f"tables of the sets of {model.task_count} tasks on {model.node_count} nodes"
    )
    distances = distances_apart(model)
    apart = int(distances[0]) if len(distances) else 0
    inside = np.asarray(inner_flows(np.ascontiguousarray(model.flow + model.flow.T)))
    chosen: NodeSubsets = {}
    for node in range(model.node_count):
        sets = np.flatnonzero(_fitting(model, node)).astype(np.int64, copy=False)
        token.check_room(levels + 5 * sets.nbytes, f"{len(sets):,} sets of tasks on a node")
        saved = apart - int(model.distance[node, node])
        chosen[node] = (sets, _sums(model.linear[:, node])[sets] - saved * inside[sets])
    order, alike_from = _order(model, {node: len(sets) for node, (sets, _) in chosen.items()})
    return Tables(model, apart, order, alike_from, chosen)


def _order(model: Assignment, fits: dict[int, int]) -> tuple[tuple[int, ...], int]:
    """Return the nodes in the order of filling, and from which position on they are alike."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for n in range(model.node_count):
        key = (*model.capacity[n], *model.linear[:, n], model.distance[n, n])
        groups.setdefault(key, []).append(n)
    alike = max(groups.values(), key=len)
    if len(alike) > 1:
        others = sorted((n for n in fits if n not in alike), key=lambda n: (-fits[n], n))
        return (*others, *alike), len(others)
    last, first, *middle = sorted(fits, key=lambda n: (-fits[n], n)) if len(fits) > 1 else (0, 0)
    order = (first, *middle, last) if len(fits) > 1 else (0,)
    return order, model.node_count


def fill(tables: Tables) -> Iterator[int]:
    """Fill the table of each node in turn; yield the steps done since the last time."""
    from slotwise.solver.assignment.subset_kernels import extend

    size = tables.full + 1
    before = np.full(size, INFINITE, dtype=np.int64)
    before[0] = 0
    for position, node in enumerate(tables.order):
        sets, costs = tables.chosen[node]
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
                np.copyto(after, before)  # the empty set, which has no lowest task
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


def backtrack(tables: Tables) -> IntArray:
    """Return the node of each task in a best placement, the last node first."""
    nodes = np.zeros(tables.model.task_count, dtype=np.int64)
    left = tables.full
    for position in range(len(tables.order) - 1, -1, -1):
        node = tables.order[position]
        sets, costs = tables.chosen[node]
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
