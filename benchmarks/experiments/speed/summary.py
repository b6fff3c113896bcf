"""How long `slotwise summary` takes on rows that nobody ran: experiment ``summary_speed``."""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.experiments.table import say
from slotwise.benchmarks.grading.row_file import ROW_SCHEMA
from slotwise.benchmarks.grading.rows import MEANING
from slotwise.benchmarks.grading.store import ROWS

FILE_ROWS = 1_000_000
"""Rows of a file."""


PROGRAM = """
import json, sys, slotwise
from slotwise.benchmarks.grading.run import peak_memory_mb
methods = slotwise.summary(sys.argv[1]).methods
print(json.dumps([int(methods["runs"].sum()), peak_memory_mb()]))
"""
"""What is measured; it reads its peak itself, for the system's count has that of this process."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the experiment's options."""
    parser.add_argument("--runs", type=int, default=1000, help="rows to sum up")
    parser.add_argument("--methods", type=int, default=20, help="of them for each instance")
    parser.add_argument("--folder", type=Path, help="keep the rows here, and use those of before")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> None:
    """Make the rows, sum them up in a process of its own, and print what that took."""
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / ROWS).exists():
            write_rows(folder, options.runs, options.methods)
        began = time.perf_counter()
        command = [sys.executable, "-c", PROGRAM, str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs, peak = json.loads(done.stdout)
    figures = {
        "runs": runs,
        "wall_s": round(wall, 2),
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(peak),
    }
    say(json.dumps(figures) if options.json else ", ".join(f"{k} {v}" for k, v in figures.items()))


def write_rows(folder: Path, runs: int, methods: int) -> None:
    """Write the rows of an exact engine and some methods, one run in twenty of which fails."""
    (folder / ROWS).mkdir(parents=True)
    random = np.random.default_rng(0)
    at_once = max(1, FILE_ROWS // methods)
    instances = -(-runs // methods)
    for number, first in enumerate(range(0, instances, at_once)):
        some = range(first, min(first + at_once, instances))
        rows = [row for one in some for row in _rows(one, methods, random)]
        table = pa.Table.from_pylist(rows[: runs - first * methods], schema=ROW_SCHEMA)
        pq.write_table(table, folder / ROWS / f"part-{number:05d}.parquet", compression="zstd")


def _rows(number: int, methods: int, random: np.random.Generator) -> list[dict[str, object]]:
    overload, network = int(random.integers(0, 3)), int(random.integers(10, 1000))
    more = random.integers(0, 200, methods)
    luck, seconds = random.random(methods), random.random(methods)
    common = {
        "instance_hash": f"sha256:{hashlib.sha256(str(number).encode()).hexdigest()}",
        "instance": f"made-{number}",
        "family": "made",
        "tasks": 10 + number % 500,
        "nodes": 5,
        "tightness": 0.7,
        "seed": 0,
        "time_limit_s": 60.0,
        "version": MEANING,
        "versions": "{}",
        "batch": "2026-01-01",
    }
    rows = []
    for method in range(methods):
        exact = method == 0
        failed = not exact and luck[method] < 0.05
        values = (
            overload + (luck[method] > 0.9 and not exact),
            network + (not exact) * more[method],
        )
        terms = [
            {"term": term, "value": str(value), "bound": str(value) if exact else None}
            for term, value in zip(("overload", "network"), map(int, values), strict=True)
        ]
        rows.append(
            {
                **common,
                "kind": "exact" if exact else "heuristic",
                "method": "auto" if exact else f"method-{method}",
                "status": "optimal" if exact else "broken rule" if failed else "valid",
                "terms": None if failed else terms,
                "violations": ["memory: node n1"] if failed else None,
                "wall_s": float(seconds[method]),
            }
        )
    return rows
