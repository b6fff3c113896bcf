"""The command ``schedule``: one round of Storm's Resource Aware Scheduler over all topologies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise import exits, inputs, options
from slotwise.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.heuristics.ras_round import Round
    from slotwise.models.instance import Instance
    from slotwise.models.verdict import Verdict
    from slotwise.solver.exact_round import Exact
    from slotwise.solver.result import Limits

Priority = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="default, fifo or generic; default: the instance's."),
]
PoolsOption = Annotated[
    str | None,
    typer.Option(
        "--pools", metavar="FILE", help="User resource pools {owner: {cpu: ..., memory_mb: ...}}."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Strategy of all topologies; default: each one's own."),
]
ExactOption = Annotated[
    bool,
    typer.Option("--exact", help="Also the best set, and the smallest evictions, with proofs."),
]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A round, judged, with its exact counterparts if they were asked for.

    `given` is the instance of the file: the placement is written as its own.
    """

    given: Instance
    done: Round
    verdict: Verdict
    exact: Exact | None

    @property
    def code(self) -> Exit:
        """The exit code."""
        if self.exact is not None and self.exact.interrupted:
            return Exit.INTERRUPTED
        return Exit.FAILED if self.done.refused or not self.valid else Exit.DONE

    @property
    def valid(self) -> bool:
        """Whether what is placed keeps all hard rules; topologies left out are no matter."""
        return not broken_rules(self.verdict)

    def to_document(self) -> dict[str, Any]:
        """Return what ``schedule --json`` prints."""
        from slotwise.exact_schedule import exact_document, names

        done = self.done
        topologies = done.instance.topologies
        return {
            **inputs.hashed(self.given),
            "priority": done.instance.scheduler.priority_strategy,
            "topologies": [
                {
                    "topology": topologies[turn.topology].id,
                    "owner": topologies[turn.topology].owner,
                    "score": turn.score,
                    "guaranteed": turn.guaranteed,
                    "outcome": str(decision.outcome),
                    "message": decision.message,
                    "evicted": names(done, decision.evicted),
                    "tried_evicting": names(done, decision.tried),
                    "attempts": decision.attempts,
                    "states": decision.states,
                    "backtracked": decision.backtracked,
                }
                for turn, decision in zip(done.turns, done.decisions, strict=True)
            ],
            "evicted": [
                {"topology": topologies[e.topology].id, "by": topologies[e.by].id, "again": e.again}
                for e in done.evicted
            ],
            "violations": [str(violation) for violation in broken_rules(self.verdict)],
            "exact": None if self.exact is None else exact_document(self.exact, done),
            "placement": inputs.placement_or_none(self.given, done.placement),
        }


def broken_rules(verdict: Verdict) -> list[Any]:
    """Return the violations but for topologies that are not placed, which the round reports."""
    return [violation for violation in verdict.violations if violation.rule != "placed"]


def schedule(
    instance: options.Instance,
    priority: Priority = None,
    pools: PoolsOption = None,
    strategy: Strategy = None,
    exact: ExactOption = False,
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    out: options.Out = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Schedule as Storm does: by priority, with evictions.

    The time limit holds for each question of --exact.
    """
    with exits.held():
        from slotwise.models.instance import PRIORITY_STRATEGIES
        from slotwise.models.storm_cluster import STRATEGIES
        from slotwise.solver.result import Limits

    if priority is not None:
        options.known(priority, list(PRIORITY_STRATEGIES), "--priority")
    if strategy is not None:
        options.known(strategy, list(STRATEGIES.values()), "--strategy")
    if instance == pools == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and --pools can come from stdin")
    inputs.check_target(out)
    given = inputs.load_instance(instance, topology, worker_min_cpu, submitters)
    _check_cluster(given, instance)
    limits = Limits(time_limit, workers, seed, memory_mb=memory_limit) if exact else None
    scheduled = _scheduled(given, priority, pools, strategy, limits)
    if out is not None and scheduled.valid:
        inputs.save_placement(out, given, scheduled.done.placement)
    if as_json:
        print_json(scheduled.to_document())
    else:
        from slotwise.show_schedule import show_scheduled

        show_scheduled(scheduled)
    return scheduled.code


def _check_cluster(given: Instance, file: str) -> None:
    with exits.held():
        from slotwise.heuristics.ras_methods import cluster_reason
        from slotwise.models.errors import InputError

    reason = cluster_reason(given)
    if reason is not None:
        rule = f"is not what Storm's scheduler takes: {reason}"
        raise InputError(rule, field="cluster", has_value=False, file=file)


def _scheduled(
    given: Instance,
    priority: str | None,
    pools: str | None,
    strategy: str | None,
    limits: Limits | None,
) -> Scheduled:
    with exits.held():
        from slotwise.heuristics.ras_scheduler import schedule_round
        from slotwise.models.compile import compile_problem
        from slotwise.models.judge import judge
        from slotwise.models.pools_file import read_pools
        from slotwise.solver.exact_round import exact_counterparts

    scheduler = given.scheduler
    if priority is not None:
        scheduler = replace(scheduler, priority_strategy=priority)
    if pools is not None:
        scheduler = replace(scheduler, pools=read_pools(pools, given.cluster))
    done = schedule_round(replace(given, scheduler=scheduler), strategy=strategy)
    verdict = judge(compile_problem(given), done.placement)
    exact = None if limits is None else exact_counterparts(done, limits)
    return Scheduled(given, done, verdict, exact)
