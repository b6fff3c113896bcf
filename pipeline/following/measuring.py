"""From the tables of a stream to the instance of their weights, by the functions of ``measure``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import SparkSession

from slotwise.models.instance.instance import Instance
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.run import Tables
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.logs import (
    Settings,
    measure_tables,
    reading_of,
    refuse_damaged,
)
from slotwise.pipeline.statistics.weights.measured import Measured


@dataclass(frozen=True, slots=True)
class Measuring:
    """How weights are computed from lines, as in ``slotwise measure``.

    Parameters
    ----------
    instance
        The topology file.
    settings
        See `Settings`.
    tuple_bytes
        Size of a tuple where neither logs nor file tell it; ``None`` = 1.
    accept_damaged
        Whether weights are computed where more than 5 % of the lines are damaged.
    """

    instance: Instance
    settings: Settings
    tuple_bytes: Decimal | None = None
    accept_damaged: bool = False

    @property
    def reading(self) -> Reading:
        """How lines are read and judged."""
        return reading_of([self.instance], self.settings)

    def measured(self, spark: SparkSession, tables: Tables) -> Measured | None:
        """Return the weights of all lines so far; ``None`` = no sample is of the instance.

        Raises
        ------
        InputError
            When too many lines are damaged, or it is not known what time a sample covers.
        """
        measured = measure_tables(spark, tables, self.instance, self.settings)
        if measured is not None and not self.accept_damaged:
            refuse_damaged(measured)
        return measured

    def instance_of(self, measured: Measured) -> Instance:
        """Return the instance with these weights, and where the tasks run."""
        return measured_instance(self.instance, measured, self.tuple_bytes)
