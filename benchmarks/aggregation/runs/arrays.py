"""Column expressions over arrays: sums and quantiles that no order of rows can change."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as fn


def collected(numbers: Column) -> Column:
    """Return the numbers of a group as a sorted array; nulls are left out."""
    return fn.sort_array(fn.collect_list(numbers))


def mean_of(numbers: Column) -> Column:
    """Return the mean of a sorted array, added up in its order; null for an empty one."""
    total = fn.aggregate(numbers, fn.lit(0.0), lambda so_far, number: so_far + number)
    return fn.when(fn.size(numbers) > 0, total / fn.size(numbers))


def quantile_of(numbers: Column, share: float) -> Column:
    """Return a quantile of a sorted array, linear between neighbours; null for an empty one.

    Between a finite number and infinity it is infinity.
    """
    place = (fn.size(numbers) - 1) * fn.lit(share)
    low = fn.get(numbers, fn.floor(place).cast("int"))
    high = fn.get(numbers, fn.ceil(place).cast("int"))
    return fn.when(low == high, low).otherwise(low + (place - fn.floor(place)) * (high - low))


def share_within(numbers: Column, most: Column) -> Column:
    """Return the share of the numbers of an array that are at most `most`."""
    within = fn.size(fn.filter(numbers, lambda number: number <= most))
    return fn.when(fn.size(numbers) > 0, within / fn.size(numbers))


def leading_equal(first: Column, second: Column) -> Column:
    """Return how many elements two arrays share from their beginning; 0 where one is null.

    A null element equals nothing.
    """
    same = fn.zip_with(first, second, lambda a, b: fn.coalesce(a == b, fn.lit(False)))
    differs = fn.array_position(same, False)
    leading = fn.when(differs == 0, fn.size(same)).otherwise(differs - 1)
    return fn.coalesce(leading, fn.lit(0)).cast("int")
