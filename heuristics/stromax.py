"""StroMAX: schedulers of stream processors by streaming graph partitioning.

The article [1] has three algorithms. ``stromax-bootstrap`` places each topology when it is
submitted, from its graph alone (Algorithm 1, equation 5); ``stromax-global`` partitions the
tasks of all topologies by measured costs (equations 6 to 10); ``stromax-reassign`` moves tasks away
from nodes above the average (equation 11, Algorithm 2). They share the order of the stream and the
greedy step. Each comment says how the article's gaps are read. In words:
``docs/methods/stromax.md``.

[1] J. Jiang, Z. Zhang, B. Cui, Y. Tong, N. Xu, StroMAX: Partitioning-based Scheduler for Real-time
Stream Processing System, DASFAA 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
import numpy as np
from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.node_capacity import (
    Links,
    PlacedNeighbours,
    computation,
    links,
    needs_cpu,
    task_costs,
    task_slots,
)
from slotwise.heuristics.one_by_one import no_room, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger, LedgerWorker
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem
from slotwise.models.values import as_decimal, exact, exact_text

# Bootstrap Scheduler: section 3.2, Algorithm 1 and equation 5.
#
# Each topology is placed when it is submitted, in the order of the instance, on what the earlier
# ones have left. Its tasks come in topological order (`linearise`); each goes to the node i
# with most neighbours of it times (1 - |P_i| / w_i), where every task costs 1 and w_i is the
# number of tasks that the node takes (`node_capacity`). How ties and full nodes are read stands
# at `GreedyStream`; besides:
#
# - N(v) holds the tasks that send tuples to v or receive some from it, each once.
# - Definition 2 asks for equal parts, equation 3 for capacities: capacities. Parts may be empty.
# - A topology with a cycle is refused, as line 13 says. ``stromax-bootstrap-condensed``, ours,
#   condenses cycles instead; on a graph without any it is the same method.
# - ``running`` is not read: the cluster is empty.


def bootstrap(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    log: DecisionLog | None = None,
    *,
    condense: bool,
) -> Placement | Refusal:
    """Return the placement of Algorithm 1, topology by topology."""
    capacity = task_slots(problem)
    costs = [1] * len(problem.classes)
    linked = links(problem, lambda neighbour, flow: 1)

    def place(ledger: Ledger, topology: int) -> str | None:
        order = linearise(problem, [topology], rng, condense=condense)
        if isinstance(order, Cycle):
            return order.reason
        stream = GreedyStream(ledger, capacity, costs, linked, token)
        return next((no_room(problem, task) for task in order if not stream.assign(task)), None)

    return place_one_by_one(problem, hard_dimensions(problem), place, log=log)


def _bootstrap(name: str, source: str, description: str, *, condense: bool) -> Method:
    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return bootstrap(problem, rng, token, condense=condense)

    return Method(
        name=name,
        source=source,
        place=never_stopped(place_until),
        description=description,
        place_until=place_until,
        place_logged=lambda problem, rng, log: bootstrap(
            problem, rng, CancellationToken(), log, condense=condense
        ),
    )


STROMAX_BOOTSTRAP = _bootstrap(
    "stromax-bootstrap",
    "StroMAX (Jiang et al., DASFAA 2017), section 3.2, Algorithm 1",
    "Tasks in topological order, each to the node with the most neighbours and the most room; "
    "refuses a graph with a cycle.",
    condense=False,
)

STROMAX_BOOTSTRAP_CONDENSED = _bootstrap(
    "stromax-bootstrap-condensed",
    "ours: StroMAX, Algorithm 1, on the graph with its cycles condensed",
    "The algorithm of stromax-bootstrap with the cycles of the graph condensed.",
    condense=True,
)


# Global-topology-graph partitioning: section 3.3, equations 6 to 10.
#
# The tasks of all topologies are one weighted graph, partitioned from scratch: in topological
# order, each task goes to the node i with the largest sum over its neighbours x there of |x| (1 -
# |P_i| / w_i). |x| is the computation cost of x (its ``cpu``), |P_i| that of all on node i, w_i
# the node's computation. How ties and full nodes are read stands at `GreedyStream`; besides:
#
# - Equation 10 weighs a neighbour by its *computation* cost, so the measured communication, which
#   equations 6 to 9 minimise, never enters. ``stromax-global`` does so; ``stromax-global-comm``,
#   ours, weighs it by the communication of the two tasks, both directions added.
# - Costs are those of the instance: the article measures them, in GHz ms and in KB a tuple.
# - The sums of equation 6 take each pair of parts twice; an edge is counted once.
# - The linearisation runs over the union of the topologies and begins with one random spout task. A
#   cycle is refused, as there.
# - A topology with a task that no node takes is left out whole where the objective counts
#   ``rejected``; else the method refuses.
# - ``running`` is not read; tasks are placed afresh.

Weight = Callable[[Problem], Callable[[int, int], int]]
"""The weight of a neighbour, as in `links`."""


def by_computation(problem: Problem) -> Callable[[int, int], int]:
    """Return the weight of a neighbour in equation 10: its computation cost."""
    costs = task_costs(problem)
    return lambda neighbour, flow: costs[neighbour]


def by_communication(problem: Problem) -> Callable[[int, int], int]:
    """Return the weight of a neighbour in our variant: the communication with it."""
    return lambda neighbour, flow: flow


def partition(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    weight: Weight,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the placement of all tasks by equation 10, neighbours counted by `weight`."""
    ledger = Ledger(problem, hard_dimensions(problem), log)
    if not problem.task_count:
        return ledger.placement()
    order = linearise(problem, range(len(problem.rules)), rng)
    if isinstance(order, Cycle):
        return Refusal(f"topology {order.topology}: {order.reason}")
    capacity, costs = computation(problem), task_costs(problem)
    linked = links(problem, weight(problem))
    stream = GreedyStream(ledger, capacity, costs, linked, token)
    left_out: set[int] = set()
    for task in order:
        t = problem.classes[problem.task_class[task]].topology
        if t in left_out or stream.assign(task):
            continue
        if not problem.may_reject:
            return Refusal(f"topology {problem.rules[t].id}: {no_room(problem, task)}")
        left_out.add(t)
        stream = GreedyStream(stream.ledger.without(t), capacity, costs, linked, token)
    return stream.ledger.placement()


