"""Storm's own answer beside ours: one round of each, and all in which they differ."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from slotwise.heuristics.external.storm_peer import StormAnswer, StormPeer
from slotwise.heuristics.ras.scheduler import Round, RoundLimits, schedule_round
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, tasks_by_worker

MILLISECONDS = re.compile(r" in \d+ ms")
Workers = set[tuple[str, str, frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One round of Storm's and of ours.

    Parameters
    ----------
    storm, ours
        What each said.
    seconds
        Wall clock of each of our runs; Storm's are in its answer.
    differences
        What is not the same, Storm's first; empty where they agree.
    """

    storm: StormAnswer
    ours: Round
    seconds: tuple[float, ...]
    differences: dict[str, tuple[object, object]]


def compare(
    peer: StormPeer,
    instance: Instance,
    strategy: str | None = None,
    limits: RoundLimits | None = None,
    runs: int = 1,
) -> Comparison:
    """Let Storm and us schedule `instance` `runs` times, within the same limits.

    `strategy` is for all topologies; ``None`` = each one's own. We follow the hash tables of the
    release of Java that Storm runs on.
    """
    limits = RoundLimits() if limits is None else limits
    storm = peer.schedule(
        instance,
        strategy=strategy,
        runs=runs,
        attempts=limits.attempts,
        max_states=limits.search.max_states,
        timeout_s=int(limits.search.max_seconds),
    )
    java = int(peer.java_version.split(".")[0])
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        ours = schedule_round(instance, limits, strategy, java)
        seconds.append(time.perf_counter() - start)
    return Comparison(storm, ours, tuple(seconds), differences(instance, storm, ours))


def differences(
    instance: Instance, storm: StormAnswer, ours: Round
) -> dict[str, tuple[object, object]]:
    """Return what is not the same: workers, statuses, who was evicted for whom."""
    pairs: dict[str, tuple[object, object]] = {}
    theirs, own = (workers(instance, one.placement) for one in (storm, ours))
    if theirs != own:
        pairs["workers"] = (theirs - own, own - theirs)
    for decision in ours.decisions:
        topology = instance.topologies[decision.topology]
        status = MILLISECONDS.sub("", storm.outcomes[topology.id].status)
        if status != decision.message:
            pairs[f"status of {topology.id}"] = (status, decision.message)
        victims = set(storm.evicted.get(topology.id, ()))
        tried = {instance.topologies[victim].id for victim in decision.tried}
        if tried != victims:
            pairs[f"evicted for {topology.id}"] = (victims, tried)
    return pairs


def workers(instance: Instance, placement: Placement) -> Workers:
    """Return each worker as topology, node and tasks: the labels of workers mean nothing."""
    nodes, worker_tasks = instance.cluster.nodes, tasks_by_worker(instance, placement)
    return {(t, nodes[node].id, frozenset(tasks)) for (t, node, _), tasks in worker_tasks.items()}
