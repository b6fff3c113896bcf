"""Large-neighbourhood search: parts of the incumbent solved again, all else fixed.

The nodes of a neighbourhood exchange flow; one may be empty. Their tasks are a problem
of their own (`Neighbourhood`), solved by the engines ``connected`` and ``cp-sat``. What is
no worse is taken. Neighbourhoods grow while they are solved to the end, and shrink where they are
not [1]. It proves nothing, and comes after local search, where single tasks no
longer help.

[1] D. Pisinger, S. Ropke, Large neighborhood search, Handbook of Metaheuristics, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.compact.formulation import PARTS
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters
from slotwise.solver.presolve.flow_components import on_tasks
from slotwise.solver.presolve.node_reduction import on_nodes


@dataclass(frozen=True, slots=True)
class LargeNeighbourhoodParams(Parameters):
    """How large neighbourhoods are, and what each may take.

    Parameters
    ----------
    least_nodes, most_nodes
        Nodes freed at once.
    patience
        Neighbourhoods solved to the end without a gain, in a row, before they grow by a node.
    empty_fraction
        Share of neighbourhoods that have an empty node, too.
    seconds
        Of each engine on a neighbourhood.
    cp_sat_work
        Of CP-SAT on a neighbourhood, in its deterministic time.
    """

    least_nodes: int = 2
    most_nodes: int = 6
    patience: int = 10
    empty_fraction: float = 0.3
    seconds: float = 2.0
    cp_sat_work: float = 1.0


LARGE_NEIGHBOURHOOD_DEFAULTS = LargeNeighbourhoodParams()


# Large-neighbourhood search from a valid placement, with exact engines for the neighbourhoods.
#
# Deterministic for a seed and a number of steps: then CP-SAT alone solves the neighbourhoods, as
# far as its deterministic time goes. Without a number of steps ``connected`` goes first.

NAME = "large-neighbourhood"


@dataclass(slots=True, eq=False)
class LargeNeighbourhoodSearch:
    """A search from a valid placement that places a task; `advance` may be called again and again.

    Parameters
    ----------
    problem
        Distances by level.
    placement
        Where it is: the best placement so far, or one that is as good.
    limits
        The seed; with `deterministic_work` every step is reproducible.
    token
        What ends a step.
    params
        Sizes and limits of neighbourhoods.
    """

    problem: Problem
    placement: Placement
    limits: Limits
    token: RunToken
    params: LargeNeighbourhoodParams = LARGE_NEIGHBOURHOOD_DEFAULTS
    steps: int = 0
    _size: int = 0
    _vain: int = 0

    def advance(self) -> bool:
        """Solve one neighbourhood; return whether the placement is better than before."""
        params = self.params
        self._size = max(self._size, params.least_nodes)
        self.steps += 1
        rng = np.random.default_rng((self.limits.seed, self.steps))
        share = params.empty_fraction
        nodes = choose_nodes(self.problem, self.placement, self._size, share, rng)
        if not can_free(self.problem, nodes):
            rack = self.problem.node_rack[nodes[0]]
            nodes = [node for node in nodes if self.problem.node_rack[node] == rack]
        part = freed(self.problem, self.placement, nodes)
        start = null_reporter(part.problem, NAME).judged(part.problem, part.start).scaled
        outcome, is_solved = self._solve(part.problem, part.start)
        better = outcome.values is not None and outcome.values < start
        if outcome.placement is not None and (better or outcome.values == start):
            self.placement = part.restored(self.placement, outcome.placement)
        self._adapt(better=better, is_solved=is_solved)
        return better

    def _solve(self, problem: Problem, start: Placement) -> tuple[Outcome, bool]:
        """Return the best that the engines find, and whether it is proven to be the best."""
        params, work = self.params, self.limits.deterministic_work
        state = null_reporter(problem, NAME).state
        state.offer(start, NAME)
        for engine in (CP_SAT,) if work is not None else (CONNECTED, CP_SAT):
            self.token.check()
            if engine.supports(problem) is not None or state.best is None:
                continue
            seconds = self.limits.time_s if work is not None else params.seconds
            limits = Limits(
                time_s=seconds,
                seed=self.steps,
                deterministic_work=params.cp_sat_work if engine is CP_SAT else None,
            )
            token = self.token.child(self.token.now() + seconds)
            try:
                reporter = Reporter(state, engine.name, token=token)
                outcome = engine.run(problem, limits, state.best.placement, reporter)
            except (NotTakenError, CancelledError):
                continue
            if outcome.values is not None and outcome.values == outcome.bounds:
                return outcome, True
        return state.outcome(""), False

    def _adapt(self, *, better: bool, is_solved: bool) -> None:
        """Grow after some neighbourhoods without a gain; shrink after one that was not solved."""
        self._vain = self._vain + 1 if is_solved and not better else 0
        if self._vain >= self.params.patience:
            self._size, self._vain = min(self._size + 1, self.params.most_nodes), 0
        elif not is_solved:
            self._size = max(self._size - 1, self.params.least_nodes)


RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that a compact model of some of the nodes keeps for all of them."""


