"""Parsed lines judged in one step, without a store."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.clock_skew import measure_skew
from slotwise.pipeline.statistics.quarantine import judge_lines, quarantine_of, samples_of
from slotwise.pipeline.statistics.reading import Reading


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of the parsed lines.

    Attributes
    ----------
    samples
        `SAMPLES`.
    quarantine
        `QUARANTINE`.
    clocks
        `CLOCKS`.
    """

    samples: DataFrame
    quarantine: DataFrame
    clocks: DataFrame


def cleaned(parsed: DataFrame, reading: Reading) -> Cleaned:
    """Judge the rows of `PARSED` by each other; it must hold all lines of a topology.

    Every line of it has samples, or is in the quarantine, or both (`used`), or has the first
    reading of a running total.
    """
    nodes = measure_skew(parsed.where(fn.col("reason").isNull()), reading)
    rows = judge_lines(parsed, nodes, reading)
    return Cleaned(samples_of(rows), quarantine_of(rows), nodes)
