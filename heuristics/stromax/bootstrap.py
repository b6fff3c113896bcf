"""Bootstrap Scheduler: section 3.2, Algorithm 1 and equation 5.

Each topology is placed when it is submitted, in the order of the instance, on what the earlier ones
have left. Its tasks come in topological order (`linearisation`); each goes to the node i with most
neighbours of it times (1 - |P_i| / w_i), where every task costs 1 and w_i is the number of tasks
that the node takes (`node_capacity`). How ties and full nodes are read stands in `greedy_stream`;
besides:

- N(v) holds the tasks that send tuples to v or receive some from it, each once.
- Definition 2 asks for equal parts, equation 3 for capacities: capacities. Parts may be empty.
- A topology with a cycle is refused, as line 13 says. ``stromax-bootstrap-condensed``, ours,
  condenses cycles instead; on a graph without any it is the same method.
- ``running`` is not read: the cluster is empty.
"""

from __future__ import annotations

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.node_capacity import task_slots
from slotwise.heuristics.one_by_one import no_room, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger
from slotwise.heuristics.placed_neighbours import links
from slotwise.heuristics.stromax.greedy_stream import GreedyStream, hard_dimensions
from slotwise.heuristics.stromax.linearisation import Cycle, linearise
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


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


def _method(name: str, source: str, description: str, *, condense: bool) -> Method:
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


STROMAX_BOOTSTRAP = _method(
    "stromax-bootstrap",
    "StroMAX (Jiang et al., DASFAA 2017), section 3.2, Algorithm 1",
    "Tasks in topological order, each to the node with the most neighbours and the most room; "
    "refuses a graph with a cycle.",
    condense=False,
)

STROMAX_BOOTSTRAP_CONDENSED = _method(
    "stromax-bootstrap-condensed",
    "ours: StroMAX, Algorithm 1, on the graph with its cycles condensed",
    "The algorithm of stromax-bootstrap with the cycles of the graph condensed.",
    condense=True,
)