@declares(RULES, PARTS - {"bottleneck"})
def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the search does not take the problem."""
    if problem.matrix is not None:
        return "distances come as a matrix"
    if all(part == "rejected" for term in problem.terms for part, _ in term.parts):
        return "nothing but rejected topologies counts"
    return None if problem.task_count else "there is nothing to place"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: LargeNeighbourhoodParams = LARGE_NEIGHBOURHOOD_DEFAULTS,
) -> Outcome:
    """Search from the hint until the limit; work counts steps, one neighbourhood each.

    Raises
    ------
    NotTakenError
        When there is no valid placement to start from, or it places no task.
    """
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter)
    if hint is None or all(node == UNPLACED for node in hint.nodes) or not best.offer(hint):
        raise NotTakenError("there is no placement to start from")
    search = LargeNeighbourhoodSearch(problem, hint, limits, reporter.token, params)
    work = math.inf if limits.deterministic_work is None else limits.deterministic_work
    try:
        while best.seconds < limits.time_s and search.steps < work:
            reporter.token.check()
            if reporter.state.is_settled:
                break
            if search.advance():
                best.offer_solution(search.placement)
    except CancelledError:
        best.interrupted = True
    return best.outcome(deterministic_work=float(search.steps))


def _engine(params: LargeNeighbourhoodParams) -> Engine:
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=supports,
        version=lambda: f"slotwise {version('slotwise')}",
    )


LARGE_NEIGHBOURHOOD = configurable(_engine, LARGE_NEIGHBOURHOOD_DEFAULTS)


# The problem of the tasks on a few nodes of a placement, everything else fixed.
#
# All tasks on the freed nodes are placed again on these nodes, some of which may have been empty.
# So workers, capacities and shared memory concern the freed tasks alone. Of the others only the
# racks matter: the flow to a task elsewhere costs the distance within the rack or across racks,
# by the rack that the freed task lands in. That is a linear cost beside the network.


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A problem on the freed nodes, and the way back.

    The values of its terms are those of the whole problem less a constant each; a term that counts
    nothing but ``rejected`` is left out, and so is one of linear costs alone where a cost of racks
    takes their place and there are none.

    Parameters
    ----------
    problem
        The freed tasks on the freed nodes.
    nodes, tasks
        Index in the whole problem of each of its nodes and tasks.
    start
        Where the freed tasks are now.
    """

    problem: Problem
    nodes: tuple[int, ...]
    tasks: tuple[int, ...]
    start: Placement

    def restored(self, whole: Placement, part: Placement) -> Placement:
        """Return the whole placement with the freed tasks placed as in `part`."""
        nodes, workers = list(whole.nodes), list(whole.workers)
        for task, node, label in zip(self.tasks, part.nodes, part.workers, strict=True):
            nodes[task], workers[task] = self.nodes[node], label
        return Placement(tuple(nodes), tuple(workers))


def can_free(problem: Problem, nodes: Sequence[int]) -> bool:
    """Return whether the tasks on these nodes make a problem of their own.

    Not where distances come as a matrix, nor where the nodes are in several racks and linear costs
    belong to another term than the network: a task has one linear cost only.
    """
    if problem.matrix is not None:
        return False
    return not (_racks_differ(problem, nodes) and _network_term(problem) is None)


def freed(problem: Problem, placement: Placement, nodes: Sequence[int]) -> Neighbourhood:
    """Return the problem of the tasks that a valid placement has on these nodes, see `can_free`.

    At least one task must be there.
    """
    freed_nodes = sorted(nodes)
    index = {node: i for i, node in enumerate(freed_nodes)}
    part = on_tasks(problem, [t for t, node in enumerate(placement.nodes) if node in index])
    smaller = replace(
        on_nodes(part.problem, freed_nodes),
        move_limit=_moves_left(problem, placement, index),
    )
    smaller = _without_rejected(smaller)
    if _racks_differ(problem, freed_nodes):
        costs = _costs_to_others(problem, placement, part.tasks, freed_nodes)
        smaller = _with_linear(smaller, costs)
    own = part.own_placement(placement)
    start = Placement(tuple(index[node] for node in own.nodes), own.workers)
    return Neighbourhood(smaller, tuple(freed_nodes), part.tasks, start)


def _moves_left(problem: Problem, placement: Placement, index: dict[int, int]) -> int:
    """Return how many of the freed tasks whose home is freed, too, may be elsewhere."""
    if problem.move_limit == NO_LIMIT:
        return NO_LIMIT
    places = zip(placement.nodes, placement.workers, strict=True)
    moved = 0
    for place, c in zip(places, problem.task_class.tolist(), strict=True):
        home = problem.classes[c].home
        bound_to_move = home is not None and (place[0] not in index or home[0] not in index)
        moved += bound_to_move and place != home
    return problem.move_limit - moved


def _racks_differ(problem: Problem, nodes: Sequence[int]) -> bool:
    """Return whether it matters to the network which of the nodes' racks a task is in."""
    racks = {int(problem.node_rack[node]) for node in nodes}
    counts = any(part == "network" for term in problem.terms for part, _ in term.parts)
    return len(racks) > 1 and counts and bool(problem.distance[CLUSTER] != problem.distance[RACK])


