"""Random draws for buckets of time: tuples, latencies, cpu time and bytes, of known means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotwise.pipeline.simulated_logs.scene import DIGITS, Part, Scene, factor_of
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.traffic import Flow

Counts = NDArray[np.int64]
Reals = NDArray[np.float64]
Input = tuple[str, str]
"""(component, stream) from which tuples come."""

MICROS = 1000
"""Microseconds in a millisecond: cpu time is summed in whole ones."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The activity of a topology in some buckets; the first axis is the bucket.

    Parameters
    ----------
    first, buckets
        The buckets' range.
    emitted
        (component, stream) -> tuples by sender.
    pairs, sizes
        By flow: tuples from each sender to each receiver, and their bytes.
    executed, latency
        By task: input -> tuples, and mean milliseconds of one.
    cpu_us
        By task: cpu time in microseconds.
    memory_mb
        By task: on-heap and off-heap memory in MB.
    """

    first: int
    buckets: int
    emitted: dict[Input, Counts]
    pairs: list[Counts]
    sizes: list[Counts]
    executed: list[dict[Input, Counts]]
    latency: list[dict[Input, Reals]]
    cpu_us: list[Counts]
    memory_mb: list[tuple[Reals, Reals]]

    def handled(self, scene: Scene, task: int) -> Counts:
        """Return the tuples that a task took in, or emitted if it takes in none."""
        one = scene.tasks[task]
        counted = list(self.executed[task].values())
        if one.part.is_source:
            own = (item for item in self.emitted.items() if item[0][0] == one.part.id)
            counted = [counts[:, one.index] for _, counts in own]
        return sum(counted, np.zeros(self.buckets, np.int64))


class Draws:
    """The draws of a topology, bucket after bucket; the same whatever the chunks.

    Each quantity has a generator of its own, so that draws of one do not shift another.
    """

    def __init__(self, scene: Scene, settings: LogSettings, seed: tuple[int, int]) -> None:
        self._scene = scene
        self._settings = settings
        self._seed = seed
        self._generators: dict[tuple[str, ...], np.random.Generator] = {}
        self._next = 0

    def draw(self, buckets: int) -> Drawn:
        """Return the activity in the next buckets."""
        scene = self._scene
        emitted: dict[Input, Counts] = {}
        pairs, sizes = [], []
        for flow in scene.flows:
            key = (flow.source, flow.stream)
            if key not in emitted:
                emitted[key] = self._emitted(flow, buckets)
            pairs.append(self._spread(flow, emitted[key]))
            sizes.append(self._sizes(flow, pairs[-1]))
        for part in scene.parts:
            if part.is_source and not any(flow.source == part.id for flow in scene.flows):
                silent = Flow(part.id, part.id, "none", "default", part.rate, 0.0)
                emitted[part.id, "default"] = self._emitted(silent, buckets)
        executed = [self._executed(task.part, task.index, pairs) for task in scene.tasks]
        latency, cpu = self._costs(emitted, executed, buckets)
        drawn = Drawn(
            self._next,
            buckets,
            emitted,
            pairs,
            sizes,
            executed,
            latency,
            cpu,
            [self._memory(i, buckets) for i in range(len(scene.tasks))],
        )
        self._next += buckets
        return drawn

    def _generator(self, *key: str) -> np.random.Generator:
        if key not in self._generators:
            letters = "\0".join(key).encode()
            self._generators[key] = np.random.default_rng([*self._seed, *letters])
        return self._generators[key]

    def _emitted(self, flow: Flow, buckets: int) -> Counts:
        senders = len(self._scene.of(flow.source))
        mean = flow.rate / senders * self._settings.bucket_seconds
        if self._settings.noise:
            generator = self._generator("emitted", flow.source, flow.stream)
            return generator.poisson(mean, (buckets, senders)).astype(np.int64)
        edges = np.floor(mean * np.arange(self._next, self._next + buckets + 1) + 1e-9)
        return np.repeat(np.diff(edges).astype(np.int64)[:, None], senders, axis=1)

    def _spread(self, flow: Flow, emitted: Counts) -> Counts:
        """Return the tuples from each sender to each receiver, by the grouping."""
        receivers = len(self._scene.of(flow.target))
        shape = (*emitted.shape, receivers)
        if flow.grouping == "all":
            return np.broadcast_to(emitted[:, :, None], shape).copy()
        if flow.grouping == "global":
            counts = np.zeros(shape, np.int64)
            counts[:, :, 0] = emitted
            return counts
        if flow.grouping == "fields" and self._settings.noise:
            generator = self._generator("fields", flow.source, flow.target, flow.stream)
            return generator.multinomial(emitted, np.full(receivers, 1 / receivers)).astype(
                np.int64
            )
        buckets = np.arange(self._next, self._next + len(emitted))
        turn = buckets[:, None, None] + np.arange(shape[1])[None, :, None]
        rank = (np.arange(receivers)[None, None, :] - turn) % receivers
        return emitted[:, :, None] // receivers + (rank < emitted[:, :, None] % receivers)

    def _sizes(self, flow: Flow, pairs: Counts) -> Counts:
        key = ("sizes", flow.source, flow.target, flow.stream)
        factor = self._factor(key, pairs.shape)
        return np.rint(pairs * (flow.bytes * factor)).astype(np.int64)

    def _executed(self, part: Part, index: int, pairs: list[Counts]) -> dict[Input, Counts]:
        executed: dict[Input, Counts] = {}
        for flow, counts in zip(self._scene.flows, pairs, strict=True):
            if flow.target == part.id:
                executed[flow.source, flow.stream] = counts[:, :, index].sum(axis=1)
        return executed

    def _costs(
        self, emitted: dict[Input, Counts], executed: list[dict[Input, Counts]], buckets: int
    ) -> tuple[list[dict[Input, Reals]], list[Counts]]:
        latency: list[dict[Input, Reals]] = []
        cpu: list[Counts] = []
        scene = self._scene
        for task, inputs in zip(scene.tasks, executed, strict=True):
            handled = inputs
            if task.part.is_source:
                own = (one for one in emitted.items() if one[0][0] == task.part.id)
                handled = {key: counts[:, task.index] for key, counts in own}
            after = task.ms(factor_of(scene, task.part, self._settings))
            truth = np.where(self._scaled(buckets), after, task.ms())
            means = {
                key: np.round(truth * self._factor(("ms", task.name, *key), (buckets,)), DIGITS)
                for key in handled
            }
            latency.append(means)
            spent = [np.rint(handled[key] * means[key] * MICROS) for key in handled]
            cpu.append(sum(spent, np.zeros(buckets)).astype(np.int64))
        return latency, cpu

    def _scaled(self, buckets: int) -> NDArray[np.bool_]:
        """Return for each of the next buckets whether the load shift applies to it."""
        begins = np.arange(self._next, self._next + buckets) * self._settings.bucket_seconds
        return np.asarray(begins >= self._settings.scale_from)

    def _memory(self, task: int, buckets: int) -> tuple[Reals, Reals]:
        part = self._scene.tasks[task].part
        key = ("memory", self._scene.tasks[task].name)
        factor = self._factor(key, (buckets,))
        return part.onheap_mb * factor, part.offheap_mb * factor

    def _factor(self, key: tuple[str, ...], shape: tuple[int, ...]) -> Reals:
        """Return lognormal factors of mean 1."""
        noise = self._settings.noise
        if not noise:
            return np.ones(shape)
        return self._generator(*key).lognormal(-noise * noise / 2, noise, shape)
