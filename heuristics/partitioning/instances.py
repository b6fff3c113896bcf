"""The partitioners as methods on instances: tasks are the vertices, nodes the parts.

A node is a part as large as its capacity (`TaskGraph`). Hard rules of the instance leave a node
out like a full one; what a partitioner of the whole graph puts where it does not fit goes to the
node with room that it exchanges most with. A topology with a task that fits nowhere is left out
whole where the objective counts ``rejected``; otherwise the method refuses. Ignores ``running``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.method_names import SEPARATOR
from slotwise.heuristics.node_capacity import (
    PlacedNeighbours,
    computation,
    links,
    task_costs,
    task_slots,
)
from slotwise.heuristics.one_by_one import no_room
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.partitioning import orders
from slotwise.heuristics.partitioning.orders import NATURAL, ORDERS
from slotwise.heuristics.partitioning.partition import FloatArray, Parts
from slotwise.heuristics.partitioning.partitioners import PARTITIONERS
from slotwise.heuristics.partitioning.streaming import (
    RESTREAMING,
    STREAMING,
    StreamParameters,
    read_stream_parameters,
    streaming,
    usual_parameters,
    written_parameters,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.graph_files.vertex_stream import CsrGraph, IdArray, from_edges
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem

# The tasks of a problem as a graph to partition.
#
# The weight of a task is its ``cpu`` and the capacity of a node its cpu; where no task needs cpu,
# each weighs 1 and a node takes its task slots (`node_capacity`). The weight of an edge is the flow
# of the two tasks, both directions added.


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """The tasks of a problem as a graph.

    Parameters
    ----------
    weights
        [T] of the tasks.
    capacities
        [N] of the nodes, in the same unit.
    edge_weight
        Sum of all flows, an edge counted once.
    """

    problem: Problem
    weights: FloatArray
    capacities: FloatArray
    edge_weight: float

    @property
    def sizes(self) -> FloatArray:
        """[N] the nodes' shares of all capacity; where there is none, equal ones."""
        total = self.capacities.sum()
        if not total:
            return np.full(len(self.capacities), 1 / len(self.capacities))
        shares: FloatArray = self.capacities / total
        return shares

    def whole(self) -> CsrGraph:
        """Return the graph with all its edges."""
        pairs: list[IdArray] = [np.empty((0, 2), dtype=np.int32)]
        flows = [np.empty(0)]
        for (a, b), flow in self.problem.pair_flows().items():
            sources, targets = (np.array(self.problem.classes[c].tasks) for c in (a, b))
            if flow:
                ends = (np.repeat(sources, len(targets)), np.tile(targets, len(sources)))
                pairs.append(np.stack(ends, axis=1).astype(np.int32))
                flows.append(np.full(len(sources) * len(targets), float(flow)))
        return from_edges(np.concatenate(pairs), np.concatenate(flows), self.weights)


def task_graph(problem: Problem) -> TaskGraph:
    """Return the graph of a problem."""
    costs, capacities = [1] * len(problem.classes), task_slots(problem)
    if problem.cpu is not None and any(task_costs(problem)):
        costs, capacities = task_costs(problem), computation(problem)
    sizes = problem.sizes
    flows = problem.pair_flows().items()
    return TaskGraph(
        problem,
        np.array(costs, dtype=float)[problem.task_class],
        np.array(capacities, dtype=float),
        float(sum(flow * sizes[a] * sizes[b] for (a, b), flow in flows)),
    )


# Passes over the tasks of a problem: each task goes to the best node with room, in one order.


class Pass:
    """One pass over the tasks in `order`, with the latest places of their neighbours."""

    def __init__(
        self, graph: TaskGraph, token: CancellationToken, log: DecisionLog | None = None
    ) -> None:
        self.token = token
        self.log = log
        problem = graph.problem
        self.graph = graph
        self.order: Sequence[int] = range(problem.task_count)
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


Choice = Callable[[Pass, int, Generator], Iterator[int]]
"""(pass, task, rng) -> nodes, the best one first."""


def by_score(rule: str) -> Choice:
    """Return the choice of the greedy step of `rule`."""

    def choice(now: Pass, task: int, rng: Generator) -> Iterator[int]:
        graph = now.graph
        capacities, count = np.maximum(graph.capacities, 1e-9), len(now.load)
        gains = now.gains(task)
        if rule == "ldg":
            score = orders.ldg(gains, now.load, capacities)
        else:
            alpha = orders.fennel_alpha(count, float(graph.weights.sum()), graph.edge_weight)
            sizes = np.maximum(graph.sizes * count, 1e-9)
            score = orders.fennel(gains, now.load, float(graph.weights[task]), sizes, alpha)
        yield from np.lexsort((rng.random(count), now.load / capacities, -score)).tolist()

    return choice


