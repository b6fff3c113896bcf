"""The folder of a grading: ``rows/*.parquet``, one file per chunk, and ``instances/*.json``."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.benchmarks.rows import COLUMNS, Row
from slotwise.benchmarks.sources import Case
from slotwise.models.atomic_file import write_atomically
from slotwise.models.errors import InputError
from slotwise.models.instance import Instance
from slotwise.models.instance_file import read_instance


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
        """Return all rows, oldest chunk first."""
        wanted = list(columns)
        found: list[Row] = []
        for path in self._files():
            try:
                found += pq.read_table(path, columns=wanted).to_pylist()
            except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
                raise InputError(
                    f"holds no rows of a grading ({error}); remove it or choose another folder",
                    has_value=False,
                    file=str(path),
                ) from error
        return found

    def instance(self, instance_hash: str) -> Instance | None:
        """Return an instance; ``None`` when the folder does not have it."""
        path = self._path(instance_hash)
        return read_instance(path) if path.exists() else None

    def _files(self) -> list[Path]:
        return sorted(self._rows.glob("rows-*.parquet"))

    def _path(self, instance_hash: str) -> Path:
        return self._instances / f"{instance_hash.removeprefix('sha256:')}.json"
