"""The plain JSON lines: what a task did, and what one task sent to another."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from slotwise.benchmarks.simulated_logs.draws import MICROS, Drawn
from slotwise.benchmarks.simulated_logs.report import HEAD, Report
from slotwise.benchmarks.simulated_logs.scene import Machine, Scene
from slotwise.benchmarks.simulated_logs.settings import LogSettings


@dataclass(slots=True)
class _Lines:
    """The lines of a node with places for values, and the values by column."""

    text: list[str] = field(default_factory=list)
    columns: list[list[Any]] = field(default_factory=list)

    def add(self, fixed: dict[str, Any], places: str, *columns: Any) -> None:
        """Add a line of fixed keys and of `places` for the columns."""
        known = json.dumps(fixed, ensure_ascii=False)[1:-1].replace("%", "%%")
        self.text.append(f"{HEAD}{known}, {places}}}\n")
        self.columns += [list(one.tolist()) for one in columns]


class JsonReports:
    """The reports of the nodes that a topology runs on, bucket by bucket."""

    def __init__(self, scene: Scene, settings: LogSettings) -> None:
        self._scene = scene
        self._settings = settings

    def reports(self, drawn: Drawn) -> Iterator[list[Report]]:
        """Yield the reports of each bucket."""
        by_node = self._lines(drawn)
        rows = [zip(*lines.columns, strict=True) for lines in by_node.values()]
        templates = ["".join(lines.text) for lines in by_node.values()]
        sizes = [len(lines.text) for lines in by_node.values()]
        for bucket in range(drawn.first, drawn.first + drawn.buckets):
            yield [
                self._report(bucket, i, machine, templates[i] % next(rows[i]), sizes[i])
                for i, machine in enumerate(by_node)
            ]

    def _lines(self, drawn: Drawn) -> dict[Machine, _Lines]:
        scene = self._scene
        found = {task.machine: _Lines() for task in scene.tasks}
        named = {"topology": scene.name}
        for i, task in enumerate(scene.tasks):
            fixed: dict[str, Any] = {
                "task": task.name,
                "component": task.part.id,
                "node": task.machine.id,
            }
            fixed |= {"worker": task.port, "ghz": task.machine.ghz}
            spent = drawn.cpu_us[i] / MICROS
            shape = '"cpu_ms": %r, "tuples": %d'
            found[task.machine].add(named | fixed, shape, spent, drawn.handled(scene, i))
        for index, flow in enumerate(scene.flows):
            senders, receivers = scene.of(flow.source), scene.of(flow.target)
            for s, r in itertools.product(range(len(senders)), range(len(receivers))):
                if flow.grouping == "global" and r:
                    continue
                sender, receiver = scene.tasks[senders[s]], scene.tasks[receivers[r]]
                ends = {"from": sender.name, "to": receiver.name, "node": sender.machine.id}
                tuples, sizes = drawn.pairs[index][:, s, r], drawn.sizes[index][:, s, r]
                lines = found[sender.machine]
                lines.add(named | ends, '"tuples": %d, "bytes": %d', tuples, sizes)
        return found

    def _report(self, bucket: int, index: int, machine: Machine, body: str, lines: int) -> Report:
        settings = self._settings
        seconds = (bucket + 1) * settings.bucket_seconds
        time = (settings.start + seconds + machine.skew) * 1000
        path = f"tuples-{(index + bucket) % settings.files}.jsonl"
        rest = f'"time": {time}, '
        return Report(path, seconds * 1000 + index % 97, self._prefix, body, rest, lines)

    def _prefix(self, ms: int) -> str:
        return f'{{"received": {self._settings.start * 1000 + ms}, '
