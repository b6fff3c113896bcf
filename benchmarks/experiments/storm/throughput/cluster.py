"""Storm's own processes in such a network: ZooKeeper, Nimbus, and a supervisor on each host.

Nimbus and ZooKeeper run in the hub. The supervisors start workers themselves. All of them have one
``STORM_HOME``, made of links in a temporary folder, and a ``storm.yaml`` each.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.benchmarks.experiments.storm.throughput.network import HOSTS, HUB, Network
from slotwise.benchmarks.experiments.storm.throughput.workload import NODE_CPU, NODE_MEMORY_MB
from slotwise.models.errors import InputError, SlotwiseError, one_line
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.importers.nimbus import read_nimbus
from slotwise.models.importers.storm_settings import Imported
from slotwise.processes.child import Child, exchange

ROOT = Path(__file__).resolve().parents[4]
CLUSTER = ROOT / "tests/storm_cluster/target/storm-cluster.jar"
PLANNED = ROOT / "heuristics/external/storm_programs/planned/target/slotwise-storm.jar"

ZOOKEEPER_PORT = 2181
NIMBUS_PORT = 6627
WORKER_PORT = 6700
START_S = 90.0
"""Longest wait for Nimbus, supervisors and a submission."""

SMALL_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CICompilerCount=1 -Xss256k"
DAEMON_MB, WORKER_MB, LOG_WRITER_MB = 160, 192, 16

LOGGING = """\
<Configuration>
  <Appenders>
    <Console name="out"><PatternLayout pattern="%d %p %c{1} %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="warn"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""


@dataclass(frozen=True, slots=True)
class Storm:
    """A running Storm.

    Parameters
    ----------
    address
        Of Nimbus, as `import_storm` takes it.
    home
        ``STORM_HOME``; a daemon's logs are in ``logs/``.
    nimbus
        Closing it kills Nimbus, which may be started again.
    """

    address: str
    home: Path
    nimbus: ExitStack

    def start_nimbus(self) -> None:
        """Start Nimbus, which finds in ZooKeeper what another one has left there."""
        words = ("org.apache.storm.daemon.nimbus.Nimbus",)
        self.nimbus.enter_context(_daemon(self.home, "nimbus", (), words))

    @property
    def plans(self) -> Path:
        """Where Nimbus looks for plans."""
        return self.home / "plans"

    @property
    def counts(self) -> Path:
        """Where spouts write what was acked."""
        return self.home / "counts"

    def ask(self, request: Mapping[str, Any]) -> None:
        """Have a topology submitted or killed; see ``Remote.java``."""
        words = [*_java("hub", self.home, f"-Dstorm.jar={CLUSTER}"), "slotwise.stormcluster.Remote"]
        done = exchange(
            words, canonical_json(request).encode(), _environment("hub", self.home), START_S
        )
        if done.code != 0:
            output = one_line((done.stdout + done.stderr).decode(), 300)
            raise SlotwiseError(f"Storm refuses: {output or 'out of time'}")

    def settled(self, tasks: int) -> None:
        """Wait until that number of executors is assigned."""
        wait_for(
            self.address,
            lambda one: sum(map(len, one.running.values())) == tasks,
            f"{tasks} executors assigned",
        )


@contextmanager
def running_storm(network: Network) -> Iterator[Storm]:
    """Run a Storm on the hosts of a network, and end all of it.

    Raises
    ------
    InputError
        When the jars are not there.
    SlotwiseError
        When Storm does not start.
    """
    if not (CLUSTER.is_file() and PLANNED.is_file()):
        raise InputError("needs the jars of `make storm-cluster storm-jar`", has_value=False)
    with tempfile.TemporaryDirectory(prefix="slotwise-storm-") as folder, ExitStack() as stack:
        home = Path(folder)
        _lay_out(home)
        zookeeper = "org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain"
        hub = (zookeeper, str(ZOOKEEPER_PORT), str(home / "zookeeper"))
        stack.enter_context(_daemon(home, "hub", (), hub))
        storm = Storm(f"nimbus://{HUB}:{NIMBUS_PORT}", home, stack.enter_context(ExitStack()))
        storm.start_nimbus()
        for host in HOSTS:
            inside = ("ip", "netns", "exec", network.namespaces[host.name])
            supervisor = ("org.apache.storm.daemon.supervisor.Supervisor",)
            stack.enter_context(_daemon(home, host.name, inside, supervisor))
        wait_for(storm.address, lambda one: len(one.nodes) == len(HOSTS), "all supervisors")
        yield storm


