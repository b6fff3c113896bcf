"""Rows told as they would be today, and checked once for what it takes to compare them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.runs.stored import no_rows
from slotwise.benchmarks.grading.old_rows import BROKE_DOWN, OUT_OF_TIME
from slotwise.benchmarks.grading.rows import SUCCEEDED, VERSION, RunStatus
from slotwise.benchmarks.spark.session import job_errors
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_DIGITS = 37
"""Of a value, before and behind the point: a difference of two fits Spark's 38 digits."""

_NEVER_NULL = ("instance_hash", "kind", "method", "seed", "status", "version")


@dataclass(frozen=True, slots=True)
class Exactness:
    """What the rows need to be compared exactly.

    Parameters
    ----------
    terms
        Names of all terms, in the order of the objective where one instance has several.
    decimals
        Most digits behind the point of any value or bound.
    """

    terms: tuple[str, ...]
    decimals: int

    @property
    def type(self) -> str:
        """Spark's type that holds every value without rounding."""
        return f"decimal({MOST_DIGITS},{self.decimals})"


def as_today(rows: DataFrame) -> DataFrame:
    """Return the rows with today's statuses, as `benchmarks.grading.old_rows` does."""
    from pyspark.sql import functions as F  # noqa: N812

    is_old = ~F.col("version").contains(f", rows {VERSION}")
    begins = [F.col("reason").startswith(words) for words in BROKE_DOWN]
    broke = is_old & (F.col("status") == RunStatus.REFUSED) & reduce(or_, begins)
    broke = F.coalesce(broke, F.lit(False))
    late = reduce(or_, [F.col("reason").startswith(words) for words in OUT_OF_TIME])
    status = F.when(late, str(RunStatus.TIMEOUT)).otherwise(str(RunStatus.CRASHED))
    return rows.withColumns(
        {
            "error": F.when(broke, F.col("reason")).otherwise(F.col("error")),
            "reason": F.when(~broke, F.col("reason")),
            "status": F.when(broke, status).otherwise(F.col("status")),
        }
    )


def exactness(rows: DataFrame, folder: str) -> Exactness:
    """Check the rows, and return what it takes to compare them exactly; runs a Spark job.

    Raises
    ------
    InputError
        Where there is none, a cell that identifies a run is null, the rows of one instance count
        different terms, or a number is none or has too many digits.
    """
    with job_errors():
        said = _facts(rows).collect()[0]
    problem = None
    if said["rows"] == 0:
        raise no_rows(folder)
    if said["nameless"]:
        problem = f"has rows without one of {', '.join(_NEVER_NULL)}; slotwise report names them"
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
    orders = sorted((tuple(order) for order in said["orders"]), key=lambda o: (-len(o), o))
    terms = dict.fromkeys(term for order in orders for term in order)
    return Exactness(tuple(terms), said["decimals"])


def _facts(rows: DataFrame) -> DataFrame:
    """Return one row of facts that decide whether rows can be compared."""
    from pyspark.sql import functions as F  # noqa: N812

    names = F.col("terms.term")
    numbers = F.array_compact(F.concat(F.col("terms.value"), F.col("terms.bound")))
    odd = F.filter(numbers, lambda text: ~text.rlike(r"^[0-9]+(\.[0-9]+)?$"))
    nameless = reduce(or_, [F.col(name).isNull() for name in _NEVER_NULL])
    lacking = F.coalesce(F.exists("terms.value", F.isnull) | (F.size("terms") == 0), F.lit(True))
    incomplete = F.col("status").isin(*map(str, SUCCEEDED)) & lacking
    per_instance = rows.groupBy("instance_hash").agg(
        F.count("*").alias("rows"),
        F.count_if(nameless).alias("nameless"),
        F.count_if(incomplete).alias("incomplete"),
        F.collect_set(F.when(F.size(names) > 0, names)).alias("orders"),
        F.min(F.get(odd, F.lit(0))).alias("odd"),
        F.max(_digits(numbers, 0)).alias("whole"),
        F.max(_digits(numbers, 1)).alias("decimals"),
    )
    several = F.when(F.size("orders") > 1, F.col("instance_hash"))
    zero = F.lit(0)
    return per_instance.agg(
        F.coalesce(F.sum("rows"), zero).alias("rows"),
        F.coalesce(F.sum("nameless"), zero).alias("nameless"),
        F.coalesce(F.sum("incomplete"), zero).alias("incomplete"),
        F.array_distinct(F.flatten(F.collect_set("orders"))).alias("orders"),
        F.min("odd").alias("odd"),
        F.min(several).alias("disagreeing"),
        F.coalesce(F.max("whole"), zero).alias("whole"),
        F.coalesce(F.max("decimals"), zero).alias("decimals"),
    )


def _digits(numbers: Column, side: int) -> Column:
    """Return the most digits before (0) or behind (1) the point of the texts in an array."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = F.transform(
        numbers,
        lambda text: F.length(F.coalesce(F.get(F.split(text, r"\."), F.lit(side)), F.lit(""))),
    )
    return F.array_max(parts)
