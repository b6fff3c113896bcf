"""From kept lines to the instance of their weights, by the functions of the batch job alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from slotwise.benchmarks.following.kept_lines import Kept
from slotwise.benchmarks.statistics.quarantine import cleaned
from slotwise.benchmarks.statistics.reading import Reading
from slotwise.benchmarks.statistics.weights.instance import measured_instance
from slotwise.benchmarks.statistics.weights.measure import measured_of
from slotwise.benchmarks.statistics.weights.measured import Measured
from slotwise.benchmarks.statistics.weights.run import collect_weights
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

    def measured(self, spark: SparkSession, kept: Kept) -> Measured | None:
        """Return the weights of all lines that were kept; ``None`` = no sample is among them."""
        if not kept.files:
            return None
        samples = cleaned(kept.parsed(spark), self.reading).samples.persist()
        try:
            window = f"{self.window_s} seconds"
            collected = collect_weights(
                samples, self.statistic, window, self.clocks, self.interval_s
            )
        finally:
            samples.unpersist()
        known = {one.id for one in self.instance.topologies}
        if not any(topology in known for topology, _ in collected.overview):
            return None
        return measured_of(self.instance, collected, self.statistic, self.window_s)

    def instance_of(self, measured: Measured) -> Instance:
        """Return the instance with these weights, and where the tasks run."""
        return measured_instance(self.instance, measured, self.tuple_bytes)
