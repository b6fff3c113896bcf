"""The Resource Aware Scheduler of Apache Storm 1.0.6 itself, as a process that answers requests.

``make storm-1-peer`` builds a small Java program (``benchmarks/storm_peer/storm_1/``) on the
released ``storm-core``. It is asked as `storm_peer` asks the newer release. Topologies are handed
over as Nimbus reads them, with hash maps that went through Thrift; the clock stands still.
"""

from __future__ import annotations

from slotwise.heuristics.storm_peer import StormAnswer, read_answer
from slotwise.heuristics.storm_process import STORM_1, StormProcess
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance import Instance
from slotwise.models.instance_document import instance_document, instance_hash
from slotwise.models.json_text import canonical_json


class SchedulerError(SlotwiseError):
    """The scheduler threw an exception, whose message this has; no topology was scheduled."""


class Storm1Peer(StormProcess):
    """The running program; a context manager, which ends it.

    Attributes
    ----------
    storm_version, java_version
        What it is linked with and runs on: ``1.0.6`` and, for example, ``17.0.15``.

    Raises
    ------
    InputError
        When it is not built, or there is no Java.
    PeerError
        When it does not start.
    """

    def __init__(self) -> None:
        super().__init__(STORM_1)

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
        request = {
            "instance": instance_document(instance),
            "hash": instance_hash(instance),
            "runs": runs,
        }
        answer = self.ask(canonical_json(request), time_limit_s)
        if "error" in answer:
            raise InputError(answer["error"], field="Storm's scheduler", has_value=False)
        if "failed" in answer:
            raise SchedulerError(answer["failed"])
        return read_answer(answer, instance)
