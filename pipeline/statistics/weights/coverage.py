"""How much of what ran the logs show: reports of each component, and whether series are thinned.

A consumer of metrics that is missing leaves every fourth report of each task, say, in perfect
regularity: the gap between two reports is four intervals, but a count is still that of one. What
tells that apart from an interval that is four times as long:

- some tasks have shorter gaps, or what a report says does not grow with the gap before it;
- the workers (of JSON lines: the nodes) report on one grid that is a whole fraction of the gap;
- a worker's uptime at its reports: the first one is one interval after its start.

Storm's own interval is 60 s unless somebody changes it, so that a multiple of it needs such a
sign; where there is none, `refuse_thinned` wants it stated rather than guess.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.pipeline.statistics.columns import folder_of
from slotwise.pipeline.statistics.schema import STORM
from slotwise.pipeline.statistics.weights.collected import Collected, Covered, Overview, Signs
from slotwise.pipeline.statistics.weights.reporting import (
    CLOSE,
    DEFAULT_INTERVAL_S,
    EVEN,
    US,
    number_of,
)

IntervalsS = Mapping[tuple[str, str], float]
"""Topology and source -> seconds between two samples of a task."""

_KEYS = ("topology", "source")
_PLACE = ("node", "worker")
_TASK = (*_KEYS, "submission", "component", "task")

SHORTER = 0.05
"""Least share of gaps of a fraction of the interval with which that fraction is the interval."""
FRACTIONS = range(2, 9)
PLACES = 3
"""Least number of workers, or nodes, whose common grid is not chance."""
CHANCE = 0.005
"""Most chance with which a sign may be one."""


REPORTS = (
    "topology string, source string, node string, worker int, submission string, component string, "
    "task string, time timestamp, uptime_ns bigint, amount decimal(38,0), is_open boolean, day date"
)
"""A row for each `time` at which a task reported, a worker itself too.

`uptime_ns` is that of a worker, `amount` what was handled; `is_open` says that the report does not
say what time it covers. Two parts may each have a row of one report.
"""

REPORTED = (
    "topology string, source string, submission string, component string, task string, "
    "windows bigint, day date"
)
"""In how many windows a task reported on a day."""

SIGNS = (
    "topology string, source string, sign string, place string, seconds bigint, n bigint, "
    "amount decimal(38,0), day date"
)
"""What reports that do not say what they cover say otherwise.

