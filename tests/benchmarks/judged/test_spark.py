"""Spark gives what this process gives: the same bytes, whoever wrote the files."""

from __future__ import annotations

import pytest
from graded_rows import row, write_rows
from judged_reference import graded

import slotwise
from slotwise.models.errors import InputError

RUN = ["instance_hash", "seed", "kind", "method"]


def test_a_summary_is_the_same(spark, tmp_path):
    folder = write_rows(tmp_path / "a", graded(1))
    here = slotwise.summary(folder, by="family").to_document()
    written = spark.read.parquet(str(folder / "rows")).repartition(5)
    written.write.parquet(str(tmp_path / "b" / "rows"))
    for other in (folder, tmp_path / "b"):
        there = slotwise.summary(other, by="family", master="local[2]").to_document()
        assert here | {"folder": ""} == there | {"folder": ""}


def test_the_runs_are_the_same(spark, tmp_path):
    folder = write_rows(tmp_path, graded(1))
    here = slotwise.read_rows(folder)
    for which in (spark, True):
        frame = slotwise.read_rows(folder, spark=which)
        assert frame.sparkSession is spark
        there = frame.toPandas().sort_values(RUN, ignore_index=True)
        assert list(there.columns) == list(here.columns)
        for name in ("status", "network_value", "network_gap_low", "rightly_refused"):
            assert there[name].isna().tolist() == here[name].isna().tolist()
            assert there[name].dropna().tolist() == here[name].dropna().tolist()


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
        with pytest.raises(InputError) as raised:
            use()
        assert raised.value.file == str(path)


def test_a_grading_in_a_folder_with_rows_of_another_meaning_is_refused(spark, tmp_path):
    rows = [row("a", "m", "valid", ("0", "8"), version="slotwise 0.1.0, rows 1")]
    with pytest.raises(InputError, match=r"must name rows 3.*grade into another folder"):
        slotwise.grade("rstorm", methods="round-robin", count=1, out=write_rows(tmp_path, rows))
