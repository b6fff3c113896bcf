"""The answer of Storm 1.0.6 beside ours: one round of each, and all in which they differ."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.heuristics.external.storm_peer import SchedulerError, Storm1Peer, StormAnswer
from slotwise.heuristics.rstorm.storm_1.cluster import OverdrawnError
from slotwise.heuristics.rstorm.storm_1.scheduler import Storm1Round, schedule_storm_1
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, tasks_by_worker

TasksBySlot = dict[tuple[str, str, int], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Storm1Comparison:
    """One round of Storm's and of ours.

    Parameters
    ----------
    storm, ours
        What each said; a text is the message with which the scheduler failed.
    differences
        What is not the same, Storm's first; empty where they agree.
    """

    storm: StormAnswer | str
    ours: Storm1Round | str
    differences: dict[str, tuple[object, object]]


def compare(peer: Storm1Peer, instance: Instance) -> Storm1Comparison:
    """Let Storm and us schedule `instance`; we follow the release of Java that Storm runs on."""
    storm: StormAnswer | str
    ours: Storm1Round | str
    try:
        storm = peer.schedule(instance)
    except SchedulerError as error:
        storm = str(error)
    try:
        ours = schedule_storm_1(instance, int(peer.java_version.split(".")[0]))
    except OverdrawnError as error:
        ours = str(error)
    return Storm1Comparison(storm, ours, differences(instance, storm, ours))


def differences(
    instance: Instance, storm: StormAnswer | str, ours: Storm1Round | str
) -> dict[str, tuple[object, object]]:
    """Return what is not the same: failures, slots with their tasks, statuses."""
    if isinstance(storm, str) or isinstance(ours, str):
        return {} if storm == ours else {"failure": (storm, ours)}
    pairs: dict[str, tuple[object, object]] = {}
    theirs, own = (slots(instance, one.placement) for one in (storm, ours))
    if theirs != own:
        pairs["slots"] = (dict(theirs.items() - own.items()), dict(own.items() - theirs.items()))
    for key, outcome in ours.outcomes.items():
        if storm.outcomes[key] != outcome:
            pairs[f"outcome of {key}"] = (storm.outcomes[key], outcome)
    return pairs


def slots(instance: Instance, placement: Placement) -> TasksBySlot:
    """Return the tasks of each worker by topology, node and port."""
    nodes, worker_tasks = instance.cluster.nodes, tasks_by_worker(instance, placement)
    return {
        (t, nodes[n].id, port): frozenset(tasks) for (t, n, port), tasks in worker_tasks.items()
    }
