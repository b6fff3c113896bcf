"""The folder of a grading, read without Spark: which row counts, where an instance's text is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graded_folder import make_graded

from slotwise.benchmarks.grading.rows import KEY, Row, key_of
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import InputError


def test_the_newest_row_of_a_key_counts(tmp_path: Path) -> None:
    store = Store(make_graded(tmp_path))
    rows = store.rows()
    first = rows[0]
    # Written first, made last: the call counts, not the file.
    later = write(store, {**first, "batch": "2"}, "later", "rows-00000000-a")
    between = write(store, {**first, "batch": "1"}, "between", "part-00000-z")
    found = store.rows()
    assert len(found) == len(rows)
    assert [row["git_revision"] for row in found if key_of(row) == key_of(first)] == ["later"]
    assert found[-1]["git_revision"] == "later"
    later.unlink()
    assert store.rows()[-1]["git_revision"] == "between"
    between.unlink()
    assert store.rows() == rows


def write(store: Store, row: Row, revision: str, name: str) -> Path:
    path = store.folder / "rows" / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist([{**row, "git_revision": revision}]), path)
    return path


def test_columns_that_tell_the_newest_are_read_but_not_given(tmp_path: Path) -> None:
    store = Store(make_graded(tmp_path))
    assert {tuple(row) for row in store.rows(["status"])} == {("status",)}
    assert {tuple(row) for row in store.rows(KEY)} == {KEY}


def test_an_instance_is_found_in_what_spark_wrote(tmp_path: Path) -> None:
    cases = read_cases(["rstorm"], 0, 3)
    folder = tmp_path / "instances"
    folder.mkdir()
    texts = [{"instance_hash": case.hash, "text": case.text} for case in cases]
    pq.write_table(pa.Table.from_pylist(texts[:2]), folder / "part-00000.parquet")
    pq.write_table(pa.Table.from_pylist(texts[2:]), folder / "part-00001.parquet")
    store = Store(tmp_path)
    for case in cases:
        problem = store.problem(case.hash)
        assert problem is not None
        assert problem.task_count == case.tasks
    assert store.problem("sha256:" + "0" * 64) is None


@pytest.mark.parametrize("text", ["another", "{}"])
def test_a_text_of_another_instance_is_refused(tmp_path: Path, text: str) -> None:
    one, other = read_cases(["rstorm"], 0, 2)
    (tmp_path / "instances").mkdir()
    wrong = other.text if text == "another" else text
    table = pa.Table.from_pylist([{"instance_hash": one.hash, "text": wrong}])
    pq.write_table(table, tmp_path / "instances" / "part-0.parquet")
    with pytest.raises(InputError, match=r"part-0\.parquet"):
        Store(tmp_path).problem(one.hash)


def test_what_is_no_file_of_instances_is_named(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    (tmp_path / "instances" / "part-0.parquet").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match=r"part-0\.parquet.*does not hold instances"):
        Store(tmp_path).problem("sha256:" + "0" * 64)