def _global(name: str, source: str, description: str, weight: Weight) -> Method:
    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return partition(problem, rng, token, weight)

    return Method(
        name=name,
        source=source,
        place=never_stopped(place_until),
        supports=needs_cpu,
        description=description,
        place_until=place_until,
        place_logged=lambda problem, rng, log: partition(
            problem, rng, CancellationToken(), weight, log
        ),
    )


STROMAX_GLOBAL = _global(
    "stromax-global",
    "StroMAX (Jiang et al., DASFAA 2017), section 3.3, equation 10",
    "All topologies as one graph; each task to the node where its neighbours compute most and "
    "most cpu is left; as in the equation, communication weights do not count.",
    by_computation,
)

STROMAX_GLOBAL_COMM = _global(
    "stromax-global-comm",
    "ours: StroMAX, equation 10 with the communication that equations 6 to 9 minimise",
    "The algorithm of stromax-global with neighbours weighed by communication.",
    by_communication,
)


# The greedy step of equations 5 and 10: the node with most neighbours, less what it has taken.
#
# index = argmax over nodes i of gain_i (1 - |P_i| / w_i), where gain_i is the weight of the
# task's neighbours on node i, |P_i| what is on it and w_i its capacity. How the gaps are read:
#
# - The score is 0 on every node while no neighbour is placed, and on a full node too: nodes on
#   which the task exceeds the capacity are left out. ``<`` (equation 7) against ``<=`` (3): ``<=``.
# - Ties: the least |P_i|, then the lowest index.
# - |P_i| counts what earlier topologies have on the node; else capacities would not hold.
# - The article knows no other limits. Hard rules of the instance leave a node out as well, and the
#   tasks of a node go first fit into workers there.
# - A task that no node takes: its topology is not placed.
#
# Scores are compared as exact fractions.


