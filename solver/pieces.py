"""Engine ``pieces``: connected pieces of a topology, priced by dynamic programming (section 8, 6).

Where places are not short, a plan is a set of pieces that hang together, one per node, and within
them one per worker. The prices of `piece_prices` bound what all nodes, and all workers, can hold
together; the pieces that lose little at these prices are listed and searched for the plan that
loses least. Its pieces are then packed onto the nodes there are, in one rack if they find room.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.metadata import version

from slotwise.models.placement import Placement
from slotwise.models.problem import IntArray, Problem
from slotwise.solver.closing import TooLongError
from slotwise.solver.engine import Engine
from slotwise.solver.piece_packing import pack_pieces
from slotwise.solver.piece_placement import placement_of
from slotwise.solver.piece_places import PiecePlaces, piece_places, why_not_pieces
from slotwise.solver.piece_plan import PiecePlans
from slotwise.solver.piece_prices import find_prices
from slotwise.solver.result import Limits, Outcome, Status
from slotwise.solver.watch import Known, Watch
from slotwise.solver.worker_split import WorkerSplit

KIND = "pieces"
SCALE = 1 << 20
SHARE_OF_NODES = 0.6
"""Of the time left, for the best plan of nodes where workers matter too."""

PROOF = "prices of connected pieces by dynamic programming, gap closed by search"


@dataclass(slots=True)
class _Search:
    """What no plan exceeds inside nodes and workers (``None``: not known), and who is told."""

    places: PiecePlaces
    watch: Watch
    nodes: int | None = None
    workers: int | None = None
    interrupted: bool = False

    def offer(self, pieces: list[IntArray] | None, split: WorkerSplit | None) -> None:
        """Keep the placement of the pieces if they find room and it is better."""
        contents = None if pieces is None else pack_pieces(self.places, pieces)
        placement = None if contents is None else placement_of(self.places, contents, split)
        if placement is not None:
            self.watch.offer(placement)

    def tell(self) -> None:
        """Tell the bound of every term."""
        self.watch.prove(self.bounds(), KIND)

    def bounds(self) -> list[int | None]:
        """Return a bound per term, whatever the others are at; ``None`` where there is none."""
        places = self.places
        saved = None
        if self.nodes is not None and (places.workers is None or self.workers is not None):
            saved = places.node_saving * self.nodes + places.worker_saving * (self.workers or 0)
        bounds: list[int | None] = []
        for term in places.problem.terms:
            multiplier = dict(term.parts).get("network", 0)
            if multiplier and saved is None:
                break
            bounds.append(multiplier * (places.farthest - (saved or 0)))
        return [*bounds, *([None] * (len(places.problem.terms) - len(bounds)))]


def run(
    problem: Problem, limits: Limits, hint: Placement | None, watch: Watch | None = None
) -> Outcome:
    """Solve the network term; overload is nothing where all capacities are hard."""
    deadline = time.perf_counter() + limits.time_s
    places = piece_places(problem)
    known = Known(problem, on_best=lambda placement: watch.offer(placement) if watch else None)
    if hint is not None:
        known.offer(hint, "hint")
    if not places.nodes.most.all() or not (places.workers is None or places.workers.most.all()):
        nothing = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, "a task fits nowhere")
    search = _Search(places, Watch(known, "pieces"))
    try:
        _solve(search, deadline)
    except KeyboardInterrupt:
        search.interrupted = True
    search.tell()
    if watch is not None:
        watch.prove(known.bounds, KIND)
    proof = PROOF if any(bound is not None for bound in known.bounds) else ""
    return replace(known.outcome(proof, interrupted=search.interrupted), bound_kind=KIND)


def _solve(search: _Search, deadline: float) -> None:
    """Bound workers and nodes, then look for the best plans of both."""
    places = search.places
    split = worker_plans = None
    if places.workers is not None:
        prices = find_prices(places.workers, SCALE, deadline)
        split = WorkerSplit(places.workers, prices, deadline)
        worker_plans = PiecePlans(places.workers, prices)
        search.workers = worker_plans.most
    plans = PiecePlans(places.nodes, find_prices(places.nodes, SCALE, deadline))
    search.nodes = plans.most
    search.tell()
    search.offer(plans.rounded(), split)
    left = deadline - time.perf_counter()
    share = 1.0 if worker_plans is None else SHARE_OF_NODES
    try:
        search.offer(plans.best(time.perf_counter() + share * left), split)
    except TooLongError:
        pass  # the bound of the plans stands
    finally:
        search.nodes = plans.most
    search.tell()
    if worker_plans is None or search.watch.known.is_settled:
        return
    try:
        worker_plans.best(deadline)
    except TooLongError:
        pass  # likewise
    finally:
        search.workers = worker_plans.most


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if not problem.classes:
        return "there is nothing to place"
    return why_not_pieces(problem)


PIECES = Engine(
    name="pieces",
    run=run,
    supports=supports,
    version=lambda: f"highspy {version('highspy')}",
)
