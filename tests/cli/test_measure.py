"""``slotwise measure`` on the logs of the examples and on tiny folders."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Cli

import slotwise
from slotwise.api import measuring
from slotwise.api.measuring import (
    clock_rates,
    last_seconds,
    settings_of_spark,
    window_seconds,
)
from slotwise.models.errors import InputError
from slotwise.pipeline.spark.masters import INTERPRETED, SHORT_LIVED, THROUGHPUT
from slotwise.pipeline.statistics.manifest import NAME
from slotwise.pipeline.statistics.schema import MALFORMED, NEGATIVE, USED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTANCE = ("--instance", "word-count.json")


@pytest.mark.spark
def test_the_example(spark: SparkSession, cli: Cli, examples: Path) -> None:
    truth = json.loads(Path("logs/truth.json").read_text())["topologies"]["wc"]
    files = ("--out", "m.json", "--page", "m.html", "--aside", "aside.csv")
    answer = cli("measure", "logs", *INSTANCE, *files, "--json")
    assert answer.code == 0, answer.err
    found = answer.json
    for one in found["components"]:
        true = truth["components"][one["component"]]
        for name, key in (("cost", "ghz_ms_per_tuple"), ("cpu", "cpu_points"), ("onheap_mb",) * 2):
            assert one[name]["value"] == pytest.approx(true[key], rel=0.15), (one, name)
        assert not one["cost"]["estimated"]
    for stream, true in zip(found["streams"], truth["streams"], strict=True):
        assert stream["received"]["value"] == pytest.approx(true["tuples_per_s"], rel=0.05)
        assert stream["tuple_bytes"]["value"] == pytest.approx(true["tuple_bytes"], rel=0.05)
    made = slotwise.read_instance("m.json")
    assert found["instance"] == slotwise.models.instance_file.instance_hash(made)
    assert {task: place.node for task, place in made.running["wc"].items()} == {
        task: one["node"] for task, one in truth["tasks"].items()
    }
    planted = json.loads(Path("logs/truth.json").read_text())["faults"]
    negative = sum(planted[kind]["negative"] for kind in planted)
    assert found["thrown_away"]["negative"] == negative > 0
    check_kept_aside("aside.csv", found["thrown_away"])
    page = Path("m.html").read_text()
    assert "Rates on the streams of wc" in page
    assert "a count, time or size below zero" in page
    assert 'id="figure-cpu"' in page
    assert 'id="figure-rates"' in page
    assert "<script" not in page
    assert 'src="http' not in page


def check_kept_aside(path: str, thrown_away: Mapping[str, int]) -> None:
    """Check that the file has the lines that were counted, each as it stands in its own file."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["reason"] for row in rows) == thrown_away
    assert [row["file"] for row in rows] == sorted(row["file"] for row in rows)
    for row in rows:
        assert row["counts"] == ("yes" if row["reason"] in USED else "no")
        if row["reason"] in (MALFORMED, NEGATIVE):
            assert row["line"] in Path(row["file"]).read_text().splitlines()


@pytest.mark.spark
def test_storm_s_lines_alone_and_a_store(spark: SparkSession, cli: Cli, examples: Path) -> None:
    Path("logs/tuples-0.jsonl").unlink()
    command = ("measure", "logs", *INSTANCE, "--ghz", "logs/nodes.json", "--store", "tables [1]")
    first = cli(*command, "--tuple-bytes", "512", "--out", "m.json")
    assert first.code == 0, first.err
    assert " lines -> split " in first.out
    assert cli(*command, "--tuple-bytes", "512").out == first.out
    document = json.loads(Path("m.json").read_text())
    marks = [one["estimated"] for one in document["topologies"][0]["streams"]]
    assert marks == [["tuple_bytes"]] * 2
    assert [one["tuple_bytes"] for one in document["topologies"][0]["streams"]] == [512, 512]
    truth = json.loads(Path("logs/truth.json").read_text())["topologies"]["wc"]["components"]
    for one in document["topologies"][0]["components"]:
        measured = one["resources"]["cpu"]
        assert measured == pytest.approx(truth[one["id"]]["cpu_points"], rel=0.2)
        assert ("cpu" in one["estimated"]) == (one["kind"] == "spout")


@pytest.mark.spark
def test_nothing_of_the_topology(spark: SparkSession, cli: Cli, examples: Path) -> None:
    # Quiet, for a slow machine says after half a minute what it does.
    answer = cli("measure", "logs", "--instance", "rates.json", "--out", "m.json", "--quiet")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "have no sample of" in answer.err
    assert not Path("m.json").exists()


@pytest.mark.spark
def test_no_line_with_a_sample(spark: SparkSession, cli: Cli, examples: Path) -> None:
    Path("words").mkdir()
    Path("words/a.metrics").write_text("oops\n")
    for store in ((), ("--store", "tables")):
        answer = cli("measure", "words", *INSTANCE, "--quiet", *store)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "have no sample of wc; there is no sample at all" in answer.err


def test_no_logs(cli: Cli, examples: Path) -> None:
    Path("empty").mkdir()
    answer = cli("measure", "empty", *INSTANCE)
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "LOGS = 'empty': has no logs" in answer.err


