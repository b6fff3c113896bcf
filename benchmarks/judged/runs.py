"""Rows as columns: the newest row of each run, and what exact engines proved of each instance.

Values are whole numbers at one resolution: the digits behind the point of the most precise value.
Where they do not fit 64 bits, Python's own take their place, so that every comparison is exact.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from slotwise.benchmarks.grading.row_file import check_cell
from slotwise.benchmarks.grading.rows import (
    KILLED,
    SUCCEEDED,
    Kind,
    reason_of,
)
from slotwise.models.errors import InputError, at

PREDICTED = ("throughput", "latency_ms")
"""What a placement is predicted to be worth; null where it was not asked for, or not possible."""

COLUMNS = (
    *("instance_hash", "instance", "family", "tasks", "nodes", "tightness", "seed", "kind"),
    *("method", "version", "batch", "status", "terms", "violations", "reason", "error"),
    *("wall_s", "time_limit_s", *PREDICTED),
)
"""Columns of the rows that are read."""

FILE = "file"
"""Column that a reader adds: the name of the file, which sorts by age within a call."""

RUN = ["instance", "seed", "kind", "method"]
"""Columns that identify a run; of several rows the newest counts."""

NONE = -1
"""Stands where there is no value: values are never negative."""

_NAMES = ("instance", "kind", "method", "status", "batch", FILE, "why", "objective")
_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
_MOST_64 = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of a grading, in columns.

    Parameters
    ----------
    runs
        One row per run: `RUN`, ``status``, ``seconds`` (wall clock; a run that was killed counts
        its time limit, at least), ``why`` (in words; "" = there is a valid placement),
        `PREDICTED` (NaN = not predicted), ``row`` (its number among all rows that were read, from
        0) and ``v0``, ``v1``, ... (values of the terms, `NONE` without a valid placement). Names
        are categories.
    proofs
        The rows of exact engines whose objective is known, of any age: ``instance``, ``v0``, ...
        and the proven bounds ``b0``, ..., `NONE` = not proven.
    instances
        By hash: ``name``, ``family`` ("" = from a file), ``tasks``, ``nodes``, ``tightness``,
        ``objective`` (names of the terms, separated by commas; "" = unknown).
    decimals
        Digits behind the point that the last digit of a value stands for.
    """

    runs: pd.DataFrame
    proofs: pd.DataFrame
    instances: pd.DataFrame
    decimals: int


def part_of(table: pa.Table) -> Runs:
    """Return the rows of a table, all of them.

    Raises
    ------
    InputError
        Where a cell that identifies a run is null, a row is of another meaning, a valid placement
        lacks the value of a term, or a value is not a plain decimal.
    """
    _check(table)
    objective, values, bounds, decimals = _terms(table["terms"].combine_chunks())
    status = _category(table["status"])
    placed = status.isin(list(map(str, SUCCEEDED)))
    if (placed & _lacking(values, objective)).any():
        raise InputError("has a valid placement without the value of a term", has_value=False)
    positions = range(values.shape[1])
    kinds = _category(table["kind"])
    exact = np.asarray(kinds == str(Kind.EXACT))
    frame = pd.DataFrame(
        {
            "instance": _category(table["instance_hash"]),
            "seed": pd.to_numeric(table["seed"].to_numpy(), downcast="integer"),
            "kind": kinds,
            "method": _category(table["method"]),
            "status": status,
            "seconds": _seconds(table, status),
            "why": _reasons(table, placed),
            "batch": _category(table["batch"]),
            "file": _category(table[FILE]),
            **{name: _floats(table[name]) for name in PREDICTED},
            "row": np.arange(len(table), dtype=np.int32),
            "objective": objective,
            **{f"v{p}": np.where(placed, values[:, p], NONE) for p in positions},
        }
    )
    proofs = frame.loc[exact & (objective != ""), ["instance", "objective", *_cells("v", values)]]
    for p in positions:
        proofs[f"b{p}"] = bounds[proofs.index, p]
    return Runs(frame, proofs.reset_index(drop=True), _instances(table), decimals)


