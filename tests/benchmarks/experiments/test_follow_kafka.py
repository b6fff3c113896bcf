"""`slotwise follow` on Apache Kafka itself, whose broker is killed and started again."""

from __future__ import annotations

import json

import pytest

from slotwise.benchmarks.experiments.__main__ import main
from slotwise.benchmarks.experiments.measuring.broker import JARS


@pytest.mark.in_turn
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(not JARS.is_dir(), reason="make kafka has not been run")
def test_a_killed_broker_loses_no_line_and_repeats_none(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--kafka", "--kills", "1", "--lines", "600", "--files", "2", "--json")
    assert main(["follow_killed", *options]) == 0
    *runs, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert [one["ended"] for one in runs if one["ended"] != "done"] == ["broker"]
    assert end["summary"]["equal"]
