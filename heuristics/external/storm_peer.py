"""Apache Storm's own Resource Aware Scheduler, as a process that answers many requests.

``make storm-peer`` builds a small Java program (in ``storm_programs/``) on the released
``storm-server``. It reads one JSON object per line and answers with one. It is started once and
reused for all calls, because JVM start-up takes a second.

The clock that Storm asks for up-times stands still at the latest launch of the instance. So a
search never comes to its own time limit (``max_seconds``); a topology whose scheduling takes
longer than Storm's limit of real time is given up, as in Storm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slotwise.heuristics.external.storm_process import STORM_1, StormProcess
from slotwise.heuristics.method import TopologyOutcome
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.formats.placement_file import answer_from_data
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal

DEFAULT_TIMEOUT_S = 60
"""Storm's ``scheduling.timeout.seconds.per.topology``."""


@dataclass(frozen=True, slots=True)
class StormAnswer:
    """One round of Storm's scheduler.

    Parameters
    ----------
    placement
        All that has a place after the round. A topology that was not scheduled may have some: what
        ran before and could not be completed.
    outcomes
        By topology id.
    evicted
        Topology id -> those that were evicted on the way to schedule it, whether that helped or
        not, and whether or not they found a place again.
    seconds
        Wall clock of each run, inside of Storm's ``schedule``.
    """

    placement: Placement
    outcomes: Mapping[str, TopologyOutcome]
    evicted: Mapping[str, tuple[str, ...]]
    seconds: tuple[float, ...]


def unsupported(instance: Instance, strategy: str | None) -> str | None:
    """Return a property of `instance` that Storm cannot express; ``None`` = there is none."""
    for node in instance.cluster.nodes:
        for key, capacity in node.resources.items():
            if capacity is None:
                return f"node {node.id} has no limit of {key}: Storm needs a number"
    racks: dict[str, str] = {}
    for node in instance.cluster.nodes:
        if racks.setdefault(node.host, node.rack) != node.rack:
            return f"host {node.host} is in two racks, {racks[node.host]} and {node.rack}"
    for topology in instance.topologies:
        if (strategy or topology.strategy) not in STRATEGIES:
            return f"topology {topology.id} has no strategy of Storm's: {topology.strategy}"
        for component in topology.components:
            if component.kind == "system" and not component.id.startswith("__"):
                return f"component {component.id}: Storm's system components begin with __"
    return None


class StormPeer(StormProcess):
    """The running program; see `StormProcess`."""

    def schedule(
        self,
        instance: Instance,
        *,
        strategy: str | None = None,
        runs: int = 1,
        attempts: int = 5,
        max_states: int = 100_000,
        timeout_s: int = DEFAULT_TIMEOUT_S,
        time_limit_s: float | None = None,
    ) -> StormAnswer:
        """Return what one round of Storm's scheduler makes of `instance`.

        Parameters
        ----------
        strategy
            For all topologies, for example ``ras-default``; ``None`` = each one's own.
        runs
            Number of repetitions of the round, each from the instance's own state.
        attempts
            Most attempts of Storm to place a topology, evicting more each time.
        max_states
            Storm's own limit of a search, in addition to that of the topology.
        timeout_s
            Storm's own limit for one topology, whole seconds.
        time_limit_s
            Wall-clock seconds of the whole answer, after which the process is ended.

        Raises
        ------
        InputError
            When Storm cannot express the instance: for example a capacity without a limit.
        PeerError
            When the process failed or exceeded its time.
        """
        reason = unsupported(instance, strategy)
        if reason is not None:
            raise InputError(reason, field=instance.name, has_value=False)
        answer = self.ask_about(
            instance,
            time_limit_s,
            strategy=strategy,
            runs=runs,
            attempts=attempts,
            max_states=max_states,
            timeout_s=timeout_s,
        )
        return read_answer(answer, instance)


def read_answer(answer: Mapping[str, Any], instance: Instance) -> StormAnswer:
    """Return the answer of one of the Java programs about `instance`."""
    placement = answer_from_data(answer["placement"], instance)
    assert not isinstance(placement, Refusal)
    return StormAnswer(
        placement=placement,
        outcomes={
            key: TopologyOutcome(found["scheduled"], found["status"] or "")
            for key, found in answer["topologies"].items()
        },
        evicted={key: tuple(found) for key, found in answer["evicted"].items()},
        seconds=tuple(float(second) for second in answer["seconds"]),
    )


class SchedulerError(SlotwiseError):
    """The scheduler threw an exception, whose message this has; no topology was scheduled."""


class Storm1Peer(StormProcess):
    """The scheduler of Storm 1.0.6, on the released ``storm-core``; see `StormProcess`.

    ``make storm-1-peer`` builds the program (in ``storm_programs/storm_1/``). Topologies are handed
    over as Nimbus reads them, with hash maps that went through Thrift; the clock stands still.
    """

    program = STORM_1

    def schedule(
        self, instance: Instance, *, runs: int = 1, time_limit_s: float | None = None
    ) -> StormAnswer:
        """Return what one round of the scheduler makes of `instance`; nobody is named as evicted.

        Parameters
        ----------
        instance
            One that `r_storm_1_0.supports` has nothing against.
        runs
            Number of repetitions of the round, each from the instance's own state.
        time_limit_s
            Wall-clock seconds of the whole answer, after which the process is ended.

        Raises
        ------
        SchedulerError
            When the scheduler threw an exception; it can be asked again.
        InputError
            When the request cannot be read.
        PeerError
            When the process failed or exceeded its time.
        """
        answer = self.ask_about(instance, time_limit_s, runs=runs)
        if "failed" in answer:
            raise SchedulerError(answer["failed"])
        return read_answer(answer, instance)
