"""Mutated files of every kind, by seed and number, and what the commands made of them."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from conftest import EXAMPLES
from mutated_commands import COMMANDS, Ended, Shell, Words, emptied, faults
from mutations import mutated_bytes, mutated_file, mutated_value

from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.store import Store
from slotwise.models.certificates import write_certificate
from slotwise.models.formats.placement_file import write_placement
from slotwise.models.instance_file import instance_text, read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import certificate_of
from slotwise.testing.choices import Chooser, FromRng, chance, pick
from slotwise.testing.random_instances.tiny import tiny_instance

DATA = Path(__file__).parent / "mutated_bases"
KINDS = ("instance",) * 8 + ("placement", "certificate", "storm", "matrix", "pools", "rows")
TINY = 40
"""Tiny instances among the valid files."""
COMMANDS_EACH = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What must not be: a fault, with the command and the file that show it."""

    number: int
    words: Words
    fault: str
    file: Path

    def __str__(self) -> str:
        return f"file {self.number}: slotwise {' '.join(self.words)}: {self.fault} ({self.file})"


class Mutations:
    """A folder with valid files, and a shell in it.

    `codes` counts (kind, exit code); ``None`` stands for a command that hung.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.codes: Counter[tuple[str, int | None]] = Counter()
        self._folder = folder
        self._seed = seed
        self._bases = _prepared(folder)
        self._shell = Shell(folder)

    def close(self) -> None:
        """End the shell."""
        self._shell.close()

    def run(self, numbers: range) -> list[Found]:
        """Run commands on the mutations with these numbers; keep the files that show faults."""
        return [found for number in numbers for found in self._one(number)]

    def _one(self, number: int) -> Iterator[Found]:
        choose = FromRng(np.random.default_rng((self._seed, number)))
        kind = pick(choose, KINDS)
        if kind == "rows":
            path, content = _mutated_rows(choose, self._folder), b""
        else:
            data = pick(choose, self._bases[kind])
            as_yaml = chance(choose, 25)
            content = mutated_file(choose, data, as_yaml=as_yaml)
            path = self._folder / f"mutated.{'yaml' if as_yaml else 'json'}"
            path.write_bytes(content)
        for _ in range(min(COMMANDS_EACH, len(COMMANDS[kind]))):
            words = tuple(w.format(file=path.name) for w in pick(choose, COMMANDS[kind]))
            yield from self._call(kind, number, words, path, content)

    def _call(
        self, kind: str, number: int, words: Words, path: Path, content: bytes
    ) -> Iterator[Found]:
        out = emptied(self._folder / "out")
        ended = self._shell.run(words, content)
        self.codes[kind, None if ended is None else ended.code] += 1
        for fault in faults(words, ended, out):
            yield Found(number, words, fault, self._kept(number, path))
        if ended is not None and ended.code == 0 and "--certificate" in words:
            for again in (("judge", path.name, "out/p.json"), ("verify", path.name, "out/c.json")):
                checked = self._shell.run(again, b"")
                if checked is None or checked.code != 0:
                    fault = f"does not confirm what solve wrote: {_shown(checked)}"
                    yield Found(number, again, fault, self._kept(number, path))

    def _kept(self, number: int, path: Path) -> Path:
        """Copy the file, or the folder of a grading, to where the next mutation leaves it."""
        kept = self._folder / "faults" / f"{self._seed}-{number}{path.suffix}"
        kept.parent.mkdir(exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, kept, dirs_exist_ok=True)
        else:
            shutil.copy(path, kept)
        return kept


def _shown(ended: Ended | None) -> str:
    return "it hangs" if ended is None else f"exit code {ended.code}: {ended.out}{ended.err}"


def _prepared(folder: Path) -> dict[str, list[Any]]:
    """Put the valid files into the folder; return the data to mutate, by kind."""
    example = read_instance(EXAMPLES / "word-count.json")
    problem = compile_problem(example)
    result = solve(problem, engine="exhaustive")
    assert result.placement is not None
    (folder / "instance.json").write_text(instance_text(example), "utf-8")
    write_placement(folder / "plan.json", example, result.placement)
    write_certificate(folder / "certificate.json", certificate_of(problem, result, None))
    shared = instance_text(read_instance(EXAMPLES / "shared-cluster.yaml"))
    (folder / "shared.json").write_text(shared, "utf-8")
    _grade(folder)
    tiny = [tiny_instance(np.random.default_rng(number)) for number in range(TINY)]
    short = json.loads((EXAMPLES / "word-count.json").read_text("utf-8"))
    texts = [instance_text(example), shared, *(instance_text(one) for one in tiny)]
    return {
        "instance": [short, *(json.loads(text) for text in texts)],
        "placement": [json.loads((folder / "plan.json").read_text("utf-8"))],
        "certificate": [json.loads((folder / "certificate.json").read_text("utf-8"))],
        "pools": [{"eve": {"cpu": 100, "memory_mb": 1000}, "ann": {"cpu": 0.5}}],
        "storm": [json.loads((DATA / "storm.json").read_text("utf-8"))],
        "matrix": [yaml.safe_load((DATA / "matrix.yaml").read_text("utf-8"))],
    }


def _grade(folder: Path) -> None:
    """Make the folder of a grading: two methods and the engine on an instance."""
    cases = read_cases([str(folder / "instance.json"), str(EXAMPLES / "too-big.json")], 0, None)
    store = Store(folder / "good")
    store.prepare(cases)
    load = Loader()
    blank: Row = dict.fromkeys(COLUMNS)
    plan = make_plan(cases, ["round-robin", "r-storm"], "auto", RunLimits(20.0, 1, 0, None))
    rows = [{**blank, **run.columns(), **outcome(run, load)} for run in plan]
    store.append(pa.Table.from_pylist(rows))


def _mutated_rows(choose: Chooser, folder: Path) -> Path:
    """Return the folder of a grading with mutated rows, or a mutated file."""
    graded = folder / "graded"
    shutil.rmtree(graded, ignore_errors=True)
    shutil.copytree(folder / "good", graded)
    (rows,) = (graded / "rows").glob("*.parquet")
    way = choose.whole(0, 9)
    if way == 0:
        rows.write_bytes(mutated_bytes(choose, rows.read_bytes()))
    elif way == 1:
        one = sorted((graded / "instances").iterdir())[0]
        data = json.loads(one.read_text("utf-8"))
        one.write_bytes(mutated_file(choose, data, as_yaml=False))
    else:
        data = pq.read_table(rows).to_pylist()
        for _ in range(choose.whole(1, 3)):
            data = mutated_value(choose, data)
        pq.write_table(_table(data), rows)
    return graded


def _table(data: list[Any]) -> pa.Table:
    """Return rows as a table; a column that Parquet has no type for becomes text."""
    rows = [row for row in data if isinstance(row, dict)]
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        cells = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(cells)
            pq.write_table(pa.table({name: columns[name]}), io.BytesIO())
        except (pa.ArrowException, OverflowError, UnicodeError):
            columns[name] = pa.array([None if c is None else ascii(c) for c in cells])
    return pa.table(columns)
