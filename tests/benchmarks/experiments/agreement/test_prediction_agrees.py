"""Predictions against simulations: what is drawn, kept and summed up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from slotwise.benchmarks.experiments.agreement.prediction_agrees import CLOSED, OPEN, Row, summary
from slotwise.benchmarks.experiments.agreement.random_workloads import drawn
from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.models.prediction.prediction import predict

ROW = Row(0, 0, 10, CLOSED, 9, 1, "t0", "exact", 0.5, 110, 100, 1, 2.0, 2.5, 0.1)


@pytest.mark.parametrize("number", range(6))
def test_what_is_drawn_is_within_its_ranges(number: int) -> None:
    one = drawn(number, 3)
    again = drawn(number, 3)
    assert (one.placement, one.instance) == (again.placement, again.instance)
    tasks = sum(c.parallelism for t in one.instance.topologies for c in t.components)
    assert 8 <= tasks <= 60
    prediction = predict(one.instance, one.placement)
    assert prediction.is_sustainable
    assert one.closed == (number % 2 == 1)
    if not one.closed:
        assert prediction.bottleneck is not None
        assert 0.29 < prediction.bottleneck.utilisation < 0.96


def test_errors_are_relative_to_the_simulation() -> None:
    assert ROW.rate_error == pytest.approx(0.1)
    assert ROW.latency_error == pytest.approx(-0.2)
    assert replace(ROW, kind=OPEN).rate_error is None


def test_the_summary_leaves_out_what_is_not_asked() -> None:
    """Latencies where a resource is busy count apart, throughputs without a window not at all."""
    busy = replace(ROW, number=1, busiest=0.9, latency=5.0)
    found = summary([ROW, busy, replace(ROW, number=2, kind=OPEN, latency=3.0)])
    assert found["placements"] == 3
    assert found["throughput, closed"]["spouts"] == 2
    assert found["latency, closed"]["worst"] == pytest.approx(0.2)
    assert found["latency, open"]["median"] == pytest.approx(0.2)
    assert found["latency where a resource is above 85%"]["worst"] == pytest.approx(1.0)
    assert summary([])["latency"] == {"spouts": 0}


def test_rows_are_kept_and_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    words = ["prediction_agrees", ["--count", "1", "--tuples", "100", "--rows", str(path)]]
    assert run_experiment(*words) == 0  # type: ignore[arg-type]
    first = capsys.readouterr().out
    kept = path.read_text()
    changed = [json.loads(line) | {"simulated_rate": 1e6} for line in kept.splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    assert run_experiment(*words) == 0  # type: ignore[arg-type]
    again = capsys.readouterr().out
    assert "1000000.0" in again
    assert "1000000.0" not in first
    path.write_text(path.read_text()[:-20])  # a last line that was cut short
    assert run_experiment(*words) == 0  # type: ignore[arg-type]
    assert capsys.readouterr().out == first
    path.write_text("{}\n")
    assert run_experiment(*words) == 2  # type: ignore[arg-type]
    assert "line 1: is not a row" in capsys.readouterr().err
