"""From kept lines to the instance of their weights, by the functions of the batch job alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.benchmarks.following.daily_sums import DailySums
from slotwise.benchmarks.following.kept_lines import Kept
from slotwise.benchmarks.statistics.quarantine import cleaned
from slotwise.benchmarks.statistics.reading import Reading
from slotwise.benchmarks.statistics.weights.instance import measured_instance
from slotwise.benchmarks.statistics.weights.measure import measured_of
from slotwise.benchmarks.statistics.weights.measured import Measured
from slotwise.benchmarks.statistics.weights.run import (
    Collected,
    Overview,
    collect_parts,
    collect_seen,
    collect_values,
    collect_weights,
    intervals_s,
)
from slotwise.benchmarks.statistics.weights.series import series
from slotwise.models.instance.instance import Instance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Measuring:
    """How weights are made of samples; as in ``slotwise measure``."""

    instance: Instance
    reading: Reading
    statistic: str = "mean"
    window_s: int = 60
    clocks: Mapping[str, int] = field(default_factory=dict)
    interval_s: float | None = None
    tuple_bytes: Decimal | None = None

    def measured(self, spark: SparkSession, kept: Kept, folder: Path) -> Measured | None:
        """Return the weights of all lines that were kept; ``None`` = no sample is among them.

        Sums of days that had no new lines are taken from `folder`.
        """
        sums = DailySums(folder, self.reading, self.window_s, self.clocks)
        table = sums.update(spark, kept)
        if table is None:
            return self.of_all_lines(spark, kept)
        found = table.overview()
        if not self._is_known(found):
            return None
        interval_s = dict.fromkeys(found, self.interval_s) if self.interval_s else None
        windows = sums.windows(spark, table)
        collected = Collected(
            overview=found,
            interval_s=interval_s or intervals_s(sums.first_tasks(spark, table)),
            clocks=table.hz,
            values=collect_values(series(windows), self.statistic),
            parts=collect_parts(windows),
            seen=collect_seen(windows),
        )
        return measured_of(self.instance, collected, self.statistic, self.window_s)

    def of_all_lines(self, spark: SparkSession, kept: Kept) -> Measured | None:
        """Return the same, computed from all lines."""
        if not kept.files:
            return None
        samples = cleaned(kept.parsed(spark), self.reading).samples.persist()
        try:
            collected = collect_weights(
                samples, self.statistic, self.window_s, self.clocks, self.interval_s
            )
        finally:
            samples.unpersist()
        if not self._is_known(collected.overview):
            return None
        return measured_of(self.instance, collected, self.statistic, self.window_s)

    def _is_known(self, overview: Mapping[tuple[str, str], Overview]) -> bool:
        """Whether there are samples of a topology of the instance."""
        ids = {one.id for one in self.instance.topologies}
        return any(topology in ids for topology, _ in overview)

    def instance_of(self, measured: Measured) -> Instance:
        """Return the instance with these weights, and where the tasks run."""
        return measured_instance(self.instance, measured, self.tuple_bytes)
