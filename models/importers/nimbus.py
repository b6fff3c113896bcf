"""Reader of a running Storm: its Nimbus's Thrift interface, read only.

Which placement problem does this cluster have now? Nimbus knows supervisors, topologies with the
resources of their components, where each executor runs and how many tuples it executed; it does not
know racks. Only the plain transport is spoken (``SimpleTransportPlugin``: framed, binary protocol).

An executor is a task of the instance: ``component[i]`` is the i-th executor of its component by
task number, and a worker's label is its port, so that places have the same names in every import.
"""

from __future__ import annotations

import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slotwise.models.display import counted
from slotwise.models.errors import InputError, at, in_file, one_line
from slotwise.models.formats.validation import validated
from slotwise.models.importers.storm_settings import (
    RESOURCES,
    SCHEDULER,
    Conf,
    Imported,
    SettingShapes,
    demands_of,
    json_conf,
    refuse_unknown,
    strategy_of,
    topology_of,
)
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Place
from slotwise.models.instance.topology import (
    Component,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.models.values import MAX_DECIMALS, exact

NIMBUS = "nimbus"
"""The scheme of a Nimbus's address."""

PORT = 6627
"""Nimbus's usual port."""

NO_RACK = "default-rack"
"""The rack of all nodes where no table of racks is given."""

LONGEST_WAIT_S = 10**6
"""Sockets take no longer one."""

WINDOW = 600
"""Seconds of the window in which Storm counts tuples."""

CPU_ROUNDING = Decimal("0.01")
"""Points of cpu by which Nimbus's sum of doubles may differ from an exact one."""

_SHARED = {
    "on_heap": "onheap",
    "off_heap_worker": "offheap_worker",
    "off_heap_node": "offheap_node",
}


class Nimbus:
    """A connection to a Nimbus; a context manager, which closes it.

    Parameters
    ----------
    address
        ``nimbus://HOST:PORT``; the port may be left out.
    timeout_s
        Longest wait for a whole answer, seconds.

    Raises
    ------
    InputError
        For a bad address, and when thriftpy2 is not installed, nobody answers, or the answer is not
        Nimbus's: one line.
    """

    def __init__(self, address: str, timeout_s: float = 30) -> None:
        self.address = address
        self._timeout_s = min(timeout_s, LONGEST_WAIT_S)
        host_and_port = _host_and_port(address)
        thrift = _thrift()
        self.types = _interface()
        self._internal = thrift("thrift").TApplicationException
        self._broken = (
            thrift("thrift").TException,
            thrift("protocol.cybin").ProtocolError,
        )
        with self._spoken():
            self._socket = _TimedSocket(host_and_port, self._timeout_s)
        framed = thrift("transport").TFramedTransportFactory()
        transport = framed.get_transport(thrift("transport").TSocket(sock=self._socket))
        protocol = thrift("protocol").TBinaryProtocolFactory().get_protocol(transport)
        self._client = thrift("thrift").TClient(self.types.Nimbus, protocol)

    def __enter__(self) -> Nimbus:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, call: str, *arguments: object) -> Any:
        """Return Nimbus's answer to a call of its Thrift interface."""
        self._socket.limit(self._timeout_s)
        with self._spoken():
            return getattr(self._client, call)(*arguments)

    def executors(self, storm_id: str) -> Any:
        """Return the executors of a topology that are assigned, each with its place and counts."""
        errors_left_out = self.types.GetInfoOptions(num_err_choice=self.types.NumErrorsChoice.NONE)
        return self.ask("getTopologyInfoWithOpts", storm_id, errors_left_out).executors

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        known = (
            self.types.NotAliveException,
            self.types.AuthorizationException,
            self.types.InvalidTopologyException,
        )
        try:
            yield
        except known as refusal:
            rule = f"refuses: {refusal.msg}"
            raise InputError(rule, has_value=False, file=self.address) from None
        except self._internal as error:
            rule = f"refuses: {one_line(error.message or str(error))}; see Nimbus's log"
            raise InputError(rule, has_value=False, file=self.address) from None
        except TimeoutError:
            rule = f"has not answered after {self._timeout_s:g} s"
            raise InputError(rule, has_value=False, file=self.address) from None
        except OSError as error:
            rule = f"cannot be reached ({error.strerror or error})"
            if isinstance(error, ConnectionRefusedError):
                rule += "; is it Nimbus's Thrift port?"
            raise InputError(rule, has_value=False, file=self.address) from None
        except (*self._broken, EOFError, ValueError, MemoryError) as error:
            # MemoryError: the length of a frame that is none, which thriftpy2 takes at its word.
            rule = (
                f"does not answer as a Nimbus without TLS and Kerberos does "
                f"({type(error).__name__}: {error})"
            )
            raise InputError(rule, has_value=False, file=self.address) from None