def _cells(letter: str, values: NDArray[Any]) -> list[str]:
    return [f"{letter}{p}" for p in range(values.shape[1])]


def _lacking(values: NDArray[Any], objective: pd.Categorical) -> NDArray[np.bool_]:
    """Return which rows have fewer values than their objective has terms, or no objective."""
    lengths = np.array([len(text.split(",")) if text else 99 for text in objective.categories])
    return np.asarray((values != NONE).sum(axis=1) < lengths[objective.codes], dtype=bool)


_NEVER_NULL = ("instance_hash", "kind", "method", "seed", "status", "version")


def _check(table: pa.Table) -> None:
    for name in _NEVER_NULL:
        if table[name].null_count:
            rule = "has a row without it; slotwise report names the row"
            raise InputError(rule, field=f"column {name}", has_value=False)
    for name in ("kind", "status", "version"):
        for value in pa.compute.unique(table[name]).to_pylist():
            with at(f"column {name}"):
                check_cell(name, value)


def _category(column: pa.ChunkedArray) -> pd.Categorical:
    """Return a column of text as categories in alphabetical order; null is ""."""
    filled = pa.compute.fill_null(column.cast(pa.string()), "")
    return _sorted(filled.combine_chunks().dictionary_encode())


def _sorted(encoded: pa.DictionaryArray) -> pd.Categorical:
    names = encoded.dictionary.to_pylist()
    return _ordered(encoded.indices.to_numpy(), names)


def _ordered(codes: NDArray[Any], names: Sequence[str]) -> pd.Categorical:
    """Return codes of names as categories in alphabetical order."""
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    codes = rank[codes] if len(names) else codes
    index = pd.Index([names[i] for i in order], dtype=object)
    return pd.Categorical.from_codes(codes, index)  # type: ignore[arg-type]  # stubs: no arrays


def _seconds(table: pa.Table, status: pd.Categorical) -> NDArray[np.float64]:
    wall = np.nan_to_num(_floats(table["wall_s"]))
    limit = np.nan_to_num(_floats(table["time_limit_s"]))
    return np.where(status.isin(list(map(str, KILLED))), np.maximum(wall, limit), wall)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=float)


_FAILURE_COLUMNS = ("status", "violations", "reason", "error")


def _reasons(table: pa.Table, placed: NDArray[np.bool_]) -> pd.Categorical:
    """Return in words why runs have no valid placement; "" where they have one."""
    failed = np.flatnonzero(~placed)
    failures = table.select(_FAILURE_COLUMNS).take(pa.array(failed))
    names = {"": 0}
    codes = np.zeros(len(placed), dtype=np.int32)
    codes[failed] = [
        names.setdefault(reason_of(row) or "", len(names)) for row in failures.to_pylist()
    ]
    return _ordered(codes, list(names))


def _instances(table: pa.Table) -> pd.DataFrame:
    frame = table.select(["instance_hash", "instance", "family", "tasks", "nodes", "tightness"])
    first: pa.Table = pa.TableGroupBy(frame, "instance_hash", use_threads=False).aggregate(
        [(name, "min") for name in frame.column_names[1:]]
    )
    instances: pd.DataFrame = first.to_pandas().rename(
        columns=lambda name: name.removesuffix("_min")
    )
    instances["family"] = instances["family"].fillna("").astype(object)
    return instances.rename(columns={"instance": "name"}).set_index("instance_hash")