def _network_term(problem: Problem) -> int | None:
    """Return the term that a linear cost of the network can join; ``None`` if there is none."""
    term_of = {part: index for index, term in enumerate(problem.terms) for part, _ in term.parts}
    free = (
        problem.linear is None
        or "linear" not in term_of
        or term_of["linear"] == term_of.get("network")
    )
    return term_of.get("network") if free else None


def _without_rejected(problem: Problem) -> Problem:
    """Return the problem in which no topology may be left out: those that are, are not here."""
    return _with_parts(
        problem,
        [tuple(one for one in term.parts if one[0] != "rejected") for term in problem.terms],
    )


def _with_linear(problem: Problem, costs: IntArray) -> Problem:
    """Return the problem with costs [C, N], in steps of the network, added to the network."""
    at = _network_term(problem)
    terms = []
    for index, term in enumerate(problem.terms):
        parts = {part: multiplier for part, multiplier in term.parts if part != "linear"}
        if index == at:
            costs = parts["network"] * costs
            linear = dict(term.parts).get("linear", 0)
            if problem.linear is not None:
                costs = costs + linear * problem.linear
            parts["linear"] = 1
        terms.append(tuple(parts.items()))
    return _with_parts(replace(problem, linear=costs), terms)


def _with_parts(problem: Problem, parts: Sequence[tuple[tuple[str, int], ...]]) -> Problem:
    """Return the problem with other parts in its terms; a term that keeps none is left out."""
    terms = tuple(
        replace(term, name="+".join(part for part, _ in own), parts=own)
        for term, own in zip(problem.terms, parts, strict=True)
        if own
    )
    if not terms:
        return replace(problem, terms=terms)
    objective = replace(problem.instance.objective, terms=tuple(term.name for term in terms))
    return replace(problem, instance=replace(problem.instance, objective=objective), terms=terms)


def _costs_to_others(
    problem: Problem, placement: Placement, tasks: Sequence[int], nodes: Sequence[int]
) -> IntArray:
    """Return [C, N]: the network cost of a task, of each class freed, with all that stay."""
    free = set(tasks)
    stays = np.zeros((len(problem.classes), len(problem.racks)), dtype=np.int64)
    for task, node in enumerate(placement.nodes):
        if node != UNPLACED and task not in free:
            stays[problem.task_class[task], problem.node_rack[node]] += 1
    flow = np.zeros((len(problem.classes),) * 2, dtype=np.int64)
    for (a, b), weight in problem.pair_flows().items():
        flow[a, b] = flow[b, a] = weight
    near, far = int(problem.distance[RACK]), int(problem.distance[CLUSTER])
    in_rack = flow @ stays
    costs = far * in_rack.sum(axis=1, keepdims=True) - (far - near) * in_rack
    classes = sorted({int(problem.task_class[task]) for task in tasks})
    return np.asarray(costs[classes][:, problem.node_rack[list(nodes)]], dtype=np.int64)


# Which nodes to free: some that exchange flow, now and then with an empty one.


def choose_nodes(
    problem: Problem, placement: Placement, size: int, empty_fraction: float, rng: Generator
) -> list[int]:
    """Return `size` nodes in use, or all of them, and perhaps an empty one of their racks.

    The first is drawn by its flow with other nodes, each further one by its flow with those before
    it; where there is none, any. At least one task must be placed.
    """
    used, counts = _contents(problem, placement)
    flow = np.zeros((len(problem.classes),) * 2)
    for (a, b), weight in problem.pair_flows().items():
        flow[a, b] = flow[b, a] = weight
    exchanged = counts @ flow @ counts.T
    np.fill_diagonal(exchanged, 0.0)
    chosen = [_drawn(exchanged.sum(axis=1), [], rng)]
    while len(chosen) < min(size, len(used)):
        chosen.append(_drawn(exchanged[chosen].sum(axis=0), chosen, rng))
    nodes = [int(used[i]) for i in chosen]
    empty = np.setdiff1d(np.flatnonzero(np.isin(problem.node_rack, problem.node_rack[nodes])), used)
    if len(empty) and rng.random() < empty_fraction:
        nodes.append(int(empty[rng.integers(len(empty))]))
    return nodes


def _contents(problem: Problem, placement: Placement) -> tuple[IntArray, IntArray]:
    """Return the nodes in use [U], and the tasks of each class on them [U, C]."""
    nodes = np.array(placement.nodes, dtype=np.int64)
    placed = nodes != UNPLACED
    used, at = np.unique(nodes[placed], return_inverse=True)
    counts = np.zeros((len(used), len(problem.classes)), dtype=np.int64)
    np.add.at(counts, (at, problem.task_class[placed]), 1)
    return used, counts


def _drawn(weights: np.ndarray, without: list[int], rng: Generator) -> int:
    """Return an index drawn by weight; by none where all weights are 0."""
    allowed = np.ones(len(weights))
    allowed[without] = 0.0
    weights = weights * allowed
    if not weights.any():
        weights = allowed
    return int(rng.choice(len(weights), p=weights / weights.sum()))
