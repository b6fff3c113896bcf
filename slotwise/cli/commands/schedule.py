"""The command ``schedule``: one round of Storm's Resource Aware Scheduler over all topologies."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json

Priority = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="default, fifo or generic; default: the instance's."),
]
PoolsOption = Annotated[
    str | None,
    typer.Option(
        "--pools",
        metavar="FILE",
        help="File of resource pools: {owner: {cpu: ..., memory_mb: ...}}.",
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Strategy for all topologies; default: each topology's own."),
]
ExactOption = Annotated[
    bool,
    typer.Option("--exact", help="Also find the best set and the smallest evictions, with proofs."),
]


@options.decoded_cluster
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
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Schedule as Storm does: by priority, with evictions.

    The time limit applies to each question of --exact.
    """
    with exits.held():
        from slotwise.api import scheduling
        from slotwise.models.errors import in_file

    scheduling.check_names(priority, strategy, "--priority", "--strategy")
    if instance == pools == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and --pools can come from stdin")
    inputs.check_target(out)
    problem = inputs.load_problem(instance, **decoded)
    with in_file(instance):
        scheduled = scheduling.schedule(
            problem,
            priority=priority,
            pools=pools,
            strategy=strategy,
            exact=exact,
            time_limit_s=time_limit,
            workers=workers,
            seed=seed,
            memory_limit_mb=memory_limit,
        )
    if out is not None and scheduled.valid:
        inputs.save_placement(out, problem.instance, scheduled.placement)
    if as_json:
        print_json(scheduled.to_document())
    else:
        from slotwise.cli.render.schedule import show_scheduled

        show_scheduled(scheduled)
    return scheduled.exit_code