def _terms(
    terms: pa.ListArray,
) -> tuple[pd.Categorical, NDArray[Any], NDArray[Any], int]:
    """Return the objectives of rows, their values and bounds at one resolution, and that."""
    lengths = np.asarray(pa.compute.list_value_length(terms).fill_null(0).to_numpy(), dtype=int)
    flat = terms.flatten()
    most = max(lengths, default=0)
    row = np.repeat(np.arange(len(terms)), lengths)
    position = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    names = flat.field("term").fill_null("").dictionary_encode()
    codes = np.full((len(terms), most), -1)
    codes[row, position] = names.indices.to_numpy()
    values, value_decimals = _numbers(flat.field("value"))
    bounds, bound_decimals = _numbers(flat.field("bound"))
    decimals = max(value_decimals, bound_decimals)
    cells = []
    for numbers, own in ((values, value_decimals), (bounds, bound_decimals)):
        numbers = rescaled(numbers, decimals - own)
        grid = np.full((len(terms), most), NONE, dtype=numbers.dtype)
        grid[row, position] = numbers
        cells.append(grid)
    return _objectives(codes, names.dictionary.to_pylist()), cells[0], cells[1], decimals


def _objectives(codes: NDArray[np.int_], names: Sequence[str]) -> pd.Categorical:
    """Return the objective of each row, from the codes of its terms (-1 = none)."""
    base = len(names) + 1
    packed = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        packed = packed * base + column + 1
    kinds, first, of_row = np.unique(packed, return_index=True, return_inverse=True)
    texts = [",".join(names[code] for code in codes[row] if code >= 0) for row in first]
    assert len(kinds) == len(texts), "each kind of objective has one text"
    return _ordered(of_row, texts)


def _numbers(texts: pa.Array) -> tuple[NDArray[Any], int]:
    """Return decimals as whole numbers at one resolution, `NONE` for null, and that."""
    encoded = texts.cast(pa.string()).dictionary_encode()
    parts = []
    for text in encoded.dictionary.to_pylist():
        match = _NUMBER.fullmatch(text)
        if match is None:
            rule = "must be a plain decimal, 0 or more"
            raise InputError(rule, field="value or bound of a term", value=text)
        parts.append((match[1], (match[2] or "").rstrip("0")))
    decimals = max((len(behind) for _, behind in parts), default=0)
    whole = [int(before + behind.ljust(decimals, "0")) for before, behind in parts]
    codes = np.asarray(encoded.indices.fill_null(len(whole)).to_numpy(), dtype=np.int64)
    return _integers([*whole, NONE])[codes], decimals


def _integers(numbers: Sequence[int]) -> NDArray[Any]:
    fits = max(numbers) < _MOST_64
    return np.array(numbers, dtype=np.int64 if fits else object)


def rescaled(numbers: NDArray[Any], digits: int) -> NDArray[Any]:
    """Return values with `digits` more behind the point; `NONE` stays."""
    if not digits or not numbers.size:
        return numbers
    factor = 10**digits
    if numbers.dtype != object and int(numbers.max()) * factor >= _MOST_64:
        numbers = numbers.astype(object)
    return np.where(numbers == NONE, NONE, numbers * factor)


def joined(parts: Sequence[Runs]) -> Runs:
    """Return the rows of several parts as one, in their order.

    Raises
    ------
    InputError
        Where there is no row, or rows of one instance count different terms.
    """
    parts = [part for part in parts if len(part.runs)]
    if not parts:
        rule = "holds no rows of a grading; write some with slotwise grade --out DIR"
        raise InputError(rule, has_value=False)
    decimals = max(part.decimals for part in parts)
    most = max(len(_values(part.runs)) for part in parts)
    runs = _stacked([part.runs for part in parts], parts, decimals, most)
    proofs = _stacked([part.proofs for part in parts], parts, decimals, most)
    _return_memory()
    every = pd.concat([part.instances for part in parts])
    every = every.assign(of_file=every["family"] == "").sort_values(["of_file", "family", "name"])
    first = every[~every.index.duplicated()].drop(columns="of_file")
    instances = first.reindex(runs["instance"].cat.categories)
    joined_runs = Runs(runs, proofs, instances, decimals)
    instances["objective"] = _objective_of(joined_runs)
    return joined_runs


