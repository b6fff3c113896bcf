"""The sums of `statistics_by_hand` by pandas, a file at a time: what one would write first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from slotwise.benchmarks.experiments.speed.statistics_by_hand import Totals
from slotwise.pipeline.statistics.reading import Reading

_COUNTS = ("__execute-count", "__emit-count", "__transfer-count", "__ack-count", "__fail-count")
_METRICS = {
    **{name: name[2:].replace("-", "_") for name in _COUNTS},
    "__execute-latency": "execute_ns",
    "__process-latency": "process_ns",
    "__complete-latency": "complete_ns",
    "memory/heap": "heap_bytes",
    "memory/nonHeap": "nonheap_bytes",
    "CPU": "cpu_ns",
    "CGroupCpu": "cgroup_cpu_ns",
    "CGroupMemory": "memory_bytes",
    "uptimeSecs": "uptime_ns",
}
_PART = 10**9
_KEY = ["source", "node", "worker", "task", "component", "metric", "other", "time"]


def totals(files: list[Path], reading: Reading) -> Totals:
    """Return number and sum of the samples that count."""
    frames = [_json(path) if ".jsonl" in path.name else _storm(path) for path in files]
    components = {name for names in reading.components.values() for name in names}
    rows = pd.concat(frames, ignore_index=True)
    rows = rows[rows.component.isin(components) | rows.component.str.startswith("__")]
    rows["lag"] = rows.received // 1000 - rows.time
    rows["day"] = rows.received // 86_400_000
    skew = np.floor(rows.groupby(["node", "day"]).lag.transform("median"))
    skew = skew.where(skew.abs() > reading.skew_tolerance_s, 0)
    rows = rows.sort_values(["received", "value"]).drop_duplicates(_KEY)
    rows = rows[(rows.lag - skew[rows.index]).abs() <= reading.lateness_s]
    # In two parts, for a sum of nanoseconds may need more than 64 bits.
    rows["high"], rows["low"] = rows.value // _PART, rows.value % _PART
    sums = rows.groupby(["source", "component", "metric"])[["high", "low"]].agg(["count", "sum"])
    return {
        key: (int(one["high", "count"]), int(one["high", "sum"]) * _PART + int(one["low", "sum"]))
        for key, one in sums.iterrows()
    }


def _lines(path: Path) -> pd.Series:
    import gzip

    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return pd.Series(file.read().splitlines(), dtype=object)


def _storm(path: Path) -> pd.DataFrame:
    fields = _lines(path).str.split("\t", expand=True).reindex(columns=range(6))
    fields = fields[fields[4].notna() & fields[5].isna()]
    head = fields[0].str.split(expand=True)
    name = fields[3].str.strip()
    gc = name.str.startswith("GC/")
    where = fields[1].str.strip().str.rsplit(":", n=1, expand=True)
    task = fields[2].str.strip().str.split(":", n=1, expand=True)
    rows = pd.DataFrame(
        {
            "source": "storm",
            "node": where[0],
            "worker": where[1],
            "task": task[0],
            "component": task[1],
            "metric": name.map(_METRICS).where(~gc, "gc_ns"),
            "other": name.str[3:].where(gc, ""),
            "time": pd.to_numeric(head[3], errors="coerce"),
            "received": pd.to_datetime(head[0] + " " + head[1].str.replace(",", "."), utc=True)
            .astype("datetime64[ms, UTC]")
            .astype("int64"),
            "text": fields[4].str.strip(),
        }
    )
    rows = rows[rows.metric.notna() & rows.time.notna()]
    single = rows.metric.isin(["memory_bytes", "uptime_ns"])
    maps = rows[~single & rows.text.str.startswith("{") & rows.text.str.endswith("}")]
    maps = maps.assign(text=maps.text.str[1:-1].str.split(",")).explode("text", ignore_index=True)
    entry = maps.text.str.strip().str.rsplit("=", n=1, expand=True).reindex(columns=range(2))
    mask = pd.Series(True, index=maps.index)
    for metrics, keys in (
        (("heap_bytes", "nonheap_bytes"), ("usedBytes",)),
        (("cpu_ns", "cgroup_cpu_ns"), ("user-ms", "sys-ms")),
        (("gc_ns",), ("timeMs",)),
    ):
        mask &= ~maps.metric.isin(metrics) | entry[0].isin(keys)
    other = entry[0].where(~maps.metric.isin(["heap_bytes", "nonheap_bytes", "gc_ns"]), maps.other)
    maps = maps.assign(other=other, text=entry[1])[mask]
    return _numbers(pd.concat([maps, rows[single]], ignore_index=True))


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    value = pd.to_numeric(rows.text, errors="coerce")
    scale = np.where(rows.metric.str.endswith("_ns"), 1e6, 1.0)
    scale = np.where(rows.metric == "uptime_ns", 1e9, scale)
    rows = rows.assign(value=value)[value >= 0]
    scaled = np.floor(rows.value * scale[value >= 0] + 0.5).astype("int64")
    return rows.assign(value=scaled, time=rows.time.astype("int64")).drop(columns="text")


def _json(path: Path) -> pd.DataFrame:
    import json

    def read(line: str) -> object:
        try:
            return json.loads(line)
        except ValueError:
            return None

    lines = pd.DataFrame([one for one in _lines(path).map(read) if isinstance(one, dict)])
    lines["time"] = pd.to_numeric(lines.time, errors="coerce")
    columns = ["cpu_ms", "ghz", "tuples", "bytes"]
    numbers = lines[columns].apply(pd.to_numeric, errors="coerce")
    bad = (numbers < 0).any(axis=1) | lines.time.isna() | numbers.tuples.isna()
    lines = lines.assign(**numbers)[~bad]
    return pd.concat(list(_json_samples(lines)), ignore_index=True)


def _json_samples(lines: pd.DataFrame) -> Iterator[pd.DataFrame]:
    pair = lines["from"].notna()
    for metric, key, scale, of_pair in (
        ("cpu_ns", "cpu_ms", 1e6, False),
        ("tuples", "tuples", 1.0, False),
        ("clock_hz", "ghz", 1e9, False),
        ("pair_tuples", "tuples", 1.0, True),
        ("pair_bytes", "bytes", 1.0, True),
    ):
        rows = lines[pair == of_pair]
        task = rows["from"] if of_pair else rows.task
        yield pd.DataFrame(
            {
                "source": "json",
                "node": rows.node,
                "worker": rows.worker.astype(str),
                "task": task,
                "component": task.str.rpartition("[")[0],
                "metric": metric,
                "other": rows.to if of_pair else "",
                "time": (rows.time // 1000).astype("int64"),
                "received": rows.received.astype("int64"),
                "value": np.floor(rows[key] * scale + 0.5).astype("int64"),
            }
        )
