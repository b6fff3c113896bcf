"""What the tables hold: which files were read, and where the rows of each day are.

The manifest is replaced in one step when everything it names has been written. What it does not
name, such as what a killed run left, is not there; the next run removes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.pipeline.statistics.reading import JSON_FILES, STORM_FILES, Reading

NAME = "manifest.json"
FOLDERS = ("lines", "judged", "clocks", "sums")
"""What else tables have, in this order."""
LINES_FOLDER, JUDGED_FOLDER, CLOCKS_FOLDER, SUMS_FOLDER = FOLDERS
COMPRESSED = (".gz", ".zst")
"""How the names of compressed files end."""
VERSION = 4

Part = tuple[str, str | None]
"""A topology, as the name of a folder has it, and a day as in `PARSED`.

The day is ISO; ``None``: the lines do not tell.
"""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file as it was read: a change of size or time means that it is read again.

    `lines` is how many it has; 0 also for one that cannot be read.
    """

    size: int
    mtime_ns: int
    run: int
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the tables hold.

    Attributes
    ----------
    reading
        How the files were read.
    files
        Path -> what was read, and in which run.
    stale
        Run -> files whose rows in it are replaced by those of a later run.
    lines
        Run -> the parts in which it read lines.
    parts
        Part -> the run in which its rows were judged last.
    unjudged
        Parts to judge, as lines of theirs or of the day before came or went since.
    """

    reading: Mapping[str, Any]
    files: Mapping[str, LogFile] = field(default_factory=dict)
    stale: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    parts: Mapping[Part, int] = field(default_factory=dict)
    unjudged: tuple[Part, ...] = ()

    @property
    def next_run(self) -> int:
        """The number of the next run, from 1."""
        return max(self.lines, default=0) + 1

    def with_batch(self, read: Mapping[str, LogFile], parts: tuple[Part, ...]) -> Manifest:
        """Return what holds after a run that read a batch of a stream.

        Parameters
        ----------
        read
            Path, as the stream names it -> what the batch has of it; earlier batches may have more.
        parts
            Where the lines are.
        """
        files = dict(self.files)
        for path, one in read.items():
            before = files.get(path)
            if before is not None:
                one = replace(one, size=before.size + one.size, lines=before.lines + one.lines)
            files[path] = one
        return self._with_lines(files, self.stale, parts)

    def with_files(self, read: Mapping[str, LogFile], parts: tuple[Part, ...]) -> Manifest:
        """Return what holds after a run that read `read` and put the lines into `parts`."""
        stale = {number: [*paths] for number, paths in self.stale.items()}
        for path in read:
            if path in self.files:
                stale.setdefault(self.files[path].run, []).append(path)
        of_runs = {number: tuple(paths) for number, paths in stale.items()}
        return self._with_lines({**self.files, **read}, of_runs, parts)

    def _with_lines(
        self,
        files: Mapping[str, LogFile],
        stale: Mapping[int, tuple[str, ...]],
        parts: tuple[Part, ...],
    ) -> Manifest:
        lines = {**self.lines, self.next_run: parts}
        changed = [self.next_run, *(one for one in stale if stale[one] != self.stale.get(one))]
        touched = {part for run in changed for part in lines[run]}
        known = {part for several in lines.values() for part in several}
        unjudged = {*self.unjudged, *touched, *neighbours(touched, 1)} & known
        return replace(
            self, files=files, stale=stale, lines=lines, unjudged=tuple(sorted(unjudged, key=str))
        )

    @property
    def judged(self) -> Manifest:
        """What holds when all parts are judged."""
        run = self.next_run - 1
        return replace(self, parts={**self.parts, **dict.fromkeys(self.unjudged, run)}, unjudged=())


def in_words(reading: Reading) -> dict[str, Any]:
    """Return all that decides what the rows are, as JSON has it."""
    known = {one: sorted(names) for one, names in sorted(reading.components.items())}
    return {**asdict(reading), "components": known}


def load(folder: Path, reading: Reading) -> Manifest:
    """Return the manifest of the tables in `folder`; an empty one if there is none.

    Raises
    ------
    InputError
        If it is not a manifest of this version, or its files were read otherwise.
    """
    path = folder / NAME
    if not path.is_file():
        return Manifest(in_words(reading))
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        manifest = _manifest(document)
    except (ValueError, KeyError, TypeError) as error:
        rule = (
            "is damaged, or not a manifest of tables of this version; choose another folder, or "
            f"remove {folder}, which the next run makes again from the logs that are still there"
        )
        raise InputError(rule, file=str(path), has_value=False) from error
    if manifest.reading != in_words(reading):
        others = _other_options(manifest.reading, reading)
        rule = f"holds tables of logs that were read with {others}; choose another folder"
        raise InputError(rule, file=str(folder), has_value=False)
    return manifest


def _other_options(before: Mapping[str, Any], reading: Reading) -> str:
    """Say what was read otherwise."""
    new = in_words(reading)
    changed = [name for name in new if before.get(name) != new[name]]
    words = [f"{name} = {before.get(name)!r}" for name in changed if name != "components"]
    return ", ".join([*words, *(["other components"] if "components" in changed else [])])


def save(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step; raises `InputError` when it cannot be written."""
    write_atomically(folder / NAME, json.dumps(_document(manifest), indent=1))


