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


def test_a_proven_optimum_is_not_lost_to_rounding(spark, tmp_path):
    best, worse = NEAR
    rows = [near("auto", "optimal", best), near("m", "valid", best), near("n", "valid", worse)]
    told = slotwise.read_rows(write_rows(tmp_path, rows)).set_index("method")
    assert told["network_value"].tolist() == [Decimal(best), Decimal(best), Decimal(worse)]
    assert told.loc["m", "network_gap"] == 0
    assert 0 < told.loc["n", "network_gap"] < 1e-30


def test_columns_without_types_and_values_are_read_too(spark, tmp_path):
    rows = [row("a", "auto", "optimal", ("0", "4")), row("a", "m", "valid", ("0", "8"))]
    write_rows(tmp_path, rows)
    untyped = pa.Table.from_pylist([row("a", "m", "valid", ("0", "6"))])
    assert pa.types.is_null(untyped.schema.field("error").type)
    pq.write_table(untyped, tmp_path / "rows" / "rows-00000001-late.parquet")
    told = slotwise.read_rows(tmp_path).set_index("method")
    assert told["network_over_optimum"].to_dict() == {"auto": 0, "m": 0.5}


def test_a_session_gives_a_frame_of_spark_and_files_that_spark_wrote_are_read(spark, tmp_path):
    first = write_rows(tmp_path / "first", [row("a", "m", "valid", ("0", "8"))])
    written = spark.read.parquet(str(first / "rows"))
    written.write.parquet(str(tmp_path / "second" / "rows"))
    frames = [slotwise.read_rows(tmp_path / "second", spark=which) for which in (spark, True)]
    for frame in frames:
        assert frame.sparkSession is spark
        assert [(one["method"], one["network_value"]) for one in frame.collect()] == [("m", 8)]


@pytest.mark.parametrize("size", [0, 500])
def test_a_damaged_file_of_spark_is_named(spark, tmp_path, size):
    folder = write_rows(tmp_path / "a folder [1] 50%", [row("a", "m", "valid", ("0", "8"))])
    (whole,) = (folder / "rows").glob("*.parquet")
    path = whole.with_name("part-00000-x.zstd.parquet")
    path.write_bytes(whole.read_bytes()[:size])
    uses = (
        lambda: slotwise.read_rows(folder),
        lambda: slotwise.summary(folder),
        lambda: slotwise.grade("rstorm", methods="round-robin", count=1, out=folder),
    )
    for use in uses:
        with pytest.raises(InputError, match="is damaged, it cannot be read; remove it") as raised:
            use()
        assert raised.value.file == str(path)


def test_rows_without_terms_make_a_table_without_their_columns(spark, tmp_path):
    told = slotwise.read_rows(write_rows(tmp_path, [row("a", "m", "crashed", error="boom")]))
    assert isinstance(told, pd.DataFrame)
    assert told[["method", "status", "error"]].to_numpy().tolist() == [["m", "crashed", "boom"]]
    assert not any(name.endswith("_gap") for name in told.columns)


def test_a_term_is_one_whatever_stands_before_it_in_an_objective(spark, tmp_path):
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
    assert told.methods["method"].tolist() == ["auto", "m", "n"]
    assert told.methods["network_over_optimum_all_instances"].tolist() == [2, 2, 2]
    assert told.methods["network_over_optimum_all_median"].tolist() == [0, 2, inf]
    assert told.methods["rejected_over_optimum_all_instances"].tolist() == [1, 1, 1]
    for table, keys in {
        "gaps": ["kind", "method", "term", "measure", "basis"],
        "tests": ["method", "rival", "term"],
        "profiles": ["method", "profile", "tau"],
    }.items():
        frame = getattr(told, table)
        assert not frame.duplicated(keys).any(), table
        assert len(frame)
    ranks = told.gaps.set_index("term")["position"].to_dict()
    assert ranks == {"rejected": 0, "overload": 1, "network": 2}


def test_a_file_that_is_cut_off_is_named(spark, tmp_path):
    folder = write_rows(tmp_path, [row("a", "m", "valid", ("0", "8"))])
    (whole,) = (folder / "rows").glob("*.parquet")
    cut = whole.with_name("part-00000-cut.parquet")
    cut.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"part-00000-cut\.parquet: is damaged") as caught:
        slotwise.summary(folder)
    assert "\n" not in str(caught.value)


def test_of_a_run_that_was_run_again_the_newest_row_counts(spark, tmp_path):
    instance = {"instance_hash": f"sha256:{'a' * 64}"}
    later = row("a", "m", "valid", ("0", "8"), batch="2026-02-01T00:00:00", **instance)
    first = row("a", "m", "crashed", error="boom", batch="2026-01-01T00:00:00", **instance)
    write_rows(tmp_path, [later], [first])
    assert slotwise.read_rows(tmp_path)["status"].tolist() == ["valid"]
    assert [one["status"] for one in Store(tmp_path).rows()] == ["valid"]


def test_cross_checks_are_no_contestants(spark, tmp_path):
    found = [near("fast", "valid", "3"), near("auto", "optimal", "3")]
    write_rows(tmp_path, [*found, near("cp-sat", "optimal", "3", kind="crosscheck")])
    assert sorted(slotwise.read_rows(tmp_path)["method"]) == ["auto", "fast"]


def broken(**cells):
    return [row("a", "m", "valid", ("0", "8")) | cells]


LONG = [{"term": "network", "value": "1" * 30 + "." + "1" * 8, "bound": None}]
ODD = [{"term": "network", "value": "1e5", "bound": None}]
BAD = {
    "null": (broken(status=None), "without one of instance_hash"),
    "another meaning": (
        broken(version="slotwise 0.1.0, rows 1"),
        "version 'slotwise 0.1.0, rows 1': must name rows 2, as this slotwise writes them",
    ),
    "no-terms": (broken(terms=None), "without the value of a term"),
    "no-value": (broken(terms=[ODD[0] | {"value": None}]), "without the value of a term"),
    "digits": (broken(terms=LONG), "more than 37 digits"),
    "notation": (broken(terms=ODD), "1e5 as the value or bound of a term"),
    "other-terms": (
        [*broken(), row("a", "n", "valid", ("0", "8")) | {"terms": [ODD[0] | {"value": "1"}]}],
        "count different terms",
    ),
}


def test_a_grading_in_a_folder_with_rows_of_another_meaning_is_refused(spark, tmp_path):
    folder = write_rows(tmp_path, broken(version="slotwise 0.1.0, rows 1"))
    with pytest.raises(InputError, match=r"must name rows 2.*grade into another folder"):
        slotwise.grade("rstorm", methods="round-robin", count=1, out=folder)


@pytest.mark.parametrize("name", BAD)
def test_rows_that_cannot_be_compared_are_refused(spark, tmp_path, name):
    rows, rule = BAD[name]
    with pytest.raises(slotwise.InputError, match=rule):
        slotwise.read_rows(write_rows(tmp_path, rows))
