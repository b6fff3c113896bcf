"""R-Storm: Resource-Aware Scheduling in Storm (Peng et al., Middleware 2015), Algorithms 1 to 4.

Tasks are taken in an order that keeps neighbours close (Algorithms 2 and 3: `traversal`,
`task_selection`), each goes to the node whose remaining resources are nearest to its demand, the
network distance from a reference node taking the place of bandwidth (Algorithm 4). How the paper's
gaps are read:

- *Most resources* (lines 7, 8): memory plus cpu left, each as a share of the largest node's; a
  rack has the sum of its nodes. Only nodes with a free slot count.
- *Reference node*: found anew for the first task of each topology (the text of section 4.2; the
  pseudo-code's ``global`` would keep one for ever). That task goes there if it fits, as the text
  says; the pseudo-code would send it to the nearest node. If it does not fit, it goes to the
  nearest node, and the reference stays.
- *Distance* (line 17): memory and cpu squared, the network distance not squared, as printed.
  Differences are taken between the task's demand and what the node has left, which falls with
  every task placed, below 0 where a soft resource is overloaded. Weights: `RStormWeights`.
- *Hard constraints* (line 12): "available >= needed" (the paper prints >; section 3 says that they
  are "satisfied to [their] full amount"). Memory is the paper's only hard resource and is never
  exceeded here, whatever the instance says; section 3 leaves it to the user which others are
  hard, so hard resources of the instance are never exceeded either, soft ones may be.
- *Unlimited capacities* count as what all tasks together need.
- *Ties*: by rack name, by node id.
- *Workers*: the paper has one worker per topology and node, and no limits inside a node. Here a
  node's tasks go first fit into the topology's workers there, and a slot is opened only when
  those refuse: one worker as in the paper, until the heap limit or another rule of workers
  (isolation, incompatible components, shared memory) asks for more. A node takes a task only if
  one of its workers, opened or not, does.
- *Several topologies*: in the instance's order on what is left. A topology with a task that fits
  nowhere is left out whole where the objective counts ``rejected``; else the method refuses
  (Algorithm 1 assigns all tasks at once, or none).
- ``running`` is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain

from numpy.random import Generator

from slotwise.heuristics.ledger import Ledger
from slotwise.heuristics.method import Method
from slotwise.heuristics.node_ranking import NodeRanking
from slotwise.heuristics.r_storm_weights import Metric, RStormWeights, network_distance
from slotwise.heuristics.task_selection import task_selection
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.models.refusal import Refusal
from slotwise.models.stopping import check_stop

DEFAULT_WEIGHTS = RStormWeights()


def r_storm(weights: RStormWeights = DEFAULT_WEIGHTS) -> Method:
    """Return the method ``r-storm`` with these weights of its distance."""

    def place(problem: Problem, rng: Generator) -> Placement | Refusal:
        return schedule(problem, weights)

    return Method(
        name="r-storm",
        source="R-Storm (Peng et al., Middleware 2015), Algorithms 1-4",
        place=place,
    )


def schedule(problem: Problem, weights: RStormWeights) -> Placement | Refusal:
    """Return R-Storm's placement; nothing in it is random."""
    hard = {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}
    if problem.memory is not None:
        hard.add(problem.memory)
    ledger = Ledger(problem, hard)
    metric = Metric(problem, weights)
    for t in range(len(problem.rules)):
        stuck = schedule_topology(ledger, metric, t)
        if stuck is not None and not problem.may_reject:
            topology, task = problem.instance.task_names()[stuck]
            return Refusal(f"topology {topology}: no node has room for task {task}")
        if stuck is not None:
            ledger = ledger.without(t)
    return ledger.placement()


def schedule_topology(ledger: Ledger, metric: Metric, topology: int) -> int | None:
    """Place the tasks of one topology (Algorithm 1); return the first that fits nowhere."""
    selection: NodeSelection | None = None
    for task in task_selection(ledger.problem, topology):
        if selection is None:
            selection = NodeSelection(ledger, metric)
        if not selection.assign(task):
            return task
    return None


class NodeSelection:
    """Algorithm 4 for the tasks of one topology, from its first task on."""

    def __init__(self, ledger: Ledger, metric: Metric) -> None:
        self._ledger = ledger
        self._metric = metric
        self._ids = [node.id for node in ledger.problem.instance.cluster.nodes]
        self._demand = [tuple(row) for row in ledger.problem.demand.tolist()]
        self._ranking = NodeRanking(self._ids, self._distance)
        self._first = True
        self.reference = self._find_reference_node()
        self._network = [
            0 if self.reference is None else network_distance(ledger.problem, self.reference, node)
            for node in range(ledger.problem.node_count)
        ]

    def assign(self, task: int) -> bool:
        """Place `task` on the nearest node that takes it; return whether there is one."""
        check_stop()
        nodes = self._ranking.nearest(self._demand[self._ledger.problem.task_class[task]])
        if self._first and self.reference is not None:
            nodes = chain([self.reference], nodes)
        self._first = False
        for node in nodes:
            worker = self._ledger.find_worker(task, node)
            if worker is not None:
                self._ledger.put(task, node, worker)
                self._ranking.change(node)
                return True
        return False

    def _distance(self, demand: tuple[int, ...], node: int) -> int:
        return self._metric.distance(demand, self._available(node), self._network[node])

    def _find_reference_node(self) -> int | None:
        """Return the node with most resources in the rack with most; ``None`` = no free slot."""
        nodes = [n for n in range(len(self._ids)) if self._ledger.has_free_slot(n)]
        if not nodes:
            return None
        rack_of = self._ledger.problem.node_rack
        racks = self._ledger.problem.racks
        rack = min(
            {int(rack_of[n]) for n in nodes},
            key=lambda r: (-self._resources(n for n in nodes if rack_of[n] == r), racks[r]),
        )
        return min(
            (n for n in nodes if rack_of[n] == rack),
            key=lambda n: (-self._resources([n]), self._ids[n]),
        )

    def _resources(self, nodes: Iterable[int]) -> Fraction:
        """Return what `nodes` have left together, in shares of the largest node."""
        return sum((self._metric.resources(self._available(n)) for n in nodes), Fraction(0))

    def _available(self, node: int) -> list[int]:
        load = self._ledger.nodes[node].load
        offered = self._metric.offered[node]
        return [most - taken for most, taken in zip(offered, load, strict=True)]


R_STORM = r_storm()
