"""Engine ``connected``: connected configurations, priced by dynamic programming.

Where places are not short, a solution is a set of connected configurations, one per node, and
within them one per worker. The duals of `pricing` bound the flow that all nodes, and all workers,
can hold together; the configurations of small reduced cost are enumerated and searched for the best
solution. Its configurations are then packed onto the nodes there are, in one rack if they fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.branching import BranchAndPrice
from slotwise.solver.column_generation.connected.gap_search import GapSearch, level_search
from slotwise.solver.column_generation.connected.joint_search import (
    JointLevels,
    by_counts,
    by_loads,
    joint_search,
    make_joint_levels,
    roundings,
)
from slotwise.solver.column_generation.connected.level import Level, make_level
from slotwise.solver.column_generation.connected.place_model import (
    PlaceModel,
    dual_scale,
    make_place_model,
    why_not_connected,
)
from slotwise.solver.column_generation.connected.rack_flow import flow_between_racks
from slotwise.solver.column_generation.connected.two_level_search import two_level_search
from slotwise.solver.column_generation.connected.worker_split import (
    WorkerSplitter,
    pack_configurations,
    placement_of,
    round_down,
)
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

KIND = "connected"
"""The engine's name, and what its bounds are called."""

PROOF = "connected configurations priced by dynamic programming, gap closed by search"