class _TimedSocket:
    """A connection on which a whole answer, even one that trickles, takes no longer than a limit.

    It has what thriftpy2 calls.
    """

    def __init__(self, host_and_port: tuple[str, int], limit_s: float) -> None:
        self.limit(limit_s)
        self._socket = socket.create_connection(host_and_port, limit_s)
        self.shutdown, self.close = self._socket.shutdown, self._socket.close

    def limit(self, seconds: float) -> None:
        """Allow `seconds` from now on."""
        self._deadline = time.monotonic() + seconds

    def recv(self, size: int) -> bytes:
        """Return what comes."""
        return self._in_time().recv(size)

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._in_time().sendall(data)

    def _in_time(self) -> socket.socket:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._socket


def read_nimbus(
    address: str, timeout_s: float = 30, only: Collection[str] | None = None
) -> Imported:
    """Return what a running Storm has: nodes, topologies, and what runs where.

    Parameters
    ----------
    address, timeout_s
        See `Nimbus`.
    only
        Names of the topologies to read; ``None`` = all.

    Raises
    ------
    InputError
        See `Nimbus`; also for a setting that changes a placement and is not known, and for a
        topology whose executors cannot be counted.
    """
    with Nimbus(address, timeout_s) as nimbus, in_file(address):
        cluster_conf = json_conf(nimbus.ask("getNimbusConf"), "getNimbusConf")
        refuse_unknown(cluster_conf)
        cluster = nimbus.ask("getClusterInfo")
        usable = [one for one in cluster.supervisors if not one.blacklisted]
        running_now = [one for one in cluster.topologies if one.status != "KILLED"]
        running_now.sort(key=lambda one: one.name)
        topologies = [
            _topology(nimbus, one, cluster_conf)
            for one in running_now
            if only is None or one.name in only
        ]
    nodes = tuple(sorted((_node(one) for one in usable), key=lambda node: node.id))
    known = {node.id for node in nodes}
    running = {
        topology.id: {task: place for task, place in places.items() if place.node in known}
        for topology, places in topologies
    }
    ignored = [
        f"supervisor {one.supervisor_id}: blacklisted"
        for one in cluster.supervisors
        if one.blacklisted
    ]
    ignored += [
        f"topology {one.name}: killed" for one in cluster.topologies if one.status == "KILLED"
    ]
    scheduler = {key: cluster_conf[key] for key in SCHEDULER if cluster_conf.get(key) is not None}
    tasks = sum(one.parallelism for topology, _ in topologies for one in topology.placed_components)
    placed = sum(map(len, running.values()))
    assumed = [f"all nodes are in one rack, {NO_RACK}: Nimbus does not know racks (--racks FILE)"]
    if strategy_of({"storm.scheduler": None} | cluster_conf) is None:
        assumed.append("Storm places by round robin, and keeps no capacity")
    return Imported(
        nodes=nodes,
        topologies=tuple(topology for topology, _ in topologies),
        scheduler=scheduler,
        running=running,
        ids={one.name: one.id for one in running_now},
        read=(
            f"{address}: {counted(len(nodes), 'supervisor')}, "
            f"{counted(len(topologies), 'topology', 'topologies')}, "
            f"{counted(tasks, 'executor')}, {placed} of them running",
        ),
        assumed=tuple(assumed),
        ignored=tuple(ignored),
    )


def _node(summary: Any) -> Node:
    resources = {
        RESOURCES.get(name, name): exact(_decimal(amount), name)
        for name, amount in (summary.total_resources or {}).items()
    }
    return Node(summary.supervisor_id, NO_RACK, summary.host, summary.num_workers, resources)


