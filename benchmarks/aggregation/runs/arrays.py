"""Column expressions over arrays: sums and quantiles that no order of rows can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


def collected(numbers: Column) -> Column:
    """Return the numbers of a group as a sorted array; nulls are left out."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.sort_array(F.collect_list(numbers))


def mean_of(numbers: Column) -> Column:
    """Return the mean of a sorted array, added up in its order; null for an empty one."""
    from pyspark.sql import functions as F  # noqa: N812

    total = F.aggregate(numbers, F.lit(0.0), lambda so_far, number: so_far + number)
    return F.when(F.size(numbers) > 0, total / F.size(numbers))


def quantile_of(numbers: Column, share: float) -> Column:
    """Return a quantile of a sorted array, linear between neighbours; null for an empty one.

    Between a finite number and infinity it is infinity.
    """
    from pyspark.sql import functions as F  # noqa: N812

    place = (F.size(numbers) - 1) * F.lit(share)
    low = F.get(numbers, F.floor(place).cast("int"))
    high = F.get(numbers, F.ceil(place).cast("int"))
    return F.when(low == high, low).otherwise(low + (place - F.floor(place)) * (high - low))


def share_within(numbers: Column, most: Column) -> Column:
    """Return the share of the numbers of an array that are at most `most`."""
    from pyspark.sql import functions as F  # noqa: N812

    within = F.size(F.filter(numbers, lambda number: number <= most))
    return F.when(F.size(numbers) > 0, within / F.size(numbers))


def leading_equal(first: Column, second: Column) -> Column:
    """Return how many elements two arrays share from their beginning; 0 where one is null.

    A null element equals nothing.
    """
    from pyspark.sql import functions as F  # noqa: N812

    same = F.zip_with(first, second, lambda a, b: F.coalesce(a == b, F.lit(False)))
    differs = F.array_position(same, False)
    leading = F.when(differs == 0, F.size(same)).otherwise(differs - 1)
    return F.coalesce(leading, F.lit(0)).cast("int")
