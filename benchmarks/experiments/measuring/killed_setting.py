"""What `killed` kills: a folder or a topic that lines appear in, and the commands that read it."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from slotwise.benchmarks.experiments.measuring.broker import Broker, connector, records_of
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import read_instance, write_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.statistics.run import read_tables
from slotwise.pipeline.statistics.weights.logs import Settings, reading_of
from slotwise.processes.child import exchange
from slotwise.processes.ending import end_process
from slotwise.processes.pipes import last_words

SHORT_LIVED = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that lives for seconds is sooner done without the second compiler."""
TOPIC = "metrics"


@dataclass(frozen=True, slots=True)
class Setting:
    """The folders of an experiment, and the commands that run in it.

    Parameters
    ----------
    folder
        Of everything.
    master
        Spark's.
    broker
        Of the topic that lines appear in; ``None`` = files appear in a folder.
    """

    folder: Path
    master: str
    broker: Broker | None = None

    @property
    def logs(self) -> Path:
        """Where files of logs appear."""
        return self.folder / "logs"

    @property
    def checkpoint(self) -> Path:
        """Of the stream."""
        return self.folder / "checkpoint"

    @property
    def advice(self) -> Path:
        """The lines of advice."""
        return self.checkpoint / "advice.jsonl"

    def last_batch(self) -> int:
        """Return the last batch that the stream has kept; -1 = none yet."""
        reading = reading_of([read_instance(self.folder / "topology.json")], Settings())
        return read_tables(self.checkpoint / "tables", reading).last_batch

    def command(
        self, out: str, *options: str, name: str = "measure", logs: str | None = None
    ) -> list[str]:
        """Return the command that measures, or follows, logs into the file `out`.

        `logs`: where they are; ``None`` = in the folder of all that were made.
        """
        where = str(self.folder / "made") if logs is None else logs
        words = [where, "--instance", str(self.folder / "topology.json")]
        words += ["--out", str(self.folder / out), "--master", self.master, "--quiet", *options]
        return [sys.executable, "-m", "slotwise", name, *words]

    def follow(self) -> list[str]:
        """Return the command of the stream; it ends when it has read what is there."""
        options = ["--once", "--checkpoint", str(self.checkpoint), "--time-limit", "1"]
        logs = str(self.logs)
        if self.broker is not None:
            logs = f"kafka://{self.broker.address}/{TOPIC}"
            options += [word for jar in connector() for word in ("--jars", str(jar))]
        return self.command("followed.json", *options, name="follow", logs=logs)


def write_logs(setting: Setting, options: argparse.Namespace) -> list[Path]:
    """Write a topology file and its logs, with every fault; return the files of lines."""
    instance = word_count()
    placed = run_method(compile_problem(instance), find_method("round-robin"), options.seed)
    if not isinstance(placed, Placement):
        raise SlotwiseError(f"round-robin places nothing: {placed.reason}")
    settings = LogSettings(
        lines=options.lines,
        files=options.files,
        seed=options.seed,
        faults=0.02,
        skew=60,
        restarts=2,
        metrics="v2",
    )
    written = setting.folder / "made"
    simulate(instance, placed, settings, written)
    write_instance(setting.folder / "topology.json", instance)
    setting.logs.mkdir()
    files = [*written.rglob("*.metrics*"), *written.rglob("*.jsonl*")]
    return sorted(files, key=lambda path: path.name)


def word_count() -> Instance:
    """Return three components on three nodes."""
    sizes = {"lines": ("spout", 2), "split": ("bolt", 4), "count": ("bolt", 3)}
    needs = {"cpu": Decimal(30), "onheap_mb": Decimal(128)}
    room = {"cpu": Decimal(200), "memory_mb": Decimal(4096)}
    components = tuple(Component(name, *size, needs) for name, size in sizes.items())
    streams = (Stream("lines", "split"), Stream("split", "count", "fields"))
    nodes = tuple(Node(f"n{at}", f"r{at % 2}", slots=4, resources=room) for at in range(3))
    return Instance("word-count", Cluster(nodes), (Topology("wc", components, streams),))


def appear(setting: Setting, files: Sequence[Path]) -> None:
    """Let files appear in the folder of logs, each whole and at once; or lines in the topic."""
    if setting.broker is not None:
        setting.broker.send(TOPIC, records_of(files))
        return
    for path in files:
        target = setting.logs / path.relative_to(setting.folder / "made")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.part")
        shutil.copy(path, partial)
        partial.rename(target)


Strike = Callable[[subprocess.Popen[bytes]], bool]
"""Kills something; says whether the command must go on nevertheless."""


def kill_all(process: subprocess.Popen[bytes]) -> bool:
    """Kill Python and Java together."""
    end_process(process)
    return False


def kill_python(process: subprocess.Popen[bytes]) -> bool:
    """Kill Python alone; Java notices, and ends by itself."""
    process.kill()
    return False


def kill_broker(broker: Broker) -> Strike:
    """Return what kills a broker and starts it again."""

    def strike(_: subprocess.Popen[bytes]) -> bool:
        broker.kill()
        broker.start()
        return True

    return strike


def strike_after(command: Sequence[str], seconds: float, strike: Strike) -> bool:
    """Run a command to its end, and strike after that many seconds; false: it ended before.

    Raises
    ------
    SlotwiseError
        When it ended with an error of its own.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=SHORT_LIVED | os.environ,
    )
    was_struck, must_end_well = False, True
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        was_struck, must_end_well = True, strike(process)
        _, err = process.communicate()
    if must_end_well and process.returncode != 0:
        raise SlotwiseError(f"exit code {process.returncode}{last_words(err)}")
    return was_struck


def check_done(command: Sequence[str]) -> None:
    """Run a command to its end; refuse any exit code but 0."""
    done = exchange(command, environment=SHORT_LIVED | os.environ)
    if done.code != 0:
        raise SlotwiseError(f"exit code {done.code}{last_words(done.stderr)}")
