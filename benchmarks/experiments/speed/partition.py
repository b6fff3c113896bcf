"""Seconds and memory of the partitioners: experiment ``partition_speed``.

Each graph is generated (communities of equal size, four edges of five inside them, vertices in
random order), written as a METIS file, and partitioned by each method in a fresh process through
``slotwise partition``. The table has edge cut and balance of all beside METIS's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.models.errors import SlotwiseError
from slotwise.processes.child import exchange
from slotwise.processes.pipes import last_words

METHODS = ("hash", "ldg", "fennel", "ldg-re:passes=5", "fennel-re:passes=5", "metis")
EDGES = (100_000, 1_000_000, 10_000_000)
DEGREE = 20
COMMUNITIES = 64
INSIDE = 0.8
HEAD = f"{'vertices':>9} {'edges':>9} {'method':<20} {'seconds':>8} {'MB':>6} {'cut %':>7} balance"


def write_graph(path: Path, edges: int, seed: int) -> int:
    """Write a METIS file with `edges` edges at most, 20 a vertex; return the vertices."""
    rng = np.random.default_rng(seed)
    size = max(2, 2 * edges // DEGREE // COMMUNITIES)
    count = size * COMMUNITIES
    sources = rng.integers(count, size=int(1.1 * edges))
    near = sources // size * size + rng.integers(size, size=len(sources))
    targets = np.where(
        rng.random(len(sources)) < INSIDE, near, rng.integers(count, size=len(sources))
    )
    name = rng.permutation(count)
    sources, targets = name[sources], name[targets]
    loop = sources == targets
    low, high = np.minimum(sources, targets)[~loop], np.maximum(sources, targets)[~loop]
    key = rng.permutation(np.unique(low * count + high))[:edges]
    low, high = key // count, key % count
    rows, ends = np.concatenate((low, high)), np.concatenate((high, low))
    order = np.argsort(rows * count + ends)
    words = [*map(str, (ends[order] + 1).tolist())]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=count)))).tolist()
    with path.open("w", encoding="ascii") as file:
        file.write(f"{count} {len(key)}\n")
        for begin, end in pairwise(offsets):
            file.write(" ".join(words[begin:end]) + "\n")
    return count


def measured(path: Path, method: str, parts: int, seed: int) -> dict[str, object]:
    """Return what ``slotwise partition --json`` says, with the peak memory of its process in MB."""
    command = [sys.executable, "-m", "slotwise", "partition", str(path), "--parts", str(parts)]
    command += ["--with", method, "--seed", str(seed), "--json"]
    done = exchange(command)
    if done.code not in (0, 1):
        raise SlotwiseError(f"{method} ended with exit code {done.code}{last_words(done.stderr)}")
    return {**json.loads(done.stdout), "memory_mb": int(done.peak_memory_mb)}


def run(options: argparse.Namespace) -> None:
    """Print a line a run."""
    if not options.json:
        say(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for edges in options.edges:
            path = Path(folder) / f"{edges}.graph"
            # In a process of its own: what one starts begins with the peak of its parent.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                pool.submit(write_graph, path, edges, options.seed).result()
            for method in options.methods:
                row = measured(path, method, options.parts, options.seed)
                say(json.dumps(row) if options.json else line(row))


def line(row: dict[str, object]) -> str:
    """Return a row of the table."""
    share = 100 * float(str(row["edge_cut"])) / max(1.0, float(str(row["edge_weight"])))
    return (
        f"{row['vertices']:>9} {row['edges']:>9} {row['method']:<20} {row['seconds']:>8} "
        f"{row['memory_mb']:>6} {share:7.2f} {row['balance']}"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--edges", type=int, nargs="+", default=EDGES, metavar="M")
    parser.add_argument("--methods", nargs="+", default=METHODS, metavar="METHOD")
    parser.add_argument("--parts", type=int, default=32, metavar="K")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
