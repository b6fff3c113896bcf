"""Global-topology-graph partitioning: section 3.3, equations 6 to 10.

The tasks of all topologies are one weighted graph, partitioned from scratch: in topological order,
each task goes to the node i with the largest sum over its neighbours x there of |x| (1 - |P_i| /
w_i). |x| is the computation cost of x (its ``cpu``), |P_i| that of all on node i, w_i the node's
computation. How ties and full nodes are read stands in `greedy_stream`; besides:

- Equation 10 weighs a neighbour by its *computation* cost, so the measured communication, which
  equations 6 to 9 minimise, never enters. ``stromax-global`` does so; ``stromax-global-comm``,
  ours, weighs it by the communication of the two tasks, both directions added.
- Costs are those of the instance: the article measures them, in GHz ms and in KB a tuple.
- The sums of equation 6 take each pair of parts twice; an edge is counted once.
- The linearisation runs over the union of the topologies and begins with one random spout task. A
  cycle is refused, as there.
- A topology with a task that no node takes is left out whole where the objective counts
  ``rejected``; else the method refuses.
- ``running`` is not read; tasks are placed afresh.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.node_capacity import computation, needs_cpu, task_costs
from slotwise.heuristics.one_by_one import no_room
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.placed_neighbours import links
from slotwise.heuristics.stromax.greedy_stream import GreedyStream, hard_dimensions
from slotwise.heuristics.stromax.linearisation import Cycle, linearise
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem

Weight = Callable[[Problem], Callable[[int, int], int]]
"""What a neighbour counts, as `links` takes it."""


def by_computation(problem: Problem) -> Callable[[int, int], int]:
    """Return what a neighbour counts in equation 10: its computation cost."""
    costs = task_costs(problem)
    return lambda neighbour, flow: costs[neighbour]


def by_communication(problem: Problem) -> Callable[[int, int], int]:
    """Return what a neighbour counts in our variant: the communication with it."""
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


def _method(name: str, source: str, description: str, weight: Weight) -> Method:
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


STROMAX_GLOBAL = _method(
    "stromax-global",
    "StroMAX (Jiang et al., DASFAA 2017), section 3.3, equation 10",
    "All topologies as one graph; each task to the node where its neighbours compute most and "
    "most cpu is left; as in the equation, communication weights do not count.",
    by_computation,
)

STROMAX_GLOBAL_COMM = _method(
    "stromax-global-comm",
    "ours: StroMAX, equation 10 with the communication that equations 6 to 9 minimise",
    "The algorithm of stromax-global with neighbours weighed by communication.",
    by_communication,
)
