"""Throughput for real: experiment ``storm_throughput``.

A Storm of its own processes, each supervisor in a network namespace with little bandwidth, runs a
topology. ``slotwise import`` reads it, each placement is put into effect by ``slotwise storm
apply``, and what the spouts' tuples do is measured beside prediction and simulation. A *run* is
one placement put into effect again, a warm-up and an interval; the placements take turns.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

import psutil
from scipy.stats import spearmanr

from slotwise.benchmarks.experiments.storm.throughput.cluster import START_S, Storm, running_storm
from slotwise.benchmarks.experiments.storm.throughput.counts import counted, flows_since
from slotwise.benchmarks.experiments.storm.throughput.network import (
    HOSTS,
    check_possible,
    network,
    sent_bytes,
)
from slotwise.benchmarks.experiments.storm.throughput.workload import (
    PLACEMENTS,
    SIMULATED_S,
    TOPOLOGIES,
    Setting,
    alone,
    with_workload,
)
from slotwise.benchmarks.experiments.table import Table
from slotwise.benchmarks.reproduction.placements import Outcome, Tried
from slotwise.models.errors import SlotwiseError, one_line
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.instance_writer import instance_document
from slotwise.models.formats.placement_file import write_placement
from slotwise.models.importers.storm_settings import PLANNED_STRATEGY
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Topology
from slotwise.models.instance_file import read_instance, write_instance
from slotwise.models.judge.judge import judge
from slotwise.models.prediction.loads import Kind
from slotwise.models.prediction.prediction import predict
from slotwise.models.values import known, whole
from slotwise.processes.child import exchange

IDLE_THREADS_SLEEP = {
    f"topology.{who}.wait.progressive.level{level}.count": 0
    for who in ("spout", "bolt", "backpressure")
    for level in (1, 2)
}
"""Threads without work sleep a millisecond at once: by default they spin first, on these cores."""
COMMAND_S = 120.0
"""Longest that a command of slotwise may take."""
BUSY = 0.8
"""An interval in which this run used more of the machine's cores does not count."""

