"""Simulations for people: rates and latencies with their intervals, utilisations."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from slotwise.cli.render.predicted import notes, number, over_memory, percent, utilisations
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.simulation.intervals import Interval
from slotwise.models.simulation.simulation import Simulation
from slotwise.models.values import plain, short_text


def show_simulation(simulation: Simulation) -> None:
    """Show what came of a simulation."""
    if simulation.over_memory:
        show(*over_memory(simulation))
        return
    rows = [
        (
            f"{one.topology}/{one.component}",
            *_interval(one.rate),
            *_interval(one.latency),
            str(one.completed),
        )
        for one in simulation.spouts
    ]
    heads = ("spout", "tuples/s", "+-", "ms", "+- ", "tuples")
    parts: list[RenderableType] = [
        *_headlines(simulation),
        table(rows[:MOST_ROWS], heads, heads[1:]),
        *more_rows(len(rows), "spouts"),
        *utilisations(simulation),
        *notes(simulation),
    ]
    show(*parts)


def _headlines(simulation: Simulation) -> Iterator[str]:
    run, busiest = simulation.run, simulation.bottleneck
    yield (
        f"{number(simulation.rate)} tuples/s in all, in {short_text(plain(run.seconds))} simulated "
        f"seconds after {short_text(plain(run.warm_up))} to warm up; +- is for a confidence of "
        "95 %."
    )
    if busiest is not None:
        yield f"The busiest resource is the {busiest.resource}: {percent(busiest.utilisation)}."
    if not simulation.is_sustainable:
        yield "Not sustainable: at the given rates queues grow for ever, and so do latencies."


def _interval(one: Interval | None) -> tuple[str, str]:
    """Return a mean and the half width of its interval."""
    return ("-", "-") if one is None else (number(one.mean), f"{one.half_width:.2g}")
