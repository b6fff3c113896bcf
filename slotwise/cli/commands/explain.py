"""The command ``explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.cli.explained import Explained

FirstPlan = Annotated[
    str | None,
    typer.Argument(metavar="[PLACEMENT]", help="Placement to explain; - for stdin."),
]
OtherPlan = Annotated[
    str | None, typer.Argument(metavar="[OTHER]", help="Placement to compare it with.")
]


def explain(
    instance: options.Instance,
    placement: FirstPlan = None,
    other: OtherPlan = None,
    method: Annotated[
        str | None,
        typer.Option("--with", metavar="METHOD", help="Explain where this method goes wrong."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Explain why this task of PLACEMENT is where it is."),
    ] = None,
    optimal: Annotated[
        bool, typer.Option("--optimal", help="Also say how far PLACEMENT is from the optimum.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with the drawings.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Also write the valid placement that was found."),
    ] = None,
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Explain an instance, a method's failure, a placement, or the difference of two.

    INSTANCE alone: whether it has a placement and, if not, why not and the cheapest repairs.
    """
    _check(instance, placement, other, method, task, optimal)
    with exits.held():
        from slotwise.cli import explaining

    inputs.check_target(html, "--html")
    inputs.check_target(out)
    problem = inputs.load_problem(instance, topology, worker_min_cpu, submitters)
    limits = explaining.Limits(time_limit, workers, seed)
    plans = [inputs.load_placement(p, problem.instance) for p in (placement, other) if p]
    answer: Explained
    if len(plans) == 2:
        answer = explaining.comparison(problem, plans[0], plans[1])
    elif plans and task is not None:
        answer = explaining.one_task(problem, plans[0], task)
    elif plans:
        answer = explaining.one_placement(problem, plans[0], limits, optimal=optimal)
    elif method is not None:
        answer = explaining.one_method(problem, method, limits)
    else:
        answer = explaining.one_instance(problem, limits)
    _show(answer, html, out, as_json=as_json)
    return answer.code


def _check(
    instance: str,
    placement: str | None,
    other: str | None,
    method: str | None,
    task: str | None,
    optimal: bool,
) -> None:
    """Refuse what cannot be asked together."""
    if [instance, placement, other].count(inputs.STDIN) > 1:
        raise typer.BadParameter("only one of INSTANCE, PLACEMENT and OTHER can come from stdin")
    if method is not None and placement is not None:
        raise InputError(
            "explains a method's own run; leave PLACEMENT out", field="--with", value=method
        )
    if task is not None and (placement is None or other is not None):
        raise InputError("needs one PLACEMENT that it is in", field="--task", value=task)
    if optimal and (placement is None or other is not None or task is not None):
        raise InputError(
            "goes with one PLACEMENT, and without --task", field="--optimal", value=True
        )


def _show(answer: Explained, html: Path | None, out: Path | None, *, as_json: bool) -> None:
    from slotwise.cli.render import explanation

    if out is not None:
        found = explanation.found_placement(answer)
        if found is not None:
            inputs.save_placement(out, answer.problem.instance, found)
    if html is not None:
        explanation.write_page(html, answer)
    if as_json:
        print_json(answer.to_document())
    else:
        explanation.show_explained(answer)
