"""Performance models and allocations for people."""

from __future__ import annotations

from slotwise.cli.render.results import show, table
from slotwise.models.number_text import short_text
from slotwise.models.performance.curves import full_bundle
from slotwise.models.performance.rows import Models

_HEADS = ("threads", "peak rate", "cpu %", "memory %")


def show_models(models: Models) -> None:
    """Show each model as a table; the row of the full bundle is marked."""
    for name, model in models.items():
        full = full_bundle(model)
        rows = [
            (
                str(one.threads),
                short_text(one.peak_rate),
                short_text(one.cpu),
                short_text(one.memory),
                "full bundle" if one is full else "",
                one.source,
            )
            for one in model.measurements
        ]
        show(f"{name} (tuples/s on one slot):", table(rows, (*_HEADS, "", "source"), _HEADS))
