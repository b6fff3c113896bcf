"""Weights measured by the logs of a running cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Unpack

from slotwise.api.inputs import InstanceLike, WholeDecodedCluster, as_instance
from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_hash
from slotwise.models.values import Number, exact, one_of, seconds, time_limit
from slotwise.pipeline.spark.masters import (
    INTERPRETED,
    SHORT_LIVED,
    THROUGHPUT,
    Cluster,
    check_master,
    is_local,
)
from slotwise.pipeline.spark.session import session
from slotwise.pipeline.statistics.manifest import LogFile, log_files, text_bytes
from slotwise.pipeline.statistics.reading import MOST_GHZ
from slotwise.pipeline.statistics.schema import REASONS
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.logs import (
    Settings,
    check_logs,
    check_store,
    measure_logs,
    reading_of,
    refuse_damaged,
)
from slotwise.pipeline.statistics.weights.measured import Measured

STATISTICS = ("mean", "p50", "p95", "max")
DAY_S = 86_400
MOST_WINDOW_S = DAY_S
MOST_LAST_S = 36_500 * DAY_S
FEW_BYTES = 64 << 20
"""Bytes of logs, about half a million lines: for fewer, Spark runs in a short-lived Java."""

VERY_FEW_BYTES = 2 << 20
"""Bytes of logs, about 15,000 lines: for fewer, Spark also generates no code."""

ClockRates = Mapping[str, float] | str | os.PathLike[str]
"""Node -> GHz, or a file of it."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """An instance with measured weights, and the statistics behind them.

    Parameters
    ----------
    instance
        The topology file with measured weights in place of its own.
    measured
        The weights with samples and confidence intervals, and what was kept aside.
    """

    instance: Instance
    measured: Measured

    def __repr__(self) -> str:
        """One line: what was measured."""
        return f"Measurement of {self.instance.name}: {self.measured!r}"

    def to_document(self) -> dict[str, Any]:
        """Return what ``measure --json`` prints."""
        return {"instance": instance_hash(self.instance), **self.measured.to_document()}

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Write what was measured as one HTML page that needs nothing else."""
        from slotwise.benchmarks.report.measured_page import write_measured

        write_measured(Path(path), self.instance, self.measured, REASONS)


def measure(
    logs: str | os.PathLike[str],
    instance: InstanceLike,
    *,
    window: str | int = "60s",
    statistic: str = "mean",
    ghz: ClockRates | None = None,
    tuple_bytes: Number | None = None,
    interval: str | float | None = None,
    zone: str = "UTC",
    last: str | int | None = None,
    store: str | os.PathLike[str] | None = None,
    master: str = "local[*]",
    aside: str | os.PathLike[str] | None = None,
    accept_damaged: bool = False,
    starting: AbstractContextManager[object] | None = None,
    on_stage: Callable[[str], None] | None = None,
    **decoded: Unpack[WholeDecodedCluster],
) -> Measurement:
    """Measure demands, rates and places of topologies by the logs of a running cluster, on Spark.

    Parameters
    ----------
    logs
        Folder with logs at any depth, as they are or compressed (``.gz``, ``.zst``): lines of
        Storm's ``LoggingMetricsConsumer`` (``*.metrics*``) and JSON lines (``*.jsonl*``).
    instance
        What runs: an `Instance`, a path, a dict or text. Weights that the logs lack are kept.
    window
        Length of a window: seconds, or text such as ``"90s"``, ``"5m"``, ``"1h"``.
    statistic
        ``mean``, or over windows ``p50``, ``p95`` or ``max``.
    ghz
        Node -> clock rate in GHz, or a file (JSON, YAML) of it; ``None`` = as in the lines, else 1.
    tuple_bytes
        Size of a tuple where neither logs nor file have it; ``None`` = 1.
    interval
        Time between two samples of a task: seconds, or text such as ``"60s"``; ``None`` =
        recognised.
    zone
        Time zone of the log itself, such as ``"Europe/Berlin"``.
    last
        How much of the end of the logs counts, whole windows: seconds, or text such as ``"12h"``,
        ``"7d"``; ``None`` = all of them. What is kept aside is of all nevertheless.
    store
        Folder for the tables, so that the next call reads new files only; ``None`` = none.
    master
        Spark's; an active session is used whatever it is.
    aside
        The file that gets the lines kept aside, as CSV: file, reason, whether the line counts
        nevertheless, line; ``None`` = none. It is written also where there are no weights.
    accept_damaged
        Whether weights are returned where more than 5 % of the lines are damaged.
    starting
        A context manager that is entered while Spark starts; ``None`` = none.
    on_stage
        Called with the name of each stage before it starts; ``None`` = nothing is called.
    decoded
        How a decoded Storm cluster is read: `worker_min_cpu`, `submitters`; see `read_instance`.

    Raises
    ------
    InputError
        For bad input; when there are no logs, nothing in them is of the topologies, too many lines
        are damaged, or it is not known what time a sample covers.
    SlotwiseError
        When Spark does not start, or its job fails.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.measure("docs/examples/logs", "docs/examples/word-count.json")  # doctest: +SKIP
    Measurement of word-count: Measured: mean of 360 samples, 3 components, 2 streams
    """
    folder = Path(path_of(logs, "logs", "a path"))
    if not folder.is_dir():
        raise InputError("must be a folder of logs", field="logs", value=str(logs))
    settings = settings_of(statistic, window, ghz, interval, zone, last)
    size = None if tuple_bytes is None else exact(tuple_bytes, "tuple_bytes")
    kept_aside = None if aside is None else Path(path_of(aside, "aside", "a path"))
    check_master(master)
    known = as_instance(instance, **decoded)
    kept = None if store is None else Path(path_of(store, "store", "a path"))
    read: Mapping[str, LogFile] = {}
    if kept is None:
        check_logs(folder)
    else:
        read = check_store(kept, folder, reading_of([known], settings))
        kept = kept.absolute()  # Spark's own current folder may be another one
    logs_size = text_bytes({**read, **dict(log_files(folder))}.items())
    conf = settings_of_spark(logs_size) if is_local(master) else {}
    with session(Cluster(master, conf=conf), starting or nullcontext()) as spark:
        say = on_stage or (lambda _: None)
        measured = measure_logs(spark, folder, known, settings, kept, say, kept_aside)
    if not accept_damaged:
        refuse_damaged(measured)
    return Measurement(measured_instance(known, measured, size), measured)


