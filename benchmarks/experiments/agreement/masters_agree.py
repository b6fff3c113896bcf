"""Whether a grading, or a measurement, is the same on every kind of Spark master.

Each master grades the same small instances in a process and a folder of its own. All columns must
agree but those of `MEASURED`; so the time limit has to be long enough for a proof of each instance,
or the exact engine limited by work. With ``--lines``, each master measures the same simulated logs
instead, and the measured instances must agree byte for byte, and so must all figures beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from slotwise.benchmarks.experiments.agreement.servers import connect_server, standalone, yarn
from slotwise.benchmarks.experiments.table import Table
from slotwise.benchmarks.grading.rows import COLUMNS, MEASURED, Row, key_of
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import SlotwiseError
from slotwise.processes.child import exchange
from slotwise.processes.pipes import last_line

MASTERS = ("local[1]", "local[2]", "local-cluster[2,1,1024]", "standalone", "connect")
"""Spark's names, and the servers that the experiment starts itself; ``yarn`` is one, too."""

REMOTE = ("standalone", "connect", "yarn")
"""Those whose executors may get an archive."""

QUIET = ("--quiet", "--json")

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "word-count.json"
"""The instance whose logs are measured."""

MOST_DIFFERENCES = 10
"""Named at most, for one master."""

COLUMNS_SHOWN = {"master": "<26", "rows": ">9", "seconds": ">9", "as the first": "<12"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say what is graded, and where."""
    parser.add_argument("--family", default="random", help="family of instances")
    parser.add_argument("--count", type=int, default=4, help="instances")
    parser.add_argument("--methods", default="r-storm,round-robin", help="methods to grade")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of a run")
    parser.add_argument(
        "--deterministic", action="store_true", help="limit the exact engine by work"
    )
    parser.add_argument(
        "--masters",
        nargs="+",
        default=MASTERS,
        help="standalone, connect and yarn (make yarn) are started here",
    )
    parser.add_argument(
        "--lines", type=int, help="measure simulated logs of as many lines instead of grading"
    )
    parser.add_argument("--archive", help="file of slotwise pack, for those started here")
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def run(options: argparse.Namespace) -> None:
    """Grade or measure on each master, and compare; exit code 1 if anything differs."""
    table = Table(COLUMNS_SHOWN, options.json)
    first: Outcome | None = None
    differing: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="slotwise-masters-") as name:
        if options.lines:
            words = ("--lines", str(options.lines), "--faults", "0.01", "--out", f"{name}/logs")
            _called({}, "generate", "logs", str(EXAMPLE), *words)
        for number, master in enumerate(options.masters):
            folder = Path(name, str(number))
            folder.mkdir()
            with _started(master, folder) as reached:
                if options.lines:
                    outcome = _measured(reached, Path(name, "logs"), folder)
                else:
                    outcome = _graded(options, master, reached, folder / "graded")
            first = outcome if first is None else first
            differences = outcome.differences(first)
            differing |= {master: differences} if differences else {}
            document = {"master": master, "rows": outcome.size, "seconds": outcome.seconds}
            same = "no" if differences else "yes"
            cells = (master, f"{outcome.size:,}", f"{outcome.seconds:.1f}", same)
            table.add({**document, "differences": differences}, cells)
    agree = "all masters agree" if not differing else "masters differ"
    table.end({"agree": not differing}, [agree, *_named(differing)])
    if differing:
        sys.exit(1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a master came to.

    Parameters
    ----------
    size
        Rows of a grading, samples of a measurement.
    seconds
        Wall clock.
    rows
        Of a grading, sorted by key.
    files
        Name -> text of what a measurement wrote.
    """

    size: int
    seconds: float
    rows: Sequence[Row] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def differences(self, first: Outcome) -> list[str]:
        """Name in what this differs from the outcome of the first master."""
        texts = [name for name, text in self.files.items() if text != first.files[name]]
        return [*differences(first.rows, self.rows), *texts]


def differences(ours: Sequence[Row], theirs: Sequence[Row]) -> list[str]:
    """Name the columns, beside those of `MEASURED`, in which sorted rows differ."""
    if [key_of(row) for row in ours] != [key_of(row) for row in theirs]:
        return [f"other runs: {len(ours)} rows, and {len(theirs)}"]
    compared = [column for column in COLUMNS if column not in MEASURED]
    return [
        f"{one['instance']}, {one['method']}: {column} = {one.get(column)} and {two.get(column)}"
        for one, two in zip(ours, theirs, strict=True)
        for column in compared
        if one.get(column) != two.get(column)
    ]


def _named(differing: dict[str, list[str]]) -> list[str]:
    return [
        f"{master}: {difference}"
        for master, found in differing.items()
        for difference in found[:MOST_DIFFERENCES]
    ]


@dataclass(frozen=True, slots=True)
class Reached:
    """How commands reach a master: ``--master``, and environment variables that they need."""

    address: str
    variables: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def _started(master: str, folder: Path) -> Iterator[Reached]:
    """Give a master, which is started first if it is a server."""
    if master == "standalone":
        with standalone(folder) as address:
            yield Reached(address)
    elif master == "connect":
        with connect_server(folder) as address:
            yield Reached(address)
    elif master == "yarn":
        with yarn(folder) as variables:
            yield Reached(master, variables)
    else:
        yield Reached(master)


def _graded(options: argparse.Namespace, master: str, reached: Reached, out: Path) -> Outcome:
    """Return the rows of ``slotwise grade``."""
    words = [options.family, "--count", str(options.count), "--methods", options.methods]
    words += ["--time-limit", str(options.time_limit), "--master", reached.address]
    words += ["--out", str(out)]
    words += ["--deterministic"] if options.deterministic else []
    if options.archive and master in REMOTE:
        words += ["--archive", options.archive]
    seconds = json.loads(_called(reached.variables, "grade", *words, *QUIET))["seconds"]
    rows = sorted(Store(out).rows(COLUMNS), key=lambda row: str(key_of(row)))
    return Outcome(len(rows), seconds, rows)


def _measured(reached: Reached, logs: Path, folder: Path) -> Outcome:
    """Return what ``slotwise measure`` writes."""
    began, out = perf_counter(), folder / "measured.json"
    words = (str(logs), "--instance", str(EXAMPLE), "--master", reached.address)
    document = _called(reached.variables, "measure", *words, "--out", str(out), *QUIET)
    files = {"the instance": out.read_text("utf-8"), "the figures": document}
    return Outcome(json.loads(document)["samples"], perf_counter() - began, files=files)


def _called(more: Mapping[str, str], command: str, *words: str) -> str:
    """Run a command of slotwise in a process of its own, as one process has one kind of session."""
    paths = os.pathsep.join(filter(None, sys.path))
    variables = {**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable, **more}
    line = [sys.executable, "-m", "slotwise", command, *words]
    done = exchange(line, environment=variables)
    if done.code:
        last = last_line(done.stderr) or "it said nothing"
        raise SlotwiseError(f"slotwise {command} ended with {done.code}: {last}")
    return done.stdout.decode()
