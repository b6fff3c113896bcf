"""Weights of small logs, line by line as Storm prints them, on a real Spark.

Each is of a topology of its own, and all are measured together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import slotwise
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.logs import Settings, collect_logs
from slotwise.pipeline.statistics.weights.measure import measured_of
from slotwise.pipeline.statistics.weights.measured import rounded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slotwise.pipeline.statistics.weights.measured import Measured, Weight

pytestmark = pytest.mark.spark
START = 1_700_000_040
N1 = ("n1", 6700)
N2 = ("n2", 6700)
N3 = ("n3", 6700)
GHZ = 2
Measure = Callable[[dict[str, Any]], "Measured"]


@dataclass
class Log:
    """Lines of the consumer, by what Storm appends to the topology's name when it is submitted."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    submission: str = "1-1700000040"

    def say(
        self, minute: float, place: tuple[str, int], task: str, name: str, value: object
    ) -> None:
        """Add a line; its name is cut as Storm cuts it."""
        seconds = START + round(60 * minute)
        at = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S},000 60000   "
        address = f"{place[0]:>15}:{place[1]}"
        line = f"{at} {seconds}\t{address}\t{task:<14}\t{name[:23]:<23}\t{value}\n"
        self.lines.setdefault(self.submission, []).append(line)

    def write(self, folder: Path, topology: str) -> None:
        for number, (submission, lines) in enumerate(self.lines.items()):
            path = folder / "workers-artifacts" / f"{topology}-{submission}" / str(6700 + number)
            path.mkdir(parents=True)
            (path / "worker.log.metrics").write_text("".join(lines))


def topology(
    name: str, spouts: tuple[str, ...] = ("lines",), tasks: int = 1, **stream: Any
) -> dict[str, Any]:
    """Return an instance of a topology in which `spouts` emit to ``split``."""
    parts = [*((one, "spout") for one in spouts), ("split", "bolt")]
    return {
        "format": "slotwise.instance/1",
        "name": "wc",
        "cluster": {
            "nodes": [
                {"id": node, "rack": "r", "slots": 4, "resources": {"cpu": 400, "memory_mb": 4096}}
                for node in ("n1", "n2")
            ]
        },
        "topologies": [
            {
                "id": name,
                "components": [
                    {"id": one, "kind": kind, "parallelism": tasks, "resources": {"cpu": 50}}
                    for one, kind in parts
                ],
                "streams": [{"from": one, "to": "split", **stream} for one in spouts],
            }
        ],
    }


