"""R-Storm as its authors ran it: the algorithm of their research code.

Read from that code (github.com/jerrypeng/storm-resource-aware-scheduler, package
``backtype.storm.scheduler.resource.Strategies``, class ``ResourceAwareStrategy``, as of 10
December 2014). It is behind the figures of the article (Peng et al., Middleware 2015) and is not
its pseudo-code: a node takes a task only if it has memory *and cpu* for it. The five runs of which
the authors left a log are replayed host by host (``tests/heuristics/rstorm/test_logs.py``).

What that code does, oddities included:

- *Order of tasks*: breadth first from one spout, children before parents; one task of each
  component in turn (`research_task_selection`). Which spout, and the order of neighbours, are
  those of Java 7's hash maps (`task_order`). Executors that the spout does not lead to, system
  tasks among them, come last. Without a spout nothing is scheduled.
- *First task*: of the rack with most free memory (it adds memory twice and cpu never), the node
  with a free slot and room whose memory and cpu left are nearest to the demand. This is the
  reference node for the whole topology, whatever fills up.
- *Every other task*: the node with room that is nearest by ``(memory difference)^2 + (cpu
  difference)^2 + (network distance)^2`` in MB and points, each term weighted before it is squared.
  The network distance is from the reference node: 1 in its rack, itself included, 2 beyond.
- *Slots*: nobody asks for a free one after the first task. Where the nearest node has none the
  assignment fails, and with it the topology: so here.
- *A task that fits nowhere*: the topology is not scheduled.
- *What a failed topology consumed*, the tasks after the one that failed included, stays consumed
  for the rest of the round: topologies after it see less. Its slots are free.

Not kept:

- *From 29 April 2015 on* (the last commit to that file is of 14 May) the executors left over, those
  that fit nowhere as well as those outside the order (ackers, components that the spout does not
  lead to), are dealt in turn over all nodes, whatever they need, and consume nothing. So both
  versions place alike only where everything fits and nothing is outside the order, as in the
  authors' last topologies (``setNumAckers(0)``).
- *A failed assignment* leaves what was assigned to other nodes before it. Here a topology is placed
  whole or not at all.

Our own additions, for what that code does not handle:

- *Soft resources*: cpu is kept like memory as long as any node has room for the task, and only
  then overloaded, on the node whose overload is least after it (the nearest of several). So the
  article's "soft" is what it claims: used for nothing but the impossible. A node that is overloaded
  takes a task without cpu only in this way too (that code asks for ``available >= needed``). A hard
  cpu is never exceeded; then the method refuses, as that code does. Memory is never exceeded, even
  where the instance has it soft.
- *Ties*: between racks by name, between nodes by id; tasks left over in the order of the file. That
  code has the order of hash maps of supervisors' ids (random, so no instance has it), of racks'
  numbers, for the first task the order of a file of hosts, and a hash set of executors.
- *The first task* where no node of the first rack has room: that code dies of a null reference;
  here the rack with the next most memory is tried.
- *Workers*: one per topology and node, as there. That code knows no rules of workers; a topology
  that has some (a heap limit, isolation, incompatible components) gets workers first fit, and a
  node takes a task only if one of its workers does, opened or in a free slot.
- *Unlimited capacities* count as what all tasks together need, or as the largest limited one;
  distances node by node take the place of 1 and 2.
- *Several topologies*: each by itself, in the order of the file. That code takes them in the order
  of a hash map of ids that Storm makes up with the time of submission, and mixes them up: all share
  one map of components, whose executors are those of the topology that it meets last
  (``GlobalState.getComponents``). So it finds an order only for that one, and only where the spout
  that it begins at is its own; else it dies of a null reference at the executors left over.
- ``running`` is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.heuristics.one_by_one import hard_with_memory, no_room, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger, LedgerWorker
from slotwise.heuristics.rstorm.metric import (
    Metric,
    NodeRanking,
    RStormWeights,
    WeightedMethod,
    offered,
    research_metric,
)
from slotwise.heuristics.rstorm.task_order import research_task_selection
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT


def schedule(
    problem: Problem,
    weights: RStormWeights,
    token: CancellationToken,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the research code's placement; nothing in it is random."""
    metric = research_metric(problem, weights)

    def place(ledger: Ledger, topology: int) -> str | None:
        return schedule_topology(ledger, metric, topology, token)

    return place_one_by_one(problem, hard_with_memory(problem), place, failed_consume=True, log=log)


def schedule_topology(
    ledger: Ledger, metric: Metric, topology: int, token: CancellationToken
) -> str | None:
    """Place the tasks of one topology; return why that is not possible, or ``None``.

    The tasks after one that fails are placed all the same: they consume what later topologies
    then do not have.
    """
    problem = ledger.problem
    tasks = research_task_selection(problem, topology)
    if not tasks:
        no_tasks = not problem.rules[topology].classes
        return None if no_tasks else "it has no spout to order its tasks from"
    selection = ResearchNodeSelection(
        ledger, metric, token, asks_for_slots=_has_rules_of_workers(problem, topology)
    )
    failed = None
    for task in tasks:
        reason = selection.assign(task)
        failed = failed or reason
        if failed is not None and (not selection.has_reference or not problem.may_reject):
            break
    return failed


