"""The outer loop of Storm's Resource Aware Scheduler: one round over all topologies, or several.

Read from Apache Storm 3.0 (commit 73da988), ``ResourceAwareScheduler``. Topologies are taken in
the order of `priority`; one that does not fit makes room by evicting from the end of that
order, on a working copy that counts only if it succeeds (`topology_attempt`). Kept as it is there:

- The order is computed afresh each round and ignores what runs.
- Nobody that runs is moved; an evicted topology is placed again when it comes, if it fits.
- Who must go is decided by sums over the cluster (`resource_sums`), wherever the victims sit.
- A topology whose attempts all fail has evicted nobody in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE
from slotwise.heuristics.ras.model.model import ras_model
from slotwise.heuristics.ras.scheduler.priority import priority_order
from slotwise.heuristics.ras.scheduler.round import Decision, DecisionOutcome, Round
from slotwise.heuristics.ras.scheduler.topology_attempt import RoundLimits, TopologyAttempt
from slotwise.heuristics.ras.state.state import RasState
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance, Running
from slotwise.models.instance.placement import to_places


def schedule_round(
    instance: Instance,
    limits: RoundLimits | None = None,
    strategy: str | None = None,
    java: int = JAVA_RELEASE,
    token: CancellationToken | None = None,
    log: DecisionLog | None = None,
) -> Round:
    """Return what one round makes of `instance`, beginning with what is ``running``.

    `strategy` is used for all topologies in place of their own; ``None`` = their own. `java` is
    the release of Java that Storm would run on: the order of its hash tables depends on it.
    `token` stops the round by `CancelledError`; ``None`` = nobody does. `log` is told what is
    assigned and freed, beginning with what is ``running``; ``None`` = nobody is.
    """
    limits = RoundLimits() if limits is None else limits
    token = token or CancellationToken()
    order = priority_order(instance, java, token)
    topologies = [entry.topology for entry in order]
    state = RasState.running(ras_model(instance, java), log)
    decisions = []
    for index, topology in enumerate(topologies):
        if not state.unassigned(topology):
            decisions.append(Decision(topology, DecisionOutcome.RUNNING, "Fully Scheduled"))
            continue
        attempt = TopologyAttempt(state, topology, topologies[:index:-1], limits, strategy, token)
        decision, state = attempt.take()
        decisions.append(decision)
    if log is not None and state.log is not None:
        log.adopt(state.log)
    return Round(instance, order, tuple(decisions), state.placement())


def schedule_rounds(
    instances: Iterable[Instance], limits: RoundLimits | None = None, strategy: str | None = None
) -> Iterator[Round]:
    """Yield a round for each state of a changing cluster.

    Each instance but the first runs what the round before left of topologies and nodes that it
    still has; its own ``running`` is not read.
    """
    last: Round | None = None
    for instance in instances:
        if last is not None:
            instance = replace(instance, running=_still_running(last, instance))
        last = schedule_round(instance, limits, strategy)
        yield last


def _still_running(last: Round, instance: Instance) -> Running:
    """Return what `last` placed, without tasks and nodes that `instance` does not have."""
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    return {
        topology: {
            task: place
            for task, place in places.items()
            if (topology, task) in tasks and place.node in nodes
        }
        for topology, places in to_places(last.instance, last.placement).items()
        if any(name == topology for name, _ in tasks)
    }
