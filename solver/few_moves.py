"""Engine ``few-moves``: the best placement with at most K moves, where K is small.

With few moves every worker, node and rack holds almost what it holds now. So tables of what may
leave and join each of them are small, and merging the tables from workers up to the cluster finds
the optimum exactly, in integers, without a solver; for all numbers of moves up to K at once. It may
import `column_generation`, and no other engine. Ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import (
    CLUSTER,
    NODE,
    RACK,
    WORKER,
    BoolArray,
    IntArray,
    Problem,
)
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import within_node_caps
from slotwise.solver.column_generation.worker_packing.worker_costs import shared_and_heap
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters
from slotwise.solver.structure.dominance import lexicographic_rank, undominated
from slotwise.solver.structure.node_types import home_labels, keeps_apart, signature
from slotwise.solver.structure.task_types import (
    TaskTypes,
    WorkerCounts,
    disaggregate,
    flow_inside,
    merge_twins,
)

# Changes of what a place holds: tasks that leave it and join it, and what that costs.
#
# `Changes` of two places merge into those of both together. What has gone from them costs a move
# each; what they hold more than now comes from elsewhere and costs a move there. So a change that
# is part of a solution has at most K moves of its own and tasks that it still waits for.


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of one place.

    Parameters
    ----------
    net
        [S, K] tasks of each kind that it holds more than now; below 0 = fewer.
    moves
        [S] tasks that run there now and no longer stay at home.
    costs
        [S, C] what decides between changes with the same net.
    left, right
        What they were made from, and [S] the rows of it; ``None`` = nothing else.
    """

    net: IntArray
    moves: IntArray
    costs: IntArray
    left: tuple[Changes, IntArray] | None = None
    right: tuple[Changes, IntArray] | None = None

    def where(self, rows: IntArray) -> Changes:
        """Return some of the changes, in this order."""
        if self.left is None:
            return Changes(self.net[rows], self.moves[rows], self.costs[rows], (self, rows))
        left, rows_left = self.left
        right = None if self.right is None else (self.right[0], self.right[1][rows])
        return Changes(
            self.net[rows], self.moves[rows], self.costs[rows], (left, rows_left[rows]), right
        )

    def with_costs(self, costs: IntArray) -> Changes:
        """Return the changes with other costs."""
        left = (self, np.arange(len(self.net))) if self.left is None else self.left
        return Changes(self.net, self.moves, costs, left, self.right)

    def parts(self, row: int) -> Iterator[tuple[Changes, int]]:
        """Yield the changes, and their rows, that one was merged from in the end."""
        if self.left is None:
            yield self, row
        for side in (self.left, self.right):
            if side is not None:
                yield from side[0].parts(int(side[1][row]))


