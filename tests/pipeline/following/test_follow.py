"""The stream on a real Spark: its weights are those of the batch job, batch by batch."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import DEEP
from pyspark.sql import SparkSession

import slotwise
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.following.follow import Followed, follow
from slotwise.pipeline.following.measuring import Measuring
from slotwise.pipeline.following.saving import Search
from slotwise.pipeline.following.settings import Following
from slotwise.pipeline.following.sources import KafkaTopic, LogFolder, source_of
from slotwise.pipeline.following.stream import Trigger
from slotwise.pipeline.statistics.run import read_tables
from slotwise.pipeline.statistics.weights.logs import Settings, measure_logs

START = 1_700_004_600
"""2023-11-14 23:30 UTC: the logs are of several dates, also where they are short."""
FAULTY = {"faults": 0.02, "skew": 40, "restarts": 2, "metrics": "v2", "late_by": 1800}
FAULTY |= {"bucket_seconds": 600}
LINES, DATES = (24_000, 3) if DEEP else (4_000, 2)


@pytest.fixture
def made(root: Path, tmp_path: Path) -> Path:
    """Logs of `DATES` dates with every fault, in six files or more."""
    instance = root / "docs" / "examples" / "running.json"
    folder = tmp_path / "made"
    slotwise.generate_logs(instance, folder, lines=LINES, files=3, start=START, **FAULTY)
    return folder


@pytest.fixture
def made_in_an_hour(root: Path, tmp_path: Path) -> Path:
    """Logs of one date without a fault, in a file of each kind."""
    instance = root / "docs" / "examples" / "running.json"
    folder = tmp_path / "made"
    slotwise.generate_logs(instance, folder, lines=300, bucket_seconds=600)
    return folder


@pytest.fixture
def measuring(root: Path) -> Measuring:
    instance = slotwise.read_instance(root / "docs" / "examples" / "running.json")
    return Measuring(instance, Settings(interval_s=600.0))


class Run:
    """One run of the stream after another on the same checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, measuring: Measuring) -> None:
        self.spark, self.measuring = spark, measuring
        self.logs, self.checkpoint = folder / "logs", folder / "checkpoint"
        self.logs.mkdir()

    def __call__(self, files_per_batch: int = 1000) -> Followed:
        self.kept_instances: list[slotwise.Instance] = []
        settings = Following(
            self.checkpoint, trigger=Trigger(once=True), search=Search(time_limit_s=60.0)
        )
        source = LogFolder(self.logs, files_per_batch)
        keep = self.kept_instances.append
        self.warnings: list[str] = []
        warn = self.warnings.append
        return follow(self.spark, source, self.measuring, settings, keep, lambda _: None, warn)

    def lines(self) -> list[dict]:
        text = (self.checkpoint / "advice.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path, measuring: Measuring) -> Run:
    folder = tmp_path / "a [b] {c} %20 d"  # Spark takes paths for patterns, and writes URLs
    folder.mkdir()
    return Run(spark, folder, measuring)


def add(paths, made, logs, modified):
    """Let files appear in the folder of logs, as whole files do."""
    for path in paths:
        target = logs / path.relative_to(made)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        os.utime(target, (modified, modified))


@pytest.mark.in_turn
@pytest.mark.slow
@pytest.mark.spark
def test_weights_are_those_of_the_batch_job(run, made):
    logs = sorted(p for p in made.rglob("*") if p.match("*.metrics*") or p.match("*.jsonl*"))
    assert len(logs) >= 6
    add(logs[::2], made, run.logs, modified=1_700_000_000)
    first = run(files_per_batch=2)
    add(logs[1::2], made, run.logs, modified=1_600_000_000)  # collected late
    second = run()
    assert min(first.advices, second.advices) >= 1
    check(run)
    batches = [line["batch"] for line in run.lines()]
    assert batches == sorted(set(batches))
    assert len(batches) == first.advices + second.advices
    assert run.warnings == []
    assert run().advices == 0  # nothing is new


def check(run: Run) -> None:
    """All that is measured is what the batch job measures, to the last digit."""
    instance, settings = run.measuring.instance, run.measuring.settings
    batch = measure_logs(run.spark, run.logs, instance, settings, None)
    tables = read_tables(run.checkpoint / "tables", run.measuring.reading)
    measured = run.measuring.measured(run.spark, tables)
    assert measured is not None
    assert measured.to_document() == batch.to_document()
    assert len({day for _, day in tables.manifest.parts}) >= DATES
    assert run.kept_instances[-1] == run.measuring.instance_of(batch)
    assert run.lines()[-1]["samples"] == batch.samples


@pytest.mark.spark
def test_kafka_without_its_connector_is_one_clear_error(spark):
    source = source_of("kafka://broker:9092/metrics")
    assert source == KafkaTopic("broker:9092", "metrics")
    with pytest.raises(SlotwiseError, match=r"no connector to Kafka: give the jars of .* --jars"):
        source.lines(spark)


@pytest.mark.parametrize(
    "address", ["kafka:", "kafka://host/topic", "kafka://host:1/", "kafka://h:1/a b"]
)
def test_what_is_no_topic_is_refused(address):
    with pytest.raises(InputError, match=r"must be kafka://HOST:PORT\[,HOST:PORT\]/TOPIC"):
        source_of(address)


@pytest.mark.spark
def test_a_folder_that_is_not_there_is_refused(spark, tmp_path):
    with pytest.raises(InputError, match=r"logs = .*must be a folder"):
        LogFolder(tmp_path / "none").lines(spark)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.in_turn
def test_a_damaged_file_is_left_out_and_named(run, made_in_an_hour):
    made = made_in_an_hour
    logs = sorted(p for p in made.rglob("*") if p.match("*.metrics*") or p.match("*.jsonl*"))
    add(logs, made, run.logs, modified=1_700_000_000)
    cut, text = run.logs / "cut.jsonl.gz", run.logs / "t [1].metrics.gz"
    cut.write_bytes(gzip.compress(logs[-1].read_bytes())[:-100])
    text.write_text("no gzip")
    followed = run()
    assert followed.advices == 1
    assert set(followed.unreadable) == {str(cut), str(text)}
    instance, settings = run.measuring.instance, run.measuring.settings
    batch = measure_logs(run.spark, run.logs, instance, settings, None)
    assert run.lines()[-1]["samples"] == batch.samples
    assert batch.thrown_away["unreadable file"] == 2
    assert any("cut.jsonl.gz: Compressed file ended" in note for note in batch.notes)
    assert run().unreadable == followed.unreadable  # nothing is new


@pytest.mark.slow
@pytest.mark.spark
def test_a_batch_of_damaged_lines_is_refused_and_counted(run, made_in_an_hour):
    damaged = run.logs / "damaged.metrics"
    whole = next(made_in_an_hour.rglob("*.metrics*")).read_text()
    damaged.write_text(whole + "not a line of Storm\n" * len(whole.splitlines()))
    followed = run()
    assert (followed.advices, followed.refused) == (0, 1)
    assert "no advice on batch 0" in run.warnings[0]
