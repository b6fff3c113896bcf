"""Tables made of the windows of a day, kept beside the sums: a new day leaves the others alone.

What the rows of a day depend on is its recipe: the sums that have its windows, how often its tasks
report, the clock rates of its nodes. A day whose recipe has changed is made again.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from slotwise.models.formats.file_bytes import write_atomically
from slotwise.pipeline.spark.scratch import Store
from slotwise.pipeline.statistics.manifest import Part
from slotwise.pipeline.statistics.parts import (
    load_json,
    read_parts,
    remove_others,
    whole_parts,
    with_bucket,
    write_parts,
)
from slotwise.pipeline.statistics.schema import names, struct
from slotwise.pipeline.statistics.weights.rules import Rules
from slotwise.pipeline.statistics.weights.sums import MADE_OF, OfDay, Sums

_FILE = "days.json"
_MADE_OF = f"{MADE_OF} 4"
"""With a number that changes with the functions that make the rows."""


@dataclass(frozen=True, slots=True)
class DayTables:
    """The tables of all days, some of them yet to be made.

    Parameters
    ----------
    spark
        A session.
    stored
        Of `scratch`, for tables that are not kept.
    folder
        Where they are kept; ``None`` = nowhere, and all are new.
    run
        The number of this run, above those of all others.
    new
        Topology and day -> the recipe of rows that are yet to be made, and where their sums are.
    there
        The same -> the recipe of rows that are there, and the run that wrote them.
    unread
        Rows that are there and do not count now.
    """

    spark: SparkSession
    stored: Store
    folder: Path | None = None
    run: int = 1
    new: Mapping[Part, tuple[str, Sequence[Path]]] = field(default_factory=dict)
    there: Mapping[Part, tuple[str, int]] = field(default_factory=dict)
    unread: Mapping[Part, tuple[str, int]] = field(default_factory=dict)
    _made: dict[str, DataFrame] = field(default_factory=dict)

    def together(self, rows: DataFrame, *keys: str) -> DataFrame:
        """Give rows of the new days with a `bucket`, which is in one partition.

        Rows of one topology and day with the same `keys` are in one bucket.
        """
        sums = {day: folders for day, (_, folders) in self.new.items()}
        return with_bucket(rows, sums, *keys).repartition("topology", "day", "bucket")

    def add(
        self, name: str, schema: str, rows: DataFrame, *, is_read_again: bool = False
    ) -> DataFrame:
        """Add the rows of the new days to a table, and give them as they are read from there.

        Those that are `together` have a `bucket`, and are written from the partitions they are in.
        """
        if self.folder is None:
            self._made[name] = self.stored(rows) if is_read_again else rows
            return self._made[name]
        columns = names(schema)
        if "bucket" not in rows.columns:
            keys = [one for one in columns if one not in ("topology", "day")]
            rows = self.together(rows.select(*columns), *keys)
        write_parts(rows.select(*columns), self.folder / name, self.run)
        return self._read(name, schema, self._new_runs)

    def rows(self, name: str, schema: str) -> DataFrame:
        """Give a table of all days, those that were added and those that were there."""
        if self.folder is not None:
            return self._read(name, schema, [*self._new_runs, *_runs(self.there)])
        if name not in self._made:  # no line has a sample
            return self.spark.createDataFrame([], struct(schema))
        return self._made[name]

    @property
    def _new_runs(self) -> list[tuple[Part, int]]:
        return [(day, self.run) for day in self.new]

    def _read(self, name: str, schema: str, runs: Collection[tuple[Part, int]]) -> DataFrame:
        assert self.folder is not None
        return read_parts(self.spark, schema, self.folder / name, runs)

    def keep(self) -> None:
        """Let what was added count: the next run finds it."""
        if self.folder is None or not self.new:
            return
        added = {day: (recipe, self.run) for day, (recipe, _) in self.new.items()}
        all_days = {**self.unread, **self.there, **added}
        tables = {
            run: [one.parent.name for one in self.folder.glob(f"*/run={run}")]
            for _, run in all_days.values()
        }
        days = [[*day, recipe, run, tables[run]] for day, (recipe, run) in all_days.items()]
        write_atomically(
            self.folder / _FILE, json.dumps({"made_of": _MADE_OF, "days": days}) + "\n"
        )
        for table in self.folder.iterdir():
            remove_others(table, _runs(all_days))


def _runs(days: Mapping[Part, tuple[str, int]]) -> list[tuple[Part, int]]:
    return [(day, run) for day, (_, run) in days.items()]


def day_tables(
    spark: SparkSession,
    sums: Sums,
    rules: Rules,
    stored: Store,
    needed: str,
    *,
    are_kept: bool,
) -> DayTables:
    """Return the tables of the days of `sums`, kept beside these or nowhere.

    Days that have no table named `needed` are new.
    """
    recipes = {
        day: (_recipe(day, parts, sums, rules), sums.window_folders(parts))
        for day, parts in sums.days(rules).items()
    }
    if not are_kept:
        return DayTables(spark, stored, new=recipes)
    folder = sums.folder / "days"
    there, made = _read(folder / _FILE)
    with_needed = {day for day, one in there.items() if needed in made[one[1]]}
    new = {
        day: one
        for day, one in recipes.items()
        if day not in with_needed or there[day][0] != one[0]
    }
    run = max((run for _, run in there.values()), default=0) + 1
    # A run that was killed may have left some of its tables, of sums that were others.
    for table in folder.glob(f"*/run={run}"):
        shutil.rmtree(table)
    return DayTables(
        spark,
        stored,
        folder,
        run=run,
        new=new,
        there={day: there[day] for day in recipes if day not in new},
        unread={day: one for day, one in there.items() if day not in recipes},
    )


def _recipe(day: Part, parts: Mapping[Part, Sequence[OfDay]], sums: Sums, rules: Rules) -> str:
    """Return a digest of all that the rows of a day depend on."""
    topology = unquote(day[0])
    its = [one for several in parts.values() for one in several]
    reporting = {one.source: rules.reporting.get((topology, one.source)) for one in its}
    nodes = {node for one in its for node in one.nodes}
    depends_on = {
        "parts": sorted((part[1] or "", sums.parts[part].number) for part in parts),
        "since": sums.since_of(day),
        "reporting": [(one, of and of.interval_s) for one, of in sorted(reporting.items())],
        "hz": [(node, rules.hz.get(node)) for node in sorted(nodes)],
        "others": (rules.step_s, rules.is_stated),
    }
    return sha256(json.dumps(depends_on).encode()).hexdigest()


def _read(path: Path) -> tuple[dict[Part, tuple[str, int]], dict[int, list[str]]]:
    """Return topology and day -> the recipe of their rows and its run, and run -> its tables.

    The recipe of a day of which a file is missing is empty, so that it is made again.
    """
    if not path.is_file():
        return {}, {}
    document = load_json(path)
    if document["made_of"] != _MADE_OF:
        return {}, {}
    days = {(topology, day): (recipe, run) for topology, day, recipe, run, _ in document["days"]}
    by_table: dict[str, set[tuple[Part, int]]] = defaultdict(set)
    for topology, day, _, run, tables in document["days"]:
        for name in tables:
            by_table[name].add(((topology, day), run))
    lacking = {
        one for name, its in by_table.items() for one in its - whole_parts(path.parent / name, its)
    }
    whole = {
        day: ("" if (day, run) in lacking else recipe, run) for day, (recipe, run) in days.items()
    }
    return whole, {run: tables for *_, run, tables in document["days"]}
