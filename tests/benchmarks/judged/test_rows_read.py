"""Files of rows: whoever wrote them, exactly, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from math import inf

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graded_rows import row, write_rows

import slotwise
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import InputError

NEAR = "123456789012345678.000000000000000001", "123456789012345678.000000000000000002"
"""Two numbers that are one as floats."""


def near(method, status, value, **more):
    return row("near", method, status, ("0", value), **more)


def test_a_proven_optimum_is_not_lost_to_rounding(tmp_path):
    best, worse = NEAR
    rows = [near("auto", "optimal", best), near("m", "valid", best), near("n", "valid", worse)]
    told = slotwise.read_rows(write_rows(tmp_path, rows)).set_index("method")
    assert told["network_value"].tolist() == [Decimal(best), Decimal(best), Decimal(worse)]
    assert told.loc["m", "network_gap_low"] == 0
    assert 0 < told.loc["n", "network_gap_low"] < 1e-30


def test_columns_without_types_and_values_are_read_too(tmp_path):
    rows = [row("a", "auto", "optimal", ("0", "4")), row("a", "m", "valid", ("0", "8"))]
    write_rows(tmp_path, rows)
    untyped = pa.Table.from_pylist([row("a", "m", "valid", ("0", "6"))])
    assert pa.types.is_null(untyped.schema.field("error").type)
    pq.write_table(untyped, tmp_path / "rows" / "rows-00000001-late.parquet")
    told = slotwise.read_rows(tmp_path).set_index("method")
    assert told["network_gap_low"].to_dict() == {"auto": 0, "m": 0.5}


def test_rows_without_terms_make_a_table_without_their_columns(tmp_path):
    told = slotwise.read_rows(write_rows(tmp_path, [row("a", "m", "crashed", error="boom")]))
    assert isinstance(told, pd.DataFrame)
    assert told[["method", "status", "error"]].to_numpy().tolist() == [["m", "crashed", "boom"]]
    assert not any(name.endswith("_gap_low") for name in told.columns)


def test_a_term_is_one_whatever_stands_before_it_in_an_objective(tmp_path):
    """Topologies alone, and a cluster where rejected ones count first."""
    of_all = ("rejected", "overload", "network")
    rows = [
        row("alone", "auto", "optimal", ("0", "4")),
        row("alone", "m", "valid", ("0", "8")),
        row("alone", "n", "valid", ("0", "4")),
        row("all", "auto", "optimal", ("0", "0", "10"), terms=of_all),
        row("all", "m", "valid", ("0", "0", "40"), terms=of_all),
        row("all", "n", "valid", ("1", "0", "5"), terms=of_all),
    ]
    told = slotwise.summary(write_rows(tmp_path, rows))
    assert told.terms == of_all
    assert told.methods["method"].tolist() == ["auto", "n", "m"]
    gaps = told.gaps.set_index(["method", "term"])
    counts = {term: gaps.loc[("m", term), "instances"] for term in of_all}
    assert counts == {"rejected": 1, "overload": 2, "network": 2}
    assert gaps.loc[("m", "network"), "most_low"] == 3
    assert gaps.loc[("n", "network"), "most_low"] == inf, "it rejects more"
    for table, keys in {
        "gaps": ["group", "method", "term"],
        "tests": ["method", "rival", "term"],
        "profiles": ["method", "profile", "tau"],
    }.items():
        assert not getattr(told, table).duplicated(keys).any(), table


def test_a_file_that_is_cut_off_is_named(tmp_path):
    folder = write_rows(tmp_path, [row("a", "m", "valid", ("0", "8"))])
    (whole,) = (folder / "rows").glob("*.parquet")
    cut = whole.with_name("part-00000-cut.parquet")
    cut.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"part-00000-cut\.parquet: ") as caught:
        slotwise.summary(folder)
    assert "\n" not in str(caught.value)


def test_of_a_run_that_was_run_again_the_newest_row_counts(tmp_path):
    instance = {"instance_hash": f"sha256:{'a' * 64}"}
    later = row("a", "m", "valid", ("0", "8"), batch="2026-02-01T00:00:00", **instance)
    first = row("a", "m", "crashed", error="boom", batch="2026-01-01T00:00:00", **instance)
    write_rows(tmp_path, [later], [first])
    assert slotwise.read_rows(tmp_path)["status"].tolist() == ["valid"]
    assert [one["status"] for one in Store(tmp_path).rows()] == ["valid"]


def test_cross_checks_are_no_contestants(tmp_path):
    found = [near("fast", "valid", "3"), near("auto", "optimal", "3")]
    write_rows(tmp_path, [*found, near("cp-sat", "optimal", "3", kind="crosscheck")])
    assert sorted(slotwise.read_rows(tmp_path)["method"]) == ["auto", "fast"]


def broken(**cells):
    return [row("a", "m", "valid", ("0", "8"), instance_hash=f"sha256:{'a' * 64}") | cells]


ODD = [{"term": "network", "value": "1e5", "bound": None}]
BAD = {
    "null": (broken(status=None), "row 1, column status"),
    "another meaning": (
        broken(version="slotwise 0.1.0, rows 1"),
        "column version = 'slotwise 0.1.0, rows 1': must name rows 3, as this slotwise writes them",
    ),
    "no-terms": (broken(terms=None), "row 1, column terms"),
    "no-value": (broken(terms=[ODD[0] | {"value": None}]), "row 1, column terms"),
    "notation": (broken(terms=ODD), "1e5"),
    "other-terms": (
        [*broken(), *broken(method="n", terms=[ODD[0] | {"value": "1"}])],
        "count different terms",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_rows_that_cannot_be_compared_are_refused(tmp_path, name):
    rows, rule = BAD[name]
    with pytest.raises(slotwise.InputError, match=rule):
        slotwise.read_rows(write_rows(tmp_path, rows))
