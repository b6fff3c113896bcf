"""The folder of a grading: one grading at a time, and files that hold nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.batch.finished import finished
from slotwise.benchmarks.grading.batch.folder import check_not_empty
from slotwise.benchmarks.grading.store import LOCK, alone, parquet_files
from slotwise.models.errors import InputError

HOLD = """
import sys
from slotwise.benchmarks.grading.store import alone
with alone(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_grading_is_refused_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    with alone(tmp_path):
        with pytest.raises(InputError, match="another grading is writing into it") as raised:
            grade("rstorm", methods="round-robin", count=1, out=tmp_path)
        assert raised.value.field == "out"
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK, "rows"]


def test_a_killed_process_leaves_the_folder_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="another grading"), alone(tmp_path):
            pytest.fail("it let two in")
        holder.kill()
    with alone(tmp_path):
        pass
    with alone("hdfs://nobody/knows"):
        pass


def test_a_damaged_folder_is_left_to_spark(tmp_path: Path) -> None:
    """It says which file is damaged; nothing is taken for finished."""
    nothing = SimpleNamespace(parts=())
    batch: Any = SimpleNamespace(narrowed=None, sources=nothing, settings=(), seed=0)
    for damaged in ("rows", "instances"):
        for name in ("rows", "instances"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "part.parquet").write_bytes(b"PAR1 oops" if name == damaged else b"")
        assert finished(batch, tmp_path) is None
    pq.write_table(pa.table({"status": ["valid"]}), tmp_path / "rows" / "part.parquet")
    assert finished(batch, tmp_path) is None


def test_files_without_content_are_named(tmp_path: Path) -> None:
    for name in ("part-1.parquet", "part-2.parquet", ".part-3.parquet"):
        (tmp_path / name).write_bytes(b"" if "2" not in name else b"x")
    files = parquet_files(tmp_path)
    assert [file.name for file in files] == ["part-1.parquet", "part-2.parquet"]
    with pytest.raises(InputError, match=r"part-1\.parquet: is damaged"):
        check_not_empty(files)
    check_not_empty(files[1:])
