"""Instances from Flux files, ``storm.yaml``, pools and racks, and a Nimbus that misbehaves."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import EXAMPLES

import slotwise
from slotwise.models.importers import nimbus
from slotwise.models.importers.storm_cluster import constraints_between
from slotwise.models.importers.storm_settings import (
    Conf,
    demands_of,
    refuse_unknown,
    scheduler_of,
    strategy_of,
)

HEAD = "name: t\nconfig: {topology.acker.executors: 0}\n"
SPOUTS = "spouts: [{id: a, className: A, parallelism: 2}]\n"
BOLTS = "bolts: [{id: b, className: B, parallelism: 3}]\n"
STREAM = "streams: [{from: a, to: b, grouping: {type: SHUFFLE}}]\n"
FLUX = HEAD + SPOUTS + BOLTS + STREAM
NODE = "h1=" + str(EXAMPLES / "storm.yaml")


def imported(text: str, tmp_path: Path, **settings: Any) -> slotwise.Topology:
    path = tmp_path / "t.yaml"
    path.write_text(text)
    (topology,) = slotwise.import_storm([path, NODE], **settings).instance.topologies
    return topology


def refused(text: str, tmp_path: Path, **settings: Any) -> str:
    with pytest.raises(slotwise.InputError) as error:
        imported(text, tmp_path, **settings)
    assert "\n" not in str(error.value)
    return str(error.value)


def counts(topology: slotwise.Topology) -> dict[str, int]:
    return {one.id: one.parallelism for one in topology.placed_components}


def test_a_flux_file(tmp_path: Path) -> None:
    topology = imported(FLUX, tmp_path)
    assert counts(topology) == {"a": 2, "b": 3}
    assert topology.streams == (slotwise.Stream("a", "b", "shuffle"),)
    assert topology.components[0].resources == {"cpu": 10, "onheap_mb": 128, "offheap_mb": 0}
    assert (topology.priority, topology.worker_max_heap_mb) == (29, 768)
    assert topology.ackers is None


@pytest.mark.parametrize(
    ("written", "grouping"),
    [
        ("SHUFFLE", "shuffle"),
        ("LOCAL_OR_SHUFFLE", "local_or_shuffle"),
        ("FIELDS, args: [x]", "fields"),
        ("ALL", "all"),
        ("GLOBAL", "global"),
        ("DIRECT", "direct"),
        ("NONE", "none"),
        ("CUSTOM, customClass: {className: C}", "custom"),
    ],
)
def test_groupings_of_flux(written: str, grouping: str, tmp_path: Path) -> None:
    topology = imported(FLUX.replace("SHUFFLE", written), tmp_path)
    assert topology.streams[0].grouping == grouping


@pytest.mark.parametrize(
    ("bolt", "executors", "resources"),
    [
        ("", 1, {"cpu": 10, "onheap_mb": 128, "offheap_mb": 0}),
        ("parallelism: 4, numTasks: 2", 2, {"cpu": 10}),
        ("parallelism: 2, numTasks: 8", 2, {"cpu": 10}),
        ("cpuLoad: 35", 1, {"cpu": 35}),
        ("cpuLoad: 0", 1, {"cpu": 0}),
        ("onHeapMemoryLoad: 300", 1, {"onheap_mb": 300, "offheap_mb": 0}),
        ("onHeapMemoryLoad: 300, offHeapMemoryLoad: 50", 1, {"onheap_mb": 300, "offheap_mb": 50}),
        # Flux sets off-heap memory together with on-heap memory only.
        ("offHeapMemoryLoad: 50", 1, {"onheap_mb": 128, "offheap_mb": 0}),
    ],
)
def test_loads_of_flux(
    bolt: str, executors: int, resources: dict[str, int], tmp_path: Path
) -> None:
    bolts = f"bolts: [{{id: b, className: B, {bolt}}}]\n"
    found = imported(HEAD + SPOUTS + bolts + STREAM, tmp_path).components[1]
    assert found.parallelism == executors
    assert resources.items() <= dict(found.resources).items()


def test_settings_of_flux(tmp_path: Path) -> None:
    config = """config:
  topology.acker.executors: 2
  topology.acker.cpu.pcore.percent: 5
  topology.workers: 3
  topology.priority: 7
  topology.worker.max.heap.size.mb: 512.5
  topology.max.spout.pending: 100
  topology.ras.one.executor.per.worker: true
  topology.scheduler.strategy: org.apache.storm.scheduler.ConstraintSolverStrategy
  topology.ras.constraints: {b: {maxNodeCoLocationCnt: 1, incompatibleComponents: [a, gone]}}
  topology.component.resources.onheap.memory.mb: 200
  topology.component.resources.map: {gpu.count: 1}
  topology.scheduler.favored.nodes: [h1]
