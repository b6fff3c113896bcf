"""Lines of both kinds as samples, fault by fault, on a real Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.parsing import parse_lines
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import METRICS, PARSED, RAW, REASONS, struct

PATH = "file:///logs/workers-artifacts/word-count-3-1454526000/6700/worker.log.metrics"
JSONL = "file:///logs/workers-artifacts/word-count-3-1454526000/a.jsonl"
COLLECTED = "2016-02-03 19:01:41,250 60123    "
KNOWN = Reading(components={"word-count": ("split", "spout")})

Parse = Callable[..., list[Row]]


@pytest.fixture
def parse(spark: SparkSession) -> Parse:
    def run(*lines: str, path: str = PATH, reading: Reading = KNOWN) -> list[Row]:
        raw = spark.createDataFrame([(line, path) for line in lines], RAW)
        return parse_lines(raw, reading).collect()

    return run


def storm(name: str, value: str, task: str = " 12:split      ", prefix: str = COLLECTED) -> str:
    return f"{prefix}1454526100\t node1.nodes.com:6707\t{task}\t{name:<23}\t{value}"


def numbers(rows: list[Row]) -> list[tuple[Any, ...]]:
    assert [row.reason for row in rows] == [None] * len(rows)
    return [(row.metric, row.other, row.value) for row in rows]


def test_the_columns_are_those_of_the_schema(spark: SparkSession) -> None:
    rows = parse_lines(spark.createDataFrame([], struct(RAW)), Reading())
    found = [(one.name, one.dataType) for one in rows.schema]
    assert found == [(one.name, one.dataType) for one in struct(PARSED)]


def test_a_storm_line(parse: Parse) -> None:
    (row,) = parse(storm("__execute-count", "{spout:default=20}"))
    assert row.topology == "word-count"
    assert (row.node, row.worker, row.task, row.component) == (
        "node1.nodes.com",
        6707,
        "12",
        "split",
    )
    assert (row.metric, row.other, row.value) == ("execute_count", "spout:default", 20)
    assert (row.source, row.path, row.at, row.running) == ("storm", PATH, 0, False)
    assert row.day == date(2016, 2, 3)
    assert row.time.astimezone(UTC) == datetime(2016, 2, 3, 19, 1, 40, tzinfo=UTC)
    assert row.received.astimezone(UTC) == datetime(2016, 2, 3, 19, 1, 41, 250000, tzinfo=UTC)
    assert (row.reason, row.line) == (None, None)


SERVER = "__recv-iconnection"
# Name, value, task, and the samples of the line.
LINES: list[tuple[str, str, str, list[tuple[str, str | None, int]]]] = [
    (
        "__execute-count",
        "{spout:default=20, __system:__tick=1}",
        "12:split",
        [("execute_count", "spout:default", 20), ("execute_count", "__system:__tick", 1)],
    ),
    (
        "__execute-latency",
        "{spout:default=0.35714285714285715}",
        "12:split",
        [("execute_ns", "spout:default", 357143)],
    ),
    ("__emit-count", "{}", "12:split", []),
    ("__emit-count", "{default=40}", "12:split", [("emit_count", "default", 40)]),
    ("__emit-count-default", "1240", "12:split", [("emit_count", "default", 1240)]),
    ("__emit-count-default.m1_rate"[:23], "1.25", "12:split", []),
    (
        "memory/heap",
        "{unusedBytes=5, maxBytes=-1, usedBytes=838}",
        "-1:__system",
        [("heap_bytes", None, 838)],
    ),
    ("memory.heap.used", "838", "-1:__system", [("heap_bytes", None, 838)]),
    (
        "CPU",
        "{user-ms=74480, sys-ms=10780}",
        "-1:__system",
        [("cpu_ns", "user", 74_480_000_000), ("cpu_ns", "sys", 10_780_000_000)],
    ),
    (
        "GC/PSScavenge",
        "{count=1, timeMs=8}",
        "-1:__system",
        [("gc_ns", "PSScavenge", 8_000_000)],
    ),
    ("GC.G1-Young.time", "8", "-1:__system", [("gc_ns", "G1-Young", 8_000_000)]),
    ("CGroupMemory", "4096", "-1:__system", [("memory_bytes", None, 4096)]),
    ("uptimeSecs", "60.5", "-1:__system", [("uptime_ns", None, 60_500_000_000)]),
    ("__receive", "{population=3}", "12:split", []),
    # Without `topology.serialized.message.size.metrics`, and with it.
    (SERVER, "{dequeuedMessages=0, enqueued={/127.0.0.1:38920=40}}", "-1:__system", []),
    (
        SERVER,
        "{dequeuedMessages=0, enqueued={/127.0.0.1:49942=40}, "
        "messageBytes={3-5=360, -1-7=9, 4-6=470}}",
        "-1:__system",
        [("received_bytes", "3-5", 360), ("received_bytes", "4-6", 470)],
    ),
    (SERVER, "{dequeuedMessages=0, enqueued={}, messageBytes={}}", "-1:__system", []),
    # The rate beside a running total, damaged: it lost its point.
    ("__emit-count-default.m1", "800000", "12:split", []),
]


def test_metrics_of_storm(parse: Parse) -> None:
    rows = parse(*(storm(name, value, task) for name, value, task, _ in LINES))
    assert numbers(rows) == [sample for *_, samples in LINES for sample in samples]
    assert {row.metric for row in rows} <= set(METRICS)


def test_sizes_of_many_pairs(parse: Parse) -> None:
    pairs = [f"{a}-{b}={a * b}" for a in range(1, 101) for b in range(101, 201)]
    rows = parse(storm(SERVER, f"{{messageBytes={{{', '.join(pairs)}}}}}", "-1:__system"))
    assert [f"{row.other}={row.value}" for row in rows] == pairs


def test_running_totals_are_told_by_their_name(parse: Parse) -> None:
    names = {"__emit-count-default": True, "__execute-latency-spout": False, "GC.G1.time": True}
    rows = parse(*(storm(name, "3") for name in names))
    assert [row.running for row in rows] == list(names.values())


def test_blanks_for_tabs_and_no_prefix(parse: Parse) -> None:
    (row,) = parse(
        "1454526100 node1.nodes.com:6707 -1:__system memory/heap  {unusedBytes=7, usedBytes=838}"
    )
    assert (row.node, row.task, row.value, row.received) == ("node1.nodes.com", "-1", 838, None)


def test_the_zone_of_the_collector(parse: Parse) -> None:
    (row,) = parse(storm("__emit-count", "{default=1}"), reading=Reading(zone="Asia/Tokyo"))
    assert row.received.astimezone(UTC) == datetime(2016, 2, 3, 10, 1, 41, 250000, tzinfo=UTC)


TASK = {"time": 1454526100000, "task": "split[0]", "node": "n1", "cpu_ms": 12.5, "tuples": 100}
PAIR = {"time": 1454526100, "from": "spout[1]", "to": "split[0]", "tuples": 5, "bytes": 1000}


def test_json_lines(parse: Parse) -> None:
    lines = (TASK | {"ghz": 2.4, "topology": "word-count"}, PAIR | {"received": 1454526101})
    rows = parse(*map(json.dumps, lines), path="file:///x/a.jsonl", reading=Reading())
    assert numbers(rows) == [
        ("cpu_ns", None, 12_500_000),
        ("tuples", None, 100),
        ("clock_hz", None, 2_400_000_000),
        ("pair_tuples", "split[0]", 5),
        ("pair_bytes", "split[0]", 1000),
    ]
    assert {(row.task, row.component) for row in rows} == {
        ("split[0]", "split"),
        ("spout[1]", "spout"),
    }
    assert {row.time.astimezone(UTC) for row in rows} == {
        datetime(2016, 2, 3, 19, 1, 40, tzinfo=UTC)
    }
    assert {row.topology for row in rows} == {"word-count", "topology"}


def test_times_of_json_lines(parse: Parse, spark: SparkSession) -> None:
    texts = (
        "2016-02-03T19:01:40Z",
        "2016-02-03T20:01:40+01:00",
        "2016-02-03 19:01:40",
        "1454526100",
    )
    lines = [json.dumps(TASK | {"time": text}) for text in texts]
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        rows = parse(*lines, path=JSONL)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert len(rows) == 2 * len(texts)
    assert {row.time.timestamp() for row in rows} == {1454526100}
    assert {row.day for row in rows} == {date(2016, 2, 3)}


FAULTY = {
    "garbage": ("java.lang.OutOfMemoryError: GC overhead", PATH, "malformed"),
    "cut": (storm("__emit-count", "{default=2"), PATH, "malformed"),
    "cut early": (storm("__emit-count", "")[:60], PATH, "malformed"),
    "no number": (storm("__emit-count", "{default=many}"), PATH, "malformed"),
    "java's number": (storm("__emit-count", "{default=20d}"), PATH, "malformed"),
    "not a number": (storm("__execute-latency", "{spout:default=NaN}"), PATH, "malformed"),
    "too large": (storm("__emit-count", "{default=1e300}"), PATH, "malformed"),
    "a map for a number": (storm("__emit-count-default", "{oops=1"), PATH, "malformed"),
    "no time": (
        storm("__emit-count", "{default=2}").replace("1454526100", "yesterday"),
        PATH,
        "malformed",
    ),
    "year 2286": (
        storm("__emit-count", "{default=2}").replace("1454526100", "9999999999999"),
        PATH,
        "malformed",
    ),
    "no task": (storm("__emit-count", "{default=2}", "x:split"), PATH, "malformed"),
    "one bad entry": (storm("__emit-count", "{default=20, words=many}"), PATH, "malformed"),
    "decimal comma": (storm("__execute-count", "{spout:default=12,5}"), PATH, "malformed"),
    "half a tuple": (storm("__emit-count", "{default=12.5}"), PATH, "malformed"),
    "a key twice": (storm("__emit-count", "{default=1, s=2, default=1}"), PATH, "malformed"),
    "no key": (storm("__emit-count", "{=20}"), PATH, "malformed"),
    "infinite": (storm("__process-latency", "{spout:default=Infinity}"), PATH, "malformed"),
    "a leading zero": (storm("__emit-count", "{default=020}"), PATH, "malformed"),
    "half a second's prefix": (
        storm("__emit-count", "{default=3}", prefix="2016-02" + COLLECTED),
        PATH,
        "malformed",
    ),
    "more seconds than fit in milliseconds": (f"{-(10**17 - 1)}\tx", PATH, "malformed"),
    "more seconds than fit in JSON": (json.dumps(TASK | {"time": 1 - 10**17}), JSONL, "malformed"),
    "a byte that was not UTF-8 in JSON": (
        json.dumps(TASK | {"node": "n\ufffd"}, ensure_ascii=False),
        JSONL,
        "malformed",
    ),
    "a byte that was not UTF-8 in a nested object": (
        json.dumps(TASK | {"x": {"y": "\ufffd"}}, ensure_ascii=False),
        JSONL,
        "malformed",
    ),
    "year 22016": (storm("__emit-count", "{default=4}", prefix="2" + COLLECTED), PATH, "malformed"),
    "year 22016 in JSON": (
        json.dumps(TASK | {"received": "22016-02-03T19:01:40Z"}),
        JSONL,
        "malformed",
    ),
    "the rest of a prefix": (storm("__emit-count", "{default=4}")[3:], PATH, "malformed"),
    "month 13": (
        storm("__emit-count", "{default=5}", prefix="2016-13-03 19:01:41,250 1 "),
        PATH,
        "malformed",
    ),
    "one line in another": (
        storm("__emit-count", "{default=6" + storm("__emit-count", "{default=7}")),
        PATH,
        "malformed",
    ),
    "one in an unused one": (
        storm("__receive", "{a=" + storm("__emit-count", "{default=8}")),
        PATH,
        "malformed",
    ),
    "a byte that was not UTF-8": (
        storm("__emit-count", "{d\ufffdfault=9}"),
        PATH,
        "malformed",
    ),
    "sizes cut short": (storm(SERVER, "{enqueued={}, messageBytes={3-5=36"), PATH, "malformed"),
    "sizes of no pair": (storm(SERVER, "{messageBytes={3=36}, enqueued={}}"), PATH, "malformed"),
    "half a byte": (storm(SERVER, "{messageBytes={3-5=3.5}}"), PATH, "malformed"),
    "a pair twice": (storm(SERVER, "{messageBytes={3-5=36, 3-5=7}}"), PATH, "malformed"),
    "sizes twice": (
        storm(SERVER, "{messageBytes={3-5=36}, messageBytes={3-5=37}}"),
        PATH,
        "malformed",
    ),
    "sizes below zero": (storm(SERVER, "{messageBytes={3-5=-36}}"), PATH, "negative"),
    "nobody's tuples": (
        storm("__execute-count", "{spoyt:default=5}"),
        PATH,
        "unknown component",
    ),
    "a comma in JSON": (json.dumps(TASK | {"cpu_ms": "12,5"}), JSONL, "malformed"),
    "NaN in JSON": (json.dumps(TASK | {"cpu_ms": float("nan")}), JSONL, "malformed"),
    "half a tuple in JSON": (json.dumps(TASK | {"tuples": 1.5}), JSONL, "malformed"),
    "too large in JSON": (json.dumps(TASK | {"tuples": 1e300}), JSONL, "malformed"),
    "no clock": (json.dumps(TASK | {"ghz": 0}), JSONL, "malformed"),
    "received never": (json.dumps(TASK | {"received": "soon"}), JSONL, "malformed"),
    "an unused key twice in JSON": (
        json.dumps(TASK)[:-1] + ', "x": 1, "x": 1}',
        JSONL,
        "malformed",
    ),
    "a key twice in JSON, once null": (
        json.dumps(TASK)[:-1] + ', "ghz": null, "ghz": 2.0}',
        JSONL,
        "malformed",
    ),
    "a key twice in JSON": (json.dumps(TASK)[:-1] + ', "tuples": 7}', JSONL, "malformed"),
    "two objects": (json.dumps(TASK) + json.dumps(TASK), JSONL, "malformed"),
    "a tail": (json.dumps(TASK) + ' "tuples": 100}', JSONL, "malformed"),
    "to nobody": (json.dumps(PAIR | {"to": "nobody[0]"}), JSONL, "unknown component"),
    "below zero": (storm("__emit-count", "{default=-2}"), PATH, "negative"),
    "nobody": (storm("__emit-count", "{default=2}", "12:nobody"), PATH, "unknown component"),
    "nobody's CPU": (json.dumps(TASK | {"task": "nobody[0]"}), JSONL, "unknown component"),
    "half of JSON": (json.dumps(TASK)[:30], JSONL, "malformed"),
    "no object": ("[1, 2]", JSONL, "malformed"),
    "a word": (json.dumps(TASK | {"tuples": "many"}), JSONL, "malformed"),
    "no CPU time": (
        json.dumps({k: v for k, v in TASK.items() if k != "cpu_ms"}),
        JSONL,
        "malformed",
    ),
    "no bytes": (json.dumps({k: v for k, v in PAIR.items() if k != "bytes"}), JSONL, "malformed"),
    "never": (json.dumps(TASK | {"time": "yesterday"}), JSONL, "malformed"),
    "CPU time below zero": (json.dumps(TASK | {"cpu_ms": -1}), JSONL, "negative"),
}


def test_faulty_lines_are_kept_with_the_reason(parse: Parse, spark: SparkSession) -> None:
    raw = spark.createDataFrame([(line, path) for line, path, _ in FAULTY.values()], RAW)
    rows = {row.line: row for row in parse_lines(raw, KNOWN).collect()}
    found = {name: rows[line].reason for name, (line, _, _) in FAULTY.items()}
    assert found == {name: reason for name, (_, _, reason) in FAULTY.items()}
    assert len(rows) == len(FAULTY)
    assert {row.day.year for row in rows.values() if row.day} <= set(range(1973, 2101))
    assert {reason for _, _, reason in FAULTY.values()} <= set(REASONS)


def test_a_slash_may_be_part_of_a_name(parse: Parse) -> None:
    names = ("shop/cart", "shop/cart/3", "shop/cart[3]")
    reading = Reading(components={"word-count": ("split", "shop/cart")})
    lines = [json.dumps(PAIR | {"from": "split[0]", "to": name}) for name in names]
    rows = parse(*lines, path=JSONL, reading=reading)
    assert [row.reason for row in rows] == [None] * len(rows)
    assert {row.other for row in rows} == set(names)


def test_json_lines_may_hold_more(parse: Parse) -> None:
    more = {"labels": {"rack": "a", "time zone": {"x": 1}}, "tuples": 100.0}
    rows = parse(json.dumps(TASK | more), path=JSONL)
    assert numbers(rows) == [("cpu_ns", None, 12_500_000), ("tuples", None, 100)]


def test_bytes_that_are_not_utf_8(spark: SparkSession, tmp_path: Path) -> None:
    from slotwise.pipeline.statistics.run import raw_lines

    path = tmp_path / "worker.log.metrics"
    path.write_bytes(storm("__emit-count", "{défault=2}").encode("latin-1") + b"\n")
    (row,) = parse_lines(raw_lines(spark, [str(path)]), Reading()).select("reason").collect()
    assert row.reason == "malformed"


def test_blank_lines_are_nothing(parse: Parse) -> None:
    assert parse("", "   ") == []


def test_topologies_by_path(spark: SparkSession) -> None:
    from slotwise.pipeline.statistics.columns import folder_of, topology_of

    paths = {
        PATH: "word-count",
        "file:/a/workers-artifacts/a-b-12-1700000000/6700/worker.log.metrics.1.gz": "a-b",
        "file:/a/workers-artifacts/plain/6700/worker.log.metrics": "plain",
        str(Path("/a/worker.log.metrics")): "mine",
    }
    rows = spark.createDataFrame([(path,) for path in paths], "path string")
    found = rows.select(topology_of(folder_of(fn.col("path")), "mine")).collect()
    assert [row[0] for row in found] == list(paths.values())