By `sign`: ``gap``, `seconds` from one report of a task to the next on the same day, and `amount`
that the `n` later ones handled; ``phase`` and ``uptime``, at which time within an interval a place
reported, and at what uptime.
"""


def reports_of(samples: DataFrame, *apart: str) -> DataFrame:
    """Give `REPORTS` from `SAMPLES`, kept apart by more columns."""
    metrics = ("execute_count", "emit_count", "tuples", "uptime_ns")
    uptime = fn.when(fn.col("metric") == "uptime_ns", fn.col("value"))
    amount = fn.when(fn.col("metric") != "uptime_ns", fn.col("value"))
    known = samples.where(fn.col("metric").isin(*metrics))
    submission = folder_of(fn.col("path")).alias("submission")
    return known.groupBy(*_KEYS, submission, "component", "task", *_PLACE, "time", *apart).agg(
        fn.max(uptime).alias("uptime_ns"),
        fn.sum(amount).cast("decimal(38,0)").alias("amount"),
        fn.max(fn.col("span_us").isNull()).alias("is_open"),
    )


def reported(rows: DataFrame, interval_s: IntervalsS, window_s: int) -> DataFrame:
    """Give `REPORTED` from `REPORTS`; a window is as long as an interval where that is longer."""
    at = fn.unix_micros("time")
    us = number_of({key: round(one * US) for key, one in interval_s.items()}, DEFAULT_US)
    window_us = window_s * US
    window = fn.when(us < window_us, fn.floor(at / window_us)).otherwise(at)
    return rows.groupBy(*_TASK, "day").agg(fn.count_distinct(window).alias("windows"))


def collect_covered(
    reported: DataFrame,
    overviews: Mapping[tuple[str, str], Overview],
    interval_s: IntervalsS,
    window_s: int,
) -> tuple[Covered, ...]:
    """Return tasks and windows of each component from `REPORTED` of all days."""
    tasks = reported.groupBy(*_TASK).agg(fn.sum("windows").alias("windows"))
    ran = tasks.groupBy(*_KEYS, "submission", "component").agg(
        fn.count(fn.lit(1)).alias("tasks"), fn.sum("windows").alias("windows")
    )
    several: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in ran.collect():
        several[row.topology, row.source, row.component].append((row.tasks, row.windows))
    result = []
    for (topology, source, component), counts in sorted(several.items()):
        overview = overviews[topology, source]
        first, last = overview.first.timestamp(), overview.last.timestamp()
        interval = interval_s.get((topology, source), DEFAULT_INTERVAL_S)
        in_all = (
            int(last // window_s - first // window_s)
            if interval < window_s
            else round((last - first) / interval)
        )
        result.append(
            Covered(
                topology,
                source,
                component,
                tasks=max(one for one, _ in counts),
                windows=sum(one for _, one in counts),
                windows_of_task=in_all + 1,
            )
        )
    return tuple(result)


DEFAULT_US = round(DEFAULT_INTERVAL_S * US)


def signs(reports: DataFrame, interval_s: IntervalsS) -> DataFrame:
    """Give `SIGNS` from `REPORTS`."""
    opened = reports.where("is_open")
    seconds = fn.unix_seconds("time")
    order = Window.partitionBy(*_TASK, "day").orderBy("time", "amount")
    gap = seconds - fn.unix_seconds(fn.lag("time").over(order))
    tasks = opened.where(fn.col("uptime_ns").isNull())
    gaps = tasks.withColumns(
        {"sign": fn.lit("gap"), "place": fn.lit(None).cast("string"), "seconds": gap}
    )
    interval = number_of(
        {key: max(1, round(one)) for key, one in interval_s.items()}, round(DEFAULT_INTERVAL_S)
    )
    uptime = fn.floor(fn.col("uptime_ns") / 10**9)
    place = fn.when(fn.col("source") == STORM, fn.concat_ws(":", *_PLACE)).otherwise(fn.col("node"))
    phases = opened.withColumns(
        {
            "sign": fn.when(uptime.isNotNull(), "uptime").otherwise("phase"),
            "place": place,
            "seconds": fn.pmod(fn.coalesce(uptime, seconds), interval),
        }
    )
    return (
        gaps.where("seconds > 0")
        .unionByName(phases)
        .groupBy(*_KEYS, "sign", "place", "seconds", "day")
        .agg(fn.count(fn.lit(1)).alias("n"), fn.sum("amount").cast("decimal(38,0)").alias("amount"))
    )


def collect_signs(signs: DataFrame) -> dict[tuple[str, str], Signs]:
    """Return the signs of each topology and source, from `SIGNS` of all days; runs a job.

    Of the times and uptimes of a place, the commonest (of several, the smallest).
    """
    sums = (fn.sum(name).alias(name) for name in ("n", "amount"))
    rows = signs.groupBy(*_KEYS, "sign", "place", "seconds").agg(*sums).collect()
    gaps: dict[tuple[str, str], dict[int, tuple[int, int]]] = defaultdict(dict)
    counts: dict[tuple[str, str, str], dict[str, Counter[int]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for row in rows:
        if row.sign == "gap":
            gaps[row.topology, row.source][row.seconds] = (row.n, int(row.amount or 0))
        else:
            counts[row.sign, row.topology, row.source][row.place][row.seconds] = row.n

    def commonest(sign: str, key: tuple[str, str]) -> dict[str, int]:
        places = counts[(sign, *key)].items()
        return {place: min(of, key=lambda one: (-of[one], one)) for place, of in places}

    return {
        key: Signs(
            {gap: n for gap, (n, _) in pairs.items()},
            {gap: amount for gap, (_, amount) in pairs.items()},
            commonest("phase", key),
            commonest("uptime", key),
        )
        for key, pairs in gaps.items()
    }


def thinned(source: str, interval_s: float, its: Signs) -> tuple[str, float] | None:
    """Return why an interval that was recognised cannot be believed, and the likely one, seconds.

    Parameters
    ----------
    source
        `STORM` or `JSON`.
    interval_s
        The commonest gap between two reports of a task.
    its
        What else the reports say.

    Returns
    -------
    tuple or None
        ``None`` = it can.
    """
    in_all = sum(its.gaps.values())
    if not in_all:
        return None
    shortest = _shortest(its, in_all)
    is_shorter = shortest < interval_s * (1 - CLOSE)
    if source == STORM and is_shorter:
        return f"some come after {shortest:g} s", shortest
    is_even = sum(n for gap, n in its.gaps.items() if _close(gap, interval_s)) >= EVEN * in_all
    if source != STORM and (is_shorter or not is_even) and _is_flat(its, shortest):
        return f"they say as much after {shortest:g} s as after longer", shortest
    for parts in FRACTIONS:
        if _is_grid(list(its.phases.values()), interval_s, parts):
            step = interval_s / parts
            return f"the workers report on one grid of {step:g} s", step
    times = round(interval_s / DEFAULT_INTERVAL_S)
    is_multiple = times >= 2 and _close(interval_s, times * DEFAULT_INTERVAL_S)
    if source != STORM or not is_multiple:
        return None
    late = [up for up in its.uptimes.values() if up >= DEFAULT_INTERVAL_S]
    if late:
        rule = f"workers report {min(late):g} s of uptime after multiples of that"
        return rule, DEFAULT_INTERVAL_S
    if its.uptimes and times ** -len(its.uptimes) <= CHANCE:
        return None
    return "Storm's own interval is 60 s, and nothing says that it was changed", DEFAULT_INTERVAL_S


def _close(gap: float, other: float) -> bool:
    return abs(gap - other) <= CLOSE * other


def _shortest(its: Signs, in_all: int) -> float:
    """Return the shortest gap that is not an exception."""
    for gap in sorted(its.gaps):
        near = Counter({one: n for one, n in its.gaps.items() if _close(one, gap)})
        if near.total() >= SHORTER * in_all:
            return float(near.most_common(1)[0][0])
    return float(max(its.gaps))


def _is_flat(its: Signs, shortest: float) -> bool:
    """Say whether reports after long gaps say as much as after short ones, not more for each."""
    short = [gap for gap in its.gaps if gap < 1.5 * shortest]
    long = [gap for gap in its.gaps if gap >= 1.5 * shortest]

    def mean(gaps: list[int], numbers: Mapping[int, int]) -> float:
        return sum(numbers.get(gap, 0) for gap in gaps) / sum(its.gaps[gap] for gap in gaps)

    if not short or not long or not mean(short, its.amounts):
        return False
    time = {gap: gap * n for gap, n in its.gaps.items()}
    longer = mean(long, time) / mean(short, time)
    return mean(long, its.amounts) / mean(short, its.amounts) < math.sqrt(longer)


def _is_grid(phases: list[int], interval_s: float, parts: int) -> bool:
    """Say whether places report at different ones of `parts` times within the interval only."""
    step = interval_s / parts
    if len(phases) < PLACES or (3 * parts / interval_s) ** (len(phases) - 1) > CHANCE:
        return False

    def is_on_grid_of(begin: int) -> bool:
        steps = [(phase - begin) % interval_s / step for phase in phases]
        near = all(abs(one - round(one)) * step <= 1 for one in steps)
        return near and len({round(one) % parts for one in steps}) > 1

    return any(map(is_on_grid_of, phases))


def refuse_thinned(instance: Instance, collected: Collected) -> None:
    """Refuse intervals of an instance's topologies that were recognised and cannot be believed.

    Raises
    ------
    InputError
        With the reason, and what to state instead.
    """
    ids = {one.id for one in instance.topologies}
    for (topology, source), its in sorted(collected.signs.items()):
        interval = collected.interval_s.get((topology, source))
        if topology not in ids or interval is None:
            continue
        why = thinned(source, interval, its)
        if why is not None:
            reason, likely = why
            may_be = " or ".join(dict.fromkeys(f"{one:g}" for one in (likely, interval)))
            rule = (
                f"have a {source} sample of each task of {topology} every {interval:g} s, but "
                f"{reason}: a consumer or files may be missing; add them, or state what a "
                f"sample covers, in seconds: `interval` {may_be}"
            )
            raise InputError(rule, field="logs", has_value=False)