"""
    topology = imported("name: t\n" + config + SPOUTS + BOLTS + STREAM, tmp_path)
    assert topology.ackers is not None
    assert (topology.ackers.count, topology.ackers.resources["cpu"]) == (2, 5)
    assert (topology.workers, topology.priority, topology.window) == (3, 7, 100)
    assert topology.worker_max_heap_mb == Decimal("512.5")
    assert topology.one_task_per_worker
    assert topology.strategy == "ras-constraint-solver"
    assert topology.constraints == slotwise.Constraints((("b", "a"),), {"b": 1})
    assert topology.favored_nodes == ("h1",)
    assert topology.components[0].resources == {
        "cpu": 10, "onheap_mb": 200, "offheap_mb": 0, "gpu.count": 1,
    }  # fmt: skip


def test_properties_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A property ends at the last brace of its line, so each has a line of its own.
    text = FLUX.replace("parallelism: 2", "parallelism:\n ${ENV-TASKS}\n").replace(
        "parallelism: 3", "parallelism:\n ${bolt.tasks}\n"
    )
    assert "line 4" in refused(text, tmp_path)
    monkeypatch.setenv("TASKS", "4")
    message = refused(text, tmp_path)
    assert "line 7" in message
    assert "${bolt.tasks}" in message
    topology = imported(text, tmp_path, properties={"bolt.tasks": "5"})
    assert counts(topology) == {"a": 4, "b": 5}
    listed = FLUX.replace("{id: b", "{id: b, factory: ${names[1]}")
    imported(listed, tmp_path, properties=['names=["p", "q"]'])
    assert "${names[1]}" in refused(listed, tmp_path, properties={"names": '["p"]'})


@pytest.mark.parametrize(("override", "executors"), [("false", 3), ("true", 9)])
def test_includes(override: str, executors: int, tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "name: other\n"
        "bolts: [{id: b, parallelism: 9}, {id: c, parallelism: 1}]\n"
        "streams: [{from: b, to: c, grouping: {type: ALL}}]\n"
    )
    include = f"includes: [{{resource: false, file: part.yaml, override: {override}}}]\n"
    topology = imported(FLUX + include, tmp_path)
    assert topology.id == ("other" if override == "true" else "t")
    assert counts(topology) == {"a": 2, "b": executors, "c": 1}
    assert [one.target for one in topology.streams] == ["b", "c"]


def test_a_bolt_without_a_stream_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(FLUX.replace("bolts: [", "bolts: [{id: lonely}, "))
    found = slotwise.import_storm([path, NODE])
    assert counts(found.instance.topologies[0]) == {"a": 2, "b": 3}
    assert any("lonely" in line for line in found.ignored)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (FLUX.replace("name: t\n", ""), "name"),
        (FLUX.replace("from: a", "from: z"), "streams[0].from = 'z'"),
        (FLUX.replace("to: b", "to: a"), "streams[0].to = 'a'"),
        (FLUX.replace("SHUFFLE", "RANDOM"), "RANDOM"),
        (FLUX.replace(", grouping: {type: SHUFFLE}", ""), "grouping"),
        (FLUX.replace("grouping: {type: SHUFFLE}", "grouping: {}"), "type"),
        (FLUX.replace("parallelism: 2", "parallelism: 0"), "parallelism = 0"),
        (FLUX.replace("parallelism: 2", "parallelism: two"), "parallelism"),
        (FLUX.replace("id: a,", ""), "id"),
        (FLUX.replace("executors: 0", "executors: -1"), "topology.acker.executors"),
        (FLUX.replace("bolts: [", "bolts: [{id: l}, ").replace("from: a", "from: l"), "leads"),
        ("name: t\ntopologySource: {className: X}\n", "topologySource"),
        (FLUX + "includes: [{resource: true, file: /x.yaml}]\n", "jar"),
        (FLUX + "includes: [{file: missing.yaml}]\n", "missing.yaml"),
        (FLUX.replace("config: {", "config: {topology.ras.new.rule: 1, "), "topology.ras.new.rule"),
        (
            FLUX.replace("config: {", "config: {topology.scheduler.strategy: com.x.Mine, "),
            "strategy",
        ),
        (FLUX + "spouts: [\n", "t.yaml"),
    ],
)
def test_broken_flux_files(text: str, part: str, tmp_path: Path) -> None:
    assert part in refused(text, tmp_path)


def test_the_tasks_of_a_topology_limit_its_executors(tmp_path: Path) -> None:
    config = "config: {topology.acker.executors: 0, topology.tasks: 2}\n"
    topology = imported(FLUX.replace(HEAD.split("\n")[1] + "\n", config), tmp_path)
    assert counts(topology) == {"a": 2, "b": 2}


def test_ackers_and_consumers_have_defaults_of_their_own() -> None:
    """Whatever the defaults of components are: Storm merges its own file into the settings."""
    conf = {"topology.component.cpu.pcore.percent": 50}
    conf |= {"topology.component.resources.onheap.memory.mb": 512}
    own = {"cpu": 10, "onheap_mb": 128, "offheap_mb": 0}
    assert demands_of("__acker", {}, conf) == demands_of("__metrics_c", {}, conf) == own
    assert demands_of("a", {}, conf) == {"cpu": 50, "onheap_mb": 512, "offheap_mb": 0}
    stated = {"topology.acker.cpu.pcore.percent": 20}
    assert demands_of("__acker", {}, conf | stated) == own | {"cpu": 20}


def rate(count: int, executors: int, **grouping: bool) -> Decimal | None:
    """The rate of a stream by which each executor received `count` tuples in ten minutes."""
    kinds = {at: (None, name) for at, name in enumerate(("shuffle", "all"))}
    grouped = SimpleNamespace(thrift_spec=kinds, shuffle=None, all=None)
    vars(grouped).update(grouping)
    stream = SimpleNamespace(componentId="s", streamId="default")
    common = SimpleNamespace(inputs=FrozenItems([(stream, grouped)]))
    bolt = SimpleNamespace(executed={"600": FrozenItems([(stream, count)])})
    stats = SimpleNamespace(specific=SimpleNamespace(bolt=bolt))
    executor = SimpleNamespace(component_id="b", uptime_secs=601, stats=stats)
    (one,) = nimbus._streams({"b": ("bolt", common)}, [executor] * executors)
    return one.rate


class FrozenItems:
    """A map of thrift's, whose keys need not be hashable."""

    def __init__(self, items: list[tuple[Any, Any]]) -> None:
        self._items = items

    def items(self) -> list[tuple[Any, Any]]:
        return self._items


