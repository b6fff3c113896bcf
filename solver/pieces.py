"""Engine ``pieces``: connected pieces of a topology, priced by dynamic programming (section 8, 6).

Where places are not short, a plan is a set of pieces that hang together, one per node, and within
them one per worker. The prices of `piece_prices` bound what all nodes, and all workers, can hold
together; the pieces that lose little at these prices are listed and searched for the plan that
loses least. Its pieces are then packed onto the nodes there are, in one rack if they find room.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version

from slotwise.models.judge import judge
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
from slotwise.solver.worker_split import WorkerSplit

SCALE = 1 << 20
SHARE_OF_NODES = 0.6
"""Of the time left, for the best plan of nodes where workers matter too."""

PROOF = "prices of connected pieces by dynamic programming, gap closed by search"


@dataclass(slots=True)
class _Known:
    """What no plan exceeds inside nodes and workers (``None``: not known), and the best placement.

    `values` are those of the placement.
    """

    nodes: int | None = None
    workers: int | None = None
    placement: Placement | None = None
    values: tuple[int, ...] | None = None
    interrupted: bool = False

    def offer(self, problem: Problem, placement: Placement | None) -> None:
        """Keep a placement that is valid and better."""
        if placement is None:
            return
        verdict = judge(problem, placement)
        if verdict.valid and (self.values is None or verdict.scaled < self.values):
            self.placement, self.values = placement, verdict.scaled


def run(problem: Problem, limits: Limits, hint: Placement | None) -> Outcome:
    """Solve the network term; overload is nothing where all capacities are hard.

    Raises
    ------
    NotTakenError
        When the flows have too many cycles.
    """
    deadline = time.perf_counter() + limits.time_s
    places = piece_places(problem)
    known = _Known()
    known.offer(problem, hint)
    if not places.nodes.most.all() or not (places.workers is None or places.workers.most.all()):
        nothing = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, "a task fits nowhere")
    try:
        _search(places, known, deadline)
    except KeyboardInterrupt:
        known.interrupted = True
    return _outcome(places, known)


def _search(places: PiecePlaces, known: _Known, deadline: float) -> None:
    """Bound workers and nodes, then look for the best plans of both."""
    split = worker_plans = None
    if places.workers is not None:
        prices = find_prices(places.workers, SCALE, deadline)
        split = WorkerSplit(places.workers, prices, deadline)
        worker_plans = PiecePlans(places.workers, prices)
        known.workers = worker_plans.most
    plans = PiecePlans(places.nodes, find_prices(places.nodes, SCALE, deadline))
    known.nodes = plans.most
    _offer(places, known, plans.rounded(), split)
    left = deadline - time.perf_counter()
    share = 1.0 if worker_plans is None else SHARE_OF_NODES
    try:
        best = plans.best(time.perf_counter() + share * left)
        _offer(places, known, best, split)
    except TooLongError:
        pass  # the bound of the plans stands
    finally:
        known.nodes = plans.most
    if worker_plans is not None and not _is_met(places, known):
        try:
            worker_plans.best(deadline)
        except TooLongError:
            pass  # likewise
        finally:
            known.workers = worker_plans.most


def _offer(
    places: PiecePlaces, known: _Known, pieces: list[IntArray] | None, split: WorkerSplit | None
) -> None:
    """Keep the placement of the pieces if they find room and it is better."""
    contents = None if pieces is None else pack_pieces(places, pieces)
    if contents is not None:
        known.offer(places.problem, placement_of(places, contents, split))


def _bounds(places: PiecePlaces, known: _Known) -> tuple[int | None, ...]:
    """Return the bound of each term up to the first that the placement does not meet."""
    bounds: list[int | None] = [None] * len(places.problem.terms)
    for i, term in enumerate(places.problem.terms):
        multiplier = dict(term.parts).get("network", 0)
        saved = 0
        if multiplier:
            if known.nodes is None or (places.workers is not None and known.workers is None):
                break
            saved = places.node_saving * known.nodes + places.worker_saving * (known.workers or 0)
        bounds[i] = multiplier * (places.farthest - saved)
        if known.values is None or known.values[i] != bounds[i]:
            break
    return tuple(bounds)


def _is_met(places: PiecePlaces, known: _Known) -> bool:
    return known.values is not None and known.values == _bounds(places, known)


def _outcome(places: PiecePlaces, known: _Known) -> Outcome:
    bounds = _bounds(places, known)
    status = Status.UNKNOWN if known.values is None else Status.FEASIBLE
    return Outcome(
        status=Status.OPTIMAL if known.values == bounds else status,
        placement=known.placement,
        values=known.values,
        bounds=bounds,
        proof=PROOF if any(bound is not None for bound in bounds) else "",
        interrupted=known.interrupted,
    )


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
