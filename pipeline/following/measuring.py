"""From kept lines to the instance of their weights, by the functions of the batch job alone."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from slotwise.models.instance.instance import Instance
from slotwise.pipeline.following.daily_sums import DailySums
from slotwise.pipeline.following.kept_lines import Kept
from slotwise.pipeline.spark.scratch import Store, scratch
from slotwise.pipeline.statistics.quarantine import cleaned
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.facts import Facts, collect_facts, facts_of
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.logs import (
    Settings,
    check_clocks,
    in_names_of,
    reading_of,
)
from slotwise.pipeline.statistics.weights.measure import measured_of
from slotwise.pipeline.statistics.weights.measured import Measured
from slotwise.pipeline.statistics.weights.run import collect_sums


@dataclass(frozen=True, slots=True)
class Measuring:
    """How weights are made of lines; as in ``slotwise measure``.

    Parameters
    ----------
    instance
        The topology file.
    settings
        See `Settings`.
    tuple_bytes
        Size of a tuple where neither logs nor file tell it; ``None`` = 1.
    """

    instance: Instance
    settings: Settings
    tuple_bytes: Decimal | None = None

    @property
    def reading(self) -> Reading:
        """How lines are read and judged."""
        return reading_of([self.instance], self.settings)

    def measured(self, spark: SparkSession, kept: Kept, folder: Path) -> Measured | None:
        """Return the weights of all lines that were kept; ``None`` = no sample is among them.

        Sums of days that had no new lines are taken from `folder`.
        """
        sums = DailySums(folder, self.reading, self.settings.window_s)
        table = sums.update(spark, kept)
        if table is None:
            return self.of_all_lines(spark, kept, folder)
        if not table.folders():
            return None
        with scratch(folder) as stored:
            facts = collect_facts(sums.facts(spark, table))
            return self._of(sums.windows(spark, table), facts, stored)

    def of_all_lines(self, spark: SparkSession, kept: Kept, folder: Path) -> Measured | None:
        """Return the same, computed from all lines; `folder` has tables between jobs."""
        if not kept.files:
            return None
        with scratch(folder) as stored:
            samples = stored(cleaned(kept.parsed(spark), self.reading).samples)
            windows = w.by_window(w.by_interval(samples), self.settings.window_s)
            return self._of(stored(windows), collect_facts(facts_of(samples)), stored)

    def instance_of(self, measured: Measured) -> Instance:
        """Return the instance with these weights, and where the tasks run."""
        return measured_instance(self.instance, measured, self.tuple_bytes)

    def _of(self, windows: DataFrame, facts: Facts, stored: Store) -> Measured | None:
        """Return the weights; ``None`` where no sample is of a topology of the instance."""
        asked = self.settings
        collected = collect_sums(
            windows, facts, asked.statistic, asked.window_s, asked.clocks, asked.interval_s, stored
        )
        named = in_names_of(self.instance, collected)
        ids = {one.id for one in self.instance.topologies}
        if not any(topology in ids for topology, _ in named.overview):
            return None
        check_clocks(self.settings.clocks, named)
        return measured_of(self.instance, named, self.settings.statistic, self.settings.window_s)
