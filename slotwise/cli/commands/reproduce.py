"""The command ``reproduce``: published figures beside ours."""

from __future__ import annotations

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose
from slotwise.cli.exits import Exit, print_json

PURPOSE = Purpose.COMPARE
app = typer.Typer(help="Recompute the figures of published articles.")


@app.callback()
def _articles() -> None:
    """Recompute the figures of an article and compare."""


@app.command()
def sam(as_json: options.Json = False) -> int:
    """Compute the figures of the SAM article; differences are marked and explained."""
    return _reproduced("sam", as_json)


@app.command(name="r-storm")
def r_storm(as_json: options.Json = False) -> int:
    """Predict and simulate the gains of the R-Storm article over default Storm; 2 minutes.

    Beside them stands what the placements of proven least network cost and of proven highest rate
    would gain. What the article does not publish is assumed and listed; one constant is calibrated.
    """
    return _reproduced("r-storm", as_json)


@app.command()
def stromax(as_json: options.Json = False) -> int:
    """Predict and simulate the tuple processing times of the StroMAX article; a minute.

    Beside them stands what the placements of proven least network cost and of proven highest rate
    would reach. What the article does not publish is assumed and listed.
    """
    return _reproduced("stromax", as_json)


def _reproduced(article: str, as_json: bool) -> int:
    with exits.defer_interrupts():
        from slotwise.api.reproducing import reproduce

    reproduction = reproduce(article)
    if as_json:
        print_json(reproduction.to_document())
    else:
        from slotwise.cli.render.reproductions import show_reproduced

        show_reproduced(reproduction.article, reproduction.figures)
    return Exit.DONE
