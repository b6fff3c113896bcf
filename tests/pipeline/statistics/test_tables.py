"""The tables of a folder of logs: only what is new is read, and a stream keeps the same rows."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from judged_lines import cleaned
from pyspark.sql import DataFrame, SparkSession

from slotwise.models.errors import InputError
from slotwise.pipeline.statistics import run as module
from slotwise.pipeline.statistics.manifest import NAME, log_files
from slotwise.pipeline.statistics.parsing import parse_lines
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.run import Tables, update
from slotwise.pipeline.statistics.schema import PARSED, RAW, struct

START = 1_700_000_000


def line(second: int, tuples: int, name: str = "__emit-count-default") -> str:
    value = str(tuples) if name.endswith("default") else f"{{default={tuples}}}"
    return f"{START + second}\tn1:6700\t3:a\t{name:<23}\t{value}\n"


def write(folder: Path, name: str, *lines: str) -> Path:
    path = folder / "workers-artifacts" / "wc-1-1700000000" / "6700" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(lines).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    if name.endswith(".zst"):
        with pa.output_stream(path) as file:
            file.write(data)
    return path


def rows(frame: DataFrame) -> Counter[Any]:
    """The rows in no order, without the path (a stream names the same file otherwise)."""
    return Counter(tuple(row) for row in frame.drop("path").collect())


def contents(spark: SparkSession, tables: Tables) -> tuple[Counter[Any], ...]:
    return tuple(
        rows(one) for one in (tables.samples(spark), tables.quarantine(spark), tables.clocks(spark))
    )


def simulated(folder: Path, root: Path, **settings: Any) -> dict[str, Any]:
    from slotwise.api.simulating import generate_logs

    example = root / "docs" / "examples" / "word-count.json"
    generate_logs(example, folder, **settings)
    return dict(json.loads((folder / "truth.json").read_text()))


def test_a_second_run_reads_what_is_new(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs [1]", tmp_path / "tables"
    first = write(logs, "worker.log.metrics.1.gz", line(60, 100), line(120, 160), "oops\n")
    one = update(spark, logs, folder, Reading())
    assert one.read == (str(first),)
    assert sum(rows(one.samples(spark)).values()) == 1
    before = (folder / NAME).read_bytes()
    assert update(spark, logs, folder, Reading()).read == ()
    assert (folder / NAME).read_bytes() == before
    # The last reading of the first file is the base of the second one's first.
    second = write(logs, "worker.log.metrics", line(180, 200), line(120, 160))
    stages: list[str] = []
    two = update(spark, logs, folder, Reading(), stages.append)
    assert stages == ["reading lines", "judging samples"]
    assert two.read == (str(second),)
    assert [row.value for row in two.samples(spark).orderBy("time").collect()] == [60, 40]
    whole = update(spark, logs, tmp_path / "other", Reading())
    assert contents(spark, two) == contents(spark, whole)


def test_what_is_not_yet_whole_is_not_a_log(tmp_path: Path) -> None:
    """Spark passes over such names in silence, so that their lines would count as read."""
    names = ("a.metrics", ".b.metrics.part", "_c.jsonl", ".d/e.metrics", "f_/g.jsonl")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = [Path(path).relative_to(tmp_path).as_posix() for path, _ in log_files(tmp_path)]
    assert found == ["a.metrics", "f_/g.jsonl"]


def test_a_file_that_grows_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    write(logs, "worker.log.metrics", line(60, 20, "__emit-count"), "broken\n")
    write(logs, "a.jsonl", "{\n")
    update(spark, logs, folder, Reading())
    write(
        logs,
        "worker.log.metrics",
        line(60, 20, "__emit-count"),
        "broken\n",
        line(120, 40, "__emit-count"),
    )
    grown = update(spark, logs, folder, Reading())
    assert len(grown.read) == 1
    assert sorted(row.value for row in grown.samples(spark).collect()) == [20, 40]
    assert [row.reason for row in grown.quarantine(spark).collect()] == ["malformed"] * 2


def test_days_meet(spark: SparkSession, tmp_path: Path) -> None:
    """A total is compared with the one before midnight, whichever file comes first."""
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    midnight = 1_700_006_400 - START
    write(logs, "b.metrics", line(midnight + 30, 150))
    update(spark, logs, folder, Reading())
    write(logs, "a.metrics", line(midnight - 30, 100))
    both = update(spark, logs, folder, Reading())
    assert [row.value for row in both.samples(spark).collect()] == [50]


def test_days_are_judged_alike_at_once_and_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """What the next day says of a sample, or a day before the last one, is not known one by one."""
    midnight, day = 1_700_006_400 - START, 86_400
    days = (
        # More tuples than the minute to the next line allows, which is of the next day.
        [line(midnight - 30, 10**9, "__transfer-count"), line(midnight - 30, 500)],
        [line(midnight + 30, 10**6, "__transfer-count")],
        # Less than two days before, which is no restart that anybody could see.
        [line(midnight + 2 * day + 30, 300), line(midnight + 2 * day + 90, 301)],
    )
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    for number, lines in enumerate(days):
        write(logs, f"{number}.metrics", *lines)
        one_by_one = update(spark, logs, folder, Reading())
    at_once = update(spark, logs, tmp_path / "other", Reading())
    assert contents(spark, one_by_one) == contents(spark, at_once)


def test_a_run_that_is_killed_goes_on_from_its_last_step(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    write(logs, "a.metrics", line(60, 20, "__emit-count"))
    one = contents(spark, update(spark, logs, folder, Reading()))
    write(logs, "b.metrics", line(120, 40, "__emit-count"), line(60, 20, "__emit-count"))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for place, name in ((module.files, "save"), (module, "judge_lines")):
        with monkeypatch.context() as context:
            context.setattr(place, name, killed)
            with pytest.raises(KeyboardInterrupt):
                update(spark, logs, folder, Reading())
        assert (folder / "lines" / "run=2").is_dir()
        manifest = module.files.load(folder, Reading())
        assert contents(spark, Tables(folder, manifest, ())) == one
    # The lines that were read are judged without being read again.
    after = update(spark, logs, folder, Reading())
    assert after.read == ()
    assert sorted(row.value for row in after.samples(spark).collect()) == [20, 40]
    assert [row.reason for row in after.quarantine(spark).collect()] == ["duplicate"]
    assert update(spark, logs, folder, Reading()).manifest == after.manifest


def test_what_a_killed_job_had_finished_does_not_count(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's job that writes the same folder again would make it part of the table."""
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    write(logs, "a.metrics", line(60, 20, "__emit-count"))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(module, "judge_lines", killed)
        with pytest.raises(KeyboardInterrupt):
            update(spark, logs, folder, Reading())
    shutil.copytree(folder, tmp_path / "copy")
    update(spark, logs, tmp_path / "copy", Reading())
    for table in ("lines", "judged"):
        task = folder / table / "run=1" / "_temporary" / "0" / "task_20261128000000_0000_m_000000"
        shutil.copytree(tmp_path / "copy" / table / "run=1", task)
        (task / "_files.json").unlink()
    after = update(spark, logs, folder, Reading())
    assert [row.value for row in after.samples(spark).collect()] == [20]


