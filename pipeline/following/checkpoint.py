"""The checkpoint folder: the identity of a stream, and its state.

``stream.json`` identifies the stream, ``spark`` has Spark's own checkpoint, ``tables`` the lines in
the form of ``measure --store``, ``unreadable.json`` the files that could not be read, and
``advice.jsonl`` the advice unless another file is given.
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
from slotwise.models.formats.text import read_text
from slotwise.models.formats.validation import check_format

FORMAT = "slotwise.stream/1"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The folder of a stream, and its id, which every line of advice has."""

    folder: Path
    stream: str

    @property
    def spark(self) -> Path:
        """Folder of Spark's own checkpoint; absolute, as Java's current folder may differ."""
        return self.folder.absolute() / "spark"

    @property
    def tables(self) -> Path:
        """Folder of the tables of lines; absolute."""
        return self.folder.absolute() / "tables"

    @property
    def unreadable(self) -> Path:
        """File that lists unreadable files: path -> what is wrong with it."""
        return self.folder / "unreadable.json"

    @property
    def advice(self) -> Path:
        """The default file of advice."""
        return self.folder / "advice.jsonl"


def open_checkpoint(folder: Path, made_of: Mapping[str, str]) -> Checkpoint:
    """Return the checkpoint in `folder`; begin a new one where there is none.

    Parameters
    ----------
    folder
        New, empty, or of an earlier run.
    made_of
        The source of lines and how they are read, in words; it must not change during a stream,
        since early lines would otherwise mean something else than late ones.

    Raises
    ------
    InputError
        When the folder has other content, or a stream of other lines.
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
    """Whether a folder has nothing but temporary files of writing ``stream.json``."""
    return folder.is_dir() and all(
        path.name.startswith(".stream.json.") and path.suffix == ".tmp" for path in folder.iterdir()
    )


def _known(path: Path, made_of: Mapping[str, str]) -> str:
    """Return the id of an earlier stream; refuse it if it is made of something else."""
    with in_file(str(path)):
        data = parse_json(read_text(path))
        check_format(data, FORMAT)
        earlier, stream = data.get("made_of"), data.get("id")
        if not isinstance(earlier, dict) or not isinstance(stream, str):
            raise InputError("is damaged; begin again with a new folder", has_value=False)
        for key in earlier | dict(made_of):
            if earlier.get(key) != made_of.get(key):
                rule = f"was {earlier.get(key)!r} when the checkpoint began; begin a new one"
                raise InputError(rule, field=key, value=made_of.get(key))
    return stream
