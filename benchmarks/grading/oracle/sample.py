"""Which instances are cross-checked: a share of all, drawn by their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.rows import Kind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DIGITS = 8
"""Hexadecimal digits of the hash that decide."""


def is_sampled(share: float, seed: int) -> Column:
    """Return whether an instance is in the sample: whatever else is graded, and in what order."""
    from pyspark.sql import functions as fn

    drawn = fn.sha2(fn.concat("instance_hash", fn.lit(f":{seed}")), 256)
    number = fn.conv(fn.substring(drawn, 1, DIGITS), 16, 10).cast("double")
    return number < fn.lit(share * 16.0**DIGITS)


def without_unsampled(plan: DataFrame, share: float, seed: int) -> DataFrame:
    """Return the plan with the cross-checks of the sample only."""
    from pyspark.sql import functions as fn

    return plan.where((fn.col("kind") != str(Kind.CROSSCHECK)) | is_sampled(share, seed))