def settings_of_spark(size: int) -> Mapping[str, str]:
    """Return the settings of a local Spark for logs of `size` bytes, decompressed."""
    if size > FEW_BYTES:
        return THROUGHPUT
    return SHORT_LIVED if size > VERY_FEW_BYTES else SHORT_LIVED | INTERPRETED


def settings_of(
    statistic: str,
    window: str | int,
    ghz: ClockRates | None,
    interval: str | float | None,
    zone: str,
    last: str | int | None,
) -> Settings:
    """Return the settings that `measure` and `follow` have in common, checked.

    Raises
    ------
    InputError
        Naming the argument and the rule.
    """
    one_of(statistic, STATISTICS, "statistic")
    window_s = window_seconds(window)
    return Settings(
        statistic=statistic,
        window_s=window_s,
        clocks={} if ghz is None else clock_rates(ghz),
        interval_s=None
        if interval is None
        else time_limit(float(seconds(interval, "interval")), "interval"),
        zone=time_zone(zone),
        last_s=None if last is None else last_seconds(last, window_s),
    )


def window_seconds(window: str | int) -> int:
    """Return a window in whole seconds, written as `models.values.seconds` reads it.

    Raises
    ------
    InputError
        Unless it is a whole number of seconds, from 1 second to 1 day.
    """
    length = seconds(window, "window")
    if not 1 <= length <= MOST_WINDOW_S or length.denominator > 1:
        rule = "must be whole seconds, from 1 second to 1 day, such as 90s, 5m or 1h"
        raise InputError(rule, field="window", value=window)
    return int(length)


def last_seconds(last: str | int, window_s: int) -> int:
    """Return how much of the end of the logs counts, in whole seconds; written as a window is.

    Raises
    ------
    InputError
        Unless it is a whole number of windows of `window_s` seconds, one at least, and at most 100
        years.
    """
    length = seconds(last, "last")
    if not window_s <= length <= MOST_LAST_S or length % window_s:
        rule = (
            f"must be a whole number of windows of {window_s} s, such as 12h or 7d, and at most "
            f"{MOST_LAST_S // DAY_S}d"
        )
        raise InputError(rule, field="last", value=last)
    return int(length)


def clock_rates(ghz: ClockRates) -> dict[str, int]:
    """Return node -> clock rate in Hz of a mapping or a file in GHz.

    Raises
    ------
    InputError
        Unless it maps nodes to numbers above 0 and at most `MOST_GHZ`.
    """
    if isinstance(ghz, Mapping):
        return _clock_rates(plain_data(ghz))
    data, file = read_data(path_of(ghz, "ghz", "a path or a dict"))
    with in_file(file):
        return _clock_rates(data)


def _clock_rates(data: Any) -> dict[str, int]:
    if not isinstance(data, dict):
        raise InputError('must be an object of clock rates in GHz, {"n1": 2.4}', has_value=False)
    rates = {node: exact(value, node) for node, value in data.items()}
    for node, rate in rates.items():
        if not 0 < rate <= MOST_GHZ:
            rule = f"must be above 0 and at most {MOST_GHZ} (GHz)"
            raise InputError(rule, field=node, value=rate)
    return {node: int(rate * Decimal(10**9)) for node, rate in rates.items()}


def time_zone(zone: str) -> str:
    """Return the name of a time zone; raises `InputError` for anything else."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        rule = "must be the name of a time zone, such as UTC or Europe/Berlin"
        raise InputError(rule, field="zone", value=zone) from error
    return zone