def v2(log: Log, minute: int, senders: dict[str, float], worker_ms: int | None) -> None:
    """Add what a spout and a bolt of Storm 2.3 and later log: 600 tuples a minute and sender."""
    total = 600 * minute
    log.say(minute, N1, "1:lines", "__emit-count-default", total)
    for sender, mean_ms in senders.items():
        log.say(minute, N1, "2:split", f"__execute-latency-{sender}:default", mean_ms)
        log.say(minute, N1, "2:split", f"__execute-count-{sender}:default.m1_rate", 10.0)
        log.say(minute, N1, "2:split", f"__execute-count-{sender}:default", total)
    if worker_ms is not None:
        log.say(minute, N1, "-1:__system", "CGroupCpu.user-ms", worker_ms * minute * 9 // 10)
        log.say(minute, N1, "-1:__system", "CGroupCpu.sys-ms", worker_ms * minute // 10)


def of_v2(senders: dict[str, float], worker_ms: int | None = None, heap: bool = False) -> Log:
    log = Log()
    for minute in range(1, 5):
        v2(log, minute, senders, worker_ms)
        if heap:
            log.say(minute, N1, "-1:__system", "memory.heap.used", 256 << 20)
            log.say(minute, N1, "-1:__system", "CGroupMemoryUsage", 320 << 20)
    return log


def of_v1() -> Log:
    log = Log()
    for minute in range(1, 5):
        log.say(minute, N1, "1:lines", "__emit-count", "{default=600}")
        log.say(minute, N1, "2:split", "__execute-count", "{lines:default=600}")
        log.say(minute, N1, "2:split", "__execute-latency", "{lines:default=2.0}")
    return log


def lost_lines() -> Log:
    log = Log()
    for minute in range(1, 9):
        log.say(minute, N1, "1:lines", "__emit-count", "{default=600}")
        if minute not in (3, 4, 6):
            log.say(minute, N1, "2:split", "__execute-count", "{lines:default=600}")
        log.say(minute, N1, "-1:__system", "memory.heap.used", 256 << 20)
    return log


def submitted_again(pause: int) -> Log:
    log = Log()
    for begin, tasks in ((0, (1, 2, 3, 4)), (4 + pause, (3, 4, 5, 6))):
        log.submission = f"{begin + 1}-{START + 60 * begin}"
        spouts, bolts = tasks[:2], tasks[2:]
        for minute in range(begin + 1, begin + 5):
            for task in spouts:
                log.say(minute, N1, f"{task}:lines", "__emit-count", "{default=600}")
            for task in bolts:
                counts = "{lines:default=600}"
                log.say(minute, ("n2", 6701), f"{task}:split", "__execute-count", counts)
    return log


# What workers receive from each other: `topology.serialized.message.size.metrics`.


@dataclass
class Traffic:
    """Tasks of three spouts and two bolts, each bolt in a worker, and what they say in a minute."""

    workers: dict[int, tuple[str, int]]
    emitted: dict[int, int]
    executed: dict[int, int]
    received: dict[str, int]

    def log(self, log: Log, minute: int) -> None:
        for task, count in self.emitted.items():
            log.say(
                minute, self.workers[task], f"{task}:lines", "__emit-count", f"{{default={count}}}"
            )
        for task, count in self.executed.items():
            counts = f"{{lines:default={count}, __system:__tick=1}}"
            log.say(minute, self.workers[task], f"{task}:split", "__execute-count", counts)
        for worker in sorted(set(self.workers.values())):
            here = {task for task, place in self.workers.items() if place == worker}
            pairs = {k: n for k, n in self.received.items() if int(k.split("-")[1]) in here}
            sizes = ", ".join(f"{pair}={size}" for pair, size in pairs.items())
            value = f"{{dequeuedMessages=0, enqueued={{/1.2.3.4:5=9}}, messageBytes={{{sizes}}}}}"
            log.say(minute, worker, "-1:__system", "__recv-iconnection", value)

    def size(self, mixed: bool) -> Fraction:
        """Bytes over tuples from outside, of receivers with a sender beside them or of others."""
        size, tuples = Fraction(0), Fraction(0)
        total = sum(self.emitted.values())
        for task, count in self.executed.items():
            outside = {s for s in self.emitted if self.workers[s] != self.workers[task]}
            if mixed == (outside != set(self.emitted)):
                came = sum(self.received.get(f"{sender}-{task}", 0) for sender in outside)
                part = Fraction(sum(self.emitted[s] for s in outside), total)
                size, tuples = size + came, tuples + count * part
        return size / tuples


def random_traffic(random: Random, *places: tuple[str, int]) -> Traffic:
    """Every task emits a multiple of 20, and every tuple from outside has a size of its own."""
    workers = dict(enumerate(places, 1))
    emitted = {task: 20 * random.randint(1, 40) for task in (1, 2, 3)}
    executed = {task: 20 * random.randint(10, 40) for task in (4, 5)}
    received = {
        f"{sender}-{task}": random.randint(1000, 100_000)
        for sender in emitted
        for task in executed
        if workers[sender] != workers[task]
    }
    return Traffic(workers, emitted, executed, {**received, "4-5": 77, "-1-4": 5})


def of_traffic(traffic: Traffic) -> Log:
    log = Log()
    for minute in range(1, 7):
        traffic.log(log, minute)
    return log


def lost_sizes() -> tuple[Log, Fraction]:
    """Return a log, and the size of a tuple that it shows.

    A window without one of the senders tells nothing of sizes, a receiver's own counts do.
    """
    random, log = Random(3), Log()
    size, tuples = Fraction(0), 0
    for minute in range(1, 10):
        traffic = random_traffic(random, N1, N1, N2, N3, N3)
        lost = {2: traffic.emitted, 4: traffic.executed, 6: traffic.received}.get(minute)
        if lost is not None:
            lost.pop(next(iter(lost)))
        traffic.log(log, minute)
        if minute != 2:
            there = [f"-{task}" for task in traffic.executed]
            size += sum(
                n for k, n in traffic.received.items() if k.endswith(tuple(there)) and k[0] in "123"
            )
            tuples += sum(traffic.executed.values())
    return log, size / tuples


NONE_BESIDE = random_traffic(Random(1), N1, N1, N2, N3, N2)
EACH_BESIDE = random_traffic(Random(2), N1, N1, N2, N1, N2)
LOST_SIZES, LOST_SIZE = lost_sizes()
LOGS = {
    "cut": of_v2({"lines": 2.0}, worker_ms=3000),
    "cut-alike": of_v2({"split-a": 1.0, "split-b": 3.0, "words": 5.0}),
    "no-cpu-v1": of_v1(),
    "no-cpu-v2": of_v2({"lines": 2.0}),
    "heap": of_v2({"lines": 2.0}, worker_ms=3000, heap=True),
    "lost-lines": lost_lines(),
    "again-3": submitted_again(3),
    "again-360": submitted_again(360),
    "none-beside": of_traffic(NONE_BESIDE),
    "each-beside": of_traffic(EACH_BESIDE),
    "lost-sizes": LOST_SIZES,
    "sized": of_traffic(random_traffic(Random(4), N1, N1, N2, N3, N3)),
}


@pytest.fixture(scope="module")
def measure(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Measure:
    """Return what the logs of all topologies say of those of an instance."""
    folder = tmp_path_factory.mktemp("logs")
    for name, log in LOGS.items():
        log.write(folder, name)
    spouts = {"cut-alike": ("split-a", "split-b", "words")}
    known = [slotwise.read_instance(topology(name, spouts.get(name, ("lines",)))) for name in LOGS]
    settings = Settings(clocks=dict.fromkeys(("n1", "n2", "n3"), GHZ * 10**9))
    collected, _ = collect_logs(spark, folder, known, settings, None)

    def found(given: dict[str, Any]) -> Measured:
        return measured_of(
            slotwise.read_instance(given), collected, settings.statistic, settings.window_s
        )

    return found


def component(found: Measured, name: str) -> Any:
    return next(one for one in found.components if one.component == name)


def test_names_that_storm_cut_and_cpu_totals_of_a_control_group(measure: Measure) -> None:
    found = measure(topology("cut"))
    lines, split = component(found, "lines"), component(found, "split")
    assert (split.cost.value, split.cpu.value) == (2 * GHZ, 2)  # 2 ms; 1200 ms of 60 s
    assert (lines.cpu.value, lines.cost.value) == (3, 3 * GHZ)  # the other 1800 ms, 600 tuples
    assert (split.service_ms.value, lines.service_ms.value) == (2, 3)
    assert found.streams[0].received.value == 10


def test_senders_whose_cut_names_are_the_same_are_told_apart_or_not_known(
    measure: Measure,
) -> None:
    found = measure(topology("cut-alike", ("split-a", "split-b", "words")))
    rates = {one.source: one.received.value for one in found.streams if one.received}
    assert rates == {"split-a": 10, "split-b": 10, "words": 10}
    split = component(found, "split")
    # __execute-latency-split stands for both of the first two: only the third is known.
    assert split.cost.value == 5 * GHZ
    assert split.cpu is None
    assert "cut-alike: logs do not tell cpu of split; as in the file" in found.notes


@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_cpu_that_logs_do_not_tell_stays_and_is_said(measure: Measure, generation: str) -> None:
    given = topology(f"no-cpu-{generation}")
    found = measure(given)
    lines, split = component(found, "lines"), component(found, "split")
    assert (lines.cpu, lines.cost) == (None, None)
    assert split.cpu.value == 2
    assert f"no-cpu-{generation}: logs do not tell cpu of lines; as in the file" in found.notes
    made = measured_instance(slotwise.read_instance(given), found)
    assert made.topologies[0].components[0].resources["cpu"] == Decimal(50)


def test_a_task_is_in_its_worker_before_its_total_has_two_readings(measure: Measure) -> None:
    split = component(measure(topology("heap")), "split")
    assert split.onheap_mb.value == 128
    assert split.offheap_mb.value == 32


def test_a_task_is_in_its_worker_while_its_lines_are_lost(measure: Measure) -> None:
    found = measure(topology("lost-lines"))
    heap = {one.component: one.onheap_mb.value for one in found.components}
    assert heap == {"lines": 128, "split": 128}


@pytest.mark.parametrize("pause", [3, 360])
def test_a_topology_that_was_submitted_again_has_the_tasks_of_one_submission(
    measure: Measure, pause: int
) -> None:
    found = measure(topology(f"again-{pause}", tasks=2))
    assert found.streams[0].received.value == 20
    assert component(found, "split").tasks == 2
    assert {one.task for one in found.places} == {"3", "4", "5", "6"}


def size_by(measure: Measure, name: str, grouping: str) -> Weight | None:
    (stream,) = measure(topology(name, tasks=3, grouping=grouping)).streams
    return stream.tuple_bytes


@pytest.mark.parametrize("grouping", ["shuffle", "local_or_shuffle", "fields", "all"])
def test_sizes_where_no_sender_is_beside_a_receiver(measure: Measure, grouping: str) -> None:
    size = size_by(measure, "none-beside", grouping)
    assert size is not None
    assert size.value == rounded(NONE_BESIDE.size(mixed=False))
    assert not size.estimated


def test_sizes_where_each_receiver_has_a_sender_beside_it(measure: Measure) -> None:
    assert size_by(measure, "each-beside", "shuffle") is None
    for grouping, is_estimated in (("fields", True), ("all", False)):
        size = size_by(measure, "each-beside", grouping)
        assert size is not None
        assert size.estimated == is_estimated
        assert abs(size.value / rounded(EACH_BESIDE.size(mixed=True)) - 1) < Decimal("1e-5")


def test_lost_lines_of_sizes(measure: Measure) -> None:
    size = size_by(measure, "lost-sizes", "shuffle")
    assert size is not None
    assert size.value == rounded(LOST_SIZE)


def test_a_measured_size_is_marked_so(measure: Measure) -> None:
    given = topology("sized", tasks=3, grouping="shuffle", estimated=["tuple_bytes"], tuple_bytes=5)
    made = measured_instance(slotwise.read_instance(given), measure(given))
    (stream,) = made.topologies[0].streams
    assert stream.estimated == ()
    assert stream.tuple_bytes != 5
