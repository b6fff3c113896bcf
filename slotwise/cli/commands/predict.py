"""The command ``predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.models.prediction.prediction import Prediction


@command(
    "slotwise.predict",
    Purpose.PLACE,
    placement=options.Plan,
    assume=options.Assume,
    running=Annotated[
        bool, typer.Option("--running", help="Predict what the instance says is running.")
    ],
)
def predict(
    call: Call,
    *,
    compare: Annotated[
        str | None,
        typer.Option(
            callback=options.file,
            metavar="PLAN",
            help="A second placement of the same instance, beside the first.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML", callback=options.target, help="Also write the prediction as a page."
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Predict the throughput and latency of a placement, and what limits them."""
    predictions: list[Prediction] = [call()]
    if compare is not None:
        call.take("instance")  # it may have come from stdin
        given = predictions[0].given
        predictions.append(call(instance=given, placement=compare, running=False))
    if page is not None:
        from slotwise.benchmarks.report.predicted_page import write_predicted

        write_predicted(page, *predictions)
    if as_json:
        from slotwise.models.instance_file import instance_hash

        documents = [one.to_document() for one in predictions]
        second = {"compared": documents[1]} if compare is not None else {}
        print_json({"instance": instance_hash(predictions[0].given)} | documents[0] | second)
    else:
        from slotwise.cli.render.predicted import show_compared, show_prediction

        if compare is None:
            show_prediction(*predictions)
        else:
            show_compared(*predictions)
    return Exit.DONE if all(one.is_sustainable for one in predictions) else Exit.FAILED
