"""Simulates a placed instance and writes its logs."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.pipeline.simulated_logs.draws import Draws
from slotwise.pipeline.simulated_logs.faults import Faults
from slotwise.pipeline.simulated_logs.json_lines import JsonReports
from slotwise.pipeline.simulated_logs.restarts import Lives, plan_restarts
from slotwise.pipeline.simulated_logs.scene import Machine, Scene, scenes
from slotwise.pipeline.simulated_logs.settings import LAST_TIME, MOST_SECONDS, LogSettings
from slotwise.pipeline.simulated_logs.storm_lines import StormReports
from slotwise.pipeline.simulated_logs.truth import Totals, truth_document

VALUES_AT_ONCE = 200_000
"""About as many values are drawn and held at a time."""

Reports = StormReports | JsonReports


def simulate(
    instance: Instance, placement: Placement, settings: LogSettings, out: Path
) -> dict[str, Any]:
    """Write the logs of a placed instance into the new folder `out`; return the truth.

    The folder holds ``workers-artifacts/<topology>/<port>/worker.log.metrics``,
    ``tuples-<number>.jsonl``, ``nodes.json``, ``truth.json`` and, one JSON object a line, the
    faulty lines in ``planted.txt``. It is there whole or not at all.

    Raises
    ------
    InputError
        When the placement leaves out a part of a topology, a rate is out of range, or `out` is
        there already.
    """
    machines = _machines(instance, settings)
    simulated = scenes(instance, placement, machines, settings)
    with new_folder(out, settings.gzip) as folder:
        document = _write(simulated, machines, settings, folder)
        with folder.text_file("nodes.json") as file:
            json.dump({one.id: one.ghz for one in machines}, file, indent=1)
        with folder.text_file("truth.json") as file:
            json.dump(document, file, indent=1, ensure_ascii=False)
    return document


def _machines(instance: Instance, settings: LogSettings) -> tuple[Machine, ...]:
    nodes = instance.cluster.nodes
    clocks = itertools.cycle(settings.ghz)
    random = np.random.default_rng([settings.seed, 1])
    skews = random.integers(-settings.skew, settings.skew + 1, len(nodes)).tolist()
    return tuple(Machine(n.id, ghz, s) for n, ghz, s in zip(nodes, clocks, skews, strict=False))


@dataclass(slots=True)
class _Running:
    """A topology while it is simulated."""

    scene: Scene
    draws: Draws
    totals: Totals
    lives: Lives
    reports: dict[str, Reports]


def _write(
    simulated: tuple[Scene, ...],
    machines: tuple[Machine, ...],
    settings: LogSettings,
    folder: LogFolder,
) -> dict[str, Any]:
    running = [_running(scene, index, settings) for index, scene in enumerate(simulated)]
    planted = folder.text_file("planted.txt")
    faults = {kind: Faults(kind, settings, folder.append, planted) for kind in settings.kinds}
    _write_chunk(running, faults, 1)
    per_bucket = sum(one.lines for one in faults.values())
    buckets = -(-settings.lines // per_bucket)
    # Clocks that are ahead and late lines come after the last bucket, each by less than that.
    if settings.start + buckets * settings.bucket_seconds + 4 * MOST_SECONDS > LAST_TIME:
        rule = "is too late for that number of lines: they end after the year 9999"
        raise InputError(rule, field="start", value=settings.start)
    for one, begins in zip(running, plan_restarts(simulated, settings, buckets), strict=True):
        one.lives.begins.update(begins)
    most = max(1, VALUES_AT_ONCE // sum(_values(scene) for scene in simulated))
    for first in range(1, buckets, most):
        _write_chunk(running, faults, min(most, buckets - first))
    for planter in faults.values():
        planter.finish()
    said = [(one.scene, one.totals, one.lives) for one in running]
    return truth_document(settings, machines, said, faults, buckets)


def _running(scene: Scene, index: int, settings: LogSettings) -> _Running:
    lives = Lives()
    reports: dict[str, Reports] = {}
    if "storm" in settings.kinds:
        reports["storm"] = StormReports(scene, settings, lives)
    if "json" in settings.kinds:
        reports["json"] = JsonReports(scene, settings)
    draws = Draws(scene, settings, (settings.seed, index))
    return _Running(scene, draws, Totals(scene), lives, reports)


def _values(scene: Scene) -> int:
    """Return about how many values a topology has in a bucket."""
    pairs = (len(scene.of(one.source)) * len(scene.of(one.target)) for one in scene.flows)
    return 20 * len(scene.tasks) + 3 * sum(pairs)


def _write_chunk(running: list[_Running], faults: dict[str, Faults], buckets: int) -> None:
    drawn = [one.draws.draw(buckets) for one in running]
    for one, its in zip(running, drawn, strict=True):
        one.totals.add(its)
    series = [
        (planter, one.reports[kind].reports(its))
        for kind, planter in faults.items()
        for one, its in zip(running, drawn, strict=True)
    ]
    for _ in range(buckets):
        for planter, reports in series:
            for report in next(reports):
                planter.write(report)


class LogFolder:
    """Files that are written side by side, in memory that does not grow with them."""

    def __init__(self, path: Path, stack: ExitStack, compress: bool) -> None:
        self._path = path
        self._stack = stack
        self._compress = compress
        self._open: dict[str, IO[bytes] | gzip.GzipFile] = {}

    def append(self, name: str, text: str) -> None:
        """Append to the log `name` (a path in the folder, without ``.gz``)."""
        if name not in self._open:
            self._open[name] = self._opened(name)
        self._open[name].write(text.encode())

    def text_file(self, name: str) -> IO[str]:
        """Open a file that is never compressed."""
        return self._stack.enter_context((self._path / name).open("w", encoding="utf-8"))

    def _opened(self, name: str) -> IO[bytes] | gzip.GzipFile:
        path = self._path / (f"{name}.gz" if self._compress else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = self._stack.enter_context(path.open("wb", buffering=2**20))
        if not self._compress:
            return raw
        # No name and no time in the header: the same lines make the same bytes.
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=raw, mtime=0)
        self._stack.callback(packed.close)
        return packed


@contextmanager
def new_folder(path: Path, compress: bool) -> Iterator[LogFolder]:
    """Give a folder that becomes `path` when the block ends well, and vanishes otherwise.

    Raises
    ------
    InputError
        When `path` is there and is not an empty folder, or cannot be made.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        rule = "must be a new or empty folder; remove it or choose another `out`"
        raise InputError(rule, field="out", value=str(path))
    temporary = path.resolve().with_name(f".{path.resolve().name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        with ExitStack() as stack:
            yield LogFolder(temporary, stack, compress)
        os.replace(temporary, path.resolve())
    except OSError as error:
        rule = f"cannot be written: {error.strerror or error}"
        raise InputError(rule, field="out", value=str(path)) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