@pytest.mark.spark
def test_a_node_without_clock_rate(spark: SparkSession, cli: Cli, examples: Path) -> None:
    shutil.rmtree("logs/workers-artifacts")
    lines = Path("logs/tuples-0.jsonl").read_text().replace('"ghz": 2.4, ', "")
    Path("logs/tuples-0.jsonl").write_text(lines)
    Path("ghz.json").write_text('{"n1": 2.4, "n2": 2.4}')
    answer = cli("measure", "logs", *INSTANCE, "--ghz", "ghz.json")
    assert answer.code == 2
    # What is long under way says so, each time in a line before.
    assert "--ghz = 'n3': has no clock rate" in answer.err.splitlines()[-1]
    # As good as one that others state in their lines.
    stated = lines.replace('"node": "n1", ', '"node": "n1", "ghz": 2.4, ')
    Path("logs/tuples-0.jsonl").write_text(stated)
    answer = cli("measure", "logs", *INSTANCE)
    assert answer.code == 2
    assert "--ghz = 'n2': has no clock rate" in answer.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--statistic", "median"), "--statistic = 'median': must be one of mean, p50, p95, max"),
        (("--window", "soon"), "--window = 'soon': must be a length of time such as 30s"),
        (("--window", "2d"), "--window = '2d': must be whole seconds, from 1 second to 1 day"),
        (("--interval", "0"), "--interval = 0.0: must be a finite number of seconds above 0"),
        (("--interval", "12,5"), "--interval = '12,5': must be a length of time such as 30s"),
        (
            ("--store", "word-count.json"),
            "--store = 'word-count.json': is a file; name a folder",
        ),
        (("--store", "."), "--store = '.': holds "),
        (("--store", "logs/store"), "--store = 'logs/store': is in the folder of logs"),
        (("--tuple-bytes", "-1"), "--tuple-bytes = '-1': must be 0 or more"),
        (("--zone", "Mars"), "--zone = 'Mars': must be the name of a time zone"),
        (("--master", "here"), "--master = 'here': must be local"),
        (("--ghz", "word-count.json"), "word-count.json: format = 'slotwise.instance/1': must be"),
        (("--out", "a", "--page", "./a"), "--page = 'a': is also the file of --out; name another"),
        (("--out", "no/where.json"), "--out = 'no/where.json': the folder 'no' does not exist"),
    ],
)
def test_bad_options(cli: Cli, examples: Path, options: tuple[str, ...], said: str) -> None:
    answer = cli("measure", "logs", *INSTANCE, *options)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert said in answer.err


def test_logs_must_be_a_folder(cli: Cli, examples: Path) -> None:
    answer = cli("measure", "word-count.json", *INSTANCE)
    assert answer.code == 2
    assert "LOGS = 'word-count.json': must be a folder of logs" in answer.err


@pytest.mark.parametrize("store", [(), ("--store", "empty"), ("--store", "tables")])
def test_interrupts(
    cli: Cli, examples: Path, monkeypatch: pytest.MonkeyPatch, store: tuple[str, ...]
) -> None:
    (examples / "tables").mkdir()
    (examples / "tables" / NAME).write_text("{}")

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(slotwise, "measure", pressed)
    answer = cli("measure", "logs", *INSTANCE, *store)
    kept = "; what was found is kept" if "tables" in store else ""
    assert (answer.code, answer.out, answer.err) == (130, "", f"slotwise: interrupted{kept}\n")


def test_lengths_of_windows() -> None:
    given = (90, "90", "90s", "1.5m", "5m", "1h", "1d")
    assert [window_seconds(one) for one in given] == [90, 90, 90, 90, 300, 3600, 86_400]
    for wrong in (0, "0s", "0.5s", "1500ms", "2d"):
        with pytest.raises(InputError, match=r"window = .*from 1 second"):
            window_seconds(wrong)


def test_the_end_of_the_logs_is_whole_windows() -> None:
    assert [last_seconds(one, 60) for one in (60, "2m", "12h", "7d")] == [60, 120, 43_200, 604_800]
    for wrong in (0, 59, "90s", "1.25m", "36501d", "999999999d"):
        with pytest.raises(InputError, match=r"last = .*whole number of windows of 60 s"):
            last_seconds(wrong, 60)


@pytest.mark.parametrize("wrong", ["", "1w", True, -5, "-5s", "1e3s", "1/3h", "m", "9" * 10, None])
def test_what_is_not_a_length_of_time(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"last = .*must be a length of time such as 30s"):
        last_seconds(wrong, 60)


def test_clock_rates_are_hertz() -> None:
    assert clock_rates({"n1": 2.4, "n2": 3}) == {"n1": 2_400_000_000, "n2": 3_000_000_000}
    for wrong in ({"n1": 0}, {"n1": 2400}, {"n1": "fast"}):
        with pytest.raises(InputError, match="n1"):
            clock_rates(wrong)


def test_spark_s_settings_are_those_of_the_size_of_the_logs() -> None:
    assert settings_of_spark(measuring.VERY_FEW_BYTES) == SHORT_LIVED | INTERPRETED
    assert settings_of_spark(measuring.FEW_BYTES) == SHORT_LIVED
    assert settings_of_spark(measuring.FEW_BYTES + 1) == THROUGHPUT
