"""Flux files read by us, and what Nimbus reports after Flux itself has submitted them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from running_storm import CLUSTER, READY, RunningStorm, running_storm

import slotwise

FLUX = CLUSTER.parent / "lib" / "flux-core.jar"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (READY and FLUX.is_file()), reason="needs make storm-cluster storm-jar"),
]
NODE = {"id": "h1", "host": "h1", "rack": "r", "slots": 30,
        "resources": {"cpu": 4000, "memory_mb": 40960}}  # fmt: skip
IDLE = "slotwise.stormcluster.Idle$"


def flux(config: str, *, bolts: str = "", streams: str = "", spout: str = "") -> str:
    """Return a file of a spout and two bolts with additions to each."""
    return f"""name: t
config:
{config or "  topology.acker.executors: 0"}
spouts:
  - id: read
    className: {IDLE}Spout
    parallelism: 2
{spout}
bolts:
  - id: parse
    className: {IDLE}Bolt
    parallelism: 3
{bolts}
  - id: write
    className: {IDLE}Bolt
streams:
  - from: read
    to: parse
    grouping: {{type: SHUFFLE}}
  - from: parse
    to: write
    grouping: {{type: FIELDS, args: [value]}}
{streams}
"""


FILES = {
    "plain": flux(""),
    "loads": flux(
        "",
        spout="    cpuLoad: 25\n    onHeapMemoryLoad: 300",
        bolts="    cpuLoad: 5\n    onHeapMemoryLoad: 100\n    offHeapMemoryLoad: 20",
    ),
    "settings": flux(
        """  topology.acker.executors: 2
  topology.workers: 2
  topology.priority: 5
  topology.worker.max.heap.size.mb: 1024
  topology.max.spout.pending: 50
  topology.component.cpu.pcore.percent: 12
  topology.acker.cpu.pcore.percent: 3"""
    ),
    "groupings": flux(
        "",
        streams="""  - from: read
    to: write
    grouping: {type: GLOBAL}
  - from: write
    to: parse
    grouping: {type: LOCAL_OR_SHUFFLE}
  - from: parse
    to: parse
    grouping: {type: ALL}""",
    ),
    "a bolt left out": flux("", bolts=f"  - id: lonely\n    className: {IDLE}Bolt"),
    "fewer tasks": flux("  topology.acker.executors: 0\n  topology.max.task.parallelism: 2"),
    "system tasks": flux(
        """  topology.acker.executors: 1
  topology.eventlogger.executors: 2
  topology.metrics.consumer.cpu.pcore.percent: 7
  topology.metrics.consumer.register:
    - class: org.apache.storm.metric.LoggingMetricsConsumer
      parallelism.hint: 1
    - class: org.apache.storm.metric.LoggingMetricsConsumer
      parallelism.hint: 3"""
    ),
    "more executors than tasks": flux("", bolts="    numTasks: 1"),
    "a stream twice": flux(
        "", streams="  - from: read\n    to: parse\n    grouping: {type: FIELDS, args: [value]}"
    ),
    "a file that includes itself": flux("") + "includes:\n  - file: t.yaml\n",
    "all that Flux has": flux(
        "",
        bolts="    properties: []\n    configMethods: []",
        streams="""  - from: read
    to: write
    name: any
    grouping: {type: SHUFFLE, streamId: default}
components: []
workerHooks: []""",
    ),
}
REFUSED = {
    "of a topology": flux("") + "odd: 1\n",
    "of a spout": flux("", spout="    paralelism: 2"),
    "settings of a bolt": flux("", bolts="    config: {topology.tasks: 2}"),
    "of a stream": flux(
        "", streams="  - from: read\n    to: write\n    odd: 1\n    grouping: {type: SHUFFLE}"
    ),
    "of a grouping": flux(
        "", streams="  - from: read\n    to: write\n    grouping: {type: SHUFFLE, stream: x}"
    ),
    "of an include": flux("") + "includes:\n  - file: t.yaml\n    overide: true\n",
}
"""Keys that Flux does not have."""


@pytest.fixture(scope="module")
def storm() -> Iterator[RunningStorm]:
    with running_storm([NODE]) as running:
        yield running


@pytest.mark.parametrize("name", FILES)
def test_nimbus_reports_what_we_read(storm: RunningStorm, name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    # One name for each file: a cluster holds a name once.
    topology = f"t{list(FILES).index(name)}"
    text = FILES[name].replace("name: t", f"name: {topology}")
    path.write_text(text.replace("file: t.yaml", f"file: {path}"))  # Flux looks where it runs
    ours = slotwise.import_storm(
        [path, "h1=" + str(Path("docs/examples/storm.yaml").absolute())]
    ).instance.topologies[0]
    storm.ask({"flux": str(path)})
    found = {one.id: one for one in storm.settled().topologies}[topology]
    # Only a running topology has these.
    found = replace(found, owner="", launch_time=0)
    if found.ackers is not None:
        # How many ackers go with a worker, Nimbus estimates when a topology is submitted.
        found = replace(found, ackers=replace(found.ackers, per_worker=1))
    assert sorted(found.components, key=str) == sorted(ours.components, key=str)
    assert sorted(found.streams, key=str) == sorted(ours.streams, key=str)
    assert replace(found, components=(), streams=()) == replace(ours, components=(), streams=())


@pytest.mark.parametrize("name", REFUSED)
def test_a_key_that_flux_does_not_have(storm: RunningStorm, name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(REFUSED[name])
    with pytest.raises(slotwise.InputError, match="unknown key"):
        slotwise.import_storm(path)
    with pytest.raises(AssertionError, match="error"):
        storm.ask({"flux": str(path)})
