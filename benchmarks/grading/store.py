"""The folder of a grading: ``rows/*.parquet``, one file per chunk, and ``instances/*.json``."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.grading.row_file import check_terms_agree, read_rows
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.benchmarks.grading.sources import Case
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.formats.instance_writer import instance_hash as hash_of
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


class Store:
    """Rows and instances in one folder of the driver's file system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = folder / "rows"
        self._instances = folder / "instances"

    def prepare(self, cases: Iterable[Case]) -> None:
        """Make the folder and keep the instances, so that reports need nothing else.

        Raises
        ------
        InputError
            When the folder cannot be made or written to.
        """
        try:
            for folder in (self._rows, self._instances):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made: {error.strerror}", field="--out", value=str(self.folder)
            ) from error
        if not os.access(self._rows, os.W_OK):
            raise InputError("cannot be written to", field="--out", value=str(self.folder))
        for case in cases:
            path = self._path(case.hash)
            if not path.exists():
                write_atomically(path, case.text)

    def append(self, rows: pa.Table) -> None:
        """Add rows as a file of their own; it appears whole or not at all."""
        if not rows.num_rows:
            return
        last = max((int(path.name[5:13]) for path in self._files()), default=-1)
        name = f"rows-{last + 1:08d}-{secrets.token_hex(4)}.parquet"
        temporary = self._rows / f".{name}.tmp"
        try:
            pq.write_table(rows, temporary, compression="zstd")
            temporary.replace(self._rows / name)
        finally:
            temporary.unlink(missing_ok=True)

    def rows(self, columns: Iterable[str] = COLUMNS) -> list[Row]:
        """Return all rows, oldest chunk first.

        Raises
        ------
        InputError
            Naming file, row and column of what a grading does not write.
        """
        wanted = list(columns)
        found = [row for path in self._files() for row in read_rows(path, wanted)]
        if {"instance_hash", "terms"} <= set(wanted):
            check_terms_agree(found)
        return found

    def problem(self, instance_hash: str) -> Problem | None:
        """Return the problem of an instance; ``None`` when the folder does not have it."""
        path = self._path(instance_hash)
        if not path.exists():
            return None
        instance = read_instance(path)
        with in_file(str(path)):
            found = hash_of(instance)
            if found != instance_hash:
                raise InputError(f"must be of the instance {instance_hash}", value=found)
            return compile_problem(instance)

    def _files(self) -> list[Path]:
        return sorted(self._rows.glob("rows-*.parquet"))

    def _path(self, instance_hash: str) -> Path:
        return self._instances / f"{instance_hash.removeprefix('sha256:')}.json"
