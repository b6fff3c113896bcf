"""Classes of instances, by which methods are compared apart: family, size, tightness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from slotwise.models.errors import InputError
from slotwise.models.suggestion import suggestion

SIZE_EDGES = (10, 100, 1000)
"""Tasks at which the next class of sizes begins."""

TIGHTNESS_EDGES = (0.5, 0.8, 0.95)
"""Shares of the scarcest resource asked for, at which the next class of tightness begins."""

BY = ("family", "size", "tightness")
"""What `--by` takes."""

NO_FAMILY = "(files)"
"""The class of instances that no family made."""


def check_by(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the columns in ``family,size`` or a sequence, each once.

    Raises
    ------
    InputError
        For one that is not in `BY`.
    """
    written = names.split(",") if isinstance(names, str) else names
    found = tuple(dict.fromkeys(name.strip() for name in written if name.strip()))
    for name in found:
        if name not in BY:
            rule = f"is none of {', '.join(BY)}; {suggestion(name, BY)}"
            raise InputError(rule, field="by", value=name)
    return found


def with_classes(runs: DataFrame, by: Sequence[str]) -> DataFrame:
    """Replace what a run has of `by` by its class, the same for all runs of an instance."""
    instance = Window.partitionBy("instance_hash")
    columns = {
        "family": fn.coalesce(fn.min("family").over(instance), fn.lit(NO_FAMILY)),
        "size": _class("tasks", SIZE_EDGES),
        "tightness": _class("tightness", TIGHTNESS_EDGES),
    }
    return runs.withColumns({name: columns[name] for name in by}) if by else runs


def _class(column: str, edges: Sequence[float]) -> Column:
    names = class_names(edges)
    found = fn.lit(names[-1])
    for edge, name in reversed(list(zip(edges, names, strict=False))):
        found = fn.when(fn.col(column) < edge, name).otherwise(found)
    return found


def class_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the classes that `edges` cut, least first."""
    bounds = [f"{edge:g}" for edge in edges]
    inner = (f"{a} to <{b}" for a, b in pairwise(bounds))
    return (f"<{bounds[0]}", *inner, f">={bounds[-1]}")
