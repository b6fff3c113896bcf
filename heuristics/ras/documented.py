"""RAS as Storm's documentation has it: "Enhancements on original DefaultResourceAwareStrategy".

That section of ``Resource_Aware_Scheduler_overview`` describes task and node selection on top of
R-Storm (Peng et al., Middleware 2015); Storm's code has moved on since (`strategies`). Shares are
exact here. How the section is read:

- *Task selection*: components by their number of in and out edges, most first. What else it leaves
  to the paper stays as there: one task of each component in turn (Algorithm 3). Parallel streams
  are one edge, self-streams none, ties go by the component's place in the topology; components
  without edges (ackers) come last.
- *Node selection*: racks, then nodes in a rack, best to worst, by 1) tasks of the topology that are
  already there, most first; 2) effective resources: the least of the shares of cpu, memory and free
  slots, the share being what the rack (node) has available over what the cluster (its rack) has;
  3) the average of these shares; 4) the id. Both are sorted again for each task, which goes to the
  first node that takes it.
- A share of nothing is 0. A capacity or slots without a limit count as what all tasks need.
- *Workers*, which the section does not speak of: first fit into the topology's workers on the
  node, a new one only when those refuse (as in ``r-storm``). Every rule of the instance holds and
  every resource is hard.
- *Several topologies*: in the order of the instance's priority strategy (`scheduler`), on what
  is left. One that does not fit is left out whole where the objective counts ``rejected``; else the
  method refuses. Nobody is evicted.
- ``running`` is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.heuristics.one_by_one import no_room, one_of_each_in_turn, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.ras.scheduler import priority_order
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT

Amounts = tuple[int, int, int]
"""Cpu, memory and free slots, in whole units."""


def place(
    problem: Problem,
    rng: Generator,
    token: CancellationToken | None = None,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the documented strategy's placement; nothing in it is random."""
    token = token or CancellationToken()
    order = (entry.topology for entry in priority_order(problem.instance, token=token))
    return place_one_by_one(
        problem,
        range(len(problem.dims)),
        lambda ledger, topology: _schedule(ledger, topology, token),
        order=order,
        log=log,
    )


def component_order(topology: Topology) -> list[str]:
    """Return the components by their number of edges, most first."""
    edges = {(s.source, s.target) for s in topology.streams if s.source != s.target}
    ids = [one.id for one in topology.placed_components]
    return sorted(ids, key=lambda key: -sum(key in edge for edge in edges))


def sorted_group(
    ids: Sequence[str], counts: Sequence[int], available: Sequence[Amounts]
) -> list[int]:
    """Return the positions of racks, or of the nodes of a rack, the best first.

    Parameters
    ----------
    ids
        Names, which break ties.
    counts
        Tasks of the topology that are already there.
    available
        What each has left; shares are of the group's sum.
    """
    wholes = [sum(amounts) or 1 for amounts in zip(*available, strict=True)]
    product = wholes[0] * wholes[1] * wholes[2]

    def rank(i: int) -> tuple[int, int, int, str]:
        shares = [
            amount * (product // whole) for amount, whole in zip(available[i], wholes, strict=True)
        ]
        return -counts[i], -min(shares), -sum(shares), ids[i]

    return sorted(range(len(ids)), key=rank)


def _schedule(ledger: Ledger, topology: int, token: CancellationToken) -> str | None:
    """Place the tasks of a topology; return why that is not possible, or ``None``."""
    selection = _Selection(ledger)
    for task in _tasks(ledger.problem, topology):
        token.check()
        for node in selection.nodes():
            worker = ledger.find_worker(task, node)
            if worker is not None:
                ledger.put(task, node, worker)
                selection.take(node)
                break
        else:
            return no_room(ledger.problem, task)
    return None


def _tasks(problem: Problem, topology: int) -> list[int]:
    """Return the tasks: one of each component in turn."""
    by_component: dict[str, list[int]] = {}
    for c in problem.rules[topology].classes:
        task_class = problem.classes[c]
        by_component.setdefault(problem.components[task_class.component][1], []).extend(
            task_class.tasks
        )
    order = component_order(problem.instance.topologies[topology])
    return one_of_each_in_turn(sorted(by_component.get(component, ())) for component in order)


class _Selection:
    """Node selection for the tasks of one topology."""

    def __init__(self, ledger: Ledger) -> None:
        problem = ledger.problem
        self._ledger = ledger
        self._offered = _offered(problem)
        self._ids = [node.id for node in problem.instance.cluster.nodes]
        racks = problem.node_rack.tolist()
        self._rack_of: list[int] = racks
        self._members = [
            [n for n, rack in enumerate(racks) if rack == r] for r in range(len(problem.racks))
        ]
        self._counts = [0] * problem.node_count
        self._left = [self._available(node) for node in range(problem.node_count)]
        self._rack_counts = [0] * len(problem.racks)
        self._rack_left = [self._sum(own) for own in self._members]

    def nodes(self) -> Iterator[int]:
        """Yield all nodes, rack by rack, the best first."""
        names = self._ledger.problem.racks
        for r in sorted_group(names, self._rack_counts, self._rack_left):
            own = self._members[r]
            ids = [self._ids[node] for node in own]
            counts = [self._counts[node] for node in own]
            for i in sorted_group(ids, counts, [self._left[node] for node in own]):
                yield own[i]

    def take(self, node: int) -> None:
        """Take note that a task was placed on `node`."""
        rack = self._rack_of[node]
        self._counts[node] += 1
        self._rack_counts[rack] += 1
        self._left[node] = self._available(node)
        self._rack_left[rack] = self._sum(self._members[rack])

    def _available(self, node: int) -> Amounts:
        state, problem = self._ledger.nodes[node], self._ledger.problem
        cpu, memory, slots = self._offered[node]
        return (
            max(0, cpu - (0 if problem.cpu is None else state.load[problem.cpu])),
            max(0, memory - (0 if problem.memory is None else state.load[problem.memory])),
            max(0, slots - len(state.workers)),
        )

    def _sum(self, nodes: Sequence[int]) -> Amounts:
        cpu, memory, slots = zip(*(self._left[node] for node in nodes), strict=True)
        return sum(cpu), sum(memory), sum(slots)


def _offered(problem: Problem) -> list[Amounts]:
    """Return capacities and slots; without a limit, what all tasks together need."""
    rows: list[Amounts] = []
    capacity: list[list[int]] = problem.capacity.tolist()
    demand = problem.demand.T @ problem.sizes if problem.classes else [0] * len(problem.dims)
    for row, slots in zip(capacity, problem.slots.tolist(), strict=True):
        offered = [
            0 if d is None else (int(demand[d]) if row[d] == NO_LIMIT else row[d])
            for d in (problem.cpu, problem.memory)
        ]
        most = problem.task_count if slots == NO_LIMIT else slots
        rows.append((offered[0], offered[1], most))
    return rows


def supports(problem: Problem) -> str | None:
    """Return why the documented strategy does not apply to `problem`, or ``None``."""
    if problem.instance.cluster.matrix is not None:
        return "distances are given node by node, but RAS uses racks"
    if problem.instance.objective.limits:
        return "the number of moved tasks is limited, but the documentation places all tasks again"
    return None


RAS_PAPER = Method(
    draws=False,
    name="ras-paper",
    source="Storm's documentation, Resource_Aware_Scheduler_overview, section Enhancements",
    place=place,
    place_until=place,
    place_logged=lambda problem, rng, log: place(problem, rng, log=log),
    supports=supports,
    description=(
        "The documentation of Storm's Resource Aware Scheduler, read literally: racks and nodes "
        "ordered by the least share they have left."
    ),
)
