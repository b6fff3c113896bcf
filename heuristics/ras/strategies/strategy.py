"""Storm's RAS strategies: scheduling one topology on the working state of a round.

Read from Apache Storm 3.0 (commit 73da988), ``BaseResourceAwareStrategy`` and its subclasses in
``org.apache.storm.scheduler.resource.strategies.scheduling``. Today ``Default...`` and
``Generic...`` are the same in all but name.
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies.backtracking import (
    BoundAckers,
    LostExecutorError,
    RoundRobin,
    Search,
    SearchResult,
)
from slotwise.heuristics.ras.strategies.executor_order import (
    acker_order,
    by_connection_count,
    by_constraint_severity,
    by_proximity,
)
from slotwise.heuristics.ras.strategies.fast_node_sorter import node_sorter
from slotwise.heuristics.ras.strategies.fit import Fit
from slotwise.heuristics.ras.strategies.node_sorter import COMMON, DEFAULT_RAS, GENERIC_RAS
from slotwise.models.cancellation import CancellationToken

SUCCESS = "success"
NOT_ENOUGH = "not-enough-resources"
INVALID = "invalid-topology"
OTHER = "other"

INTERNAL_ERROR = "Internal Error - Exception thrown when scheduling. Please check logs for details"
"""Storm's status of a topology, verbatim, where a strategy throws an exception."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy.

    Parameters
    ----------
    storm_class
        Simple name of its Java class, which its messages contain.
    sort_each
        Whether nodes are sorted for each executor instead of once for all.
    kind
        The rule by which nodes are compared, see `node_sorter`.
    constrained
        Whether it reads the topology's constraints.
    deals
        Whether executors are dealt over the nodes in turn, without backtracking.
    """

    storm_class: str
    sort_each: bool = True
    kind: str = COMMON
    constrained: bool = False
    deals: bool = False


STRATEGIES = {
    "ras-default": Strategy("DefaultResourceAwareStrategy"),
    "ras-generic": Strategy("GenericResourceAwareStrategy"),
    "ras-default-old": Strategy(
        "DefaultResourceAwareStrategyOld", sort_each=False, kind=DEFAULT_RAS
    ),
    "ras-generic-old": Strategy("GenericResourceAwareStrategyOld", kind=GENERIC_RAS),
    "ras-round-robin": Strategy("RoundRobinResourceAwareStrategy", sort_each=False, deals=True),
    "ras-constraint-solver": Strategy("ConstraintSolverStrategy", constrained=True),
}
"""The strategies, by the names of our methods."""


@dataclass(frozen=True, slots=True)
class RasLimits:
    """Limits of the scheduler for every topology, in addition to its own `RasSettings`.

    Parameters
    ----------
    max_states
        ``resource.aware.scheduler.constraint.max.state.search``.
    max_seconds
        ``scheduling.timeout.seconds.per.topology``; a search without a limit of its own ends 0.2 s
        before.
    """

    max_states: int = 100_000
    max_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """The result of scheduling a topology.

    Parameters
    ----------
    status
        ``success``, ``not-enough-resources``, ``invalid-topology`` or ``other``. Storm calls it a
        success too where a topology's only executor, or round robin's last one, found no slot; see
        `RasState.unassigned`.
    message
        Storm's, without the time taken.
    states, backtracked
        Assignments tried, and steps back.
    """

    status: str
    message: str
    states: int = 0
    backtracked: int = 0

    @property
    def success(self) -> bool:
        """Whether the status is ``success``."""
        return self.status == SUCCESS


def schedule_topology(
    state: RasState,
    topology: int,
    strategy: str,
    limits: RasLimits | None = None,
    token: CancellationToken | None = None,
) -> StrategyResult:
    """Place the unassigned executors of a topology; `state` changes on success only.

    Parameters
    ----------
    state
        The working state; what is assigned stays where it is.
    topology
        Index in the instance.
    strategy
        A key of `STRATEGIES`.
    limits
        Of the scheduler; ``None`` = Storm's defaults.
    token
        Stops it by `CancelledError`; ``None`` = nobody does.
    """
    work = state.copy()
    result = schedule_in_place(work, topology, strategy, limits, token)
    if result.success:
        state.adopt(work)
    return result


def schedule_in_place(
    state: RasState,
    topology: int,
    strategy: str,
    limits: RasLimits | None = None,
    token: CancellationToken | None = None,
) -> StrategyResult:
    """Do the same on `state` itself: a strategy that gives up leaves the tasks it has placed.

    So does Storm's, in a copy that its outer loop still looks at before it throws it away.
    """
    limits = limits or RasLimits()
    rule = STRATEGIES[strategy]
    early = _early_result(state, topology, rule, limits)
    if early is not None:
        return early
    try:
        result, count = _search(state, topology, rule, limits, token or CancellationToken())
    except LostExecutorError:
        return StrategyResult(OTHER, INTERNAL_ERROR)
    return _result(rule, result, count)


def _early_result(
    state: RasState, topology: int, rule: Strategy, limits: RasLimits
) -> StrategyResult | None:
    """Return the result if it is clear before any search (``checkSchedulingFeasibility``)."""
    view = state.model.topologies[topology]
    count = len(state.unassigned(topology))
    if not count:
        return StrategyResult(SUCCESS, f"Fully Scheduled by {rule.storm_class}")
    if not view.has_spout:
        return StrategyResult(INVALID, "Cannot find a Spout!")
    most = min(limits.max_states, view.topology.ras.max_states)
    if count >= most:
        return StrategyResult(
            OTHER,
            f"Unassignerd Executor count ({count}) is greater than searchable state count {most}",
        )
    if rule.constrained:
        nodes = len(state.model.cluster.ids)
        executors = {one.id: len(one.executors) for one in view.components}
        for key, limit in view.topology.constraints.max_per_node.items():
            if executors.get(key, 0) > nodes * limit:
                return StrategyResult(OTHER, "Scheduling not feasible!")
    return None


def _search(
    state: RasState, topology: int, rule: Strategy, limits: RasLimits, token: CancellationToken
) -> tuple[SearchResult, int]:
    """Return how the search ended, and the number of executors to place."""
    fit = Fit(state, topology, constrained=rule.constrained)
    own = fit.view.topology.ras
    order = executor_order(state, topology, rule)
    ackers = BoundAckers(fit, acker_order(fit.view, order))
    sorter = node_sorter(fit, rule.kind)
    states = min(limits.max_states, own.max_states)
    seconds = limits.max_seconds - 0.2
    if own.max_seconds is not None and own.max_seconds < limits.max_seconds:
        seconds = own.max_seconds
    if seconds <= 0:  # none for Storm's search, which its scheduler then stops
        seconds = limits.max_seconds
    if rule.deals:
        dealing = RoundRobin(
            fit, sorter, ackers, order, token, max_states=states, max_seconds=seconds
        )
        return dealing.run(), len(order)
    search = Search(
        fit,
        sorter,
        ackers,
        order,
        token,
        sort_each=rule.sort_each,
        max_states=states,
        max_seconds=seconds,
    )
    return search.run(), len(order)


def executor_order(state: RasState, topology: int, rule: Strategy) -> list[int]:
    """Return the unassigned executors in the order in which `rule` places them, ackers last."""
    view = state.model.topologies[topology]
    waiting = state.unassigned(topology)
    if rule.constrained:
        order = by_constraint_severity(view, waiting)
    elif view.topology.ras.order_by_proximity:
        order = by_proximity(view, waiting, state.model.java)
    else:
        order = by_connection_count(view, waiting, state.model.java)
    ackers = acker_order(view, waiting)
    last = set(ackers)
    return [*(task for task in order if task not in last), *ackers]


def _result(rule: Strategy, result: SearchResult, count: int) -> StrategyResult:
    """Return the result with Storm's message."""
    steps = f"{result.states} states traversed, backtracked {result.backtracked} times"
    if result.success:
        message = f"Fully Scheduled by {rule.storm_class} ({steps})"
        return StrategyResult(SUCCESS, message, result.states, result.backtracked)
    message = (
        f"Cannot schedule by {rule.storm_class} "
        f"({steps}, {result.position} of {count} executors scheduled)"
    )
    return StrategyResult(NOT_ENOUGH, message, result.states, result.backtracked)