def test_rates_of_a_running_storm() -> None:
    """Each executor of a stream grouped `all` receives every tuple, and counts are of 600 s."""
    assert rate(6000, 4, shuffle=True) == 40
    assert rate(6000, 4, all=True) == 10
    assert rate(20, 1, shuffle=True) == Decimal("0.033333")
    assert rate(20, 3, all=True) == Decimal("0.033333")


def settings_file(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_scheduler_s_settings_of_several_files(tmp_path: Path) -> None:
    fifo = "org.apache.storm.scheduler.resource.strategies.priority.FIFOSchedulingPriorityStrategy"
    one = settings_file(tmp_path, "w.yaml", f"resource.aware.scheduler.priority.strategy: {fifo}\n")
    least = "storm.worker.min.cpu.pcore.percent"
    two = "h2=" + settings_file(tmp_path, "s.yaml", f"{least}: 50\nsupervisor.cpu.capacity: 100\n")
    for sources in ([one, two], [two, one]):
        scheduler = slotwise.import_storm(sources).instance.scheduler
        assert (scheduler.worker_min_cpu, scheduler.priority_strategy) == (50, "fifo")
    other = settings_file(tmp_path, "o.yaml", f"{least}: 60\n")
    with pytest.raises(slotwise.InputError, match=f"{least} = 60: is stated twice, differently"):
        slotwise.import_storm([two, other])


@pytest.mark.parametrize(("ports", "slots"), [("[]", 0), ("[6700, 6700]", 1), ("null", 4)])
def test_slots_of_a_supervisor(ports: str, slots: int, tmp_path: Path) -> None:
    file = settings_file(tmp_path, "s.yaml", f"supervisor.slots.ports: {ports}\n")
    (node,) = slotwise.import_storm(["h1=" + file]).instance.cluster.nodes
    assert node.slots == slots


def test_a_host_is_a_name(tmp_path: Path) -> None:
    text = "supervisor.cpu.capacity: 100\nstorm.local.hostname: {a: 1}\n"
    with pytest.raises(slotwise.InputError, match=r"storm\.local\.hostname = .*: must be a name"):
        slotwise.import_storm([settings_file(tmp_path, "s.yaml", text)])


def test_nodes_racks_and_pools() -> None:
    found = slotwise.import_storm(
        ["h1,h2=" + str(EXAMPLES / "storm.yaml"), EXAMPLES / "clicks.flux.yaml"],
        racks={"h1": "r1", "h2": "r2", "h3": "r2"},
        properties={"PRIORITY": "1"},
    )
    nodes = found.instance.cluster.nodes
    assert [(n.id, n.rack, n.slots) for n in nodes] == [("h1", "r1", 4), ("h2", "r2", 4)]
    assert nodes[0].resources == {"cpu": 400, "memory_mb": 4096}
    assert found.instance.scheduler.pools == {"ann": {"cpu": 200, "memory_mb": 2048}}
    assert found.assumed == ()
    assert found.ignored == ("rack of h3: no supervisor",)
    with pytest.raises(slotwise.InputError, match="h2"):
        slotwise.import_storm(["h1,h2=" + str(EXAMPLES / "storm.yaml")], racks={"h1": "r1"})


def test_what_a_supervisor_s_file_lacks_is_storm_s_default(tmp_path: Path) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text("supervisor.xcpu.capacity: 1600\nsupervisor.slots.ports: [6700]\n")
    found = slotwise.import_storm([f"h1={path}", EXAMPLES / "clicks.flux.yaml"],
                                  properties={"PRIORITY": "1"})  # fmt: skip
    assert f"{path}: supervisor.cpu.capacity is 400, Storm's default" in found.assumed
    assert not any("slots.ports" in line for line in found.assumed)


@pytest.mark.parametrize(("ackers", "window"), [("0", None), ("1", 5), ("null", 5)])
def test_without_ackers_there_is_no_window(ackers: str, window: int | None, tmp_path: Path) -> None:
    conf = f"topology.max.spout.pending: 5, topology.acker.executors: {ackers}"
    text = FLUX.replace("topology.acker.executors: 0", "topology.priority: 1")
    assert imported(text.replace("config: {", f"config: {{{conf}, "), tmp_path).window == window


def test_a_secret_goes_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "storm.yaml"
    path.write_text(
        "supervisor.cpu.capacity: 100\nstorm.local.hostname: h\n"
        "storm.zookeeper.superACL: hunter2\nui.password: hunter2\n"
    )
    found = slotwise.import_storm([path])
    slotwise.write_instance(tmp_path / "i.json", found.instance)
    assert "hunter2" not in (tmp_path / "i.json").read_text() + repr(found)


DEFAULTS: Conf = {}


@pytest.mark.parametrize(
    ("component", "own", "conf", "expected"),
    [
        ("b", {}, {}, (10, 128, 0)),
        ("b", {"topology.component.cpu.pcore.percent": 50}, {}, (50, 128, 0)),
        # A component's map goes before its older settings, and these before the topology's.
        (
            "b",
            {
                "topology.component.cpu.pcore.percent": 50,
                "topology.component.resources.map": {"cpu.pcore.percent": 60.5},
            },
            {"topology.component.resources.map": {"cpu.pcore.percent": 70, "onheap.memory.mb": 9}},
            (Decimal("60.5"), 9, 0),
        ),
        ("__acker", {}, {"topology.acker.cpu.pcore.percent": 5}, (5, 128, 0)),
        ("b", {}, {"topology.acker.cpu.pcore.percent": 5}, (10, 128, 0)),
        (
            "__metrics_x",
            {},
            {"topology.metrics.consumer.resources.onheap.memory.mb": 64},
            (10, 64, 0),
        ),
    ],
)
def test_demands(component: str, own: Conf, conf: Conf, expected: tuple[Any, ...]) -> None:
    found = demands_of(component, own, conf)
    assert (found["cpu"], found["onheap_mb"], found["offheap_mb"]) == expected


def test_settings_that_change_a_placement_are_known_or_refused() -> None:
    refuse_unknown({"topology.debug": True, "ui.port": 1, "topology.ras.constraints": None})
    for name in ("topology.ras.x", "topology.scheduler.x", "resource.aware.scheduler.x"):
        refuse_unknown({name: None})
        with pytest.raises(slotwise.InputError, match=name):
            refuse_unknown({name: 1})
    with pytest.raises(slotwise.InputError, match=r"storm\.scheduler"):
        refuse_unknown({"storm.scheduler": "org.apache.storm.scheduler.IsolationScheduler"})


def test_a_scheduler_of_round_robin_has_no_strategy() -> None:
    assert strategy_of({"storm.scheduler": None}) is None
    assert strategy_of({}) == "ras-default"
    planned = {
        "topology.scheduler.strategy": "slotwise.storm.PlannedStrategy",
        "slotwise.strategy": "x.GenericResourceAwareStrategy",
    }
    assert strategy_of(planned) == "ras-generic"


def test_a_priority_strategy_of_one_s_own_is_refused() -> None:
    with pytest.raises(slotwise.InputError, match="Mine"):
        scheduler_of({"resource.aware.scheduler.priority.strategy": "com.x.Mine"})


def test_constraints_in_the_older_spelling() -> None:
    found = constraints_between({"a", "b"}, (("a", "b"), ("a", "z")), ["b"])
    assert found == slotwise.Constraints((("a", "b"),), {"b": 1})


@pytest.mark.parametrize(
    "setting",
    [
        "topology.ras.constraints: {b: 1}",
        "topology.ras.constraints: [[a]]",
        "topology.ras.constraints: 3",
        "topology.component.resources.map: 5",
        "topology.component.resources.map: {x: y}",
        "topology.scheduler.favored.nodes: 3",
        "topology.spread.components: 4",
        "topology.tasks: x",
        "topology.max.task.parallelism: 0",
        "topology.metrics.consumer.register: [{}]",
        "supervisor.slots.ports: 3",
        "supervisor.resources.map: 3",
        "resource.aware.scheduler.user.pools: {a: 3}",
        "resource.aware.scheduler.user.pools: {a: {cpus: 3}}",
        "topology.priority: high",
        'topology.ras.one.component.per.worker: "false"',
        'topology.ras.one.executor.per.worker: "false"',
        "topology.ras.order.executors.by.proximity.needs: 1",
        "topology.workers: 0",
    ],
)
def test_settings_of_another_shape_end_in_one_line(setting: str, tmp_path: Path) -> None:
    message = refused(FLUX.replace("config: {", f"config: {{{setting}, "), tmp_path)
    assert setting.partition(":")[0] in message


@contextmanager
def answering(answer: bytes | None, every_s: float = 0) -> Iterator[str]:
    """Yield the address of a server that answers anything with these bytes, or never.

    With `every_s` it sends one byte after the other, with as many seconds in between.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def serve() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            kept.append(connection)
            if answer is not None:
                connection.recv(100)
                try:
                    for part in answer if every_s else ():
                        connection.sendall(bytes([part]))
                        time.sleep(every_s)
                    connection.sendall(b"" if every_s else answer)
                except OSError:
                    return
                connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"nimbus://127.0.0.1:{server.getsockname()[1]}"
        for one in kept:
            one.close()
    thread.join(1)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x50",  # an alert of TLS
        b"\x00\x00\x00\x04abcd",
        b"\x00\x00\x00\x00",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff" + bytes(100),
        b"\x00\x00\x00\x20" + b"\x80\x01\x00\x02\x00\x00\x00\x7f" + bytes(24),
    ],
)
def test_a_nimbus_that_hangs_or_answers_garbage(answer: bytes | None) -> None:
    pytest.importorskip("thriftpy2")
    with answering(answer) as address, pytest.raises(slotwise.InputError) as error:
        slotwise.import_storm(address, timeout_s=0.5)
    expected = "has not answered after 0.5 s" if answer is None else "does not answer as a Nimbus"
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_an_answer_that_trickles_ends_at_the_time_limit() -> None:
    pytest.importorskip("thriftpy2")
    begin = time.monotonic()
    with (
        answering(b"\x00\x00\x10\x00" + bytes(100), every_s=0.2) as address,
        pytest.raises(slotwise.InputError, match=r"has not answered after 0\.5 s"),
    ):
        slotwise.import_storm(address, timeout_s=0.5)
    assert time.monotonic() - begin < 10  # it sends for 20 s


@pytest.mark.parametrize(
    "address",
    [
        "nimbus://",
        "nimbus://h:0",
        "nimbus://h:99999",
        "nimbus+tls://h:1",
        "http://h",
        "nimbus://[::1",
    ],
)
def test_bad_addresses(address: str) -> None:
    with pytest.raises(slotwise.InputError, match="nimbus://HOST:PORT"):
        slotwise.import_storm(address)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(slotwise.InputError, match="without a user and a password") as error:
        slotwise.import_storm("nimbus://me:secret@localhost:6627")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("seconds", [1e-4, 1e12])
def test_any_time_limit_ends_in_a_line_where_nobody_answers(seconds: float) -> None:
    with pytest.raises(slotwise.InputError, match=r"cannot be reached \(Connection refused\)"):
        slotwise.import_storm("nimbus://127.0.0.1:1", timeout_s=seconds)


def test_a_host_that_is_unknown() -> None:
    with pytest.raises(slotwise.InputError, match=r"no-such-host.*cannot be reached \(.*\)"):
        slotwise.import_storm("nimbus://no-such-host.invalid")