@dataclass(slots=True)
class _ConnectedSearch:
    """The bounds so far: the most flow inside nodes, inside workers, and the saving of both.

    ``None``: no bound yet. `between_racks` is the least flow there.
    """

    places: PlaceModel
    best: Incumbent
    limits: Limits
    params: ConnectedParams
    split: WorkerSplitter | None = None
    nodes: int | None = None
    workers: int | None = None
    joint: int | None = None
    between_racks: int = 0
    by_solver: bool = False

    @property
    def without_saving(self) -> int:
        """Least cost of placements of all nodes apart, between racks what must be there."""
        distance = self.places.problem.distance
        farther = int(distance[CLUSTER] - distance[RACK]) * self.between_racks
        return self.places.farthest + farther

    @property
    def saved(self) -> int | None:
        """Return what no placement saves more than, against all nodes apart in one rack."""
        places = self.places
        if self.nodes is None or (places.workers is not None and self.workers is None):
            return self.joint
        inside = min(self.workers or 0, self.nodes)  # workers hold no more than their nodes
        saved = places.node_saving * self.nodes + places.worker_saving * inside
        return saved if self.joint is None else min(saved, self.joint)

    @property
    def enough(self) -> int:
        """What the best placement saves, as bounds count it; -1 where there is none to beat."""
        values = self.best.values
        for term, value, bound in zip(
            self.places.problem.terms, values or (), self.bounds(), strict=False
        ):
            multiplier = dict(term.parts).get("network", 0)
            if multiplier:
                return max(self.without_saving - -(-value // multiplier), -1)
            if value != bound:
                break
        return -1

    def prove_joint(self, saved: int) -> None:
        """Note a bound on what nodes and workers save together, and report it."""
        self.joint = saved if self.joint is None else min(self.joint, saved)
        self.report()

    def offer(self, configurations: list[IntArray]) -> None:
        """Keep the placement of the configurations if they find room and it is better."""
        by_node = pack_configurations(self.places, configurations)
        placement = None if by_node is None else placement_of(self.places, by_node, self.split)
        if placement is not None:
            self.best.offer(placement)

    def report(self) -> None:
        """Tell the bound of every term."""
        self.best.prove(self.bounds(), by_solver=self.by_solver)

    def share(self, fraction: float, deadline: float) -> float:
        """Return the deadline of what gets this share of the time that is left."""
        now = self.best.reporter.token.now()
        return now + fraction * (deadline - now)

    def bounds(self) -> list[int | None]:
        """Return a bound per term, whatever the others are at; ``None`` where there is none."""
        terms, saved = self.places.problem.terms, self.saved
        bounds: list[int | None] = []
        for term in terms:
            multiplier = dict(term.parts).get("network", 0)
            if multiplier and saved is None:
                break
            bounds.append(multiplier * (self.without_saving - (saved or 0)))
        return [*bounds, *([None] * (len(terms) - len(bounds)))]


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: ConnectedParams = CONNECTED_DEFAULTS,
) -> Outcome:
    """Solve the network term; an earlier one is overload, whose bound is 0."""
    best = Incumbent(problem, reporter or null_reporter(problem, KIND), KIND)
    deadline = best.reporter.token.now() + limits.time_s
    places = make_place_model(problem, best.reporter.token, params)
    if hint is not None:
        best.offer(hint)
    if not places.nodes[0].most.all() or not (places.workers is None or places.workers.most.all()):
        if (places.problem.capacity[:, ~problem.hard] == NO_LIMIT).all():
            best.prove_infeasible()
            return best.outcome("a task fits nowhere")
        best.prove([0])
        return best.outcome("a task fits nowhere without overload")
    search = _ConnectedSearch(places, best, limits, params)
    try:
        _solve(search, deadline)
    except CancelledError:
        best.interrupted = True
    search.report()
    return best.outcome(PROOF if best.bounds else "")


def _solve(search: _ConnectedSearch, deadline: float) -> None:
    """Bound nodes and workers, then search the best solution; of nodes first where both matter."""
    places, params, token = search.places, search.params, search.best.reporter.token
    scale = dual_scale(places.problem)
    until = search.share(params.node_duals_fraction, deadline)
    nodes = _tightest_level(places, scale, until, params, token)
    gap_search = level_search(nodes, params, token)
    search.nodes = gap_search.bound
    search.between_racks = flow_between_racks(places, scale, deadline, params, token)
    workers = None
    if places.workers is not None:
        workers = make_level(places.workers, scale, deadline, params, token)
        search.workers = workers.flow_bound
        search.split = WorkerSplitter(places.workers, workers.duals, deadline, params, token)
    search.report()
    search.offer(round_down(nodes.graph, nodes.duals, nodes.graph.sizes))
    until = search.share(params.levels_fraction, deadline)
    _search_levels(search, nodes, workers, gap_search, until)
    if search.best.is_settled or not places.node_saving:
        return
    by_levels = search.saved
    joint = _search_jointly(search, nodes, workers, deadline)
    closing = joint_search(joint)
    closing.enough = lambda: search.enough
    _close(search, closing, search.share(params.joint_fraction, deadline))
    if _are_levels_as_near(search, by_levels):
        until = search.share(1 - params.tree_fraction, deadline)
        _search_levels(search, nodes, workers, gap_search, until)
    if not search.best.is_settled:
        _branch(search, joint, deadline)
    _close(search, closing, deadline)  # what a tree that has ended early leaves


def _are_levels_as_near(search: _ConnectedSearch, by_levels: int | None) -> bool:
    """Return whether a gap is open, and that of the levels at their own duals not twice as large.

    What did not fit in the search of the smaller gap is far more in a larger one.
    """
    if search.best.is_settled:
        return False
    if by_levels is None or search.saved is None:
        return True
    return by_levels - search.enough <= 2 * (search.saved - search.enough)


def _search_levels(
    search: _ConnectedSearch,
    nodes: Level,
    workers: Level | None,
    gap_search: GapSearch,
    deadline: float,
) -> None:
    """Search nodes at their duals, and where workers matter both at the duals of each."""
    places, params = search.places, search.params
    share = 1.0 if workers is None else params.node_time_fraction
    _run_gap_search(search, gap_search, search.share(share, deadline))
    search.nodes = gap_search.bound
    search.report()
    if workers is None or search.split is None or search.best.is_settled:
        return
    if places.node_saving and places.worker_saving:
        token = search.best.reporter.token
        level_search = two_level_search(places, nodes, workers, search.split, params, token)
        _run_gap_search(search, level_search, deadline)
        search.prove_joint(level_search.bound)


def _search_jointly(
    search: _ConnectedSearch, nodes: Level, workers: Level | None, deadline: float
) -> JointLevels:
    """Bound nodes with their workers by joint duals, and round their columns."""
    params, token = search.params, search.best.reporter.token
    until = search.share(params.joint_duals_fraction, deadline)
    joint = make_joint_levels(search.places, nodes, workers, until, params, token)
    search.prove_joint(joint.saved)
    if not search.best.is_settled:
        joint = by_counts(joint, search.share(params.counts_fraction, deadline))
        search.prove_joint(joint.saved)
    joint = _bounded_by_loads(search, joint, deadline)
    if search.best.is_settled:
        return joint
    until, enough = search.share(params.combination_fraction, deadline), search.enough
    for configurations in roundings(joint, search.places, until, search.limits):
        search.offer(configurations)
    if search.enough > enough:  # else the same contents would be listed
        joint = _bounded_by_loads(search, joint, deadline)
    return joint


def _close(search: _ConnectedSearch, closing: GapSearch, deadline: float) -> None:
    """Search what joint duals leave open, from where the search has come, if anything is."""
    if search.best.is_settled:
        return
    try:
        _run_gap_search(search, closing, deadline)
    finally:
        search.prove_joint(closing.bound)


def _bounded_by_loads(search: _ConnectedSearch, joint: JointLevels, deadline: float) -> JointLevels:
    """Raise the load bound as far as contents can be listed, if a gap is open."""
    if not search.best.is_settled:
        until = search.share(search.params.loads_fraction, deadline)
        joint = by_loads(joint, search.enough, until)
        search.prove_joint(joint.saved)
    return joint


def _branch(search: _ConnectedSearch, joint: JointLevels, deadline: float) -> None:
    """Close the rest of the gap by branch and price."""
    tree = BranchAndPrice(joint, lambda: search.enough, search.offer)
    try:
        tree.run(deadline, search.limits)
    finally:
        search.by_solver |= tree.by_solver
        search.prove_joint(tree.bound)


def _tightest_level(
    places: PlaceModel, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> Level:
    """Return the level of nodes, by the rule that gives the least bound."""
    levels = [make_level(graph, scale, deadline, params, token) for graph in places.nodes]
    return min(levels, key=lambda one: one.duals.total(one.graph.sizes) - one.load_bound.total)


def _run_gap_search(search: _ConnectedSearch, gap_search: GapSearch, deadline: float) -> None:
    """Run a search; what is proven on the way stands in `gap_search`.

    That is the bound of the duals where flows are too large for the search.
    """
    gap_search.on_best = search.offer
    try:
        gap_search.best(deadline, search.limits)
    except (TooLongError, NotTakenError):
        return
    finally:
        search.by_solver |= gap_search.by_solver


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if not problem.classes:
        return "there is nothing to place"
    return why_not_connected(problem)


def _engine(params: ConnectedParams) -> Engine:
    return Engine(
        name=KIND,
        run=partial(run, params=params),
        supports=supports,
        version=lp_solver,
        compiles=True,
    )


CONNECTED = configurable(_engine, CONNECTED_DEFAULTS)
