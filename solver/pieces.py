"""Engine ``pieces``: connected pieces of a topology, priced by dynamic programming (section 8, 6).

For one topology on equal places among which no distance matters: the nodes of one rack, or the
workers of one node. Where places are not short, a plan is a set of pieces that hang together. The
prices of `piece_prices` bound every plan; the pieces that lose little at these prices are listed
and searched for the plan that loses least; its pieces are packed into the places there are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import IntArray, Problem
from slotwise.solver.closing import Plan, TooLongError, least_loss
from slotwise.solver.closing_cp_sat import close_by_cp_sat
from slotwise.solver.engine import Engine
from slotwise.solver.flat_places import FlatPlaces, flat_places, why_not_flat
from slotwise.solver.master import Column, Cut
from slotwise.solver.piece_list import list_pieces
from slotwise.solver.piece_packing import pack_pieces
from slotwise.solver.piece_prices import Prices, find_prices
from slotwise.solver.result import Limits, Outcome, Status

SCALE = 1 << 20
MOST_STATES = 20_000
"""Residual vectors looked at before CP-SAT takes over."""

PROOF = "prices of connected pieces by dynamic programming, gap closed by search"


@dataclass(slots=True)
class _Known:
    """The gain that no plan exceeds (``None``: none known), and the best placement."""

    most: int | None = None
    placement: Placement | None = None
    interrupted: bool = False


def run(problem: Problem, limits: Limits, hint: Placement | None) -> Outcome:
    """Solve the network term; overload is nothing where all capacities are hard.

    Raises
    ------
    NotTakenError
        When the flows have too many cycles.
    """
    deadline = time.perf_counter() + limits.time_s
    places = flat_places(problem)
    known = _Known()
    if hint is not None and judge(problem, hint).valid:
        known.placement = hint
    if not places.graph.most.all():
        nothing = (None,) * len(problem.terms)
        return Outcome(Status.INFEASIBLE, None, None, nothing, "a task fits no node")
    try:
        _search(places, known, deadline)
    except TooLongError:
        pass  # what is known stands
    except KeyboardInterrupt:
        known.interrupted = True
    return _outcome(places, known)


def _search(places: FlatPlaces, known: _Known, deadline: float) -> None:
    """Allow more and more loss until some plan loses no more."""
    graph = places.graph
    prices = find_prices(graph, SCALE, deadline)
    total = prices.total(graph.sizes)
    known.most = total // SCALE
    _offer(places, known, _round_down(places, prices))
    budget, step = total % SCALE, SCALE
    while time.perf_counter() < deadline:
        plan = _least_loss(places, prices, budget, deadline)
        if plan is not None:
            known.most = (total - plan.loss) // SCALE
            _offer(places, known, [np.array(content) for _, content in plan.contents])
            return
        known.most = (total - budget - 1) // SCALE
        if known.most < 0:
            return
        budget, step = budget + step, 4 * step


def _least_loss(places: FlatPlaces, prices: Prices, budget: int, deadline: float) -> Plan | None:
    """Return the plan of least loss, ``None`` if it loses more; raises `TooLongError`."""
    graph = places.graph
    listed = list_pieces(graph, SCALE, prices.prices, budget)
    counts = np.concatenate([np.zeros((1, graph.count), dtype=np.int64), listed])
    column = Column(counts, graph.gains(counts))
    cut = Cut(SCALE, prices.prices, 0, (0,))
    ample = (int(graph.sizes.sum()),)
    try:
        return least_loss(
            [column],
            ample,
            cut,
            graph.sizes,
            budget,
            lambda seen: seen < MOST_STATES and time.perf_counter() < deadline,
        )
    except TooLongError:
        left = deadline - time.perf_counter()
        closing = close_by_cp_sat([column], ample, cut, graph.sizes, budget, left)
    if not closing.proven:
        raise TooLongError
    return closing.plan


def _round_down(places: FlatPlaces, prices: Prices) -> list[IntArray]:
    """Return pieces for all tasks: the best met so far as often as they fit, then single tasks."""
    graph = places.graph
    kept = graph.admits(prices.contents)
    contents = prices.contents[kept]
    worth = graph.gains(contents) / np.maximum(contents @ prices.prices, 1)
    left, chosen = graph.sizes.copy(), []
    for row in np.argsort(-worth, kind="stable").tolist():
        while (contents[row] <= left).all() and contents[row].any():
            chosen.append(contents[row])
            left = left - contents[row]
    return chosen


def _offer(places: FlatPlaces, known: _Known, pieces: list[IntArray]) -> None:
    """Keep the placement of the pieces if they can be packed and it is better."""
    problem = places.problem
    contents = pack_pieces(pieces, problem.node_count, places.graph.admits)
    if contents is None:
        return
    placement = places.placement(contents)
    verdict = judge(problem, placement)
    if not verdict.valid:
        return
    if known.placement is None or verdict.scaled < judge(problem, known.placement).scaled:
        known.placement = placement


def _outcome(places: FlatPlaces, known: _Known) -> Outcome:
    problem = places.problem
    values = None if known.placement is None else judge(problem, known.placement).scaled
    bounds: list[int | None] = [None] * len(problem.terms)
    for i, term in enumerate(problem.terms):
        multiplier = dict(term.parts).get("network", 0)
        if multiplier and known.most is None:
            break
        pairs = int(places.kinds.pairs(places.kinds.sizes))
        gain = (places.far - places.near) * (known.most or 0)
        bounds[i] = multiplier * (places.far * pairs - gain)
        if values is not None and values[i] != bounds[i]:
            break
    status = Status.UNKNOWN if values is None else Status.FEASIBLE
    if values is not None and list(values) == bounds:
        status = Status.OPTIMAL
    return Outcome(
        status=status,
        placement=known.placement,
        values=values,
        bounds=tuple(bounds),
        proof=PROOF if any(bound is not None for bound in bounds) else "",
        interrupted=known.interrupted,
    )


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if not problem.classes:
        return "there is nothing to place"
    return why_not_flat(problem)


PIECES = Engine(
    name="pieces",
    run=run,
    supports=supports,
    version=lambda: f"highspy {version('highspy')}",
)
