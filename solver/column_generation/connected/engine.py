"""Engine ``pieces``: connected pieces, priced by dynamic programming (docs/design.md, 8.6).

Where places are not short, a plan is a set of pieces that hang together, one per node, and within
them one per worker. The prices of `piece_prices` bound what all nodes, and all workers, can hold
together; the pieces that lose little at these prices are listed and searched for the plan that
loses least. Its pieces are then packed onto the nodes there are, in one rack if they find room.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.metadata import version

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.solver.column_generation.connected.level import Level, make_level
from slotwise.solver.column_generation.connected.packing import pack_pieces, placement_of
from slotwise.solver.column_generation.connected.place_model import (
    PiecePlaces,
    piece_places,
    price_grid,
    why_not_pieces,
)
from slotwise.solver.column_generation.connected.plan import PiecePlans, plans_of
from slotwise.solver.column_generation.connected.pricing import find_prices
from slotwise.solver.column_generation.connected.rack_bound import rack_graph
from slotwise.solver.column_generation.connected.two_level_plan import plans_of_levels
from slotwise.solver.column_generation.connected.worker_split import WorkerSplit, round_down
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.engine import Engine, NotTakenError
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.solve_state import Known, Watch

KIND = "pieces"
"""The engine's name, and what its bounds are called."""

SHARE_OF_NODES = 0.4
"""Of the time left, for the best plan of nodes where workers matter too."""

PROOF = "prices of connected pieces by dynamic programming, gap closed by search"


@dataclass(slots=True)
class _Search:
    """What is known: the most flow inside nodes and workers, and what both save together.

    ``None``: not known yet. `between_racks` is the least flow there.
    """

    places: PiecePlaces
    watch: Watch
    limits: Limits
    split: WorkerSplit | None = None
    nodes: int | None = None
    workers: int | None = None
    both: int | None = None
    between_racks: int = 0
    interrupted: bool = False
    by_solver: bool = False

    @property
    def saved(self) -> int | None:
        """Return what no placement saves more than, against all nodes apart in one rack."""
        places = self.places
        if self.nodes is None or (places.workers is not None and self.workers is None):
            return self.both
        saved = places.node_saving * self.nodes + places.worker_saving * (self.workers or 0)
        return saved if self.both is None else min(saved, self.both)

    def offer(self, pieces: list[IntArray]) -> None:
        """Keep the placement of the pieces if they find room and it is better."""
        contents = pack_pieces(self.places, pieces)
        placement = None if contents is None else placement_of(self.places, contents, self.split)
        if placement is not None:
            self.watch.offer(placement)

    def tell(self) -> None:
        """Tell the bound of every term."""
        self.watch.prove(self.bounds(), KIND, by_solver=self.by_solver)

    def bounds(self) -> list[int | None]:
        """Return a bound per term, whatever the others are at; ``None`` where there is none."""
        terms, saved = self.places.problem.terms, self.saved
        distance = self.places.problem.distance
        farther = int(distance[CLUSTER] - distance[RACK]) * self.between_racks
        bounds: list[int | None] = []
        for term in terms:
            multiplier = dict(term.parts).get("network", 0)
            if multiplier and saved is None:
                break
            bounds.append(multiplier * (self.places.farthest + farther - (saved or 0)))
        return [*bounds, *([None] * (len(terms) - len(bounds)))]


def run(
    problem: Problem, limits: Limits, hint: Placement | None, watch: Watch | None = None
) -> Outcome:
    """Solve the network term; overload is nothing where all capacities are hard."""
    deadline = time.perf_counter() + limits.time_s
    places = piece_places(problem)
    known = Known(problem, on_best=lambda placement: watch.offer(placement) if watch else None)
    if hint is not None:
        known.offer(hint, "hint")
    if not places.nodes[0].most.all() or not (places.workers is None or places.workers.most.all()):
        nothing = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, "a task fits nowhere")
    search = _Search(places, Watch(known, KIND), limits)
    try:
        _solve(search, deadline)
    except KeyboardInterrupt:
        search.interrupted = True
    search.tell()
    known.trust.check()
    if watch is not None:
        watch.prove(known.bounds, KIND, by_solver=search.by_solver)
    proof = PROOF if any(bound is not None for bound in known.bounds) else ""
    outcome = known.outcome(proof, interrupted=search.interrupted)
    return replace(outcome, bound_kind=KIND, by_solver=search.by_solver)


def _solve(search: _Search, deadline: float) -> None:
    """Bound nodes and workers, then look for the best plan; of nodes first where both matter."""
    places = search.places
    scale = price_grid(places.problem)
    nodes = _tightest_level(places, scale, deadline)
    plans = plans_of(nodes)
    search.nodes = plans.most
    racks = rack_graph(places.problem, places.kinds)
    if racks is not None:
        prices = find_prices(racks, scale, deadline)
        pairs = int(places.kinds.pairs(places.kinds.sizes))
        search.between_racks = max(0, pairs - prices.total(racks.sizes) // scale)
    rounded = round_down(nodes.graph, nodes.prices, nodes.graph.sizes)
    if places.workers is None:
        search.tell()
        search.offer(rounded)
        _look(search, plans, deadline)
        search.nodes = plans.most
        return
    workers = make_level(places.workers, scale, deadline)
    search.workers = workers.most
    search.split = WorkerSplit(places.workers, workers.prices, deadline)
    search.tell()
    search.offer(rounded)
    now = time.perf_counter()
    _look(search, plans, now + SHARE_OF_NODES * (deadline - now))
    search.nodes = plans.most
    search.tell()
    if places.node_saving and places.worker_saving and not search.watch.known.is_settled:
        both = plans_of_levels(places, nodes, workers, search.split)
        _look(search, both, deadline)
        search.both = both.most


def _tightest_level(places: PiecePlaces, scale: int, deadline: float) -> Level:
    """Return the level of nodes, by the rule that leaves all tasks the least worth."""
    found = [make_level(graph, scale, deadline) for graph in places.nodes]
    return min(found, key=lambda one: one.prices.total(one.graph.sizes) - one.profile.lost)


def _look(search: _Search, plans: PiecePlans, deadline: float) -> None:
    """Look for the best of some plans; what is proven on the way stands in `plans`.

    That is the bound of the prices where flows are too large for the search.
    """
    plans.on_best = search.offer
    try:
        plans.best(deadline, search.limits)
    except (TooLongError, NotTakenError):
        return
    finally:
        search.by_solver |= plans.by_solver


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if not problem.classes:
        return "there is nothing to place"
    return why_not_pieces(problem)


PIECES = Engine(
    name=KIND,
    run=run,
    supports=supports,
    version=lambda: f"highspy {version('highspy')}",
)