def _has_rules_of_workers(problem: Problem, topology: int) -> bool:
    """Whether one worker a node may not be enough for the topology."""
    rules = problem.rules[topology]
    return rules.isolates or rules.heap_limit != NO_LIMIT


class ResearchNodeSelection:
    """The nodes of one topology's tasks, from its first task on.

    Parameters
    ----------
    asks_for_slots
        Whether a node without a free slot is passed over also after the first task.
    """

    def __init__(
        self, ledger: Ledger, metric: Metric, token: CancellationToken, *, asks_for_slots: bool
    ) -> None:
        problem = ledger.problem
        self._token = token
        self._ledger = ledger
        self._metric = metric
        self._offered = offered(problem)
        self._ids = [node.id for node in problem.instance.cluster.nodes]
        self._demand = [tuple(row) for row in problem.demand.tolist()]
        self._every = range(len(problem.dims))
        self._ranking = NodeRanking(self._ids, self._distance)
        self._asks_for_slots = asks_for_slots
        self._network: list[int] | None = None

    @property
    def has_reference(self) -> bool:
        """Whether the first task has been placed."""
        return self._network is not None

    def assign(self, task: int) -> str | None:
        """Place `task`; return why it cannot be, or ``None``.

        A task whose nearest node has no free slot is put there nevertheless, in a worker that the
        node has no slot for: its topology fails, but the node's resources are consumed.
        """
        self._token.check()
        first = self._network is None
        order = self._first_order if first else self._nearest
        asks = first or self._asks_for_slots
        for node in order(task):
            if self._ledger.is_overloaded(node):
                continue
            worker = self._ledger.find_worker(task, node, self._every)
            if worker is not None:
                self._put(task, node, worker)
                return None
            if not asks and self._ledger.lacks_only_a_slot(task, node, self._every):
                name = self._ledger.problem.instance.task_names()[task][1]
                self._put(task, node, self._ledger.new_worker(task, node))
                return f"node {self._ids[node]} is nearest for task {name} and has no free slot"
        return self._overload(task, order)

    def _overload(self, task: int, order: Callable[[int], Iterable[int]]) -> str | None:
        """Place `task` where soft resources are overloaded least, the first in `order` of equal."""
        takers = [
            (self._ledger.overload(task, node, worker), rank, node, worker)
            for rank, node in enumerate(order(task))
            if (worker := self._ledger.find_worker(task, node)) is not None
        ]
        if not takers:
            return no_room(self._ledger.problem, task)
        *_, node, worker = min(takers, key=lambda taker: taker[:2])
        self._put(task, node, worker)
        return None

    def _put(self, task: int, node: int, worker: LedgerWorker) -> None:
        self._ledger.put(task, node, worker)
        self._ranking.change(node)
        if self._network is None:
            nodes = range(len(self._ids))
            self._network = [self._metric.network(node, other) for other in nodes]

    def _nearest(self, task: int) -> Iterable[int]:
        return self._ranking.nearest(self._demand[self._ledger.problem.task_class[task]])

    def _first_order(self, task: int) -> list[int]:
        """Return the nodes: racks by free memory, most first, and in each the nearest first."""
        problem = self._ledger.problem
        demand = self._demand[problem.task_class[task]]
        free = [0] * len(problem.racks)
        if problem.memory is not None:
            for node, rack in enumerate(problem.node_rack.tolist()):
                free[rack] += self._available(node)[problem.memory]

        def rank(node: int) -> tuple[int, str, int, str]:
            rack = problem.node_rack[node]
            return -free[rack], problem.racks[rack], self._distance(demand, node), self._ids[node]

        return sorted(range(len(self._ids)), key=rank)

    def _distance(self, demand: tuple[int, ...], node: int) -> int:
        network = 0 if self._network is None else self._network[node]
        return self._metric.distance(demand, self._available(node), network)

    def _available(self, node: int) -> list[int]:
        load = self._ledger.nodes[node].load
        return [most - taken for most, taken in zip(self._offered[node], load, strict=True)]


_METHOD = WeightedMethod(
    name="r-storm",
    source="R-Storm (Peng et al., Middleware 2015), the authors' research code",
    description=(
        "R-Storm as its authors ran it up to December 2014: tasks of neighbours in turn to the "
        "nearest node with memory and cpu for them; if no node has cpu left, that code refuses, "
        "and slotwise overloads the node where the overload is least, if cpu is soft."
    ),
    otherwise="The algorithm of r-storm with parameters that its authors did not use",
    usual=RStormWeights(normalise=False),
    schedule=schedule,
)


def r_storm(weights: RStormWeights = _METHOD.usual) -> Method:
    """Return the method ``r-storm`` with these weights of its distance."""
    return _METHOD.with_weights(weights)


R_STORM = r_storm()