def by_hash(now: Pass, task: int, rng: Generator) -> Iterator[int]:
    """Yield nodes from a random one on, each as likely as it is large."""
    count = len(now.load)
    first = int(np.searchsorted(np.cumsum(now.graph.sizes), rng.random(), side="right"))
    yield from ((first + step) % count for step in range(count))


CHOICES: dict[str, Choice] = {
    "hash": by_hash,
    "ldg": by_score("ldg"),
    "fennel": by_score("fennel"),
}
"""By the rules of `streaming`."""


def streamed(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    choice: Choice,
    parameters: StreamParameters,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the placement of the last pass over the tasks."""
    now = Pass(task_graph(problem), token, log)
    if parameters.order != NATURAL:
        now.order = ORDERS[parameters.order](now.graph.whole(), rng).tolist()
    for _ in range(parameters.passes - 1):
        now.begin()
        for task in now.order:
            now.put(task, choice(now, task, rng))
    return last_pass(now, lambda task: choice(now, task, rng))


def last_pass(now: Pass, nodes: Callable[[int], Iterator[int]]) -> Placement | Refusal:
    """Return the placement of a pass; topologies that do not fit are left out where allowed.

    `nodes` yields those for a task, the best one first.
    Of all passes this one alone is noted in the log.
    """
    problem = now.graph.problem
    now.begin()
    now.ledger.log = now.log
    left_out: set[int] = set()
    for task in now.order:
        t = problem.classes[problem.task_class[task]].topology
        if t in left_out or now.put(task, nodes(task)):
            continue
        if not problem.may_reject:
            return Refusal(f"topology {problem.rules[t].id}: {no_room(problem, task)}")
        left_out.add(t)
        now.ledger = now.ledger.without(t)
        now.load[:] = 0
        for other, (node, _) in now.ledger.places.items():
            now.load[node] += now.graph.weights[other]
    return now.ledger.placement()


def whole(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    name: str,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return what a partitioner of the whole graph makes of a problem."""
    graph = task_graph(problem)
    now = Pass(graph, token, log)
    used = np.flatnonzero(graph.capacities > 0)
    if not len(used) or not graph.weights.sum():
        return last_pass(now, lambda task: iter(range(problem.node_count)))
    capacities = graph.capacities[used]
    balance = max(1.0, float(capacities.sum() / graph.weights.sum()))
    parts = Parts(capacities / capacities.sum(), balance)
    parts_of_tasks = used[PARTITIONERS[name].run(graph.whole(), parts, rng, token).part].tolist()
    for task, node in enumerate(parts_of_tasks):
        now.moved(task, node)

    def nodes(task: int) -> Iterator[int]:
        yield parts_of_tasks[task]
        yield from np.lexsort((now.load, -now.gains(task))).tolist()

    return last_pass(now, nodes)


def _stream_method(name: str, parameters: StreamParameters) -> Method:
    partitioner = streaming(name, parameters)
    choice = CHOICES[name.removesuffix(RESTREAMING)]
    written, usual = (
        written_parameters(name, some) for some in (parameters, usual_parameters(name))
    )
    other = ",".join(f"{key}={value}" for key, value in written.items() if value != usual[key])

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return streamed(problem, rng, token, choice, parameters)

    return Method(
        name=f"{name}{SEPARATOR}{other}" if other else name,
        source=partitioner.source,
        place=never_stopped(place_until),
        place_until=place_until,
        place_logged=lambda problem, rng, log: streamed(
            problem, rng, CancellationToken(), choice, parameters, log
        ),
        description=partitioner.description,
        parameters=written,
        configure=lambda given: _stream_method(name, read_stream_parameters(name, given)),
    )


def _whole_method(name: str) -> Method:
    partitioner = PARTITIONERS[name]

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return whole(problem, rng, token, name)

    return Method(
        name=name,
        source=partitioner.source,
        place=never_stopped(place_until),
        place_until=place_until,
        place_logged=lambda problem, rng, log: whole(problem, rng, CancellationToken(), name, log),
        supports=lambda problem: partitioner.missing(),
        description=partitioner.description,
    )


PARTITIONING_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(_stream_method(name, usual_parameters(name)) for name in STREAMING),
        _whole_method("metis"),
        _whole_method("kahip"),
    )
}
