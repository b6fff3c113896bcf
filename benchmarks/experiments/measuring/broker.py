"""One node of Apache Kafka in KRaft mode, which may be killed and started again.

`make kafka` fetches it, and Spark's connector to it, with Maven.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark.java import find_java
from slotwise.processes.child import exchange
from slotwise.processes.pipes import last_words

FETCHED = Path(__file__).resolve().parents[3] / "tests" / "kafka"
"""The folder whose ``target/jars`` are fetched."""
JARS = FETCHED / "target" / "jars"
_CONNECTOR = (
    "spark-sql-kafka-0-10_*",
    "spark-token-provider-kafka-*",
    "kafka-clients-*",
    "commons-pool2-*",
)
_SHORT_LIVED = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_START_S = 120.0
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={data}
num.partitions=2
offsets.topic.replication.factor=1
"""
_CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"


def connector() -> list[Path]:
    """Return the jars that ``slotwise follow --jars`` needs for a topic.

    Raises
    ------
    SlotwiseError
        Where they have not been fetched.
    """
    jars = [path for name in _CONNECTOR for path in sorted(JARS.glob(f"{name}.jar"))]
    if len(jars) != len(_CONNECTOR):
        raise SlotwiseError(f"{JARS}: Kafka has not been fetched: make kafka")
    return jars


@dataclass(slots=True)
class Broker:
    """A broker on this machine.

    Parameters
    ----------
    folder
        Its own, for settings and records.
    port
        Where clients reach it.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        """``HOST:PORT``."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers.

        Raises
        ------
        SlotwiseError
            When it ends instead.
        """
        with (self.folder / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*_java(), "kafka.Kafka", str(self.folder / "server.properties")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.kill()
        log_end = last_words((self.folder / "broker.log").read_bytes())
        raise SlotwiseError(f"Kafka did not start{log_end}")

    def kill(self) -> None:
        """Kill it as it is."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def send(self, topic: str, records: Iterable[bytes], rate: float | None = None) -> None:
        """Send records (`records_of`) to a topic, which is made if it is not there.

        `rate`: records a second; ``None`` = as fast as the broker takes them.

        Raises
        ------
        SlotwiseError
            When the broker does not take them.
        """
        command = [*_java(), str(FETCHED / "Produce.java"), self.address, topic]
        command += [] if rate is None else [str(rate)]
        with TemporaryFile() as log:
            # A producer that ends before its input does says why in the log.
            with (
                suppress(BrokenPipeError),
                subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log) as producer,
            ):
                assert producer.stdin is not None
                producer.stdin.writelines(records)
            if producer.returncode != 0:
                log.seek(0)
                raise SlotwiseError(f"Kafka takes no lines{last_words(log.read())}")


def records_of(files: Sequence[Path], rounds: int = 1) -> Iterator[bytes]:
    """Yield the lines of files, each after its file's address as the key and a byte 1.

    `rounds`: in each, the next share of every file; 1 = one file after the other. Files that are
    written side by side come, in many rounds, about in the order of time.
    """
    with ExitStack() as stack:
        logs = [
            (
                path.as_uri().encode() + b"\x01",
                path.stat().st_size,
                stack.enter_context(path.open("rb")),
            )
            for path in files
        ]
        for number in range(1, rounds + 1):
            for key, size, file in logs:
                share = size * number // rounds - file.tell()
                for line in file.readlines(share) if share > 0 else ():
                    yield key + line.rstrip(b"\n") + b"\n"


@contextmanager
def broker(folder: Path) -> Iterator[Broker]:
    """Give a broker that runs, and kill it in the end."""
    connector()
    port, controller = _free_ports(2)
    kafka = Broker(folder, port)
    settings = _SETTINGS.format(port=port, controller=controller, data=folder / "data")
    (folder / "server.properties").write_text(settings, encoding="utf-8")
    formatting = ["format", "-t", _CLUSTER_ID, "-c", str(folder / "server.properties")]
    done = exchange([*_java(), "kafka.tools.StorageTool", *formatting])
    if done.code != 0:
        raise SlotwiseError(f"Kafka's folder was not made{last_words(done.stderr)}")
    kafka.start()
    try:
        yield kafka
    finally:
        kafka.kill()


def _java() -> list[str]:
    return [str(find_java().home / "bin" / "java"), *_SHORT_LIVED, "-cp", f"{JARS}/*"]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports
