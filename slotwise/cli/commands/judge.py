"""The command ``judge``."""

from __future__ import annotations

from typing import Any

import typer

from slotwise.cli import inputs, options
from slotwise.cli.exits import Exit, print_json


@options.decoded_cluster
def judge(
    instance: options.Instance,
    plan: options.PlanOrRunning = None,
    running: options.Running = False,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Check a placement, or what runs now, and compute its cost."""
    from slotwise.api import judging
    from slotwise.api.inputs import as_running

    if plan is None and not running:
        raise typer.BadParameter("give PLAN, or --running to judge what runs now")
    if instance == plan == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and PLAN can come from stdin")
    if plan is not None and running:
        raise typer.BadParameter("give PLAN or --running, not both")
    problem = inputs.load_problem(instance, **decoded)
    if plan is None:
        placement = as_running(problem, "--running")
    else:
        placement = inputs.load_placement(plan, problem.instance)
    verdict = judging.judge(problem, placement)
    if as_json:
        print_json(inputs.hashed(problem.instance) | verdict.to_document())
    else:
        from slotwise.cli.render.results import show_verdict

        show_verdict(verdict, placement)
    return Exit.DONE if verdict.valid else Exit.FAILED
