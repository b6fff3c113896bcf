"""What is known at once of every problem: a first placement, and bounds that always hold.

The published heuristics that apply give the placement. The bounds hold for every placement: no part
of the objective is negative; what all tasks need beyond what all nodes have is overload
somewhere; some cpu is in use at least as much as all are in the mean; every topology with tasks has
a worker. They need no earlier term to be at its best.
Where two classes fill many nodes, few of their pairs can meet, which bounds the network
(`least_network`). ``auto`` starts from here and falls back on it where no engine gets far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.partitioning.instances import PARTITIONING_METHODS
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters


@dataclass(frozen=True, slots=True)
class BaselineParams(Parameters):
    """How long heuristics may take.

    Parameters
    ----------
    time_fraction
        After this share of the time limit no other heuristic starts.
    patience, patience_for_first
        A heuristic is stopped after this multiple of that share; the second while there is no
        placement yet.
    """

    time_fraction: float = 0.05
    patience: float = 4.0
    patience_for_first: float = 10.0


BASELINE_DEFAULTS = BaselineParams()


FIRST = ("ras-default", "r-storm", "r-storm-pseudocode")
"""Heuristics that run first: the one that is best most often, which local search improves most, and
the quickest (one keeps soft resources, the other refuses least). With many tasks on many nodes the
last two, which look at every node for every task, are the slowest.
"""
STARTS = tuple(
    dict.fromkeys(
        name
        for name in (*FIRST, *HEURISTICS)
        if name in HEURISTICS and name not in PARTITIONING_METHODS and "stromax" not in name
    )
)
"""All heuristics that run, in their order: not those that partition graphs, which look at one
resource alone. METIS and KaHIP are optional besides, and native code that nothing stops: what a
solve answers must not depend on them.
"""
KIND, CAPACITY = "trivial", "capacity"
"""What the bounds are."""


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: BaselineParams = BASELINE_DEFAULTS,
) -> Outcome:
    """Return the best of the hint and the heuristics' placements, and the simple bounds.

    Each placement is reported at once. With many tasks not all heuristics run: no more start
    after `time_fraction` of the limit.
    """
    seconds = params.time_fraction * limits.time_s
    return best_of_heuristics(problem, limits.seed, hint, STARTS, seconds, reporter, params)


def best_of_heuristics(
    problem: Problem,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float = math.inf,
    reporter: Reporter | None = None,
    params: BaselineParams = BASELINE_DEFAULTS,
) -> Outcome:
    """Return the best of the hint and of some heuristics' placements, and the simple bounds.

    After these seconds no other heuristic starts, and one that runs `patience` times as long is
    stopped, or `patience_for_first` times as long where there is no placement yet.
    """
    best = Incumbent(problem, reporter or null_reporter(problem, "baseline"))
    best.prove(simple_bounds(problem), KIND)
    bounds = capacity_bounds(problem, best.reporter.token)
    best.prove(bounds, CAPACITY)
    _place(best, seed, hint, methods, seconds, params)
    outcome = best.outcome(
        "simple bounds: no part below 0, demand beyond capacity, pairs that share no node"
    )
    return replace(outcome, bounds=bounds)  # they hold whatever the earlier terms are at


def simple_bounds(problem: Problem, *, network: int = 0) -> tuple[int, ...]:
    """Return a value per term that no valid placement is below; `network` is a bound of that."""
    least = dict.fromkeys(("linear", "moved", "rejected", "overload"), 0)
    topologies = 0 if problem.may_reject else sum(bool(r.classes) for r in problem.rules)
    least |= {"workers": topologies, "nodes": fewest_nodes(problem), "network": network}
    least["bottleneck"] = least_bottleneck(problem)
    if not problem.may_reject:
        least["overload"] = _least_overload(problem)
    return tuple(sum(m * least[part] for part, m in term.parts) for term in problem.terms)


def capacity_bounds(problem: Problem, token: CancellationToken) -> tuple[int, ...]:
    """Return the same with what the network costs because nodes are small (`least_network`)."""
    counts = any(part == "network" for term in problem.terms for part, _ in term.parts)
    return simple_bounds(problem, network=least_network(problem, token) if counts else 0)


def least_bottleneck(problem: Problem) -> int:
    """Return a lower bound of the highest utilisation, in its integer steps.

    The mean of all cpus, or more where tasks must share one; 0 where topologies may be left out.

    Of the k N + 1 tasks with the most work some k + 1 are on one of the N nodes.
    """
    if problem.workload is None or problem.may_reject:
        return 0
    pairs = problem.workload.pairs
    works = np.sort(np.repeat(pairs.work, problem.sizes))[:: -problem.node_count]
    shared = max(((k + 1) * work for k, work in enumerate(works.tolist())), default=0)
    return max(problem.workload.least, shared * min(pairs.cpu))


def _least_overload(problem: Problem) -> int:
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    total = 0
    for d, weight in enumerate(problem.soft_weight.tolist()):
        capacities = problem.capacity[:, d].tolist()
        if weight and NO_LIMIT not in capacities:
            total += weight * max(0, int(demand[d]) - sum(capacities))
    return total


def _place(
    best: Incumbent,
    seed: int,
    hint: Placement | None,
    methods: Sequence[str],
    seconds: float,
    params: BaselineParams,
) -> None:
    """Offer the hint and the heuristics' placements."""
    token = best.reporter.token
    started = token.now()
    for name in (None, *methods):
        is_first = best.placement is None
        patience = seconds * (params.patience_for_first if is_first else params.patience)
        until = token.child(started + patience)
        placement = hint if name is None else _placed(best.problem, name, seed, until)
        if placement is not None:
            best.offer(placement)
        late = token.now() - started > seconds
        if token.is_cancelled or (late and best.placement is not None):
            break