class GreedyStream:
    """Tasks assigned one after another; none is moved again.

    Parameters
    ----------
    ledger
        What is placed already.
    capacity
        Of each node: most that the costs of its tasks may add up to.
    costs
        Cost of a task of each class, in the unit of `capacity`.
    linked
        Neighbours of the tasks and what they count.
    token
        Checked for each task.
    """

    def __init__(
        self,
        ledger: Ledger,
        capacity: Sequence[int],
        costs: Sequence[int],
        linked: Links,
        token: CancellationToken,
    ) -> None:
        self._token = token
        self.ledger = ledger
        problem = ledger.problem
        self._class: list[int] = problem.task_class.tolist()
        self._capacity = capacity
        self._costs = costs
        self._neighbours = PlacedNeighbours(problem, linked)
        self._load = np.zeros(problem.node_count, dtype=np.int64)
        for task, (node, _) in ledger.places.items():
            self._count(task, node)

    def assign(self, task: int) -> bool:
        """Place `task`; return whether a node takes it."""
        self._token.check()
        cost = self._costs[self._class[task]]
        for node in self._by_score(task):
            if self._load[node] + cost > self._capacity[node]:
                continue
            worker = self.ledger.find_worker(task, node)
            if worker is not None:
                self.ledger.put(task, node, worker)
                self._count(task, node)
                return True
        return False

    def _by_score(self, task: int) -> Iterator[int]:
        """Yield nodes by score, load and index; those that are full may be among them."""
        scores = {
            node: self._score(node, gain) for node, gain in self._neighbours.gains(task).items()
        }
        above = [node for node, score in scores.items() if score > 0]
        yield from sorted(above, key=lambda node: (-scores[node], self._load[node], node))
        positive = set(above)
        for node in np.argsort(self._load, kind="stable").tolist():
            if node not in positive:
                yield node

    def _score(self, node: int, gain: int) -> Fraction:
        capacity, load = self._capacity[node], int(self._load[node])
        return Fraction(gain * (capacity - load), capacity) if capacity else Fraction(0)

    def _count(self, task: int, node: int) -> None:
        self._load[node] += self._costs[self._class[task]]
        self._neighbours.put(task, node)


def hard_dimensions(problem: Problem) -> set[int]:
    """Return the dimensions that may not be exceeded."""
    return {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}


# The stream of tasks: topological linearisation (section 3.2; Algorithm 1, lines 1 to 14).
#
# How the gaps are read:
#
# - *The first element is a random spout task*: drawn among the tasks of spouts without incoming
#   streams; where no spout is without, among all tasks without.
# - *Any order* of the others: the set S of line 2 is a queue (first in, first out) that begins with
#   the other tasks without incoming streams in the order of the instance; a component enters it,
#   task by task, once the last task before it has been taken.
# - *Error: the graph is not DAG* (line 13): `Cycle`. Streams from a component to itself never count
#   in slotwise, so they are not a cycle.
# - *Condensed* (ours, not the article's): the components of a cycle are one vertex of the graph
#   that is sorted; they enter the queue together, in the order of the instance.


