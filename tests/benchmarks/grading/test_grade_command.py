"""The commands grade and report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slotwise.pipeline.spark.pack import Packed


@pytest.mark.slow
@pytest.mark.spark
def test_grade_and_report(cli, examples, spark):
    words = ("grade", "word-count.json", "--methods", "r-storm,round-robin", "--out", "graded")
    first = cli(*words, "--json", "--log", "log.jsonl")
    assert first.code == 0
    assert first.json["run"] == 3
    assert re.search(r"^slotwise: 0 of 2 runs, 0 failed, \d running, 0 proven", first.err, re.M)
    assert "\nslotwise: 3 of 3 runs, 0 failed, 0 running, 1 proven, " in first.err
    events = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    methods, exact = ["running", "run", "run"], ["running", "run"]
    assert [one["event"] for one in events] == ["started", *methods, *exact, "finished"]
    assert {one["method"]: one["status"] for one in events if one["event"] == "run"} == {
        "auto": "optimal",
        "r-storm": "valid",
        "round-robin": "valid",
    }
    assert events[-1]["outcome"] == "done"
    again = cli(*words, "--quiet")
    assert (again.code, again.err) == (0, "")
    assert "0 run now" in again.out
    assert re.search(r"^ *r-storm +1 of 1 ", again.out, re.M)
    page = cli("report", "graded", "--json")
    assert page.code == 0
    assert Path(page.json["report"]).read_text().startswith("<!")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--conf", "spark.task.cpus"], "--conf = 'spark.task.cpus': must be KEY=VALUE"),
        (["--conf", "=4"], "--conf = '=4': must be KEY=VALUE"),
        (["--log", "none/log.jsonl"], "--log = 'none/log.jsonl': cannot be written to: No such"),
        (["--archive", "env.tgz"], "--archive = 'env.tgz': is for other machines"),
        (
            ["--archive", "env.tgz", "--master", "yarn"],
            "is not a file; make it with slotwise pack",
        ),
        (["--master", "sc:host"], "--master = 'sc:host': must be local,"),
        (["--out", ""], "--out = '': must name a folder"),
    ],
)
def test_what_a_cluster_cannot_take_is_refused_first(words, said, cli, examples, monkeypatch):
    monkeypatch.setattr("slotwise.benchmarks.grade.session", lambda *_: pytest.fail("Spark starts"))
    answer = cli("grade", "word-count.json", "--methods", "r-storm", *words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_pack_says_in_one_line_what_is_wrong(cli):
    answer = cli("pack", "--out", "env.zip")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "slotwise: --out = 'env.zip': must end in .tar.gz or .tgz\n"


def test_pack_prints_how_to_submit(cli, tmp_path, monkeypatch):
    packed = Packed(Path("env.tgz"), 293.4, 20_000, "3.11.7", "/usr")
    monkeypatch.setattr("slotwise.api.packing.pack_environment", lambda *_: packed)
    answer = cli("pack", "--out", "env.tgz")
    first, *others = answer.out.splitlines()
    assert first == "env.tgz: 293 MB, 20000 files. Executors need /usr/bin/python3.11."
    assert "  slotwise grade --archive env.tgz --master spark://HOST:7077" in others
    submit = "spark-submit --conf spark.archives=env.tgz#environment PROGRAM.py"
    assert others[-1] == f"  PYSPARK_PYTHON=./environment/bin/python {submit}"
    assert cli("pack", "--out", "env.tgz", "--json").json == packed.to_document()
