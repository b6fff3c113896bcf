"""Storm's own answer beside ours: what must be equal, and how a difference is shown."""

from __future__ import annotations

import re
from collections import defaultdict

from slotwise.heuristics.ras_round import Round
from slotwise.heuristics.ras_scheduler import schedule_round
from slotwise.heuristics.ras_strategy import RasLimits
from slotwise.heuristics.ras_turn import RoundLimits
from slotwise.heuristics.storm_peer import StormAnswer, StormPeer
from slotwise.models.instance import Instance
from slotwise.models.placement import UNPLACED, Placement

MILLISECONDS = re.compile(r" in \d+ ms")
AMOUNT = re.compile(r"\d+\.\d+(E\d+)?")
DIGITS = 6
"""Decimals of amounts in messages that must be equal: Storm adds shared memory in an order of hash
codes of its own records, which we do not follow, and the last digit of a double shows it."""
Workers = set[tuple[str, str, frozenset[str]]]


def workers(instance: Instance, placement: Placement) -> Workers:
    """Each worker as topology, node and tasks: the labels of workers mean nothing."""
    held = defaultdict(set)
    for (topology, task), node, worker in zip(
        instance.task_names(), placement.nodes, placement.workers, strict=True
    ):
        if node != UNPLACED:
            held[topology, instance.cluster.nodes[node].id, worker].add(task)
    return {(topology, node, frozenset(tasks)) for (topology, node, _), tasks in held.items()}


def plain(status: str) -> str:
    """Return Storm's words without milliseconds, and amounts to `DIGITS` decimals."""
    words = MILLISECONDS.sub("", status)
    return AMOUNT.sub(lambda amount: f"{float(amount[0]):.{DIGITS}f}", words)


def differences(instance: Instance, storm: StormAnswer, ours: Round) -> dict[str, object]:
    """Name all that is not the same; empty where Storm and we agree."""
    found: dict[str, object] = {}
    theirs, mine = (workers(instance, one.placement) for one in (storm, ours))
    if theirs != mine:
        found["workers"] = {"storm": sorted(map(str, theirs - mine)), "ours": mine - theirs}
    for decision in ours.decisions:
        topology = instance.topologies[decision.topology]
        status, message = storm.outcomes[topology.id].status, decision.message
        if plain(status) != plain(message):
            found[f"status of {topology.id} ({topology.strategy})"] = (status, message)
        tried = {instance.topologies[victim].id for victim in decision.tried}
        if tried != set(storm.evicted.get(topology.id, ())):
            found[f"evicted for {topology.id}"] = (storm.evicted.get(topology.id), tried)
    return found


def assert_same(
    peer: StormPeer,
    instance: Instance,
    strategy: str | None,
    max_states: int = 100_000,
    timeout_s: int = 60,
    attempts: int = 5,
) -> StormAnswer:
    """Let Storm and us do one round, on one release of Java, and return Storm's answer."""
    storm = peer.schedule(
        instance,
        strategy=strategy,
        attempts=attempts,
        max_states=max_states,
        timeout_s=timeout_s,
    )
    limits = RoundLimits(attempts, RasLimits(max_states, timeout_s))
    java = int(peer.java_version.split(".")[0])
    ours = schedule_round(instance, limits, strategy, java)
    assert differences(instance, storm, ours) == {}, f"{instance.name} by {strategy}"
    return storm