class Merger:
    """Merges changes within a limit of moves, and counts the work."""

    def __init__(self, most: int, params: FewMovesParams, token: RunToken) -> None:
        self.most, self.params, self.token = most, params, token
        self._pairs = 0

    def merged(self, first: Changes, second: Changes) -> Changes:
        """Return every change of both together that a solution can have.

        Raises
        ------
        NotTakenError
            Where they are too many.
        """
        self._check(sum(len(a) * len(b) for a, b in self._blocks(first, second)))
        none = np.empty(0, dtype=np.int64)
        pairs = [(none, none)]
        for a, b in self._blocks(first, second):
            pairs.extend(self._fitting(first, second, a, b))
        count = sum(len(rows) for rows, _ in pairs)
        size = 8 * count * (5 * first.net.shape[1] + 25)
        self.token.check_room(size, f"{count:,} changes of two places together")
        i, j = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
        return Changes(
            first.net[i] + second.net[j],
            first.moves[i] + second.moves[j],
            first.costs[i] + second.costs[j],
            (first, i),
            (second, j),
        )

    def _blocks(self, first: Changes, second: Changes) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield rows of both of which every pair makes no more moves than there may be."""
        ascending = np.argsort(second.moves, kind="stable")
        within = np.searchsorted(second.moves[ascending], np.arange(self.most + 1), side="right")
        for moves in np.unique(first.moves[first.moves <= self.most]).tolist():
            yield np.flatnonzero(first.moves == moves), ascending[: within[self.most - moves]]

    def _check(self, pairs: int) -> None:
        self._pairs += pairs
        if pairs > self.params.max_pairs or self._pairs > self.params.max_all_pairs:
            raise self.too_many()

    def too_many(self) -> NotTakenError:
        """Return the error that declines a problem."""
        return NotTakenError(f"{self.most} moves can be made in too many ways")

    def _fitting(
        self, first: Changes, second: Changes, first_rows: IntArray, second_rows: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows of both, paired, that need no more moves than there may be."""
        at_once = max(1, self.params.pairs_at_once // max(1, len(second_rows)))
        pairs = min(at_once, len(first_rows)) * len(second_rows)
        size = 8 * pairs * (2 * first.net.shape[1] + 3)
        self.token.check_room(size, f"{pairs:,} pairs of changes")
        for start in range(0, len(first_rows), at_once):
            self.token.check()
            rows = first_rows[start : start + at_once]
            net = first.net[rows][:, None, :] + second.net[second_rows][None, :, :]
            moves = first.moves[rows][:, None] + second.moves[second_rows][None, :]
            i, j = np.nonzero(moves + waiting(net) <= self.most)
            yield rows[i], second_rows[j]


def waiting(net: IntArray) -> IntArray:
    """Return how many tasks come from elsewhere."""
    return np.asarray(np.maximum(net, 0).sum(axis=-1))


def best_of(changes: Changes, criteria: IntArray) -> Changes:
    """Return the changes that no other with the same net beats in moves and all `criteria`.

    Raises
    ------
    NotTakenError
        Where two different nets have the same code, which is next to impossible.
    """
    codes = _codes(changes.net)
    order = np.argsort(codes, kind="stable")
    same = codes[order[1:]] == codes[order[:-1]]
    if (changes.net[order[1:]][same] != changes.net[order[:-1]][same]).any():
        raise NotTakenError("two different changes have the same code")
    best = undominated(codes[:, None], np.concatenate([changes.moves[:, None], criteria], axis=1))
    return changes.where(best)


def _codes(net: IntArray) -> IntArray:
    """Return a whole number for each row; equal rows have equal ones."""
    weights = np.random.default_rng(0).integers(1, 2**62, net.shape[1], dtype=np.int64) | 1
    return np.asarray((net * weights).sum(axis=1, dtype=np.int64))


# Changes of racks and of the cluster: those of nodes, merged; the best for each number of moves.
#
# The terms are folded into one whole number, each weighted above all that the later ones can
# reach. Flow between the nodes of a rack depends on what the rack holds in all, so it is added
# when its nodes are merged. What leaves and what joins must be the same in the end.

MAX_BITS = 60


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A node with its changes; `folded` has the same rows with the terms as one number."""

    index: int
    changes: Changes
    folded: Changes


class FewMoves:
    """All ways to make at most a number of moves, merged.

    Parameters
    ----------
    problem
        One that the engine takes.
    most
        Moves.

    Raises
    ------
    NotTakenError
        Where there are too many.
    """

    def __init__(
        self, problem: Problem, most: int, params: FewMovesParams, token: RunToken
    ) -> None:
        self._problem = problem
        self._kinds = merge_twins(problem, token)
        self._held = current_counts(problem, self._kinds)
        self._merger = Merger(most, params, token)
        self._maker = NodeChanges(problem, self._kinds, self._held, self._merger)
        node_changes = self._changes_of_nodes()
        self._weights = _weights(problem, self._kinds, most, list(node_changes.values()))
        self._nodes = [self._folded(node, changes) for node, changes in node_changes.items()]
        self._all = self._cluster()

    def best(self, moves: int) -> Placement | None:
        """Return the best placement with at most `moves` moves; ``None`` = there is none."""
        changes = self._all
        rows = np.flatnonzero((changes.net == 0).all(axis=1) & (changes.moves <= moves))
        if not len(rows):
            return None
        order = np.lexsort((changes.moves[rows], changes.costs[rows, 0]))
        return self._placement(int(rows[order[0]]))

    def _changes_of_nodes(self) -> dict[int, Changes]:
        """Return the changes of each node; of equal empty ones only as many as can be used."""
        problem, by_node = self._problem, {}
        of_empty: dict[object, Changes] = {}
        used: Counter[object] = Counter()
        for node in range(problem.node_count):
            if self._held.nodes[node].any():
                by_node[node] = self._maker.of(node)
                continue
            key = signature(problem, node)
            place = (key, int(problem.node_rack[node]))
            used[place] += 1
            if used[place] <= self._merger.most:
                if key not in of_empty:
                    of_empty[key] = self._maker.of(node)
                by_node[node] = of_empty[key]
        return by_node

    def _folded(self, node: int, changes: Changes) -> _Node:
        """Return a node with its terms, less what they are at least, as one number."""
        value = (changes.costs - _least_terms(changes)) @ self._weights
        value = value + changes.moves * _per_move(self._problem, self._weights)
        return _Node(node, changes, Changes(changes.net, changes.moves, value[:, None]))

    def _cluster(self) -> Changes:
        problem = self._problem
        inter_rack = [
            dict(term.parts).get("network", 0) * self._inter_rack for term in problem.terms
        ]
        saved = int(np.array(inter_rack, dtype=np.int64) @ self._weights)
        racks: dict[int, list[Changes]] = {}
        for node in self._nodes:
            rack = int(problem.node_rack[node.index]) if saved else 0
            racks.setdefault(rack, []).append(node.folded)
        whole = [self._in_rack(rack, parts, saved) for rack, parts in racks.items()]
        return self._merged(whole)

    @property
    def _inter_rack(self) -> int:
        if len(self._problem.racks) == 1:
            return 0
        return int(self._problem.distance[CLUSTER] - self._problem.distance[RACK])

    def _in_rack(self, rack: int, nodes: Sequence[Changes], saved: int) -> Changes:
        """Return the changes of a rack with what the flow inside it saves or costs."""
        changes = self._merged(nodes)
        if not saved:
            return changes
        counts = self._held.nodes[self._problem.node_rack == rack].sum(axis=0)
        inside = self._kinds.pairs(counts[None, :] + changes.net) - self._kinds.pairs(counts)
        return changes.with_costs(changes.costs - saved * inside[:, None])

    def _merged(self, parts: Sequence[Changes]) -> Changes:
        changes = parts[0]
        for part in parts[1:]:
            merged = self._merger.merged(changes, part)
            changes = best_of(merged, merged.costs)
        return changes

    def _placement(self, row: int) -> Placement:
        """Return the placement of a row: tasks that stay at home first."""
        nodes = {id(node.folded): node for node in self._nodes}
        contents: list[tuple[int, int | None, IntArray]] = []
        for changes, index in self._all.parts(row):
            node = nodes[id(changes)]
            for part, own in node.changes.parts(index):
                if id(part) in self._maker.worker_of:
                    topology, label = self._maker.worker_of[id(part)]
                    key = (topology, node.index, -1 if label is None else label)
                    counts = self._held.workers.get(key, 0)
                    contents.append((node.index, label, counts + part.net[own]))
        return _placed(self._problem, self._kinds, contents)


def _least_terms(changes: Changes) -> IntArray:
    """Return [T] the least of each term; 0 where there is no change at all."""
    if not len(changes.costs):
        return np.zeros(changes.costs.shape[1], dtype=np.int64)
    return np.asarray(changes.costs.min(axis=0))


def _per_move(problem: Problem, weights: IntArray) -> int:
    moved = [dict(term.parts).get("moved", 0) for term in problem.terms]
    return int(np.array(moved, dtype=np.int64) @ weights)


def _weights(problem: Problem, kinds: TaskTypes, most: int, nodes: Sequence[Changes]) -> IntArray:
    """Return [T] weights, each above all that the later terms can reach together."""
    if any(not len(changes.net) for changes in nodes):
        return np.ones(len(problem.terms), dtype=np.int64)  # there is no placement at all
    span = np.zeros(len(problem.terms), dtype=np.int64)
    for changes in nodes:
        span += changes.costs.max(axis=0) - _least_terms(changes)
    flow = int(kinds.pairs(kinds.sizes)) * int(problem.distance[CLUSTER])
    weights: list[int] = []
    weight = 1
    for term, reach in zip(reversed(problem.terms), reversed(span.tolist()), strict=True):
        parts = dict(term.parts)
        weights.insert(0, weight)
        weight *= reach + parts.get("network", 0) * 2 * flow + parts.get("moved", 0) * most + 1
    if weight.bit_length() > MAX_BITS:
        raise NotTakenError("the terms are too large to be kept apart in one number")
    return np.array(weights, dtype=np.int64)


def _placed(
    problem: Problem, kinds: TaskTypes, contents: Sequence[tuple[int, int | None, IntArray]]
) -> Placement:
    waiting = [
        [task for c in group for task in problem.classes[c].tasks] for group in kinds.members
    ]
    homes = {
        (node, label)
        for t in range(len(problem.rules))
        for node, labels in home_labels(problem, t).items()
        for label in labels
    }
    groups: list[list[int]] = []
    workers: list[WorkerCounts] = []
    used = set(homes)
    for node, label, content in contents:
        if not content.any():
            continue
        free = next(n for n in range(len(used) + 1) if (node, n) not in used)
        place = (node, free if label is None else label)
        used.add(place)
        for kind in np.flatnonzero(content).tolist():
            count = int(content[kind])
            home = [t for t in waiting[kind] if _home(problem, t) == place][:count]
            waiting[kind] = [task for task in waiting[kind] if task not in set(home)]
            workers.append((*place, [(len(waiting) + len(groups), len(home))]))
            workers.append((*place, [(kind, count - len(home))]))
            groups.append(home)
    return disaggregate(problem, [*waiting, *groups], workers)


def _home(problem: Problem, task: int) -> tuple[int, int] | None:
    return problem.classes[int(problem.task_class[task])].home


@dataclass(frozen=True, slots=True)
class FewMovesParams(Parameters):
    """Of engine ``few-moves``.

    Parameters
    ----------
    max_changes
        Changes of one worker that are listed, some hundred bytes each; a problem with more is not
        taken.
    max_pairs
        Pairs of changes merged in one step, some hundred bytes each while they are looked at; a
        problem with more is not taken.
    max_all_pairs
        The same over all steps: about ten million a second.
    pairs_at_once
        Pairs in one array.
    """

    max_changes: int = 3_000_000
    max_pairs: int = 60_000_000
    max_all_pairs: int = 400_000_000
    pairs_at_once: int = 500_000


FEW_MOVES_DEFAULTS = FewMovesParams()
"""As measured."""


# Engine ``few-moves``: exact tables of what few moves can change.

NAME = "few-moves"
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
    }
)
"""Rules that the tables keep."""
PARTS = frozenset(("overload", "network", "nodes", "workers", "moved", "linear"))
"""Parts of the objective that the tables count."""
KIND = "exact tables of few moves"
"""What the bounds are."""
PROOF = "what few moves can change of each worker, node and rack, merged in exact tables"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: FewMovesParams = FEW_MOVES_DEFAULTS,
) -> Outcome:
    """Find the optimum under the limit of moves.

    Raises
    ------
    NotTakenError
        Where the moves can be made in too many ways.
    """
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter, KIND)
    if hint is not None:
        best.offer(hint)
    token = reporter.token.child(best.started + limits.time_s)
    try:
        placement = FewMoves(problem, problem.move_limit, params, token).best(problem.move_limit)
    except CancelledError:
        best.interrupted = reporter.token.is_cancelled
        return best.outcome()
    if placement is None:
        best.prove_infeasible()
    else:
        best.offer_solution(placement)
        assert best.values is not None, "a solution was offered"
        best.prove(best.values)
    return best.outcome(PROOF)


@declares(RULES, PARTS)
def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if problem.move_limit == NO_LIMIT:
        return "moves have no limit"
    if problem.matrix is not None:
        return "distances come as a matrix"
    if problem.may_reject:
        return "topologies may be left out"
    if any(one.home is None for one in problem.classes):
        return "not every task runs now"
    labels = [
        (node, label)
        for t in range(len(problem.rules))
        for node, labels_on_node in home_labels(problem, t).items()
        for label in labels_on_node
    ]
    if len(labels) != len(set(labels)):
        return "tasks of two topologies run in one worker"
    return None


def _engine(params: FewMovesParams) -> Engine:
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=supports,
        version=lambda: version("slotwise"),
    )


FEW_MOVES = configurable(_engine, FEW_MOVES_DEFAULTS)


# Changes of one node: those of its workers, and of fresh ones, merged; its rules and its costs.

WORKERS, CPU, MEMORY, NETWORK = range(4)
"""Costs of a worker: itself; cpu and memory beyond what its tasks need; minus the flow inside."""


def worker_changes(
    problem: Problem, kinds: TaskTypes, topology: int, current: IntArray, merger: Merger
) -> Changes:
    """Return the changes of a worker that holds `current` [K] of its topology now.

    A fresh worker holds nothing. Those that break a rule of the worker are left out.

    Raises
    ------
    NotTakenError
        Where they are too many to be listed.
    """
    own = np.flatnonzero(kinds.topology == topology)
    least = -np.minimum(merger.most, current[own])
    largest = np.minimum(merger.most, kinds.sizes[own] - current[own])
    count = _count_within(least, largest, merger)
    if count > merger.params.max_changes:
        raise merger.too_many()
    size = 8 * count * (4 * len(own) + 2 * kinds.count + 8)
    merger.token.check_room(size, f"{count:,} changes of a worker")
    net = _net_changes(least, largest, merger)
    counts = current[own][None, :] + net
    costs, allowed = _costs(problem, kinds, topology, own, counts)
    net = net[allowed]
    whole = np.zeros((len(net), kinds.count), dtype=np.int64)
    whole[:, own] = net
    return Changes(whole, np.maximum(-net, 0).sum(axis=1), costs[allowed])


def _count_within(least: IntArray, largest: IntArray, merger: Merger) -> int:
    """Return how many changes `_net_changes` would list; not all where they are too many."""
    ways = np.array([1] + [0] * merger.most, dtype=object)  # by tasks that leave or join
    for fewer, more in zip(-least, largest, strict=True):
        merger.token.check()
        below = np.append(0, ways.cumsum())
        tasks = np.arange(len(ways))
        joined = below[tasks] - below[np.maximum(tasks - more, 0)]
        ways = below[tasks + 1] - below[np.maximum(tasks - fewer, 0)] + joined
        if ways.sum() > merger.params.max_changes:
            break
    return int(ways.sum())


def _net_changes(least: IntArray, largest: IntArray, merger: Merger) -> IntArray:
    """Return [S, k] all vectors from `least` to `largest` [k] of at most so many tasks."""
    net = np.zeros((1, 0), dtype=np.int64)
    for low, high in zip(least, largest, strict=True):
        steps = np.arange(low, high + 1)
        at_once = max(1, merger.params.pairs_at_once // len(steps))
        longer = []
        for start in range(0, len(net), at_once):
            merger.token.check()
            rows = net[start : start + at_once]
            used = np.abs(rows).sum(axis=1)[:, None] + np.abs(steps)[None, :]
            row, step = np.nonzero(used <= merger.most)
            longer.append(np.column_stack([rows[row], steps[step]]))
        net = np.concatenate(longer)
    return net


def _costs(
    problem: Problem, kinds: TaskTypes, topology: int, own: IntArray, counts: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return [S, 4] costs of workers that hold `counts` [S, k], and which keep their rules."""
    rules = problem.rules[topology]
    firsts = [kinds.members[k][0] for k in own.tolist()]
    used = counts.any(axis=1)
    costs = np.zeros((len(counts), 4), dtype=np.int64)
    costs[:, WORKERS] = used
    costs[:, NETWORK] = -flow_inside(kinds.flow[np.ix_(own, own)], counts)
    costs[:, MEMORY], heap = shared_and_heap(problem, topology, firsts, counts)
    if problem.cpu is not None:
        cpu = counts @ problem.demand[firsts, problem.cpu]
        costs[:, CPU] = used * np.maximum(problem.min_worker_cpu - cpu, 0)
    allowed = heap <= rules.heap_limit
    component = [problem.classes[c].component for c in firsts]
    for a in range(len(firsts)):
        if rules.keeps_apart(component[a], component[a]):
            allowed &= counts[:, a] <= 1
        for b in range(a):
            if rules.keeps_apart(component[a], component[b]):
                allowed &= (counts[:, a] == 0) | (counts[:, b] == 0)
    return costs, np.asarray(allowed, dtype=np.bool_)


Worker = tuple[int, int | None]
"""Topology and label; ``None`` = a fresh worker."""


@dataclass(frozen=True, slots=True, eq=False)
class CurrentCounts:
    """What runs now: [K] by home, (topology, node, label), and by node [N, K]."""

    workers: dict[tuple[int, int, int], IntArray]
    nodes: IntArray


def current_counts(problem: Problem, kinds: TaskTypes) -> CurrentCounts:
    """Return what each home and each node holds now."""
    workers: dict[tuple[int, int, int], IntArray] = {}
    nodes = np.zeros((problem.node_count, kinds.count), dtype=np.int64)
    for kind, group in enumerate(kinds.members):
        for c in group:
            task_class = problem.classes[c]
            assert task_class.home is not None, "the engine takes no others"
            key = (task_class.topology, *task_class.home)
            empty = np.zeros(kinds.count, dtype=np.int64)
            workers.setdefault(key, empty)[kind] += task_class.size
            nodes[task_class.home[0], kind] += task_class.size
    return CurrentCounts(workers, nodes)


class NodeChanges:
    """Makes the changes of nodes; `worker_of` maps each part of them to its worker."""

    def __init__(
        self, problem: Problem, kinds: TaskTypes, held: CurrentCounts, merger: Merger
    ) -> None:
        self._problem, self._kinds, self._held, self._merger = problem, kinds, held, merger
        self._fresh: dict[int, Changes] = {}
        self.worker_of: dict[int, Worker] = {}

    def of(self, node: int) -> Changes:
        """Return the changes of a node that keep its rules; costs: the terms, as they add up."""
        problem, changes = self._problem, self._nothing()
        for t, rules in enumerate(problem.rules):
            if rules.classes:
                changes = self._with_topology(changes, t, node)
        counts = self._held.nodes[node][None, :] + changes.net
        load = self._load(counts, changes.costs)
        fits = ((load <= problem.capacity[node]) | ~problem.hard).all(axis=1)
        fits &= changes.costs[:, WORKERS] <= problem.slots[node]
        fits &= within_node_caps(problem, self._kinds, counts)
        terms = self._terms(node, counts, load, changes.costs)
        fitting = np.flatnonzero(fits)
        changes = changes.with_costs(terms).where(fitting)
        return best_of(changes, lexicographic_rank(changes.costs))

    def _nothing(self) -> Changes:
        net = np.zeros((1, self._kinds.count), dtype=np.int64)
        return Changes(net, np.zeros(1, dtype=np.int64), np.zeros((1, 4), dtype=np.int64))

    def _with_topology(self, changes: Changes, topology: int, node: int) -> Changes:
        """Return the changes with those of the workers of one more topology."""
        fresh = self._fresh_worker(topology)
        most = self._merger.most if keeps_apart(self._problem, topology) else 1
        for _ in range(min(most, int(self._problem.slots[node]))):
            changes = self._merged(changes, fresh)
        for label in home_labels(self._problem, topology).get(node, ()):
            counts = self._held.workers[topology, node, label]
            own = self._worker(topology, label, counts)
            changes = self._merged(changes, own)
        return changes

    def _fresh_worker(self, topology: int) -> Changes:
        if topology not in self._fresh:
            nothing = np.zeros(self._kinds.count, dtype=np.int64)
            self._fresh[topology] = self._worker(topology, None, nothing)
        return self._fresh[topology]

    def _worker(self, topology: int, label: int | None, counts: IntArray) -> Changes:
        changes = worker_changes(self._problem, self._kinds, topology, counts, self._merger)
        self.worker_of[id(changes)] = (topology, label)
        return changes

    def _merged(self, first: Changes, second: Changes) -> Changes:
        merged = self._merger.merged(first, second)
        return best_of(merged, self._criteria(merged.costs))

    def _criteria(self, costs: IntArray) -> IntArray:
        """Return what decides between changes of a part of a node: room, then the terms."""
        problem = self._problem
        matters = {
            WORKERS: bool((problem.slots < problem.task_count).any()),
            CPU: problem.min_worker_cpu > 0,
            MEMORY: bool(problem.regions),
        }
        room = costs[:, [cost for cost, counts in matters.items() if counts]]
        parts = {"network": self._in_worker * costs[:, NETWORK], "workers": costs[:, WORKERS]}
        return np.concatenate([room, lexicographic_rank(self._sums(parts, len(costs)))], axis=1)

    @property
    def _in_worker(self) -> int:
        return int(self._problem.distance[NODE] - self._problem.distance[WORKER])

    def _sums(self, parts: dict[str, IntArray], rows: int) -> IntArray:
        """Return [S, T] the terms, with the parts that are given."""
        nothing = np.zeros(rows, dtype=np.int64)
        terms = [
            sum((m * parts.get(part, nothing) for part, m in term.parts), start=nothing)
            for term in self._problem.terms
        ]
        return np.stack(terms, axis=1)

    def _load(self, counts: IntArray, costs: IntArray) -> IntArray:
        problem, kinds = self._problem, self._kinds
        load = counts @ kinds.demand
        if problem.cpu is not None:
            load[:, problem.cpu] += costs[:, CPU]
        if problem.memory is not None:
            load[:, problem.memory] += costs[:, MEMORY]
        firsts = [group[0] for group in kinds.members]
        for region in problem.regions:
            if region.kind == "offheap_node":
                users = np.isin(firsts, region.classes)
                load[:, problem.memory] += region.size * (counts[:, users] > 0).any(axis=1)
        return np.asarray(load)

    def _terms(self, node: int, counts: IntArray, load: IntArray, costs: IntArray) -> IntArray:
        """Return [S, T] a node's share of the terms: network compared with all in one rack."""
        problem, kinds = self._problem, self._kinds
        on_node = int(problem.distance[RACK] - problem.distance[NODE])
        linear = np.zeros(len(counts), dtype=np.int64)
        if problem.linear is not None:
            firsts = [group[0] for group in kinds.members]
            linear = counts @ problem.linear[firsts, node]
        over = np.maximum(load - problem.capacity[node], 0)
        parts = {
            "overload": over @ problem.soft_weight,
            "network": self._in_worker * costs[:, NETWORK] - on_node * kinds.pairs(counts),
            "nodes": (costs[:, WORKERS] > 0).astype(np.int64),
            "workers": costs[:, WORKERS],
            "linear": linear,
        }
        return self._sums(parts, len(counts))
