"""One topology in Storm's outer loop: attempts, and evictions on a working copy.

``ResourceAwareScheduler.scheduleTopology`` of Apache Storm 3.0 (commit 73da988). A topology that
names no strategy has Storm's default, ``ras-default``; one that names none of the scheduler's gets
the message of a strategy that cannot be created. Storm stops a strategy at the time limit; here
it ends on its own, and its answer then counts as too late.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from slotwise.heuristics.ras.scheduler.resource_sums import SchedulingResources
from slotwise.heuristics.ras.scheduler.round import Decision, DecisionOutcome
from slotwise.heuristics.ras.state.state import RasState
from slotwise.heuristics.ras.strategies.strategy import (
    INTERNAL_ERROR,
    INVALID,
    NOT_ENOUGH,
    OTHER,
    STRATEGIES,
    RasLimits,
    StrategyResult,
    schedule_in_place,
)
from slotwise.models.cancellation import CancellationToken

DEFAULT_STRATEGY = "ras-default"
PACKAGE = "org.apache.storm.scheduler.resource.strategies.scheduling."
TIMEOUT_KEY = "scheduling.timeout.seconds.per.topology"
FAILURES = {INVALID: "FAIL_INVALID_TOPOLOGY", OTHER: "FAIL_OTHER"}
"""A strategy's status -> its name in Storm's messages."""


@dataclass(frozen=True, slots=True)
class RoundLimits:
    """When the loop gives up on a topology (Storm's configuration and its defaults).

    Parameters
    ----------
    attempts
        ``resource.aware.scheduler.max.topology.scheduling.attempts``, 1 or more.
    search
        Of one attempt: states and wall-clock seconds.
    """

    attempts: int = 5
    search: RasLimits = field(default_factory=RasLimits)


class TopologyAttempt:
    """The attempts to schedule one topology; `victims` may be evicted, in this order."""

    def __init__(
        self,
        state: RasState,
        topology: int,
        victims: list[int],
        limits: RoundLimits,
        strategy: str | None,
        token: CancellationToken,
    ) -> None:
        self._state = state
        self._working = state.copy()
        self._topology = topology
        self._victims = victims
        self._limits = limits
        self._token = token
        self._id = state.model.instance.topologies[topology].id
        own = state.model.instance.topologies[topology].strategy
        self._strategy = strategy or own or DEFAULT_STRATEGY
        self._sums = SchedulingResources(self._working, topology, token)
        self._tried: list[int] = []
        self._results: list[StrategyResult] = []
        self._attempts = 0

    def take(self) -> tuple[Decision, RasState]:
        """Return the decision and the cluster after it."""
        if self._strategy not in STRATEGIES:
            return self._refuse(
                "Unsuccessful in scheduling - failed to create instance of topology strategy "
                f"{self._strategy}. Please check logs for details"
            )
        while self._attempts < self._limits.attempts:
            self._attempts += 1
            cluster = self._working.copy()
            self._sums.start_attempt()
            begin = self._token.now()
            result = self._run(cluster)
            if self._token.now() - begin > self._limits.search.max_seconds:
                return self._refuse(
                    f"Scheduling took too long for {self._id} using strategy "
                    f"{PACKAGE}{STRATEGIES[self._strategy].storm_class} timeout after "
                    f"{self._limits.search.max_seconds:g} seconds using config {TIMEOUT_KEY}."
                )
            if result.success:
                return self._keep(cluster, f"Running - {result.message}")
            if result.message == INTERNAL_ERROR:
                return self._refuse(INTERNAL_ERROR)
            if result.status in FAILURES:
                status = FAILURES[result.status]
                return self._refuse(f"Status: {status} error message: {result.message}")
            if not self._evict(cluster):
                return self._refuse(
                    "Not enough resources to schedule after evicting lower priority topologies. "
                    f"{self._sums.message()}{result.message}"
                )
        return self._refuse(
            f"Failed to make enough resources for {self._id} by evicting lower priority "
            f"topologies within {self._limits.attempts} attempts. {self._sums.message()}"
        )

    def _run(self, cluster: RasState) -> StrategyResult:
        """Run the strategy, unless the sums say that there is no use."""
        if not self._sums.can_schedule():
            return StrategyResult(NOT_ENOUGH, "")
        result = schedule_in_place(
            cluster, self._topology, self._strategy, self._limits.search, self._token
        )
        self._results.append(result)
        return result

    def _evict(self, failed: RasState) -> bool:
        """Evict until the sums suffice or nobody is left; return whether somebody was evicted."""
        self._sums.failed(failed)
        before = len(self._tried)
        for victim in self._victims:
            if self._working.places[victim]:
                self._sums.evicted(failed, victim)
                self._working.free(victim)
                self._tried.append(victim)
                if self._sums.can_schedule():
                    break
        return len(self._tried) > before

    def _keep(self, cluster: RasState, message: str) -> tuple[Decision, RasState]:
        lost = cluster.unassigned(self._topology)
        outcome = DecisionOutcome.REFUSED if lost else DecisionOutcome.SCHEDULED
        # Storm assigns everything again when it takes over a working copy.
        return self._decide(outcome, message, evicted=tuple(self._tried)), cluster.copy()

    def _refuse(self, message: str) -> tuple[Decision, RasState]:
        return self._decide(DecisionOutcome.REFUSED, message), self._state

    def _decide(
        self, outcome: DecisionOutcome, message: str, evicted: tuple[int, ...] = ()
    ) -> Decision:
        return Decision(
            topology=self._topology,
            outcome=outcome,
            message=message,
            tried=tuple(self._tried),
            evicted=evicted,
            attempts=self._attempts,
            states=sum(result.states for result in self._results),
            backtracked=sum(result.backtracked for result in self._results),
            before=self._state.placement(),
        )