COLUMNS = {
    "topology": "<8", "placement": "<13", "network": ">7", "predicted": ">9", "simulated": ">9",
    "measured": ">8", "spread": ">6", "least": ">6", "most": ">6", "pred. ms": ">8",
    "sim. ms": ">8", "ms": ">7", "bytes": ">5", "cpu": ">5", "own": ">5",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interval:
    """What one run measured.

    Parameters
    ----------
    rate, latency_ms
        Tuples/s acked, and their mean complete latency.
    failed
        Tuples that failed.
    sent_mbit_s
        Of each host and uplink.
    cpu, own_cpu
        Share of the machine's cores that was busy, with whatever else runs on it, and that the
        processes of this run used.
    """

    rate: float
    latency_ms: float
    failed: int
    sent_mbit_s: Mapping[str, float]
    cpu: float
    own_cpu: float


@dataclass(frozen=True, slots=True)
class Row:
    """A placement of a topology: rates in tuples/s, complete latencies in ms.

    Parameters
    ----------
    nodes
        Tasks on each host, ackers included.
    tuple_mbit
        What the hosts send in all for a tuple of a spout, as the workload has it.
    """

    topology: str
    placement: str
    network: int
    nodes: Sequence[int]
    predicted: float
    predicted_ms: float
    simulated: float
    simulated_ms: float
    tuple_mbit: float
    runs: Sequence[Interval]

    @property
    def rates(self) -> list[float]:
        """Of the runs."""
        return [one.rate for one in self.runs]

    @property
    def measured(self) -> float:
        """Mean rate of the runs."""
        return fmean(self.rates)

    @property
    def spread(self) -> float:
        """Standard deviation of the runs' rates, as a share of their mean; 0 of one run."""
        return stdev(self.rates) / self.measured if len(self.runs) > 1 else 0.0

    def to_document(self) -> dict[str, object]:
        """Return the fields and the mean, ready for JSON."""
        return {**asdict(self), "measured": self.measured, "spread": self.spread}

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        sent = fmean(sum(one.sent_mbit_s[host.name] for host in HOSTS) for one in self.runs)
        bytes_ratio = sent / (self.tuple_mbit * self.measured)
        return (
            self.topology,
            self.placement,
            str(self.network),
            f"{self.predicted:.1f}",
            f"{self.simulated:.1f}",
            f"{self.measured:.1f}",
            f"{self.spread:.1%}",
            f"{min(self.rates):.1f}",
            f"{max(self.rates):.1f}",
            f"{self.predicted_ms:.0f}",
            f"{self.simulated_ms:.0f}",
            f"{fmean(one.latency_ms for one in self.runs):.0f}",
            f"{bytes_ratio:.2f}",
            f"{fmean(one.cpu for one in self.runs):.0%}",
            f"{fmean(one.own_cpu for one in self.runs):.0%}",
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A placement, and what is said of it before it is measured."""

    name: str
    placement: Placement
    network: int
    tuple_mbit: float
    predicted: Outcome
    simulated: Outcome


def rank_correlation(rows: Sequence[Row], column: str) -> float | None:
    """Return Spearman's correlation of what was measured and of ``predicted`` or ``simulated``.

    ``None`` for fewer than three rows, and where one of the two is the same in all.
    """
    pairs = [(getattr(row, column), row.measured) for row in rows]
    if len(pairs) < 3 or any(len(set(side)) < 2 for side in zip(*pairs, strict=True)):
        return None
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    names = _chosen(options.topologies, TOPOLOGIES, "--topologies")
    placements = _chosen(options.placements, PLACEMENTS, "--placements")
    whole(options.runs, "--runs", least=1)
    check_possible()
    setting = Setting()
    table = Table(COLUMNS, options.json)
    rows: list[Row] = []
    with (
        _ended_by_sigterm(),
        network(setting.interface_mbit_s, setting.uplink_mbit_s) as net,
        running_storm(net) as storm,
    ):
        for name in names:
            for row in _rows(storm, TOPOLOGIES[name], placements, setting, options):
                rows.append(row)
                table.add(row.to_document(), row.cells())
                if options.out is not None:
                    _write(options.out, setting, rows)
    correlations = {
        f"{group}, {of}": rank_correlation([r for r in rows if group in ("all", r.topology)], of)
        for group in (*names, *(["all"] if len(names) > 1 else []))
        for of in ("predicted", "simulated")
    }
    lines = (
        f"rank correlation with what was measured, {name}: {'-' if c is None else f'{c:.2f}'}"
        for name, c in correlations.items()
    )
    table.end({"rank_correlation": correlations}, lines)


def _chosen(names: str, allowed: Iterable[str], field: str) -> list[str]:
    """Return names that were given with commas between them."""
    return [known(name, allowed, field) for name in names.split(",")]


def _write(path: Path, setting: Setting, rows: Sequence[Row]) -> None:
    document = {
        "setting": asdict(setting) | {"service_ms": float(setting.service_ms)},
        "rows": [row.to_document() for row in rows],
    }
    write_atomically(path, json.dumps(document, indent=1) + "\n")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End as by Ctrl-C when SIGTERM comes, so that all that was made is removed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _rows(
    storm: Storm,
    topology: Topology,
    placements: Sequence[str],
    setting: Setting,
    options: argparse.Namespace,
) -> list[Row]:
    """Submit a topology, measure its placements, and kill it."""
    submit(storm, topology, setting)
    instance = _imported(storm, setting)
    plans = [_plan(instance, setting, name) for name in placements]
    runs: dict[str, list[Interval]] = {plan.name: [] for plan in plans}
    for _ in range(options.runs):
        for plan in plans:
            runs[plan.name].append(_run(storm, topology, setting, plan, options))
    storm.ask({"kill": topology.id})
    return [_row(topology.id, plan, runs[plan.name]) for plan in plans]


def submit(storm: Storm, topology: Topology, setting: Setting) -> None:
    """Submit a topology, and wait until all of its executors are assigned."""
    document = instance_document(alone(topology))["topologies"][0]
    conf = {
        "topology.workers": len(HOSTS),
        "topology.max.spout.pending": setting.window,
        "topology.message.timeout.secs": setting.timeout_s,
        "topology.disable.loadaware.messaging": True,
        "topology.worker.max.heap.size.mb": 1024,
        # From the start: workers restart half a minute after a setting has changed.
        "topology.scheduler.strategy": PLANNED_STRATEGY,
        **IDLE_THREADS_SLEEP,
        "slotwise.tuple.bytes": setting.payload_bytes,
        "slotwise.counts": str(storm.counts),
    }
    for old in storm.counts.iterdir():
        old.unlink()
    storm.ask({"submit": document | {"conf": conf}})
    storm.settled(sum(one.parallelism for one in topology.placed_components))


def _imported(storm: Storm, setting: Setting) -> Instance:
    """Import what Nimbus says, and add what it does not know."""
    racks, snapshot = storm.home / "racks.json", storm.home / "imported.json"
    racks.write_text(json.dumps({host.address: host.rack_name for host in HOSTS}))
    _slotwise("import", storm.address, "--racks", str(racks), "--out", str(snapshot))
    return with_workload(read_instance(snapshot), setting)


def _slotwise(*words: str) -> str:
    done = exchange([sys.executable, "-m", "slotwise", *words], time_limit_s=COMMAND_S)
    if done.code != 0:
        output = one_line((done.stderr + done.stdout).decode(), 300)
        raise SlotwiseError(f"slotwise {words[0]} fails: {output or 'out of time'}")
    return done.stdout.decode()


def _plan(instance: Instance, setting: Setting, name: str) -> Plan:
    """Place by a method, as if nothing ran, and say what comes of it.

    Supervisors have random ids, which schedulers follow; here nodes are called by their hosts.
    """
    nodes = tuple(replace(one, id=one.host) for one in instance.cluster.nodes)
    empty = replace(instance, cluster=replace(instance.cluster, nodes=nodes), running=None)
    placement = PLACEMENTS[name](empty)
    verdict = judge(empty, placement)
    if not verdict.valid:
        raise SlotwiseError(f"{name} breaks a rule: {verdict.violations[0]}")
    tried = Tried(empty)
    prediction = predict(empty, placement)
    sending = sum(
        utilisation.utilisation
        for utilisation in prediction.utilisations
        if utilisation.resource.kind is Kind.NIC_OUT
    )
    return Plan(
        name,
        placement,
        int(verdict.objective[0].value),
        sending * setting.interface_mbit_s / prediction.rate,
        tried.predicted(placement),
        tried.simulated(placement, SIMULATED_S),
    )


def _run(
    storm: Storm, topology: Topology, setting: Setting, plan: Plan, options: argparse.Namespace
) -> Interval:
    """Put a placement into effect and measure it."""
    snapshot, placement = storm.home / "snapshot.json", storm.home / "placement.json"
    now = _imported(storm, setting)
    write_instance(snapshot, now)
    write_placement(placement, now, plan.placement)
    where = (str(snapshot), str(placement), "--nimbus", storm.address)
    _slotwise("storm", "apply", *where, "--plans", str(storm.plans), "--execute")
    spouts = sum(one.parallelism for one in topology.components if one.kind == "spout")
    for _ in range(options.attempts):
        _wait_until_steady(storm, spouts, options.warm_up)
        count = _interval(storm, spouts, options.seconds)
        if options.progress:
            sys.stderr.write(
                f"{topology.id}, {plan.name}: {count.rate:.1f} tuples/s, "
                f"{count.latency_ms:.0f} ms, cores {count.cpu:.0%} busy, "
                f"{count.own_cpu:.0%} by this run, {count.failed} failed\n"
            )
        if count.own_cpu <= BUSY and not count.failed:
            break
    else:
        raise SlotwiseError(
            f"{topology.id}, {plan.name}: no interval of {options.attempts} counts, in the last "
            f"one this run used {count.own_cpu:.0%} of the cores and {count.failed} tuples failed"
        )
    _slotwise("storm", "status", *where)  # ends with an error where a task is elsewhere
    return count


def _wait_until_steady(storm: Storm, spouts: int, warm_up_s: float) -> None:
    """Wait until tuples have been acked without a pause, and none has failed, for the warm-up."""
    begin = _now_ms()
    deadline = time.monotonic() + START_S + warm_up_s
    while time.monotonic() < deadline:
        time.sleep(0.5)
        end = _now_ms()
        start = end - int(warm_up_s * 1000)
        if start >= begin and flows_since(storm.counts, spouts, start, end):
            return
    raise SlotwiseError(f"tuples do not flow after {START_S + warm_up_s:g} s")


def _interval(storm: Storm, spouts: int, seconds: float) -> Interval:
    start, sent, cpu = _now_ms(), sent_bytes(), _cpu_s()
    time.sleep(seconds)
    end, sent_after, cpu_after = _now_ms(), sent_bytes(), _cpu_s()
    passed = (end - start) / 1000
    counts = counted(storm.counts, spouts, start, end)
    cores = psutil.cpu_count() or 1
    busy, own = ((later - one) / passed / cores for one, later in zip(cpu, cpu_after, strict=True))
    mbit_s = {key: (sent_after[key] - sent[key]) * 8e-6 / passed for key in sent}
    return Interval(counts.rate, counts.latency_ms, counts.failed, mbit_s, busy, own)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _cpu_s() -> tuple[float, float]:
    """Return seconds that this machine's cores were busy, and that those this run started were."""
    all_times = psutil.cpu_times()
    busy = sum(all_times) - all_times.idle - all_times.iowait
    own = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        own += used.user + used.system
    return busy, own


def _row(topology: str, plan: Plan, runs: Sequence[Interval]) -> Row:
    return Row(
        topology=topology,
        placement=plan.name,
        network=plan.network,
        nodes=[plan.placement.nodes.count(node) for node in range(len(HOSTS))],
        predicted=plan.predicted.rates[topology],
        predicted_ms=plan.predicted.latencies[topology],
        simulated=plan.simulated.rates[topology],
        simulated_ms=plan.simulated.latencies[topology],
        tuple_mbit=plan.tuple_mbit,
        runs=runs,
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument(
        "--topologies", default=",".join(TOPOLOGIES), metavar="NAMES", help="default: all"
    )
    parser.add_argument(
        "--placements", default=",".join(PLACEMENTS), metavar="NAMES", help="default: all"
    )
    parser.add_argument("--runs", type=int, default=5, help="of each placement")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="of an interval")
    parser.add_argument("--warm-up", type=float, default=6.0, metavar="S", help="without a pause")
    parser.add_argument(
        "--attempts", type=int, default=5, help="intervals of a run until one counts"
    )
    parser.add_argument("--progress", action="store_true", help="intervals, on stderr")
    parser.add_argument("--out", type=Path, metavar="FILE", help="all intervals, as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
