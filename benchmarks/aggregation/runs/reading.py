"""Rows checked once for what it takes to compare them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.stored import no_rows
from slotwise.benchmarks.analysis.gaps import terms_in_order
from slotwise.benchmarks.grading.batch.runs import means_other
from slotwise.benchmarks.grading.rows import OTHER_MEANING, SUCCEEDED
from slotwise.models.errors import InputError
from slotwise.pipeline.spark.session import job_errors

MOST_DIGITS = 37
"""Of a value, before and behind the point: a difference of two fits Spark's 38 digits."""

_NEVER_NULL = ("instance_hash", "kind", "method", "seed", "status", "version")


@dataclass(frozen=True, slots=True)
class Exactness:
    """What the rows need to be compared exactly.

    Parameters
    ----------
    terms
        Names of all terms, see `terms_in_order`.
    decimals
        Most digits behind the point of any value or bound.
    """

    terms: tuple[str, ...]
    decimals: int

    @property
    def type(self) -> str:
        """Spark's type that holds every value without rounding."""
        return f"decimal({MOST_DIGITS},{self.decimals})"


def exactness(rows: DataFrame, folder: str) -> Exactness:
    """Check the rows, and return what it takes to compare them exactly; runs a Spark job.

    Raises
    ------
    InputError
        Where there is none or one of another meaning, a cell that identifies a run is null, the
        rows of one instance count different terms, or a number is none or has too many digits.
    """
    with job_errors():
        said = _facts(rows).collect()[0]
    problem = None
    if said["rows"] == 0:
        raise no_rows(folder)
    if said["nameless"]:
        problem = f"has rows without one of {', '.join(_NEVER_NULL)}; slotwise report names them"
    elif said["other_meaning"]:
        problem = f"has rows of version '{said['other_meaning']}': {OTHER_MEANING}"
    elif said["incomplete"]:
        problem = "has rows of a valid placement without the value of a term"
    elif said["odd"]:
        problem = f"has {said['odd']} as the value or bound of a term; it must be a plain decimal"
    elif said["disagreeing"]:
        problem = f"has rows of one instance that count different terms ({said['disagreeing']})"
    elif said["whole"] + said["decimals"] > MOST_DIGITS:
        problem = f"has values of more than {MOST_DIGITS} digits, which are not compared exactly"
    if problem is not None:
        raise InputError(problem, field="folder", value=folder)
    return Exactness(terms_in_order(sorted(said["orders"])), said["decimals"])


def _facts(rows: DataFrame) -> DataFrame:
    """Return one row of facts that decide whether rows can be compared."""
    names = fn.col("terms.term")
    numbers = fn.array_compact(fn.concat(fn.col("terms.value"), fn.col("terms.bound")))
    odd = fn.filter(numbers, lambda text: ~text.rlike(r"^[0-9]+(\.[0-9]+)?$"))
    nameless = reduce(or_, [fn.col(name).isNull() for name in _NEVER_NULL])
    lacking = fn.coalesce(
        fn.exists("terms.value", fn.isnull) | (fn.size("terms") == 0), fn.lit(True)
    )
    incomplete = fn.col("status").isin(*map(str, SUCCEEDED)) & lacking
    per_instance = rows.groupBy("instance_hash").agg(
        fn.count("*").alias("rows"),
        fn.count_if(nameless).alias("nameless"),
        fn.min(fn.when(means_other(), fn.col("version"))).alias("other_meaning"),
        fn.count_if(incomplete).alias("incomplete"),
        fn.collect_set(fn.when(fn.size(names) > 0, names)).alias("orders"),
        fn.min(fn.get(odd, fn.lit(0))).alias("odd"),
        fn.max(_digits(numbers, 0)).alias("whole"),
        fn.max(_digits(numbers, 1)).alias("decimals"),
    )
    several = fn.when(fn.size("orders") > 1, fn.col("instance_hash"))
    zero = fn.lit(0)
    return per_instance.agg(
        fn.coalesce(fn.sum("rows"), zero).alias("rows"),
        fn.coalesce(fn.sum("nameless"), zero).alias("nameless"),
        fn.min("other_meaning").alias("other_meaning"),
        fn.coalesce(fn.sum("incomplete"), zero).alias("incomplete"),
        fn.array_distinct(fn.flatten(fn.collect_set("orders"))).alias("orders"),
        fn.min("odd").alias("odd"),
        fn.min(several).alias("disagreeing"),
        fn.coalesce(fn.max("whole"), zero).alias("whole"),
        fn.coalesce(fn.max("decimals"), zero).alias("decimals"),
    )


def _digits(numbers: Column, side: int) -> Column:
    """Return the most digits before (0) or behind (1) the point of the texts in an array."""
    parts = fn.transform(
        numbers,
        lambda text: fn.length(
            fn.coalesce(fn.get(fn.split(text, r"\."), fn.lit(side)), fn.lit(""))
        ),
    )
    return fn.array_max(parts)
