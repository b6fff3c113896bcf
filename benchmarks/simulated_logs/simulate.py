"""Simulates a placed instance and writes its logs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slotwise.benchmarks.simulated_logs.draws import Drawn, Draws
from slotwise.benchmarks.simulated_logs.faults import Faults
from slotwise.benchmarks.simulated_logs.folder import LogFolder, new_folder
from slotwise.benchmarks.simulated_logs.json_lines import JsonReports
from slotwise.benchmarks.simulated_logs.scene import Machine, Scene, scenes
from slotwise.benchmarks.simulated_logs.settings import LogSettings
from slotwise.benchmarks.simulated_logs.storm_lines import StormReports
from slotwise.benchmarks.simulated_logs.truth import Totals, truth_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement

VALUES_AT_ONCE = 200_000
"""About as many values are drawn and held at a time."""

Reports = StormReports | JsonReports
REPORTS: dict[str, type[StormReports] | type[JsonReports]] = {
    "storm": StormReports,
    "json": JsonReports,
}


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
    found = scenes(instance, placement, machines, settings)
    with new_folder(out, settings.gzip) as folder:
        document = _write(found, machines, settings, folder)
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
    reports: dict[str, Reports]

    def lines(self, kind: str, drawn: Drawn) -> Iterator[Any]:
        """Return the reports of a kind, bucket by bucket."""
        return self.reports[kind].reports(drawn)


def _write(
    found: tuple[Scene, ...],
    machines: tuple[Machine, ...],
    settings: LogSettings,
    folder: LogFolder,
) -> dict[str, Any]:
    running = [
        _Running(
            scene,
            Draws(scene, settings, np.random.SeedSequence([settings.seed, index])),
            Totals(scene),
            {kind: REPORTS[kind](scene, settings) for kind in settings.kinds},
        )
        for index, scene in enumerate(found)
    ]
    planted = folder.text_file("planted.txt")
    faults = {
        kind: Faults(kind, settings, folder.append, planted, [scene.name for scene in found])
        for kind in settings.kinds
    }
    buckets = 0
    while sum(one.lines for one in faults.values()) < settings.lines:
        written = sum(one.lines for one in faults.values())
        chunk = _chunk(running, buckets, written, settings.lines)
        _write_chunk(running, faults, chunk)
        buckets += chunk
    for one in faults.values():
        one.finish()
    return truth_document(
        settings, machines, [(one.scene, one.totals) for one in running], faults, buckets
    )


def _chunk(running: list[_Running], buckets: int, written: int, lines: int) -> int:
    """Return how many buckets to draw next: none beyond the one that reaches `lines`."""
    if not buckets:
        return 1
    per_bucket = written // buckets
    slots = sum(
        len(one.scene.tasks) * 20 + sum(_pairs(one.scene, i) for i in range(len(one.scene.flows)))
        for one in running
    )
    return max(1, min(VALUES_AT_ONCE // slots, -(-(lines - written) // per_bucket)))


def _pairs(scene: Scene, flow: int) -> int:
    one = scene.flows[flow]
    return 3 * len(scene.of(one.source)) * len(scene.of(one.target))


def _write_chunk(running: list[_Running], faults: dict[str, Faults], buckets: int) -> None:
    drawn = [one.draws.draw(buckets) for one in running]
    for one, its in zip(running, drawn, strict=True):
        one.totals.add(its)
    for kind, planter in faults.items():
        series = [one.lines(kind, its) for one, its in zip(running, drawn, strict=True)]
        for rows in zip(*series, strict=True):
            for _, reports in rows:
                for report in reports:
                    planter.write(report)
