"""Each task on the node with room that is least overloaded, then holds most of its neighbours."""

from numpy.random import Generator

from slotwise.heuristics.method import Method
from slotwise.heuristics.node_capacity import PlacedNeighbours, links
from slotwise.heuristics.one_by_one import hard_with_memory, no_room, place_one_by_one
from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


def place(problem: Problem, rng: Generator) -> Placement | Refusal:
    """Place the topologies in file order and, in each, the components in file order."""
    placed = PlacedNeighbours(problem, links(problem, lambda other, flow: flow))

    def place_topology(ledger: Ledger, topology: int) -> str | None:
        tasks = [t for c in problem.rules[topology].classes for t in problem.classes[c].tasks]
        for task in tasks:
            gains = placed.gains(task)
            rooms = [
                (ledger.overload(task, node, worker), -gains[node], node, worker)
                for node in range(problem.node_count)
                if (worker := ledger.find_worker(task, node)) is not None
            ]
            if not rooms:
                return no_room(problem, task)
            *_, node, worker = min(rooms, key=lambda room: room[:3])
            ledger.put(task, node, worker)
            placed.put(task, node)
        return None

    return place_one_by_one(problem, hard_with_memory(problem), place_topology)


NEIGHBOURS = Method(
    name="neighbours",
    source="the tutorial for researchers",
    place=place,
    description="Each task on the node with the least overload, then the most neighbours.",
)
