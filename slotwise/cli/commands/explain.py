"""The command ``explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.api.explanations.answers import Explained

FirstPlan = Annotated[
    str | None,
    typer.Argument(metavar="[PLACEMENT]", help="Placement to explain; - for stdin."),
]
OtherPlan = Annotated[
    str | None, typer.Argument(metavar="[OTHER]", help="Placement to compare it with.")
]


NOTHING_FOUND = "no valid placement was looked for, or none was found"
OPTIONS = {
    "other": "OTHER",
    "method": "--with",
    "task": "--task",
    "optimal": "--optimal",
    "prices": "--price",
}
"""Arguments of `slotwise.explain` -> what users type for them."""


@options.decoded_cluster
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
    time_limit: options.TimeLimit = 20.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    prices: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="NAME=PRICE",
            help="Price of a repair, such as node=3 or resource.gpu=7; repeatable.",
        ),
    ] = None,
    without_node: options.WithoutNode = None,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Explain an instance, a method's failure, a placement, or the difference of two.

    INSTANCE alone: whether it has a placement and, if not, why not and the cheapest repairs.
    """
    if [instance, placement, other].count(inputs.STDIN) > 1:
        raise typer.BadParameter("only one of INSTANCE, PLACEMENT and OTHER can come from stdin")
    with exits.held():
        from slotwise.api.explaining import check_question
        from slotwise.api.explaining import explain as explained

    with options.as_options(**OPTIONS):
        check_question(placement is not None, other is not None, method, task, optimal)
    inputs.check_target(html, "--html")
    inputs.check_target(out)
    if without_node is not None and placement is not None:
        raise typer.BadParameter(f"{options.WITHOUT_NODE} takes no PLACEMENT")
    problem = inputs.load_problem(instance, without_node, **decoded)
    plans = [inputs.load_placement(p, problem.instance) for p in (placement, other) if p]
    with options.as_options(**OPTIONS):
        answer = explained(
            problem,
            *plans,
            method=method,
            task=task,
            optimal=optimal,
            time_limit_s=time_limit,
            workers=workers,
            seed=seed,
            prices=prices,
        )
    _show(answer, html, out, as_json=as_json)
    return answer.exit_code


def _show(answer: Explained, html: Path | None, out: Path | None, *, as_json: bool) -> None:
    from slotwise.cli.render import explanation

    if out is not None:
        found = explanation.found_placement(answer)
        if found is None:
            exits.note(f"--out = {str(out)!r}: not written: {NOTHING_FOUND}")
        else:
            inputs.save_placement(out, answer.problem.instance, found)
    if html is not None:
        explanation.write_page(html, answer)
    if as_json:
        print_json(answer.to_document())
    else:
        explanation.show_explained(answer)
