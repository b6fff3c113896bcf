"""One round of Storm's Resource Aware Scheduler, judged, with its exact counterparts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from slotwise.api.exit_code import Exit
from slotwise.api.inputs import DecodedCluster, InstanceLike, as_problem, file_of
from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.heuristics.ras.methods import cluster_reason
from slotwise.heuristics.ras.scheduler import Round, schedule_round
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.models.display import counted
from slotwise.models.errors import InputError, at
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.formats.pools_file import pools_from_data, read_pools
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import PRIORITY_STRATEGIES, Instance, Scheduler
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.values import Number, known, time_limit, whole
from slotwise.solver.admission.exact_round import Counterpart, Exact, exact_counterparts
from slotwise.solver.core.result import Limits

Pools = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A round of the scheduler, judged.

    Parameters
    ----------
    given
        The instance of the call: the placement belongs to it.
    done
        The decisions of the round on each topology.
    verdict
        The judge's verdict on the placement after the round.
    exact
        The optimal decisions; ``None`` where they were not requested.
    """

    given: Instance
    done: Round
    verdict: Verdict
    exact: Exact | None

    @property
    def placement(self) -> Placement:
        """The placement after the round; tasks of refused topologies have no place."""
        return self.done.placement

    @property
    def violations(self) -> list[Violation]:
        """The broken hard rules, without topologies left out: those are in `done`."""
        return [one for one in self.verdict.violations if one.rule != "placed"]

    @property
    def valid(self) -> bool:
        """Whether the placed topologies keep all hard rules."""
        return not self.violations

    @property
    def exit_code(self) -> Exit:
        """Of ``schedule``: failed where a topology is refused or a rule broken."""
        if self.exact is not None and self.exact.interrupted:
            return Exit.INTERRUPTED
        return Exit.FAILED if self.done.refused or not self.valid else Exit.DONE

    def __repr__(self) -> str:
        """One line: the numbers of topologies placed, refused, evicted."""
        done = self.done
        refused = ", ".join(names(done, done.refused)) or "none"
        evicted = ", ".join(names(done, tuple(one.topology for one in done.evicted))) or "none"
        topologies = counted(len(done.decisions), "topology", "topologies")
        return f"Scheduled {self.given.name}: {topologies}, refused: {refused}, evicted: {evicted}"

    def to_document(self) -> dict[str, Any]:
        """Return what ``schedule --json`` prints."""
        done = self.done
        topologies = done.instance.topologies
        return {
            "instance": instance_hash(self.given),
            "priority": done.instance.scheduler.priority_strategy,
            "topologies": [
                {
                    "topology": topologies[entry.topology].id,
                    "owner": topologies[entry.topology].owner,
                    "score": entry.score,
                    "guaranteed": entry.guaranteed,
                    "outcome": str(decision.outcome),
                    "message": decision.message,
                    "evicted": names(done, decision.evicted),
                    "tried_evicting": names(done, decision.tried),
                    "attempts": decision.attempts,
                    "states": decision.states,
                    "backtracked": decision.backtracked,
                }
                for entry, decision in zip(done.order, done.decisions, strict=True)
            ],
            "evicted": [
                {"topology": topologies[e.topology].id, "by": topologies[e.by].id, "again": e.again}
                for e in done.evicted
            ],
            "violations": [str(violation) for violation in self.violations],
            "exact": None if self.exact is None else exact_document(self.exact, done),
            "placement": placement_document(self.given, done.placement),
        }


def exact_document(exact: Exact, done: Round) -> dict[str, Any]:
    """Return the counterparts as JSON-ready data."""
    best = exact.best
    return {
        "best_set": {
            "proven": best.proven,
            "left_out": names(done, best.left_out),
            "cost": best.cost,
            "bound": best.bound,
            "moved": None if best.moved is None else best.moved.tasks,
            "moved_bound": None if best.moved is None else best.moved.bound,
            "scheduler_left_out": names(done, exact.left_out),
            "scheduler_cost": exact.cost,
            "seconds": round(best.seconds, 3),
        },
        "evictions": [_answer_document(answer, done) for answer in exact.answers],
        "notes": list(exact.notes),
    }


