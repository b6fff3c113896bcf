"""KaHIP (Sanders and Schulz 2013), through its Python package: the extra ``kahip``.

The preset ``ECO`` of KaFFPa. It makes parts of one size only; where sizes differ, or the balance is
not kept, vertices are moved (`made_to_fit`). Weights that are not whole are scaled and rounded.

KaHIP 3.25 now and then crashes or never ends where there are as many parts as vertices, or where
the balance must be perfect. It is not used in the first case, has `LEAST_IMBALANCE` in the second,
and runs in a process of its own, so that a crash is a failure of the method (`MethodError`) and
does not end ours.
"""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.method import MethodError
from slotwise.heuristics.partitioning.partition import (
    Partition,
    Partitioner,
    Parts,
    made_to_fit,
    whole_weights,
    without_weightless_edges,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.graph_files.vertex_stream import CsrGraph, IdArray, VertexStream, in_memory

TIME_LIMIT_S = 600.0
"""The longest that KaHIP may take, or to the deadline of the token."""

LEAST_IMBALANCE = 0.01

CHILD = """\
import io, os, sys
import numpy as np
import kahip
answer = os.dup(1)
os.dup2(2, 1)
asked = np.load(io.BytesIO(sys.stdin.buffer.read()))
_, part = kahip.kaffpa(
    asked["weights"], asked["offsets"], asked["edge_weights"], asked["neighbours"],
    int(asked["parts"]), float(asked["imbalance"]), True, int(asked["seed"]), kahip.ECO,
)
with open(answer, "wb") as file:
    file.write(np.asarray(part, dtype=np.int32).tobytes())
"""


def missing() -> str | None:
    """Return what to install; ``None`` = kahip is here."""
    if find_spec("kahip") is None:
        return "needs the extra kahip: pip install 'slotwise[kahip]'"
    return None


def run(graph: VertexStream, parts: Parts, rng: Generator, token: CancellationToken) -> Partition:
    """Return KaHIP's partition; raise `MethodError` where it fails."""
    whole = without_weightless_edges(in_memory(graph))
    seed = int(rng.integers(2**31 - 1))
    vertices, count = len(whole.weights), len(parts.sizes)
    if count == 1 or not len(whole.neighbours):
        part = np.zeros(vertices, dtype=np.int32)
    elif vertices <= count:  # nothing to decide, and KaHIP does not end
        part = np.arange(vertices, dtype=np.int32)
    else:
        part = _kahip_partition(whole, parts, seed, token)
    return made_to_fit(whole, part, parts)


def _kahip_partition(whole: CsrGraph, parts: Parts, seed: int, token: CancellationToken) -> IdArray:
    request = io.BytesIO()
    np.savez(
        request,
        weights=whole_weights(whole.weights, 0),
        offsets=whole.offsets.astype(np.int32),
        edge_weights=whole_weights(whole.edge_weights, 1),
        neighbours=whole.neighbours,
        parts=np.array(len(parts.sizes)),
        imbalance=np.array(max(LEAST_IMBALANCE, parts.balance - 1)),
        seed=np.array(seed),
    )
    left = min(TIME_LIMIT_S, max(0.1, token.remaining))
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", CHILD],
            input=request.getvalue(),
            capture_output=True,
            timeout=left,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MethodError(f"KaHIP did not end within {left:.0f} s", timed_out=True) from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise MethodError(": ".join([f"KaHIP ended with exit code {done.returncode}", *last]))
    return np.frombuffer(done.stdout, dtype=np.int32)


KAHIP = Partitioner(
    "kahip",
    "KaHIP (Sanders and Schulz 2013), preset ECO",
    "Multilevel partitioning of the whole graph by KaHIP (extra kahip).",
    run,
    missing,
)
