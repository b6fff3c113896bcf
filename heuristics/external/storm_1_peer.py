"""The Resource Aware Scheduler of Apache Storm 1.0.6 itself, as a process that answers requests.

``make storm-1-peer`` builds a small Java program (in ``storm_programs/storm_1/``) on the released
``storm-core``. It is asked as `storm_peer` asks the newer release. Topologies are handed
over as Nimbus reads them, with hash maps that went through Thrift; the clock stands still.
"""

from __future__ import annotations

from slotwise.heuristics.external.storm_peer import StormAnswer, read_answer
from slotwise.heuristics.external.storm_process import STORM_1, StormProcess
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.instance import Instance


class SchedulerError(SlotwiseError):
    """The scheduler threw an exception, whose message this has; no topology was scheduled."""


class Storm1Peer(StormProcess):
    """The running program; see `StormProcess`."""

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
            So often the same round is done, each time from the instance's own state.
        time_limit_s
            Wall-clock seconds of the whole answer, after which the process is ended.

        Raises
        ------
        SchedulerError
            When the scheduler threw an exception; it can be asked again.
        InputError
            When the request cannot be read.
        PeerError
            When the process broke down or was out of time.
        """
        answer = self.ask_about(instance, time_limit_s, runs=runs)
        if "failed" in answer:
            raise SchedulerError(answer["failed"])
        return read_answer(answer, instance)