def _placed(problem: Problem, name: str, seed: int, token: CancellationToken) -> Placement | None:
    """Return a heuristic's placement; ``None`` where it refuses, or `token` stops it."""
    try:
        answer = run_method(problem, HEURISTICS[name], seed, token)
    except CancelledError:
        return None
    return answer if isinstance(answer, Placement) else None


def _engine(params: BaselineParams) -> Engine:
    return Engine(
        name="baseline",
        run=partial(run, params=params),
        supports=lambda problem: None,
        version=lambda: f"slotwise {version('slotwise')}",
    )


BASELINE = configurable(_engine, BASELINE_DEFAULTS)


# A cheap bound of the network: two classes that fill many nodes meet in few pairs.
#
# Let a task of class a take the share r_a of the largest node in some hard dimension, so that
# every node content y has sum r_a y_a <= 1. Let A and B be the numbers of tasks of two classes,
# and S = A r_a + B r_b the nodes that they fill. Then at most A B / max(1, S) of their A B pairs
# share a node. Proof: with u = r_a y_a and v = r_b y_b, u + v <= 1 on each node, and for any t in
# [0, 1]
#
#     u v <= (1 - t)^2 u + t^2 v,
#
# since for u + v = 1 the right side is the tangent at u = t of the concave u (1 - u), and for
# less both sides shrink, the left one faster. Summed over the nodes, with sum u = A r_a and sum v
# = B r_b, the pairs are at most (1 - t)^2 A / r_b + t^2 B / r_a; the least of that over t is A B
# / (A r_a + B r_b). (Where r_b is 0 each of the B tasks meets at most 1 / r_a, which is the
# same.) The same holds for workers, with their heap as one more dimension, and for racks with
# their total capacity. A cap of m tasks per node is a dimension of its own, with share 1 / m. So
#
#     network >= sum over pairs of classes of flow *
#                (farthest * A B - savings of the pairs that can share a rack, node, worker).
#
# The least number of nodes is what one dimension needs at least. All in whole numbers.