def _topology(
    nimbus: Nimbus, summary: Any, cluster_conf: Conf
) -> tuple[Topology, dict[str, Place]]:
    """Return a topology, and where its tasks run."""
    with at(f"topology {summary.name}"):
        own = json_conf(nimbus.ask("getTopologyConf", summary.id), "getTopologyConf")
        refuse_unknown({name: value for name, value in own.items() if name != "storm.scheduler"})
        conf = {**cluster_conf, **own, "storm.scheduler": cluster_conf.get("storm.scheduler")}
        storm = nimbus.ask("getTopology", summary.id)
        executors = nimbus.executors(summary.id)
        workers = nimbus.ask("getTopologyPageInfo", summary.id, ":all-time", True).workers or ()
        commons = {
            **{name: ("spout", spout.common) for name, spout in storm.spouts.items()},
            **{name: ("bolt", bolt.common) for name, bolt in storm.bolts.items()},
        }
        demands = {
            name: demands_of(name, json_conf(common.json_conf, f"{name}.json_conf"), conf)
            for name, (_, common) in commons.items()
        }
        counts = _counts(commons, executors, summary, demands)
        components = tuple(
            Component(
                name,
                "system" if name.startswith("__") else kind,
                counts[name],
                demands[name],
            )
            for name, (kind, _) in sorted(commons.items())
            if counts.get(name) or not name.startswith("__")
        )
        bare = Topology(
            id=summary.name,
            components=components,
            streams=tuple(_streams(commons, executors)),
            owner=summary.owner or "",
            launch_time=_launch_time(summary),
            shared_memory=tuple(_shared(storm, counts)),
        )
        return topology_of(conf, bare), _places(executors, workers)


def _counts(
    commons: Mapping[str, tuple[str, Any]],
    executors: Any,
    summary: Any,
    demands: Mapping[str, Mapping[str, Decimal]],
) -> dict[str, int]:
    """Return the number of executors by component.

    A rebalance to another number of executors changes what runs, but not what ``getTopology``
    answers, and not all may run; the cpu that Nimbus has counted for the topology decides.
    """
    stated = {name: _stated(common) for name, (_, common) in commons.items()}
    running = Counter(one.component_id for one in executors)
    present = {name: running[name] for name in commons}
    larger = {name: max(stated[name], running[name]) for name in commons}
    if summary.requested_cpu is None:
        return larger
    for counts in (stated, present, larger):
        cpu = sum((count * demands[name]["cpu"] for name, count in counts.items()), Decimal(0))
        if abs(cpu - _decimal(summary.requested_cpu)) < CPU_ROUNDING:
            return counts
    raise InputError(
        f"its components state {sum(stated.values())} executors and {len(executors)} run, but "
        f"Nimbus counts {summary.requested_cpu} points of cpu: wait until all run",
        field="executors",
        has_value=False,
    )


def _stated(common: Any) -> int:
    """Return the executors that a component starts with: at most one for each of its tasks."""
    hint = common.parallelism_hint or 0
    tasks = validated(SettingShapes, json_conf(common.json_conf, "json_conf")).tasks
    return hint if tasks is None else min(hint, tasks)


def _streams(commons: Mapping[str, tuple[str, Any]], executors: Any) -> Iterator[Stream]:
    """Yield the streams between components of the user, with their rates where Storm has them."""
    rates = _rates(executors)
    receivers = Counter(one.component_id for one in executors)
    for target, (_, common) in sorted(commons.items()):
        for stream, grouping in sorted(
            common.inputs.items(), key=lambda one: (one[0].componentId, one[0].streamId)
        ):
            source = stream.componentId
            if not (source.startswith("__") or target.startswith("__")):
                kind = _grouping(grouping)
                rate = rates.get((source, stream.streamId, target))
                if rate is not None:
                    # Of a stream with grouping `all`, each executor receives every tuple.
                    copies = receivers[target] if kind == "all" else 1
                    rate = (rate / copies).quantize(Decimal(1).scaleb(-MAX_DECIMALS))
                yield Stream(source, target, kind, rate)


