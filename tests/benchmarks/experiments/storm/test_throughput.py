"""Throughput on a real Storm: ``slotwise.benchmarks.experiments.storm.throughput``."""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from running_storm import READY

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.storm.throughput import network
from slotwise.benchmarks.experiments.storm.throughput.counts import counted, flows_since
from slotwise.benchmarks.experiments.storm.throughput.experiment import (
    COLUMNS,
    Interval,
    Row,
    rank_correlation,
)
from slotwise.benchmarks.experiments.storm.throughput.workload import (
    NODE_CPU,
    NODE_MEMORY_MB,
    PLACEMENTS,
    TOPOLOGIES,
    Setting,
    alone,
    wire_bytes,
    with_workload,
)
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.judge.judge import judge

NAME = "storm_throughput"


def row(placement: str, predicted: float, *rates: float) -> Row:
    sent = {host.name: 4.0 for host in network.HOSTS}
    runs = [Interval(rate, 80.0, 0, sent, 0.5, 0.2) for rate in rates]
    return Row("linear", placement, 12, [3, 3, 2, 2], predicted, 90, 200.0, 95, 0.08, runs)


def test_every_host_has_an_address_of_its_own_in_the_subnet_of_its_rack() -> None:
    private = ipaddress.ip_network("10.0.0.0/8")
    addresses = [ipaddress.ip_address(one) for one in (network.HUB, *_addresses())]
    assert len(set(addresses)) == 5
    assert all(one in private for one in addresses)
    for host in network.HOSTS:
        assert host.rack_name == f"rack-{host.address.split('.')[2]}"
        assert len(host.name) < 16, "Linux cuts longer names of interfaces"


def _addresses() -> list[str]:
    return [host.address for host in network.HOSTS]


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("placement", ["round-robin", "r-storm", "ras-default"])
def test_schedulers_place_the_topologies_on_the_small_nodes(topology: str, placement: str) -> None:
    resources = {"cpu": Decimal(NODE_CPU), "memory_mb": Decimal(NODE_MEMORY_MB)}
    nodes = [Node(h.address, h.rack_name, slots=1, resources=resources) for h in network.HOSTS]
    bare = replace(alone(TOPOLOGIES[topology]), cluster=Cluster(tuple(reversed(nodes))))
    instance = with_workload(bare, Setting())
    assert [node.id for node in instance.cluster.nodes] == _addresses()
    assert judge(instance, PLACEMENTS[placement](instance)).valid


def test_the_bytes_of_a_tuple_count_the_headers_of_its_packets() -> None:
    assert wire_bytes(1408) == 1448 + 66
    assert wire_bytes(1409) == 1449 + 2 * 66


def test_rates_are_between_the_first_and_the_last_line_of_an_interval(tmp_path: Path) -> None:
    (tmp_path / "word-9-500").write_text("900 7 7 7\n")  # of a worker that has ended
    (tmp_path / "word-9-1000").write_text("1500 10 5000 0\n2000 20 15000 0\n3000 50 75000 0\n40")
    (tmp_path / "word-10-1000").write_text("2100 0 0 1\n3100 10 30000 3\n9000 99 99 99\n")
    found = counted(tmp_path, 2, 1800, 3200)
    assert found.rate == 30 + 10
    assert found.latency_ms == (60 + 30) / 40
    assert found.failed == 2
    with pytest.raises(SlotwiseError, match="0 of 2 spout tasks"):
        counted(tmp_path, 2, 5000, 6000)


@pytest.mark.parametrize(
    ("lines", "is_steady"),
    [
        ("1000 1 1 0\n2500 2 2 0\n3900 3 3 0\n", True),
        ("1000 1 1 0\n3900 3 3 0\n", False),  # a pause
        ("1000 1 1 0\n2500 2 2 0\n3900 3 3 1\n", False),  # a tuple failed
        ("", False),
    ],
)
def test_a_pause_or_a_failed_tuple_is_no_steady_flow(
    lines: str, is_steady: bool, tmp_path: Path
) -> None:
    (tmp_path / "word-9-1").write_text(lines)
    assert flows_since(tmp_path, 1, 1000, 4000) == is_steady


def test_a_row_has_the_mean_and_the_spread_of_its_runs() -> None:
    cells = dict(zip(COLUMNS, row("r-storm", 100, 90, 100, 110).cells(), strict=True))
    assert cells["measured"] == "100.0"
    assert (cells["least"], cells["most"], cells["spread"]) == ("90.0", "110.0", "10.0%")
    assert cells["bytes"] == "2.00"  # 16 Mbit/s were sent; 100 tuples/s of 0.08 Mbit are 8
    assert json.loads(json.dumps(row("r-storm", 100, 90).to_document()))["spread"] == 0


def test_ranks_are_correlated_where_there_are_some() -> None:
    rows = [row("a", 1, 10), row("b", 2, 30), row("c", 3, 20), row("d", 4, 40)]
    assert rank_correlation(rows, "predicted") == pytest.approx(0.8)
    assert rank_correlation(rows, "simulated") is None  # all alike
    assert rank_correlation(rows[:2], "predicted") is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--topologies", "linear,cube"], "--topologies = 'cube': is unknown"),
        (["--runs", "0"], "--runs = 0"),
        ([], "needs root"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(network.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(network.os, "geteuid", lambda: 1000)
    assert run_experiment(NAME, arguments) == 2
    found = capsys.readouterr().err
    assert found.startswith(f"{NAME}: {said}")
    assert found.count("\n") == 1


def test_missing_tools_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(network.shutil, "which", lambda name: None)
    assert run_experiment(NAME, []) == 2
    assert capsys.readouterr().err == f"{NAME}: needs ip, tc, java on the PATH\n"


@pytest.mark.deep
@pytest.mark.skipif(not READY, reason="needs make storm-cluster storm-jar")
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None,
    reason="needs root and network namespaces",
)
def test_one_placement_is_measured_and_nothing_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    words = ["--topologies", "linear", "--placements", "r-storm", "--runs", "1", "--seconds", "4"]
    before = _namespaces()
    assert run_experiment(NAME, [*words, "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    (measured,) = json.loads(out.read_text())["rows"]
    assert measured["nodes"].count(0) == 2
    assert measured["measured"] > 0
    assert _namespaces() == before


def _namespaces() -> str:
    return subprocess.run(
        ["ip", "netns", "list"], capture_output=True, text=True, check=True
    ).stdout
