"""The folder of a grading on this machine: ``rows/*.parquet``, ``instances/*.parquet``.

Spark writes both (`batch`); older gradings have an instance in ``instances/HASH.json``.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.grading.row_file import check_terms_agree, read_rows
from slotwise.benchmarks.grading.rows import COLUMNS, KEY, Kind, Row, newest_rows
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.instance_writer import instance_hash as hash_of
from slotwise.models.formats.json_text import parse_json
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem

if TYPE_CHECKING:
    from slotwise.benchmarks.grading.sources import Case


ROWS = "rows"
INSTANCES = "instances"
PLAN = "plan"
LOCK = ".lock"
"""An empty file that the grading at work keeps locked; the system frees it when that ends."""


def local_folder(out: str | os.PathLike[str]) -> Path | None:
    """Return the folder where it is of this machine or mounted; ``None`` for ``hdfs://...``."""
    text = os.fspath(out)
    if text.startswith("file:"):
        return Path("/" + text.removeprefix("file:").lstrip("/"))
    return None if "://" in text else Path(text).absolute()


def make_local(out: str | os.PathLike[str]) -> None:
    """Make the folder where it is one of this machine; elsewhere Spark does when it writes.

    Raises
    ------
    InputError
        When it cannot be made or written to.
    """
    if not os.fspath(out):
        raise InputError("must name a folder", field="out", value="")
    local = local_folder(out)
    if local is None:
        return
    try:
        (local / ROWS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made: {error.strerror}", field="out", value=str(local)
        ) from error
    if not os.access(local / ROWS, os.W_OK):
        raise InputError("cannot be written to", field="out", value=str(local))


@contextmanager
def alone(out: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other gradings out of a folder of this machine meanwhile; of others nobody can.

    Two at once would run the same runs, and each would remove what the other is writing. However
    this process ends, the folder is free then.

    Raises
    ------
    InputError
        When another grading is at work there.
    """
    local = local_folder(out)
    if local is None:
        yield
        return
    with (local / LOCK).open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            rule = "another grading is writing into it; wait until it has ended, or name another"
            raise InputError(rule, field="out", value=str(local)) from error
        except OSError as error:
            unsure = f"{local} cannot be locked ({error.strerror}): let one grading at a time run"
            warnings.warn(unsure, RuntimeWarning, stacklevel=3)
        yield


def parquet_files(folder: Path) -> list[Path]:
    """Return the files of rows in a folder, without those that are being written; sorted."""
    return sorted(file for file in folder.glob("*.parquet") if file.name[0] not in "._")


class Store:
    """Rows and instances in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = folder / ROWS
        self._instances = folder / INSTANCES
        self._kept: dict[str, Path] | None = None

    def prepare(self, cases: Iterable[Case]) -> None:
        """Make the folder and keep the instances, for rows that were made without Spark.

        Raises
        ------
        InputError
            When the folder cannot be made or written to.
        """
        make_local(self.folder)
        self._instances.mkdir(exist_ok=True)
        for case in cases:
            path = self._path(case.hash)
            if not path.exists():
                write_atomically(path, case.text)

    def append(self, rows: pa.Table) -> None:
        """Add rows that were made without Spark, as a file; it appears whole or not at all."""
        if not rows.num_rows:
            return
        last = max((int(path.name[5:13]) for path in self._rows.glob("rows-*.parquet")), default=-1)
        name = f"rows-{last + 1:08d}-{secrets.token_hex(4)}.parquet"
        temporary = self._rows / f".{name}.tmp"
        try:
            pq.write_table(rows, temporary, compression="zstd")
            temporary.replace(self._rows / name)
        finally:
            temporary.unlink(missing_ok=True)

    def rows(self, columns: Iterable[str] = COLUMNS, *, crosschecks: bool = False) -> list[Row]:
        """Return the newest row of each key (`rows.KEY`), oldest first.

        Those of cross-checks, which do not compete, only where they are asked for. A run has
        several rows where it was run again, for example because it failed.

        Raises
        ------
        InputError
            Naming file, row and column of what a grading does not write.
        """
        names = list(columns)
        read = list(dict.fromkeys((*names, *KEY, "batch")))
        all_rows = [row for path in self._files() for row in read_rows(path, read)]
        rows = newest_rows(all_rows)
        if not crosschecks:
            rows = [row for row in rows if row["kind"] != Kind.CROSSCHECK]
        for row in rows:
            for name in set(read) - set(names):
                del cast(dict[str, object], row)[name]
        if {"instance_hash", "terms"} <= set(names):
            check_terms_agree(rows)
        return rows

    def problem(self, instance_hash: str) -> Problem | None:
        """Return the problem of an instance; ``None`` when the folder does not have it."""
        path = self._path(instance_hash)
        if path.exists():
            instance = read_instance(path)
        elif (file := self._where().get(instance_hash)) is not None:
            path = file
            instance = self._read_kept(path, instance_hash)
        else:
            return None
        with in_file(str(path)):
            actual_hash = hash_of(instance)
            if actual_hash != instance_hash:
                raise InputError(f"must be of the instance {instance_hash}", value=actual_hash)
            return compile_problem(instance)

    def _files(self) -> list[Path]:
        return sorted(self._rows.glob("*.parquet"))

    def _path(self, instance_hash: str) -> Path:
        return self._instances / f"{instance_hash.removeprefix('sha256:')}.json"

    def _where(self) -> dict[str, Path]:
        """Return hash -> the file of ``instances`` that has its text."""
        if self._kept is None:
            self._kept = {}
            for path in sorted(self._instances.glob("*.parquet")):
                table = _table(path, ["instance_hash"])
                self._kept |= dict.fromkeys(table["instance_hash"].to_pylist(), path)
        return self._kept

    def _read_kept(self, path: Path, instance_hash: str) -> Instance:
        filters = [("instance_hash", "==", instance_hash)]
        texts = _table(path, ["instance_hash", "text"], filters)["text"].to_pylist()
        with in_file(str(path)):
            return instance_from_data(parse_json(texts[0]))


def _table(
    path: Path, columns: list[str], filters: list[tuple[str, str, str]] | None = None
) -> pa.Table:
    try:
        return pq.read_table(path, columns=columns, filters=filters, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        rule = f"does not hold instances of a grading ({error}); remove it"
        raise InputError(rule, file=str(path), has_value=False) from error
