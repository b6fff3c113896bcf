"""The fragment of HTML with the placements of one instance."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slotwise.benchmarks.report.viewer.placement_svg import draw, legend
from slotwise.benchmarks.report.viewer.placement_view import legend_names, racks_of
from slotwise.benchmarks.report.viewer.shown import Shown
from slotwise.models.problem.problem import Problem

__all__ = ["Shown", "view"]


def view(problem: Problem, placements: Sequence[Shown]) -> Markup:
    """Return the fragment; it needs ``viewer.css.j2``, and for choosing ``viewer.js.j2``.

    Parameters
    ----------
    problem
        What is placed.
    placements
        The first is the optimum, or the best that is known; the others are compared with it.
    """
    environment = Environment(
        loader=PackageLoader("slotwise.benchmarks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    panes = [
        (one, Markup(draw(racks_of(problem, one.placement), f"Placement: {one.name}")))
        for one in placements
    ]
    text = environment.get_template("viewer.html.j2").render(
        name=problem.instance.name,
        panes=panes,
        legend=Markup(legend(legend_names(problem))),
    )
    return Markup(text)