def _answer_document(answer: Counterpart, done: Round) -> dict[str, Any]:
    eviction = answer.eviction
    own: dict[str, Any] = {
        "topology": done.instance.topologies[answer.decision.topology].id,
        "scheduler_evicted": names(done, answer.decision.evicted),
    }
    if eviction is None:
        return own | {"status": "not-answered", "reason": answer.reason}
    return own | {
        "status": str(eviction.status),
        "evicted": None if eviction.evicted is None else names(done, eviction.evicted),
        "weight": eviction.weight,
        "least_count": eviction.least_count,
        "least_weight": eviction.least_weight,
        "seconds": round(eviction.seconds, 3),
    }


def names(done: Round, topologies: tuple[int, ...]) -> list[str]:
    """Return the ids of topologies."""
    return [done.instance.topologies[t].id for t in topologies]


def schedule(
    instance: InstanceLike,
    *,
    priority: str | None = None,
    pools: Pools | str | os.PathLike[str] | None = None,
    strategy: str | None = None,
    exact: bool = False,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    **decoded: Unpack[DecodedCluster],
) -> Scheduled:
    """Schedule all topologies as Storm does in one round: by priority, with evictions.

    Parameters
    ----------
    instance
        What to schedule, with what is running: an `Instance`, a compiled problem, a path, a dict
        or text; see `read_instance`.
    priority
        ``default``, ``fifo`` or ``generic``; ``None`` = the instance's.
    pools
        Guarantees of owners, ``{owner: {"cpu": 200, "memory_mb": 4096}}``, or the path of a file
        with them; ``None`` = the instance's.
    strategy
        Of all topologies; ``None`` = each one's own.
    exact
        Also find the best set of topologies and the smallest evictions, with proofs.
    time_limit_s, workers, seed, memory_limit_mb
        Of each question of `exact`, as in `solve`; without it they have no effect.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, or a cluster that Storm's scheduler does not support.

    Examples
    --------
    >>> import slotwise
    >>> scheduled = slotwise.schedule("docs/examples/shared-cluster.yaml", priority="fifo")
    >>> len(scheduled.done.refused)
    1
    """
    if priority is not None:
        known(priority, PRIORITY_STRATEGIES, "priority")
    if strategy is not None:
        known(strategy, STRATEGIES, "strategy")
    limits = None
    if exact:
        whole(workers, "workers", least=1)
        seconds = time_limit(time_limit_s, "time_limit_s")
        limits = Limits(seconds, workers, whole(seed, "seed"), memory_mb=memory_limit_mb)
    problem = as_problem(instance, **decoded)
    given = problem.instance
    reason = cluster_reason(given)
    if reason is not None:
        rule = f"is not an instance that Storm's scheduler takes: {reason}"
        file = file_of(instance) if isinstance(instance, str | os.PathLike) else None
        raise InputError(rule, field="cluster", has_value=False, file=file)
    scheduler = _settings(given.scheduler, priority, pools, given.cluster)
    done = schedule_round(replace(given, scheduler=scheduler), strategy=strategy)
    counterparts = None if limits is None else exact_counterparts(done, limits)
    return Scheduled(given, done, judge(problem, done.placement), counterparts)


def _settings(
    scheduler: Scheduler,
    priority: str | None,
    pools: Pools | str | os.PathLike[str] | None,
    cluster: Cluster,
) -> Scheduler:
    if priority is not None:
        scheduler = replace(scheduler, priority_strategy=priority)
    if isinstance(pools, Mapping):
        with at("pools"):
            return replace(scheduler, pools=pools_from_data(plain_data(pools), cluster))
    if pools is not None:
        return replace(
            scheduler, pools=read_pools(path_of(pools, "pools", "a path or a dict"), cluster)
        )
    return scheduler
