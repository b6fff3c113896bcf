"""The checkpoint folder: what a stream is of, and what it has got so far.

``stream.json`` says which stream it is, ``spark`` has Spark's own checkpoint, ``tables`` the lines
as ``measure --store`` keeps them, ``unreadable.json`` the files that could not be read,
``advice.jsonl`` the advice where no other file was asked for.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import check_format

FORMAT = "slotwise.stream/1"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The folder of a stream, and its id, which every line of advice has."""

    folder: Path
    stream: str

    @property
    def spark(self) -> Path:
        """Where Spark keeps which lines it has read; absolute, as Java's folder may be another."""
        return self.folder.absolute() / "spark"

    @property
    def tables(self) -> Path:
        """Where the tables of the lines are; absolute."""
        return self.folder.absolute() / "tables"

    @property
    def unreadable(self) -> Path:
        """Where the files are named that cannot be read: path -> what is wrong with it."""
        return self.folder / "unreadable.json"

    @property
    def advice(self) -> Path:
        """Where advice goes if nobody asks for another file."""
        return self.folder / "advice.jsonl"


def open_checkpoint(folder: Path, made_of: Mapping[str, str]) -> Checkpoint:
    """Return the checkpoint in `folder`; begin a new one where there is none.

    Parameters
    ----------
    folder
        New, empty, or of an earlier run.
    made_of
        What lines are read from and how, in words; a stream keeps to it from its beginning, or its
        early lines would mean something else than its late ones.

    Raises
    ------
    InputError
        When the folder holds something else, or a stream of other lines.
    """
    path = folder / "stream.json"
    if path.is_file():
        return Checkpoint(folder, _known(path, made_of))
    if folder.exists() and not _is_empty(folder):
        rule = "must be a new or empty folder, or the checkpoint of an earlier run"
        raise InputError(rule, field="checkpoint", value=str(folder))
    stream = uuid.uuid4().hex
    folder.mkdir(parents=True, exist_ok=True)
    document = {"format": FORMAT, "id": stream, "made_of": dict(made_of)}
    write_atomically(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return Checkpoint(folder, stream)


def _is_empty(folder: Path) -> bool:
    """Whether nothing is in a folder but what a crash left of writing ``stream.json``."""
    return folder.is_dir() and all(
        path.name.startswith(".stream.json.") and path.suffix == ".tmp" for path in folder.iterdir()
    )


def _known(path: Path, made_of: Mapping[str, str]) -> str:
    """Return the id of an earlier stream; refuse it if it is made of something else."""
    with in_file(str(path)):
        data = parse_json(path.read_text("utf-8"))
        check_format(data, FORMAT)
        earlier, stream = data.get("made_of"), data.get("id")
        if not isinstance(earlier, dict) or not isinstance(stream, str):
            raise InputError("is damaged; begin again with a new folder", has_value=False)
        for key in earlier | dict(made_of):
            if earlier.get(key) != made_of.get(key):
                rule = f"was {earlier.get(key)!r} when the checkpoint began; begin a new one"
                raise InputError(rule, field=key, value=made_of.get(key))
    return stream
