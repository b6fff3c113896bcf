"""experiment ``follow_killed``: nothing lost, nothing counted twice.

The logs of a simulated cluster appear in a folder, some files at a time, or their lines in a topic
of Kafka (``--kafka``). ``slotwise follow`` reads them, is killed by SIGKILL at a random moment, and
started again, many times; so is the broker. In the end its instance must be, byte for byte, that
of the batch job over the same files, and each batch must have one line of advice.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from slotwise.benchmarks.experiments.measuring.broker import broker
from slotwise.benchmarks.experiments.measuring.killed_setting import (
    Setting,
    Strike,
    appear,
    check_done,
    kill_all,
    kill_broker,
    kill_python,
    strike_after,
    write_logs,
)
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.formats.advice_schema import AdviceFile
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import validated

EARLIEST, LATEST = 0.3, 1.3
"""A kill comes at a random moment between these shares of the last undisturbed run's seconds."""
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
        ``killed`` (Python and Java together), ``orphaned`` (Python alone), ``broker`` (that alone
        was killed, and the run went on) or ``done``.
    after_s
        Seconds from its start.
    files
        How many files of logs have appeared.
    batches, advices
        What was kept, and written, so far; a line that was cut short does not count.
    """

    run: int
    ended: str
    after_s: float
    files: int
    batches: int
    advices: int


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=12, help="of a topology and kind of lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--kafka", action="store_true", help="through a topic (make kafka)")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Run the experiment; an error says what was lost, or counted twice."""
    table = Table(COLUMNS, options.json)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="slotwise-follow-killed-")))
        kafka = stack.enter_context(broker(folder)) if options.kafka else None
        setting = Setting(folder, options.master, kafka)
        files = write_logs(setting, options)
        began = time.perf_counter()
        check_done(setting.command("batch.json"))
        typical_s = time.perf_counter() - began
        rng = np.random.default_rng(options.seed)
        ends = kill_again_and_again(setting, files, typical_s, options.kills, rng, table)
        compare(setting)
        killed = sum(one.ended != "done" for one in ends)
        lines = len(setting.advice.read_text().splitlines())
        document = {"kills": killed, "runs": len(ends), "advices": lines, "equal": True}
        summary = f"{killed} kills in {len(ends)} runs: the weights are those of the batch job, "
        table.end(document, [summary + f"and each of {lines} batches has one line of advice."])


def kill_again_and_again(
    setting: Setting,
    files: Sequence[Path],
    typical_s: float,
    kills: int,
    rng: np.random.Generator,
    table: Table,
) -> list[Ended]:
    """Run the stream, kill it `kills` times, then let it end; files appear meanwhile."""
    ends: list[Ended] = []
    waiting = list(files)
    left, appeared = kills, 0
    strikes: dict[str, Strike] = {"killed": kill_all}
    if setting.broker is not None:
        strikes["broker"] = kill_broker(setting.broker)
    strikes["orphaned"] = kill_python
    share = max(1, len(files) // (kills + 1))
    while left:
        if len(ends) >= MOST_RUNS * (kills + 1):
            raise SlotwiseError(f"{kills - left} of {kills} kills in {len(ends)} runs; add lines")
        new = [waiting.pop(0) for _ in waiting[:share]]
        appeared += len(new)
        appear(setting, new)
        after_s = typical_s * float(rng.uniform(EARLIEST, LATEST))
        how = [*strikes][left % len(strikes)]
        began = time.perf_counter()
        was_killed = strike_after(setting.follow(), after_s, strikes[how])
        left -= was_killed
        seconds = time.perf_counter() - began
        typical_s = typical_s if was_killed else seconds
        ended = how if was_killed else "done"
        ends.append(state(setting, len(ends) + 1, ended, seconds, appeared))
        add_row(table, ends[-1])
    appear(setting, waiting)
    began = time.perf_counter()
    check_done(setting.follow())
    seconds = time.perf_counter() - began
    ends.append(state(setting, len(ends) + 1, "done", seconds, len(files)))
    add_row(table, ends[-1])
    return ends


def state(setting: Setting, number: int, ended: str, seconds: float, files: int) -> Ended:
    """Return what is there when a run has ended."""
    lines = setting.advice.read_bytes().count(b"\n") if setting.advice.exists() else 0
    batches = setting.last_batch() + 1
    return Ended(number, ended, round(seconds, 1), files, batches, lines)


def add_row(table: Table, ended: Ended) -> None:
    """Print one run."""
    document = asdict(ended)
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
    if numbers[-1] != setting.last_batch():
        raise SlotwiseError(f"the last advice is of batch {numbers[-1]}, not of the last one")