def _return_memory() -> None:
    """Let glibc give back what the parts took: of millions of rows half a gigabyte.

    Their columns were small enough for its heap, which larger arrays never use again.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _values(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if re.fullmatch(r"[vb]\d+", name)]


def _stacked(
    frames: Sequence[pd.DataFrame], parts: Sequence[Runs], decimals: int, most: int
) -> pd.DataFrame:
    """Return frames below each other; each column is taken out of them, so that none is twice."""
    columns: dict[str, Any] = {}
    letters = "vb" if "b0" in {name for frame in frames for name in frame.columns} else "v"
    lengths = [len(frame) for frame in frames]
    for letter in letters:
        for p in range(most):
            cells = [
                _cell(frame, f"{letter}{p}", decimals - part.decimals)
                for frame, part in zip(frames, parts, strict=True)
            ]
            columns[f"{letter}{p}"] = np.concatenate(cells)
    for name in list(frames[0].columns):
        if name in _NAMES:
            whole = [frame.pop(name).array for frame in frames]
            columns[name] = union_categoricals(whole, sort_categories=True)
        else:
            columns[name] = np.concatenate([frame.pop(name).to_numpy() for frame in frames])
    if "row" in columns:
        before = np.cumsum(lengths) - lengths
        columns["row"] += np.repeat(before, lengths).astype(columns["row"].dtype)
    return pd.DataFrame(columns, copy=False)


def _cell(frame: pd.DataFrame, name: str, digits: int) -> NDArray[Any]:
    if name not in frame.columns:
        return np.full(len(frame), NONE)
    return rescaled(frame.pop(name).to_numpy(), digits)


def _objective_of(all_runs: Runs) -> pd.Series[str]:
    """Return the objective of each instance; "" where no row knows it."""
    runs = all_runs.runs
    stated = runs.loc[runs["objective"] != "", ["instance", "objective"]]
    pairs = stated.drop_duplicates()
    twice = pairs["instance"].duplicated()
    if twice.any():
        name = all_runs.instances.loc[str(pairs.loc[twice, "instance"].iloc[0]), "name"]
        rule = "has rows of one instance that count different terms"
        raise InputError(rule, field="instance", value=name)
    terms = pd.Series(np.asarray(pairs["objective"]), index=pairs["instance"].astype(str))
    return terms.reindex(all_runs.instances.index).fillna("")


def newest(all_runs: Runs) -> Runs:
    """Return the newest row of each run, sorted by `RUN`; cross-checks are not contestants.

    The columns are taken out of `all_runs`, so that none is there twice.
    """
    runs, count = all_runs.runs, len(all_runs.runs)
    age = _packed([runs.pop("batch"), runs.pop(FILE)])
    run = _packed([runs[name] for name in RUN])
    order = np.lexsort([age, run])
    run = run[order]
    last = np.append(run[1:] != run[:-1], True)[:count]
    indices = order[last & (runs["kind"] != str(Kind.CROSSCHECK)).to_numpy()[order]]
    runs.pop("objective")
    columns = {name: runs.pop(name).array.take(indices) for name in list(runs.columns)}
    return Runs(
        pd.DataFrame(columns, copy=False), all_runs.proofs, all_runs.instances, all_runs.decimals
    )


def _packed(columns: Sequence[pd.Series[Any]]) -> NDArray[Any]:
    """Return one whole number for each row that sorts like its columns, first ones first."""
    packed: NDArray[Any] = np.zeros(len(columns[0]), dtype=np.int64)
    most = 1
    for column in columns:
        codes = _codes(column)
        width = int(codes.max()) + 1
        most *= width
        if most >= _MOST_64:
            packed = packed.astype(object)
        packed = packed * width + codes
    return packed


def _codes(column: pd.Series[Any]) -> NDArray[Any]:
    return np.asarray(column.cat.codes if column.dtype == "category" else column, dtype=np.int64)
