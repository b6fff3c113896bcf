"""``python -m slotwise.benchmarks follow_killed``: nothing lost, nothing counted twice.

The logs of a simulated cluster appear in a folder, some files at a time. ``slotwise measure
--follow`` reads them, is killed by SIGKILL at a random moment, and started again, many times. In
the end its instance must be, byte for byte, that of the batch job over the same files, and each
batch must have one line of advice.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from slotwise.benchmarks.following.kept_lines import last_batch
from slotwise.benchmarks.simulated_logs.settings import LogSettings
from slotwise.benchmarks.simulated_logs.simulate import simulate
from slotwise.benchmarks.table import Table
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import SlotwiseError
from slotwise.models.formats.advice_schema import AdviceFile
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import write_instance
from slotwise.models.problem.compile import compile_problem

EARLIEST, LATEST = 0.3, 2.0
"""A kill comes at a random moment between these shares of an undisturbed run's seconds."""
SHORT_LIVED = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""A JVM that lives for seconds is sooner done without the second compiler."""
MOST_RUNS = 10
"""Runs for each kill: one that ends before its moment comes is not killed."""
COLUMNS = {
    "run": ">4",
    "ended": "<10",
    "after s": ">8",
    "files": ">6",
    "batches": ">8",
    "advice": ">7",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Parameters
    ----------
    run
        Its number, from 1.
    ended
        ``killed`` (Python and Java together), ``orphaned`` (Python alone) or ``done``.
    after_s
        Seconds from its start.
    files
        How many files of logs there were to read.
    batches, advices
        What was kept, and written, so far; a line that was cut short does not count.
    """

    run: int
    ended: str
    after_s: float
    files: int
    batches: int
    advices: int


@dataclass(frozen=True, slots=True)
class Setting:
    """The folders of an experiment, and the commands that run in it."""

    folder: Path
    master: str

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

    def command(self, out: str, *options: str, logs: str = "logs") -> list[str]:
        """Return the command that measures `logs` into the file `out`."""
        words = [str(self.folder / logs), "--topology", str(self.folder / "topology.json")]
        words += ["--out", str(self.folder / out), "--master", self.master, "--quiet", *options]
        return [sys.executable, "-m", "slotwise", "measure", *words]

    def follow(self) -> list[str]:
        """Return the command of the stream; it ends when it has read what is there."""
        options = ("--follow", "--once", "--checkpoint", str(self.checkpoint), "--time-limit", "1")
        return self.command("followed.json", *options)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=12, help="of a topology and kind of lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Run the experiment; an error says what was lost, or counted twice."""
    table = Table(COLUMNS, options.json)
    with TemporaryDirectory(prefix="slotwise-follow-killed-") as name:
        setting = Setting(Path(name), options.master)
        files = write_logs(setting, options)
        began = time.perf_counter()
        check_done(setting.command("batch.json", logs="made"))
        typical_s = time.perf_counter() - began
        rng = np.random.default_rng(options.seed)
        ends = kill_again_and_again(setting, files, typical_s, options.kills, rng, table)
        compare(setting)
        killed = sum(one.ended != "done" for one in ends)
        lines = len(setting.advice.read_text().splitlines())
        document = {"kills": killed, "runs": len(ends), "advices": lines, "equal": True}
        said = f"{killed} kills in {len(ends)} runs: the weights are those of the batch job, "
        table.end(document, [said + f"and each of {lines} batches has one line of advice."])


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
    made = setting.folder / "made"
    simulate(instance, placed, settings, made)
    write_instance(setting.folder / "topology.json", instance)
    setting.logs.mkdir()
    several = [*made.rglob("*.metrics*"), *made.rglob("*.jsonl*")]
    return sorted(several, key=lambda path: path.name)


def word_count() -> Instance:
    """Return three components on three nodes."""
    sizes = {"lines": ("spout", 2), "split": ("bolt", 4), "count": ("bolt", 3)}
    needs = {"cpu": Decimal(30), "onheap_mb": Decimal(128)}
    room = {"cpu": Decimal(200), "memory_mb": Decimal(4096)}
    components = tuple(Component(name, *size, needs) for name, size in sizes.items())
    streams = (Stream("lines", "split"), Stream("split", "count", "fields"))
    nodes = tuple(Node(f"n{at}", f"r{at % 2}", slots=4, resources=room) for at in range(3))
    return Instance("word-count", Cluster(nodes), (Topology("wc", components, streams),))