def test_a_stream_that_lost_its_tables_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    raw = spark.createDataFrame([(line(60, 20, "__emit-count"), "a.metrics")], RAW)
    with pytest.raises(InputError, match="lacks batch 0 and what followed; begin with a new"):
        module.add_batch(spark, raw, 1, tmp_path / "tables", Reading())


def test_a_table_that_lacks_a_file_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    write(logs, "a.metrics", line(60, 20, "__emit-count"))
    tables = update(spark, logs, folder, Reading())
    write(logs, "b.metrics", line(120, 40, "__emit-count"))
    away = tmp_path / "away"
    for table, read in (
        ("judged", lambda: tables.judged(spark)),
        ("lines", lambda: update(spark, logs, folder, Reading())),
    ):
        run = folder / table / "run=1"
        for lost in (run, run / "_files.json", next(run.rglob("*.parquet"))):
            lost.rename(away)
            rule = rf"{table}/run=1/\S+: lacks a file; put it back, or remove the folder {folder}: "
            with pytest.raises(InputError, match=rule):
                read()
            away.rename(lost)


def test_other_options_need_other_tables(spark: SparkSession, tmp_path: Path) -> None:
    logs, folder = tmp_path / "logs", tmp_path / "tables"
    write(logs, "a.metrics", line(60, 20, "__emit-count"))
    update(spark, logs, folder, Reading())
    with pytest.raises(InputError, match="lateness_s = 600; choose another folder"):
        update(spark, logs, folder, Reading(lateness_s=60))
    (folder / NAME).write_text("{}")
    with pytest.raises(InputError, match=f"not a manifest .* remove {folder}, which"):
        update(spark, logs, folder, Reading())
    # Without it, nothing that was made of its runs counts: theirs have the same numbers.
    (folder / NAME).unlink()
    (folder / "sums").mkdir()
    update(spark, logs, folder, Reading())
    assert not (folder / "sums").exists()
    with pytest.raises(InputError, match="folder of logs"):
        update(spark, tmp_path / "none", tmp_path / "new", Reading())


