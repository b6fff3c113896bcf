"""Measured weights, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from slotwise.api.measuring import Measurement
from slotwise.cli.render.tables import MOST_ROWS, more_rows, show, table
from slotwise.models.values import short_text
from slotwise.pipeline.statistics.weights.measured import Measured, Weight

KIB = 1024


def show_measured(measurement: Measurement) -> None:
    """Show the result of ``measure``."""
    measured = measurement.measured
    tables = (_components(measured), _streams(measured), _coverage(measured))
    show(_headline(measured), *tables, *_rest(measured))


def _headline(measured: Measured) -> str:
    return (
        f"{measured.statistic} of {measured.samples} samples in windows of {measured.window_s} s, "
        f"{measured.first:%Y-%m-%d %H:%M:%S} to {measured.last:%Y-%m-%d %H:%M:%S} UTC; "
        "* = estimated"
    )


def _prefix(measured: Measured, topology: str) -> str:
    """Return the prefix of a component's name; empty where there is one topology."""
    several = len({one.topology for one in measured.components}) > 1
    return f"{topology}/" if several else ""


def _text(weight: Weight | None) -> str:
    if weight is None:
        return "-"
    return short_text(weight.value) + (" *" if weight.estimated else "")


def _interval(weight: Weight | None) -> str:
    if weight is None or weight.low is None or weight.high is None:
        return "-"
    return f"{weight.low:.4g} to {weight.high:.4g}"


def _components(measured: Measured) -> RenderableType:
    rows = [
        (
            _prefix(measured, one.topology) + one.component,
            _text(one.cost),
            _text(one.cpu),
            _interval(one.cpu),
            _text(one.onheap_mb),
            _text(one.offheap_mb),
            str(one.cpu.samples if one.cpu else 0),
        )
        for one in measured.components[:MOST_ROWS]
    ]
    heads = ("component", "GHz ms", "cpu", "95 % of cpu", "heap MB", "off-heap", "samples")
    return table(rows, heads, heads[1:])


def _streams(measured: Measured) -> RenderableType:
    rows = []
    for one in measured.streams[:MOST_ROWS]:
        volume = "-"
        if one.received is not None and one.tuple_bytes is not None:
            volume = short_text(float(one.received.value * one.tuple_bytes.value) / KIB)
        size = None if one.tuple_bytes is None else float(one.tuple_bytes.value) / KIB
        rows.append(
            (
                f"{_prefix(measured, one.topology)}{one.source} -> {one.target}",
                _text(one.received),
                _interval(one.received),
                short_text(size),
                volume,
                str(one.received.samples if one.received else 0),
            )
        )
    heads = ("stream", "tuples/s", "95 %", "KiB/tuple", "KiB/s", "samples")
    return table(rows, heads, heads[1:])


def _coverage(measured: Measured) -> RenderableType:
    rows = [
        (
            _prefix(measured, one.topology) + one.component,
            one.source,
            f"{one.tasks} of {one.tasks_expected}",
            f"{one.windows} of {one.windows_expected}",
            f"{100 * one.share:.4g} %",
        )
        for one in measured.coverage[:MOST_ROWS]
    ]
    return table(
        rows, ("coverage", "lines", "tasks", "windows", "share"), ("tasks", "windows", "share")
    )


def _rest(measured: Measured) -> Iterator[str]:
    yield from more_rows(len(measured.components), "components")
    yield from more_rows(len(measured.streams), "streams")
    for one in measured.intervals:
        how = "as stated" if one.is_stated else "recognised by the gaps between them"
        yield f"{one.topology}: {one.source} samples of a task cover {one.seconds:g} s, {how}."
    if measured.thrown_away:
        in_all = max(1, measured.lines_read)
        counts = (
            f"{count} {reason} ({100 * count / in_all:.2g} %)"
            for reason, count in measured.thrown_away.items()
        )
        yield f"Lines kept aside: {', '.join(counts)}; {measured.lines_read} were read."
    else:
        yield "No line was kept aside."
    yield from measured.notes
