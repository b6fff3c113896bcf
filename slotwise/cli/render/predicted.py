"""Predictions for people: rates, latencies and their parts, utilisations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from slotwise.cli.render.tables import MOST_ROWS, listed, more_rows, show, table
from slotwise.models.display import counted
from slotwise.models.prediction.assumptions import Assumed
from slotwise.models.prediction.loads import Kind
from slotwise.models.prediction.prediction import Latency, PredictedSpout, Prediction
from slotwise.models.simulation.simulation import Simulation
from slotwise.models.values import plain, short_text

_PARTS = ("queueing", "service", "serialisation", "network", "synchronisation")
_NODE_KINDS = (Kind.CPU, Kind.NIC_IN, Kind.NIC_OUT)


def show_prediction(prediction: Prediction) -> None:
    """Show the predicted rate, latency and limits of a placement."""
    if prediction.over_memory:
        show(*over_memory(prediction))
        return
    show(
        *_headlines(prediction),
        *_spouts(prediction),
        *more_rows(len(prediction.spouts), "spouts"),
        *utilisations(prediction),
        *notes(prediction),
    )


def show_compared(first: Prediction, second: Prediction) -> None:
    """Show the predictions of two placements side by side."""
    parts: list[RenderableType] = []
    for name, one in (("First", first), ("Second", second)):
        lines = over_memory(one) if one.over_memory else _headlines(one)
        parts += [f"{name} placement: {line}" for line in lines]
    if not first.over_memory and not second.over_memory:
        parts += [_compared_spouts(first, second), *_compared_nodes(first, second)]
    show(*parts, *notes(first))


def over_memory(prediction: Prediction | Simulation) -> list[str]:
    """Return why there is no prediction, or simulation."""
    lines = [
        f"  {one.node}: {short_text(one.needed)} MB needed, {short_text(one.available)} available"
        for one in prediction.over_memory
    ]
    nodes = counted(len(lines), "node")
    what = "prediction" if isinstance(prediction, Prediction) else "simulation"
    return [
        f"No {what}: {nodes} over memory, where tasks swap or die.",
        *lines[:MOST_ROWS],
        *more_rows(len(lines), "nodes"),
    ]


NOT_SETTLED = (
    "Not settled: the approximation did not come to rest. Rates and latencies are those of its "
    "last round and may be far off; check them with slotwise simulate."
)


def _headlines(prediction: Prediction) -> list[str]:
    warning = [] if prediction.settled else [NOT_SETTLED]
    return [*warning, *_rates(prediction), *_sustainable(prediction)]


def _rates(prediction: Prediction) -> Iterator[str]:
    busiest = prediction.bottleneck
    if busiest is None:
        yield f"{short_text(prediction.rate)} tuples/s in all; no resource is in use."
        return
    share = percent(busiest.utilisation)
    if prediction.is_sustainable:
        all_of_them = f"{number(prediction.rate)} tuples/s in all ({prediction.analysis})"
        yield f"{all_of_them}; the busiest resource is the {busiest.resource}: {share}."
    else:
        yield (
            "Not sustainable: at the given rates queues grow without end. "
            f"The {busiest.resource} would be in use to {share}."
        )


def _sustainable(prediction: Prediction) -> Iterator[str]:
    sustainable = prediction.sustainable
    if sustainable is not None:
        most = f"below {short_text(sustainable.multiple)} times the given rates"
        yield f"Sustainable: {most}; there the {sustainable.resource} saturates."


def _spouts(prediction: Prediction) -> list[Table]:
    """Return a table of rates and latencies, and one of the parts of latencies."""
    some = prediction.spouts
    heads: tuple[str, ...] = ("spout", "tuples/s", "ms")
    rows: list[tuple[str, ...]] = [(_name(one), number(one.rate), _latency(one)) for one in some]
    if any(one.window is not None for one in some):
        heads = (*heads, "window", "at most tuples/s", "at least ms")
        limits = ((one.window, one.rate_at_most, one.latency_at_least) for one in some)
        rows = [(*row, *map(number, more)) for row, more in zip(rows, limits, strict=True)]
    tables = [table(rows[:MOST_ROWS], heads, heads[1:])]
    if prediction.is_sustainable:
        heads = ("ms of a tuple", *_PARTS)
        parts = [(_name(one), *(_part(one.latency, part) for part in _PARTS)) for one in some]
        tables.append(table(parts[:MOST_ROWS], heads, heads[1:]))
    return tables


def _latency(one: PredictedSpout) -> str:
    return "grows" if one.latency is None else number(one.latency.mean)


def _name(one: PredictedSpout) -> str:
    return f"{one.topology}/{one.component}"


def _part(latency: Latency | None, part: str) -> str:
    return "-" if latency is None else number(getattr(latency, part))


def number(value: float | None) -> str:
    """Return a predicted number with four digits; more would be spurious."""
    return "-" if value is None else short_text(plain(float(f"{value:.4g}")))


def percent(utilisation: float) -> str:
    """Return a utilisation in words."""
    return f"{100 * utilisation:.3g} %"


def utilisations(prediction: Prediction | Simulation) -> list[RenderableType]:
    """Return tables of the utilisation of nodes and uplinks."""
    by_place = _by_place(prediction)
    rows = [
        (place, *(_share(by_place, place, kind) for kind in _NODE_KINDS))
        for place in dict.fromkeys(p for kind, p in by_place if kind in _NODE_KINDS)
    ]
    heads = ("node", "cpu", "receiving", "sending")
    parts: list[RenderableType] = [table(rows[:MOST_ROWS], heads, heads[1:])]
    parts += more_rows(len(rows), "nodes")
    racks = dict.fromkeys(p for kind, p in by_place if kind not in (*_NODE_KINDS, Kind.THREAD))
    if racks:
        uplinks = [
            (rack, *(_share(by_place, rack, kind) for kind in (Kind.UPLINK_IN, Kind.UPLINK_OUT)))
            for rack in racks
        ]
        links = ("uplink of rack", "receiving", "sending")
        parts.append(table(uplinks[:MOST_ROWS], links, links[1:]))
        parts += more_rows(len(uplinks), "racks")
    return parts


def _by_place(prediction: Prediction | Simulation) -> dict[tuple[Kind, str], float]:
    """Return utilisation by kind and place, of threads left out."""
    return {
        (one.resource.kind, one.resource.place): one.utilisation
        for one in prediction.utilisations
        if one.resource.kind is not Kind.THREAD
    }


def _share(by_place: dict[tuple[Kind, str], float], place: str, kind: Kind) -> str:
    return percent(by_place.get((kind, place), 0.0))


def _compared_spouts(first: Prediction, second: Prediction) -> Table:
    others = {_name(one): one for one in second.spouts}
    rows = []
    for one in first.spouts:
        other = others.get(_name(one))
        values: Sequence[tuple[float | None, float | None]] = (
            (one.rate, None if other is None else other.rate),
            (_mean(one), None if other is None else _mean(other)),
        )
        cells = [cell for a, b in values for cell in (number(a), number(b), _change(a, b))]
        rows.append((_name(one), *cells))
    heads = ("spout", "tuples/s", "second", "change", "ms", "second", "change")
    return table(rows, heads, heads[1:])


def _mean(one: PredictedSpout) -> float | None:
    return None if one.latency is None else one.latency.mean


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None or before == 0:
        return "-"
    return f"{100 * (after / before - 1):+.1f} %"


def _compared_nodes(first: Prediction, second: Prediction) -> list[RenderableType]:
    by_placement = [_by_place(one) for one in (first, second)]
    places = dict.fromkeys(p for some in by_placement for kind, p in some if kind in _NODE_KINDS)
    rows = [
        (place, *(_share(some, place, kind) for kind in _NODE_KINDS for some in by_placement))
        for place in places
    ]
    heads = ("node", *(head for one in ("cpu", "receiving", "sending") for head in (one, "second")))
    return [table(rows[:MOST_ROWS], heads, heads[1:]), *more_rows(len(rows), "nodes")]


def _where(one: Assumed) -> str:
    """Return for what a value was assumed; empty for levels, which belong to the cluster."""
    if one.where == ("cluster",):
        return ""
    more = f" and {len(one.where) - 1} more" if len(one.where) > 1 else ""
    return f", for {one.where[0]}{more}"


def notes(prediction: Prediction | Simulation) -> list[str]:
    """Return the assumed values, and the topologies left out."""
    lines = [f"  {one.key} = {short_text(one.value)}{_where(one)}" for one in prediction.assumed]
    if lines:
        lines.insert(0, "Assumed, as the instance does not say:")
    if prediction.left_out:
        lines.append(f"Not placed: {listed(prediction.left_out)}.")
    return lines