def test_a_stream_keeps_the_rows_of_the_files(
    spark: SparkSession, tmp_path: Path, root: Path
) -> None:
    logs = tmp_path / "logs"
    simulated(
        logs, root, lines=4000, faults=0.03, skew=60, restarts=2, files=3, metrics="v2", gzip=True
    )
    raw = spark.readStream.option("recursiveFileLookup", "true").option("maxFilesPerTrigger", 1)
    text = raw.option("pathGlobFilter", "{*.metrics*,*.jsonl*}").text(str(logs))
    lines = text.selectExpr("value as line", "_metadata.file_path as path")
    kept, checkpoint = tmp_path / "kept", tmp_path / "checkpoint"
    writer = parse_lines(lines, Reading()).writeStream.format("parquet").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start(str(kept))
    assert query.awaitTermination(120)
    assert query.exception() is None
    assert len(query.recentProgress) > 3
    stream = cleaned(spark.read.schema(struct(PARSED)).parquet(str(kept)), Reading())
    tables = update(spark, logs, tmp_path / "tables", Reading())
    batch = contents(spark, tables)
    assert tuple(rows(one) for one in (stream.samples, stream.quarantine, stream.clocks)) == batch
    assert sum(batch[0].values()) > 3000


def test_planted_faults_are_found(spark: SparkSession, tmp_path: Path, root: Path) -> None:
    logs = tmp_path / "logs"
    truth = simulated(logs, root, lines=6000, faults=0.05, kind="json", skew=60, noise=0)
    known = {name: tuple(one["components"]) for name, one in truth["topologies"].items()}
    tables = update(spark, logs, tmp_path / "tables", Reading(components=known))
    found = Counter(row.reason for row in tables.quarantine(spark).collect())
    planted = truth["faults"]["json"]
    for reason in ("malformed", "duplicate", "late", "negative", "unknown component"):
        assert found[reason] == planted[reason.replace(" ", "_")] > 0, reason
    # Those of less than an interval are in order for their task.
    assert 0 < found["out of order"] <= planted["out_of_order"]
    skews = {row.node: row.skew_s for row in tables.clocks(spark).collect()}
    wrong = {node: one["skew_s"] for node, one in truth["nodes"].items() if node in skews}
    assert skews == {node: -skew if abs(skew) > 5 else 0 for node, skew in wrong.items()}
    shutil.rmtree(logs)
    assert sum(rows(tables.samples(spark)).values()) > 6000


def test_a_damaged_file_is_left_out_by_name(spark: SparkSession, tmp_path: Path) -> None:
    """One that is cut short, and one that is not gzipped; a second run reads neither again."""
    logs, folder = tmp_path / "logs [1]", tmp_path / "tables"
    write(logs, "a.metrics", line(60, 20, "__emit-count"))
    cut = write(logs, "cut.metrics.gz", *(line(at, 20, "__emit-count") for at in range(999)))
    cut.write_bytes(cut.read_bytes()[:-100])
    text = logs / "text.jsonl.gz"
    text.write_text("no gzip")
    write(logs, "whole.metrics.zst", line(180, 21, "__emit-count"))
    cut_zst = write(logs, "cut.metrics.zst", *(line(at, 20, "__emit-count") for at in range(999)))
    cut_zst.write_bytes(cut_zst.read_bytes()[:-100])
    tables = update(spark, logs, folder, Reading())
    assert sorted(row.value for row in tables.samples(spark).collect()) == [20, 21]
    aside = {row.line.partition(": ")[0]: row for row in tables.quarantine(spark).collect()}
    assert set(aside) == {str(cut), str(cut_zst), str(text)}
    assert {row.reason for row in aside.values()} == {"unreadable file"}
    assert "end-of-stream" in aside[str(cut)].line
    assert "Not a gzipped file" in aside[str(text)].line
    assert update(spark, logs, folder, Reading()).read == ()
    write(logs, "cut.metrics.gz", line(120, 40, "__emit-count"))  # whole now
    again = update(spark, logs, folder, Reading())
    assert sorted(row.value for row in again.samples(spark).collect()) == [20, 21, 40]
    left = {row.path for row in again.quarantine(spark).collect()}
    assert left == {text.as_uri(), cut_zst.as_uri()}
