"""The command ``schedule``: one round of Storm's Resource Aware Scheduler over all topologies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.cli.scheduled import Scheduled
    from slotwise.models.instance.instance import Instance
    from slotwise.models.problem.problem import Problem
    from slotwise.solver.core.result import Limits

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
        from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
        from slotwise.models.instance.instance import PRIORITY_STRATEGIES
        from slotwise.solver.core.result import Limits

    if priority is not None:
        options.known(priority, list(PRIORITY_STRATEGIES), "--priority")
    if strategy is not None:
        options.known(strategy, list(STRATEGIES), "--strategy")
    if instance == pools == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and --pools can come from stdin")
    inputs.check_target(out)
    problem = inputs.load_problem(instance, topology, worker_min_cpu, submitters)
    given = problem.instance
    _check_cluster(given, instance)
    limits = Limits(time_limit, workers, seed, memory_mb=memory_limit) if exact else None
    scheduled = _scheduled(problem, priority, pools, strategy, limits)
    if out is not None and scheduled.valid:
        inputs.save_placement(out, given, scheduled.done.placement)
    if as_json:
        print_json(scheduled.to_document())
    else:
        from slotwise.cli.render.schedule import show_scheduled

        show_scheduled(scheduled)
    return scheduled.code


def _check_cluster(given: Instance, file: str) -> None:
    with exits.held():
        from slotwise.heuristics.ras.methods import cluster_reason
        from slotwise.models.errors import InputError

    reason = cluster_reason(given)
    if reason is not None:
        rule = f"is not what Storm's scheduler takes: {reason}"
        raise InputError(rule, field="cluster", has_value=False, file=file)


def _scheduled(
    problem: Problem,
    priority: str | None,
    pools: str | None,
    strategy: str | None,
    limits: Limits | None,
) -> Scheduled:
    with exits.held():
        from slotwise.cli.scheduled import Scheduled
        from slotwise.heuristics.ras.scheduler.scheduler import schedule_round
        from slotwise.models.formats.pools_file import read_pools
        from slotwise.models.judge.judge import judge
        from slotwise.solver.admission.exact_round import exact_counterparts

    given = problem.instance
    scheduler = given.scheduler
    if priority is not None:
        scheduler = replace(scheduler, priority_strategy=priority)
    if pools is not None:
        scheduler = replace(scheduler, pools=read_pools(pools, given.cluster))
    done = schedule_round(replace(given, scheduler=scheduler), strategy=strategy)
    verdict = judge(problem, done.placement)
    exact = None if limits is None else exact_counterparts(done, limits)
    return Scheduled(given, done, verdict, exact)