def kill_again_and_again(
    setting: Setting,
    files: Sequence[Path],
    typical_s: float,
    kills: int,
    rng: np.random.Generator,
    table: Table,
) -> list[Ended]:
    """Run the stream until it was killed so often, then to its end; files appear meanwhile."""
    ends: list[Ended] = []
    waiting = list(files)
    left = kills
    share = max(1, len(files) // (kills + 1))
    while left:
        if len(ends) >= MOST_RUNS * (kills + 1):
            raise SlotwiseError(f"{kills - left} of {kills} kills in {len(ends)} runs; add lines")
        appear(setting, [waiting.pop(0) for _ in waiting[:share]])
        after_s = typical_s * float(rng.uniform(EARLIEST, LATEST))
        how = ("killed", "orphaned")[left % 2]
        began = time.perf_counter()
        was_killed = kill_after(setting.follow(), after_s, whole_group=how == "killed")
        left -= was_killed
        seconds = time.perf_counter() - began
        ends.append(state(setting, len(ends) + 1, how if was_killed else "done", seconds))
        add_row(table, ends[-1])
    appear(setting, waiting)
    began = time.perf_counter()
    check_done(setting.follow())
    ends.append(state(setting, len(ends) + 1, "done", time.perf_counter() - began))
    add_row(table, ends[-1])
    return ends


def appear(setting: Setting, files: Sequence[Path]) -> None:
    """Let files appear in the folder of logs, each whole and at once."""
    for path in files:
        target = setting.logs / path.relative_to(setting.folder / "made")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.part")
        shutil.copy(path, partial)
        partial.rename(target)


def kill_after(command: Sequence[str], seconds: float, *, whole_group: bool) -> bool:
    """Run a command and kill it after so many seconds; return false where it ended before.

    Raises
    ------
    SlotwiseError
        When it ended with an error.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=SHORT_LIVED | os.environ,
    )
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # Java notices, and ends by itself
        process.communicate()
        return True
    if process.returncode != 0:
        raise SlotwiseError(f"exit code {process.returncode}: {err.decode()[-500:]}")
    return False


def check_done(command: Sequence[str]) -> None:
    """Run a command to its end; refuse any exit code but 0."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=SHORT_LIVED | os.environ
    )
    if done.returncode != 0:
        raise SlotwiseError(f"exit code {done.returncode}: {done.stderr[-500:]}")


def state(setting: Setting, number: int, ended: str, seconds: float) -> Ended:
    """Return what is there when a run has ended."""
    files = [path for path in setting.logs.rglob("*") if path.is_file()]
    lines = setting.advice.read_bytes().count(b"\n") if setting.advice.exists() else 0
    batches = last_batch(setting.checkpoint / "lines") + 1
    return Ended(number, ended, round(seconds, 1), len(files), batches, lines)


def add_row(table: Table, one: Ended) -> None:
    """Print one run."""
    document = asdict(one)
    table.add(document, [str(value) for value in document.values()])


def compare(setting: Setting) -> None:
    """Compare the stream with the batch job.

    Raises
    ------
    SlotwiseError
        When they differ, or a batch has two lines of advice.
    """
    followed, batch = (setting.folder / name for name in ("followed.json", "batch.json"))
    if followed.read_bytes() != batch.read_bytes():
        raise SlotwiseError(f"{followed.name} is not {batch.name}")
    lines = [
        validated(AdviceFile, parse_json(line)) for line in setting.advice.read_text().splitlines()
    ]
    numbers = [line.batch for line in lines]
    if numbers != sorted(set(numbers)) or len({line.stream for line in lines}) != 1:
        raise SlotwiseError(f"lines of advice are of batches {numbers}")
    if numbers[-1] != last_batch(setting.checkpoint / "lines"):
        raise SlotwiseError(f"the last advice is of batch {numbers[-1]}, not of the last one")
