"""The command ``judge``."""

from __future__ import annotations

import typer

from slotwise.cli import inputs, options
from slotwise.cli.exits import Exit, print_json


def judge(
    instance: options.Instance,
    plan: options.Plan,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Check a placement and compute its cost."""
    from slotwise.api import judging

    if instance == plan == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and PLAN can come from stdin")
    problem = inputs.load_problem(instance, topology, worker_min_cpu, submitters)
    placement = inputs.load_placement(plan, problem.instance)
    verdict = judging.judge(problem, placement)
    if as_json:
        print_json(inputs.hashed(problem.instance) | verdict.to_document())
    else:
        from slotwise.cli.render.results import show_verdict

        show_verdict(verdict, placement)
    return Exit.DONE if verdict.valid else Exit.FAILED
