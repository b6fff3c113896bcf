"""Classes of instances, by which methods are compared apart: family, size, tightness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from slotwise.benchmarks.judged.judging import Indices, Judged
from slotwise.models.errors import InputError, suggestion

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
    classes = tuple(dict.fromkeys(name.strip() for name in written if name.strip()))
    for name in classes:
        if name not in BY:
            rule = f"is not a class of instances; {suggestion(name, BY)}"
            raise InputError(rule, field="by", value=name)
    return classes


def classes(judged: Judged, by: Sequence[str]) -> Iterator[tuple[dict[str, str], Indices]]:
    """Yield each class, from small to large, with the indices of its instances.

    Without `by`, all instances are one class.
    """
    if not by:
        yield {}, np.arange(len(judged.instances))
        return
    columns = pd.DataFrame({name: _class_of(judged.instances, name) for name in by})
    for key, some in columns.groupby(list(by), observed=True, sort=True):
        yield dict(zip(by, map(str, key), strict=True)), np.asarray(some.index, dtype=np.int64)


def _class_of(instances: pd.DataFrame, name: str) -> pd.Categorical | NDArray[np.object_]:
    if name == "family":
        return np.asarray(instances["family"].replace("", NO_FAMILY), dtype=object)
    column, edges = ("tasks", SIZE_EDGES) if name == "size" else ("tightness", TIGHTNESS_EDGES)
    codes = np.searchsorted(np.asarray(edges), instances[column].to_numpy(), side="right")
    names = np.asarray(class_names(edges), dtype=object)[codes]
    return pd.Categorical(names, categories=list(class_names(edges)), ordered=True)


def class_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the classes that `edges` cut, least first."""
    bounds = [f"{edge:g}" for edge in edges]
    inner = (f"{a} to <{b}" for a, b in pairwise(bounds))
    return (f"<{bounds[0]}", *inner, f">={bounds[-1]}")
