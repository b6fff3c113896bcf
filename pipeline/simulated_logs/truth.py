"""What a reader of the logs should find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from slotwise.pipeline.simulated_logs.draws import MICROS, Drawn
from slotwise.pipeline.simulated_logs.faults import Faults
from slotwise.pipeline.simulated_logs.restarts import Lives
from slotwise.pipeline.simulated_logs.scene import Machine, Part, Scene, factor_of
from slotwise.pipeline.simulated_logs.settings import LogSettings

KIB = 1024


class Totals:
    """What was written of a topology, summed."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        parts = [part.id for part in scene.parts]
        self.tuples = dict.fromkeys(parts, 0)
        self.cpu_us = dict.fromkeys(parts, 0)
        self.emitted = dict.fromkeys(parts, 0)
        self.flow_tuples = [0] * len(scene.flows)
        self.flow_bytes = [0] * len(scene.flows)

    def add(self, drawn: Drawn) -> None:
        """Add what happened in some buckets."""
        sources = {part.id for part in self._scene.parts if part.is_source}
        for (component, _), counts in drawn.emitted.items():
            self.emitted[component] += int(counts.sum())
            if component in sources:
                self.tuples[component] += int(counts.sum())
        for task, inputs, cpu in zip(self._scene.tasks, drawn.executed, drawn.cpu_us, strict=True):
            self.tuples[task.part.id] += sum(int(counts.sum()) for counts in inputs.values())
            self.cpu_us[task.part.id] += int(cpu.sum())
        for index, (pairs, sizes) in enumerate(zip(drawn.pairs, drawn.sizes, strict=True)):
            self.flow_tuples[index] += int(pairs.sum())
            self.flow_bytes[index] += int(sizes.sum())


def truth_document(
    settings: LogSettings,
    machines: Sequence[Machine],
    simulated: Sequence[tuple[Scene, Totals, Lives]],
    faults: Mapping[str, Faults],
    buckets: int,
) -> dict[str, Any]:
    """Return the content of ``truth.json``."""
    said = {scene.name: _topology(scene, totals, settings) for scene, totals, _ in simulated}
    return {
        "format": "slotwise.log-truth/1",
        "settings": asdict(settings),
        "reference_ghz": settings.ghz[0],
        "buckets": buckets,
        "seconds": buckets * settings.bucket_seconds,
        "nodes": {one.id: {"ghz": one.ghz, "skew_s": one.skew} for one in machines},
        "topologies": said,
        "lines": {kind: one.lines for kind, one in faults.items()},
        "written": {kind: one.lines + one.extra for kind, one in faults.items()},
        "faults": {kind: dict(one.counts) for kind, one in faults.items()},
        "restarts": [
            row for scene, _, lives in simulated for row in _restarts(scene, lives, settings)
        ],
        "fallen_totals": dict(sum((lives.fallen for _, _, lives in simulated), Counter[str]())),
    }


def _restarts(scene: Scene, lives: Lives, settings: LogSettings) -> list[dict[str, Any]]:
    return [
        {
            "topology": scene.name,
            "node": machine.id,
            "port": port,
            "time": settings.start + bucket * settings.bucket_seconds,
        }
        for (machine, port), buckets in lives.begins.items()
        for bucket in buckets
    ]


def _topology(scene: Scene, totals: Totals, settings: LogSettings) -> dict[str, Any]:
    return {
        "storm_id": scene.id,
        "tasks": {
            task.name: {
                "storm_task": task.number,
                "component": task.part.id,
                "node": task.machine.id,
                "port": task.port,
                "ms_per_tuple": task.ms(),
            }
            for task in scene.tasks
        },
        "components": {part.id: _component(part, totals, scene, settings) for part in scene.parts},
        "streams": [
            {
                "from": flow.source,
                "to": flow.target,
                "grouping": flow.grouping,
                "stream": flow.stream,
                "tuples_per_s": flow.rate,
                "tuple_bytes": flow.bytes,
                "kib_per_tuple": flow.bytes / KIB,
                "totals": {"tuples": tuples, "bytes": sizes},
            }
            for flow, tuples, sizes in zip(
                scene.flows, totals.flow_tuples, totals.flow_bytes, strict=True
            )
        ],
    }


def _component(part: Part, totals: Totals, scene: Scene, settings: LogSettings) -> dict[str, Any]:
    emitted = {flow.stream: flow.rate for flow in scene.flows if flow.source == part.id}
    cost = part.ghz_ms / settings.ghz[0]
    per_task = part.rate / part.tasks
    return {
        "tasks": part.tasks,
        "ghz_ms_per_tuple": part.ghz_ms,
        "ms_per_tuple": cost,
        "tuples_per_s": part.rate,
        "emits_per_tuple": sum(emitted.values()) / part.rate if part.rate else 0.0,
        "cpu_points": per_task * cost / 10,
        "factor_after_shift": factor_of(scene, part, settings),
        "onheap_mb": part.onheap_mb,
        "offheap_mb": part.offheap_mb,
        "totals": {
            "tuples": totals.tuples[part.id],
            "emitted": totals.emitted[part.id],
            "cpu_ms": totals.cpu_us[part.id] / MICROS,
        },
    }