def _grouping(grouping: Any) -> str:
    """Return our name; Storm writes a global grouping as a fields grouping without fields."""
    names = [spec[1] for spec in grouping.thrift_spec.values()]
    kind = next(name for name in names if getattr(grouping, name) is not None)
    if kind == "fields":
        return "fields" if grouping.fields else "global"
    return "custom" if kind.startswith("custom") else str(kind)


def _rates(executors: Any) -> dict[tuple[str, str, str], Decimal]:
    """Return tuples per second by source, stream and target in the last ten minutes, all receivers.

    Only of targets all of whose executors have run for the whole window.
    """
    counted: dict[tuple[str, str, str], int] = defaultdict(int)
    young = {one.component_id for one in executors if one.uptime_secs < WINDOW}
    for executor in executors:
        bolt = executor.stats and executor.stats.specific and executor.stats.specific.bolt
        if bolt and executor.component_id not in young:
            for stream, count in (bolt.executed or {}).get(str(WINDOW), {}).items():
                counted[stream.componentId, stream.streamId, executor.component_id] += count
    return {key: Decimal(count) / WINDOW for key, count in counted.items()}


def _shared(storm: Any, counts: Mapping[str, int]) -> Iterator[SharedMemory]:
    users: dict[str, list[str]] = defaultdict(list)
    for component, regions in sorted((storm.component_to_shared_memory or {}).items()):
        for region in regions:
            if counts.get(component):
                users[region].append(component)
    for name, region in sorted((storm.shared_memory or {}).items()):
        sizes = {ours: getattr(region, theirs) for theirs, ours in _SHARED.items()}
        for kind, mb in sizes.items():
            if mb:
                several = sum(1 for one in sizes.values() if one) > 1
                id_ = f"{name}-{kind}" if several else name
                yield SharedMemory(id_, kind, _decimal(mb), tuple(users[name]))


def _places(executors: Any, workers: Any) -> dict[str, Place]:
    """Return where each executor runs; its component's executors are numbered by task."""
    node_of = {(one.host, one.port): one.supervisor_id for one in workers}
    numbered: dict[str, list[Any]] = defaultdict(list)
    for executor in executors:
        numbered[executor.component_id].append(executor)
    places = {}
    for component, own in sorted(numbered.items()):
        own.sort(key=lambda one: one.executor_info.task_start)
        for index, executor in enumerate(own):
            node = node_of.get((executor.host, executor.port))
            if node is not None:
                places[f"{component}[{index}]"] = Place(node, executor.port)
    return places


def _launch_time(summary: Any) -> int:
    """Return when it was submitted, seconds since 1970: Nimbus ends its id with it."""
    seconds = summary.id.rpartition("-")[2]
    return int(seconds) if seconds.isdigit() else int(time.time()) - summary.uptime_secs


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


def _host_and_port(address: str) -> tuple[str, int]:
    no_address = InputError(f"must be {NIMBUS}://HOST:PORT", field="Nimbus", value=address)
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise no_address from error
    if parts.scheme != NIMBUS:
        rule = f"must be {NIMBUS}://HOST:PORT; TLS and Kerberos are not supported"
        raise InputError(rule, field="Nimbus", value=address)
    try:
        port = PORT if parts.port is None else parts.port
    except ValueError:
        port = 0
    if parts.username is not None or parts.password is not None:
        rule = f"must be {NIMBUS}://HOST:PORT, without a user and a password"
        raise InputError(rule, field="Nimbus", has_value=False)
    if not parts.hostname or not 0 < port < 65536 or parts.path.strip("/") or parts.query:
        raise no_address
    return parts.hostname, port


@cache
def _interface() -> Any:
    import thriftpy2

    path = Path(__file__).with_name("nimbus.thrift")
    return thriftpy2.load(str(path), module_name="slotwise_nimbus_thrift")


def _thrift() -> Callable[[str], Any]:
    """Return what loads a module of thriftpy2, whose types mypy does not know."""
    if find_spec("thriftpy2") is None:
        raise InputError(
            "needs thriftpy2: pip install 'slotwise[storm]'", field="Nimbus", has_value=False
        )
    return lambda name: import_module(f"thriftpy2.{name}")
