"""R-Storm: Resource-Aware Scheduling in Storm (Peng et al., Middleware 2015), Algorithms 1 to 4.

The pseudo-code as printed, but for the readings below. It is not what the authors ran: their code
(`r_storm`) keeps cpu like memory while this one overloads it at once, and their figures (6 and 7
machines in section 6.3.2) cannot be had so.

Tasks are taken in an order that keeps neighbours close (Algorithms 2 and 3:
`task_order`), each goes to the node whose remaining resources are nearest to its demand, the
network distance from a reference node taking the place of bandwidth (Algorithm 4). How the paper's
gaps are read:

- *Most resources* (lines 7, 8): memory plus cpu left, each as a share of the largest node's; a
  rack has the sum of its nodes. Only nodes with a free slot count.
- *Reference node*: found again for the first task of each topology (the text of section 4.2; the
  pseudo-code's ``global`` would keep one for ever). That task goes there if it fits, as the text
  says; the pseudo-code would send it to the nearest node. If it does not fit, it goes to the
  nearest node, and the reference stays.
- *Distance* (line 17): memory and cpu squared, the network distance not squared, as printed.
  Differences are taken between the task's demand and what the node has left, which falls with
  every task placed, below 0 where a soft resource is overloaded. Weights: `RStormWeights`, before
  the squares, as printed; all are 1 and values normalised unless parameters say otherwise.
- *Hard constraints* (line 12): "available >= needed" (the paper prints >; section 3 says that they
  are "satisfied to [their] full amount"). Memory is the paper's only hard resource and is never
  exceeded here, whatever the instance says; section 3 leaves it to the user which others are
  hard, so hard resources of the instance are never exceeded either, soft ones may be.
- *Unlimited capacities* count as what all tasks together need, or as the largest limited one.
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

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.heuristics.one_by_one import hard_with_memory, no_room, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.rstorm.metric import (
    Metric,
    NodeRanking,
    RStormWeights,
    WeightedMethod,
    offered,
    pseudocode_metric,
    shares,
)
from slotwise.heuristics.rstorm.task_order import task_selection
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


def schedule(
    problem: Problem,
    weights: RStormWeights,
    token: CancellationToken,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the pseudo-code's placement; nothing in it is random."""
    metric = pseudocode_metric(problem, weights)

    def place(ledger: Ledger, topology: int) -> str | None:
        """Algorithm 1."""
        selection = NodeSelection(ledger, metric, token)
        for task in task_selection(problem, topology):
            if not selection.assign(task):
                return no_room(problem, task)
        return None

    return place_one_by_one(problem, hard_with_memory(problem), place, log=log)


class NodeSelection:
    """Algorithm 4 for the tasks of one topology, from its first task on."""

    def __init__(self, ledger: Ledger, metric: Metric, token: CancellationToken) -> None:
        self._token = token
        self._ledger = ledger
        self._metric = metric
        self._ids = [node.id for node in ledger.problem.instance.cluster.nodes]
        self._demand = [tuple(row) for row in ledger.problem.demand.tolist()]
        self._ranking = NodeRanking(self._ids, self._distance)
        self._first = True
        self._offered = offered(ledger.problem)
        self._shares = shares(ledger.problem, normalise=True)
        self.reference = self._find_reference_node()
        self._network = [
            0 if self.reference is None else metric.network(self.reference, node)
            for node in range(ledger.problem.node_count)
        ]

    def assign(self, task: int) -> bool:
        """Place `task` on the nearest node that takes it; return whether there is one."""
        self._token.check()
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
        """Return what `nodes` have left together: memory plus cpu, in shares of the largest."""
        problem, total = self._ledger.problem, Fraction(0)
        for node in nodes:
            left = self._available(node)
            for d, share in zip((problem.memory, problem.cpu), self._shares, strict=True):
                total += 0 if d is None else share * left[d]
        return total

    def _available(self, node: int) -> list[int]:
        load = self._ledger.nodes[node].load
        return [most - taken for most, taken in zip(self._offered[node], load, strict=True)]


_METHOD = WeightedMethod(
    name="r-storm-pseudocode",
    source="R-Storm (Peng et al., Middleware 2015), Algorithms 1-4",
    description=(
        "The article's pseudo-code, which fills the nearest node up to its memory even if that "
        "overloads its cpu; the authors ran code that keeps cpu."
    ),
    otherwise="The algorithm of r-storm-pseudocode with other parameters of its distance",
    usual=RStormWeights(normalise=True),
    schedule=schedule,
)


def r_storm_pseudocode(weights: RStormWeights = _METHOD.usual) -> Method:
    """Return the method ``r-storm-pseudocode`` with these weights of its distance."""
    return _METHOD.with_weights(weights)


R_STORM_PSEUDOCODE = r_storm_pseudocode()