def not_of_tables(folder: Path) -> list[str]:
    """Return the names in a folder that no tables have, hidden files and scratch tables aside."""
    names = sorted(one.name for one in folder.iterdir())
    return [one for one in names if one not in FOLDERS and not one.startswith((".", "scratch-"))]


def log_files(logs: Path) -> Iterator[tuple[str, LogFile]]:
    """Yield the log files in a folder and below it, by path.

    What has a name that begins with a dot or an underscore is not yet whole: Spark passes over it,
    too.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    if not logs.is_dir():
        raise InputError("must be a folder of logs", field="LOGS", value=str(logs))
    folder = logs.resolve()
    for path in sorted(folder.rglob("*")):
        is_hidden = any(one.startswith((".", "_")) for one in path.relative_to(folder).parts)
        if not is_hidden and (is_storm(path.name) or is_json(path.name)) and path.is_file():
            status = path.stat()
            yield str(path), LogFile(status.st_size, status.st_mtime_ns, 0)


def text_bytes(log_files: Iterable[tuple[str, LogFile]]) -> int:
    """Return how many bytes log files have about, once they are decompressed."""
    return sum(one.size * (8 if path.endswith(COMPRESSED) else 1) for path, one in log_files)


def is_json(name: str) -> bool:
    """Say whether a file of this name has JSON lines."""
    return fnmatch(name, JSON_FILES)


def is_storm(name: str) -> bool:
    """Say whether a file of this name has Storm's lines."""
    return fnmatch(name, STORM_FILES) and not is_json(name)


def neighbours(parts: Iterable[Part], days: int) -> set[Part]:
    """Return the parts of the same topologies `days` later; lines without a day have none."""
    return {
        (topology, (date.fromisoformat(day) + timedelta(days)).isoformat())
        for topology, day in parts
        if day is not None
    }


def _document(manifest: Manifest) -> dict[str, Any]:
    return {
        "version": VERSION,
        "reading": dict(manifest.reading),
        "files": {path: asdict(one) for path, one in manifest.files.items()},
        "stale": [[run, list(paths)] for run, paths in manifest.stale.items()],
        "lines": [[run, [list(part) for part in parts]] for run, parts in manifest.lines.items()],
        "parts": [[*part, run] for part, run in manifest.parts.items()],
        "unjudged": [list(part) for part in manifest.unjudged],
    }


def _manifest(document: Mapping[str, Any]) -> Manifest:
    if document["version"] != VERSION:
        raise ValueError(document["version"])
    return Manifest(
        reading=document["reading"],
        files={path: LogFile(**one) for path, one in document["files"].items()},
        stale={run: tuple(paths) for run, paths in document["stale"]},
        lines={run: tuple((t, d) for t, d in parts) for run, parts in document["lines"]},
        parts={(topology, day): run for topology, day, run in document["parts"]},
        unjudged=tuple((topology, day) for topology, day in document["unjudged"]),
    )