def _daemon(home: Path, name: str, prefix: Sequence[str], words: Sequence[str]) -> Child:
    """Start a daemon, again and again: Storm's daemons end where they fail, and want that.

    What it writes goes into a file: nobody reads its pipes meanwhile.
    """
    log = str(home / "logs" / f"{name}.log")
    shell = ["sh", "-c", 'while :; do "$@" >> "$0" 2>&1 < /dev/null; sleep 1; done', log]
    return Child([*prefix, *shell, *_java(name, home), *words], _environment(name, home))


def wait_for(address: str, is_so: Callable[[Imported], bool], what: str) -> None:
    """Wait until what Nimbus says is so.

    Raises
    ------
    SlotwiseError
        When it is not after `START_S`.
    """
    deadline = time.monotonic() + START_S
    why = ""
    while time.monotonic() < deadline:
        try:
            snapshot = read_nimbus(address)
        except InputError as error:  # it does not answer yet, or counts executors that start
            why = str(error)
        else:
            why = "; ".join(snapshot.read)
            if is_so(snapshot):
                return
        time.sleep(0.5)
    raise SlotwiseError(f"no {what} after {START_S:g} s; the last answer: {why}")


def _lay_out(home: Path) -> None:
    for name in ("extlib", "extlib-daemon", "log4j2", "logs", "plans", "counts", "conf"):
        (home / name).mkdir()
    for name in ("lib", "lib-worker"):
        (home / name).symlink_to(CLUSTER.parent / "lib")
    for jar in (CLUSTER, PLANNED):
        (home / "extlib-daemon" / jar.name).symlink_to(jar)
    for name in ("worker.xml", "daemon.xml"):
        (home / "log4j2" / name).write_text(LOGGING)
    for name in ("hub", "nimbus"):
        _configure(home, name, {"storm.local.hostname": HUB})
    for host in HOSTS:
        _configure(home, host.name, {"storm.local.hostname": host.address})


def _configure(home: Path, name: str, own: Mapping[str, Any]) -> None:
    """Write a ``storm.yaml``; JSON is YAML."""
    conf = {
        "storm.zookeeper.servers": [HUB],
        "storm.zookeeper.port": ZOOKEEPER_PORT,
        "nimbus.seeds": [HUB],
        "nimbus.thrift.port": NIMBUS_PORT,
        "storm.local.dir": str(home / "local" / name),
        "storm.log4j2.conf.dir": str(home / "log4j2"),
        "storm.workers.artifacts.dir": str(home / "artifacts"),
        "storm.scheduler": "org.apache.storm.scheduler.resource.ResourceAwareScheduler",
        "storm.network.topography.plugin": "slotwise.stormcluster.Subnets",
        "slotwise.plans": str(home / "plans"),
        "supervisor.slots.ports": [WORKER_PORT],
        "supervisor.cpu.capacity": NODE_CPU,
        "supervisor.memory.capacity.mb": NODE_MEMORY_MB,
        "supervisor.worker.timeout.secs": 60,
        "supervisor.worker.shutdown.sleep.secs": 1,
        "supervisor.monitor.frequency.secs": 1,
        "nimbus.task.timeout.secs": 90,
        "nimbus.supervisor.timeout.secs": 90,
        "storm.zookeeper.session.timeout": 60000,
        "worker.childopts": f"-Xmx{WORKER_MB}m {SMALL_JAVA}",
        "topology.worker.logwriter.childopts": f"-Xmx{LOG_WRITER_MB}m {SMALL_JAVA}",
        **own,
    }
    folder = home / "conf" / name
    folder.mkdir()
    (folder / "storm.yaml").write_text(json.dumps(conf))


def _environment(name: str, home: Path) -> dict[str, str]:
    """Return variables by which a supervisor's workers find its settings."""
    return {**os.environ, "STORM_CONF_DIR": str(home / "conf" / name)}


def _java(name: str, home: Path, *options: str) -> list[str]:
    folders = (f"{home}/lib/*", f"{home}/extlib-daemon/*", f"{home}/conf/{name}")
    properties = {
        "storm.home": home,
        "storm.log.dir": home / "logs",
        "log4j.configurationFile": home / "log4j2" / "daemon.xml",
        "zookeeper.admin.enableServer": "false",
    }
    chosen = [f"-D{key}={value}" for key, value in properties.items()]
    size = [f"-Xmx{DAEMON_MB}m", *SMALL_JAVA.split()]
    return ["java", *size, *chosen, *options, "-cp", ":".join(folders)]