@dataclass(frozen=True, slots=True)
class Cycle:
    """Components of one topology that lie on a cycle."""

    topology: str
    components: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why the topology is not placed."""
        return f"the graph is not a DAG: {', '.join(self.components)} are on a cycle"


def linearise(
    problem: Problem, topologies: Iterable[int], rng: Generator, *, condense: bool = False
) -> list[int] | Cycle:
    """Return the tasks of `topologies`, each after all whose tuples it consumes.

    Parameters
    ----------
    rng
        Draws the first task.
    condense
        Whether cycles are condensed; else they are refused.
    """
    graph = _component_graph(problem, topologies)
    parts = [sorted(part) for part in nx.strongly_connected_components(graph)]
    for part in parts:
        if len(part) > 1 and not condense:
            topology, _ = problem.components[part[0]]
            ids = tuple(problem.components[c][1] for c in part)
            return Cycle(problem.instance.topologies[topology].id, ids)
    return _queue_order(problem, graph, sorted(parts), rng)


def _component_graph(problem: Problem, topologies: Iterable[int]) -> nx.DiGraph[int]:
    number = {key: c for c, key in enumerate(problem.components)}
    graph: nx.DiGraph[int] = nx.DiGraph()
    for t in topologies:
        topology = problem.instance.topologies[t]
        graph.add_nodes_from(number[t, one.id] for one in topology.placed_components)
        graph.add_edges_from(
            (number[t, s.source], number[t, s.target])
            for s in topology.streams
            if s.source != s.target
        )
    return graph


def _queue_order(
    problem: Problem, graph: nx.DiGraph[int], parts: Sequence[list[int]], rng: Generator
) -> list[int]:
    """Return the order of a queue; `parts` are sets of components that enter it together."""
    tasks = _tasks_of_components(problem)
    part_of = {c: p for p, part in enumerate(parts) for c in part}
    after: list[dict[int, None]] = [{} for _ in parts]
    for source, target in graph.edges:
        if part_of[source] != part_of[target]:
            after[part_of[source]][part_of[target]] = None
    waits = [0] * len(parts)
    for targets in after:
        for p in targets:
            waits[p] += 1
    members = [[task for c in part for task in tasks[c]] for part in parts]
    left = [len(own) for own in members]
    sources = [p for p, count in enumerate(waits) if not count]
    queue = [task for p in sources for task in members[p]]
    _draw_first(problem, [c for p in sources for c in parts[p]], tasks, queue, rng)
    owner = {task: p for p, own in enumerate(members) for task in own}

    def release(p: int) -> None:
        for target in after[p]:
            waits[target] -= 1
            if not waits[target]:
                queue.extend(members[target])
                if not members[target]:
                    release(target)

    for p in sources:
        if not members[p]:
            release(p)
    for task in queue:  # grows while it is read
        left[owner[task]] -= 1
        if not left[owner[task]]:
            release(owner[task])
    return queue


def _draw_first(
    problem: Problem, sources: list[int], tasks: list[list[int]], queue: list[int], rng: Generator
) -> None:
    """Move a random spout task to the front of `queue`, or any task where there is none."""
    kinds = {
        (t, component.id): component.kind
        for t, topology in enumerate(problem.instance.topologies)
        for component in topology.placed_components
    }
    spouts = [c for c in sources if kinds[problem.components[c]] == "spout"]
    choice = [task for c in spouts for task in tasks[c]] or list(queue)
    if choice:
        first = choice[int(rng.integers(len(choice)))]
        queue.remove(first)
        queue.insert(0, first)


def _tasks_of_components(problem: Problem) -> list[list[int]]:
    tasks: list[list[int]] = [[] for _ in problem.components]
    for task_class in problem.classes:
        tasks[task_class.component].extend(task_class.tasks)
    return [sorted(own) for own in tasks]


# Dynamic task reassignment: section 3.3, equation 11 and Algorithm 2.
#
# From where the tasks run now, each node in turn whose computation is above the average by more
# than a share theta of it gives away tasks, those with most traffic to other nodes first, each to
# the node that it exchanges most with, until the node is no longer above. How the gaps are read:
#
# - *Threshold*: Algorithm 2 compares the node's computation with theta times the average; the text
#   has it "higher than the average ... by theta". The text: (1 + theta) times the average.
# - *Theta*: parameter ``theta``, 0.12 as in section 5.3.
# - *Computation and traffic*: ``cpu`` of the tasks, and flows of the instance, both directions
#   added; tasks on one node exchange nothing (rc = 0).
# - *Order*: sorted when the node's turn comes (line 3) and taken from the end, so the largest
#   first, with no update in between. Ties: the lowest index. Nodes come in the order of the
#   instance.
# - *Receiving node* (line 6): the one with most traffic to the task, then the least computation,
#   then the lowest index. It needs room: no more than its cpu, hard or soft, nor than the threshold
#   (else the tasks would overload it instead), and no hard rule broken. Without room: the next
#   best, and where none has room the task stays.
# - A limit of moves in the objective ends the moves.
# - It needs ``running``, for every task.

NAME = "stromax-reassign"
THETA = Fraction(12, 100)
"""Section 5.3: between 10 % and 15 % is best for most workloads; the experiments have 12 %."""


def threshold(loads: list[int], theta: Fraction) -> Fraction:
    """Return the most computation of a node that is not skew (equation 11, with the text)."""
    return (1 + theta) * Fraction(sum(loads), len(loads))


def supports(problem: Problem) -> str | None:
    """Return why tasks cannot be reassigned; ``None`` = they can."""
    if any(one.home is None for one in problem.classes):
        return "needs to know where every task runs now (`running`)"
    return needs_cpu(problem)


def reassign(problem: Problem, theta: Fraction, token: CancellationToken) -> Placement | Refusal:
    """Return where Algorithm 2 moves the running tasks; nothing in it is random."""
    ledger = Ledger(problem, hard_dimensions(problem))
    workers: dict[tuple[int, tuple[int, int]], LedgerWorker] = {}
    for task_class in problem.classes:
        assert task_class.home is not None, "checked by `supports`"
        for task in task_class.tasks:
            key = (task_class.topology, task_class.home)
            worker = workers.setdefault(key, LedgerWorker(task_class.topology, task_class.home[1]))
            ledger.put(task, task_class.home[0], worker)
    if problem.task_count:
        moves = Moves(ledger, theta, token)
        for node in range(problem.node_count):
            moves.relieve(node)
    return ledger.placement()


@dataclass(slots=True)
class _Load:
    """Computation on the nodes, and the most that each may have after receiving a task."""

    now: list[int]
    limit: Fraction
    most: list[Fraction]


class Moves:
    """The tasks that run, being moved one by one."""

    def __init__(self, ledger: Ledger, theta: Fraction, token: CancellationToken) -> None:
        self._token = token
        problem = ledger.problem
        self._ledger = ledger
        self._class: list[int] = problem.task_class.tolist()
        self._costs = task_costs(problem)
        self._traffic = PlacedNeighbours(problem, links(problem, lambda _, flow: flow))
        now = [0] * problem.node_count
        for task, (node, _) in ledger.places.items():
            now[node] += self._costs[self._class[task]]
            self._traffic.put(task, node)
        limit = threshold(now, theta)
        most = [min(limit, Fraction(capacity)) for capacity in computation(problem)]
        self._load = _Load(now, limit, most)
        self._away: set[int] = set()
        assert problem.cpu is not None, "checked by `supports`"
        self._kept = {*ledger.hard, problem.cpu}

    def relieve(self, node: int) -> None:
        """Move tasks away from `node` while it is above the threshold (lines 2 to 10)."""
        if self._load.now[node] <= self._load.limit:
            return
        own = [task for task, (here, _) in self._ledger.places.items() if here == node]
        remote = {task: self._remote(task, node) for task in own}
        for task in sorted(own, key=lambda task: (-remote[task], task)):
            if self._load.now[node] <= self._load.limit or not self._may_move(task):
                break
            self._token.check()
            self._send_away(task, node)

    def _remote(self, task: int, node: int) -> int:
        """Return the traffic of `task` with tasks on other nodes."""
        gains = self._traffic.gains(task)
        return gains.total() - gains[node]

    def _may_move(self, task: int) -> bool:
        return len(self._away | {task}) <= self._ledger.problem.move_limit

    def _send_away(self, task: int, node: int) -> None:
        gains, load = self._traffic.gains(task), self._load
        cost = self._costs[self._class[task]]
        others = [j for j in range(len(load.now)) if j != node]
        for j in sorted(others, key=lambda j: (-gains[j], load.now[j], j)):
            if load.now[j] + cost > load.most[j]:
                continue
            worker = self._ledger.find_worker(task, j, self._kept)
            if worker is None:
                continue
            self._ledger.remove(task)
            self._ledger.put(task, j, worker)
            self._traffic.remove(task, node)
            self._traffic.put(task, j)
            load.now[node] -= cost
            load.now[j] += cost
            self._away.add(task)
            return


def stromax_reassign(theta: Fraction = THETA) -> Method:
    """Return the method ``stromax-reassign`` with this share above the average, 0 or more."""
    written, percent = (exact_text(as_decimal(share)) for share in (theta, 100 * theta))

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return reassign(problem, theta, token)

    return Method(
        name=NAME if theta == THETA else f"{NAME}:theta={written}",
        source="StroMAX (Jiang et al., DASFAA 2017), section 3.3, Algorithm 2",
        place=never_stopped(place_until),
        supports=supports,
        description=(
            f"Moves running tasks away from nodes more than {percent} % above the average cpu, to "
            "the nodes with which they exchange most."
        ),
        parameters={"theta": written},
        configure=_configured,
        place_until=place_until,
        draws=False,
    )


def _configured(texts: Mapping[str, tuple[str, ...]]) -> Method:
    theta = THETA
    for key, values in texts.items():
        if key != "theta":
            rule = f"is not a parameter of {NAME}; {suggestion(key, ['theta'])}"
            raise InputError(rule, field="method", value=key)
        if len(values) != 1:
            raise InputError("must be one number", field=f"{NAME}:theta", value=",".join(values))
        theta = Fraction(exact(values[0], f"{NAME}:theta"))
    return stromax_reassign(theta)


STROMAX_REASSIGN = stromax_reassign()