def least_network(problem: Problem, token: CancellationToken) -> int:
    """Return a lower bound on the network cost of every placement.

    In integer steps of the part ``network``; 0 where topologies may be left out, or distances
    come as a matrix.
    """
    if problem.may_reject or problem.matrix is not None:
        return 0
    saving = [max(0, int(step)) for step in np.diff(problem.distance)]
    least_distance = int(problem.distance[CLUSTER]) - sum(saving)
    racks, nodes, workers = (_Shares(problem, level) for level in (CLUSTER, RACK, NODE))
    total = 0
    for (a, b), flow in problem.pair_flows().items():
        token.check()
        pairs = problem.classes[a].size * problem.classes[b].size
        close = (workers.together(a, b), nodes.together(a, b), racks.together(a, b))
        apart = sum(s * (pairs - min(c, pairs)) for s, c in zip(saving, close, strict=True))
        total += flow * (least_distance * pairs + apart)
    return max(0, total)


def fewest_nodes(problem: Problem) -> int:
    """Return how many nodes are in use at least; 0 where topologies may be left out."""
    if problem.may_reject or not problem.task_count:
        return 0
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    needed = [1]
    for d in np.flatnonzero(problem.hard).tolist():
        most = int(problem.capacity[:, d].max())
        if 0 < most < NO_LIMIT:
            needed.append(-(-int(demand[d]) // most))
    return max(needed)


class _Shares:
    """What a task of each class takes of a place below `level`: racks, nodes or workers."""

    def __init__(self, problem: Problem, level: int) -> None:
        self._problem = problem
        self._level = level
        self._limits = dict(pair for rules in problem.rules for pair in rules.max_per_node)
        capacity = _rack_capacity(problem) if level == CLUSTER else problem.capacity
        self._most = {
            d: int(most)
            for d, most in enumerate(capacity.max(axis=0).tolist())
            if problem.hard[d] and 0 < most < NO_LIMIT
        }

    def together(self, a: int, b: int) -> int:
        """Return how many pairs of tasks of two classes can share a place at most."""
        if self._level == NODE and self._kept_apart(a, b):
            return 0
        sizes = [self._problem.classes[c].size for c in (a, b)]
        filled = max(
            (x * sizes[0] + y * sizes[1] for x, y in self._class_shares(a, b)), default=Fraction(0)
        )
        return int(Fraction(sizes[0] * sizes[1]) / max(Fraction(1), filled))

    def _class_shares(self, a: int, b: int) -> Iterable[tuple[Fraction, Fraction]]:
        """Yield the shares of both classes in each dimension."""
        demand = self._problem.demand
        for d, most in self._most.items():
            yield Fraction(int(demand[a, d]), most), Fraction(int(demand[b, d]), most)
        if self._level == CLUSTER:
            return
        for c, at in ((a, 0), (b, 1)):
            cap = self._limits.get(self._problem.classes[c].component)
            if cap:
                share = Fraction(1, cap)
                yield (share, Fraction(0)) if at == 0 else (Fraction(0), share)
        limit = self._problem.rules[self._problem.classes[a].topology].heap_limit
        if self._level == NODE and 0 < limit < NO_LIMIT:
            heap = self._problem.heap
            yield Fraction(int(heap[a]), limit), Fraction(int(heap[b]), limit)

    def _kept_apart(self, a: int, b: int) -> bool:
        """Return whether tasks of both classes never share a worker."""
        first, second = self._problem.classes[a], self._problem.classes[b]
        rules = self._problem.rules[first.topology]
        return rules.keeps_apart(first.component, second.component)


def _rack_capacity(problem: Problem) -> IntArray:
    """Return [R, D] the capacity of each rack; no limit where one of its nodes has none."""
    total = np.zeros((len(problem.racks), len(problem.dims)), dtype=np.int64)
    for rack in range(len(problem.racks)):
        nodes = problem.capacity[problem.node_rack == rack]
        endless = (nodes == NO_LIMIT).any(axis=0)
        total[rack] = np.where(endless, NO_LIMIT, np.where(endless, 0, nodes).sum(axis=0))
    return total
