"""Measuring and grading on YARN itself, in one session, compared with a local master."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Cli

from slotwise.benchmarks.experiments.agreement.masters_agree import differences
from slotwise.benchmarks.experiments.agreement.servers import HADOOP, yarn
from slotwise.benchmarks.grading.rows import COLUMNS, Row, key_of
from slotwise.benchmarks.grading.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_ONE_SESSION = """
import sys
from slotwise.cli.app import run
from slotwise.pipeline.spark.session import spark_session

measure, grade = sys.argv[1:3]
spark = spark_session("yarn")
assert spark.conf.get("spark.master") == "yarn"
codes = [run(command.split()) for command in (measure, grade)]
spark.stop()
sys.exit(max(codes))
"""
MEASURE = "measure logs --instance word-count.json --quiet --out"
GRADE = "grade word-count.json --methods round-robin --time-limit 60 --quiet --out"


@pytest.mark.in_turn
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(not HADOOP.is_dir(), reason="make yarn has not been run")
def test_yarn_agrees_with_a_local_master(
    spark: SparkSession, cli: Cli, examples: Path, tmp_path: Path
) -> None:
    for command in (f"{MEASURE} here.json --master local[2]", f"{GRADE} here --master local[2]"):
        answer = cli(*command.split())
        assert answer.code == 0, answer.err
    few = "--conf spark.sql.shuffle.partitions=2"
    commands = (f"{MEASURE} there.json --master yarn", f"{GRADE} there --master yarn {few}")
    with yarn(tmp_path, nodes=1) as variables:
        done = subprocess.run(
            [sys.executable, "-c", IN_ONE_SESSION, *commands],
            env={**os.environ, **variables, "PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert Path("there.json").read_bytes() == Path("here.json").read_bytes()
    rows = rows_in("here")
    assert len(rows) == 2
    assert differences(rows, rows_in("there")) == []


def rows_in(folder: str) -> list[Row]:
    return sorted(Store(Path(folder)).rows(COLUMNS), key=lambda row: str(key_of(row)))
