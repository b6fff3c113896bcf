"""The table of days: which sums there are, and what lines they were made of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar

from slotwise.models.errors import in_file
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.formats.json_text import parse_json
from slotwise.pipeline.statistics.weights.collected import Overview

Files = tuple[int, int, int]
"""How many files of lines there are of the day before, the day, and the day after."""
Key = tuple[str, str]
"""Topology and source."""


@dataclass(frozen=True, slots=True)
class Day:
    """What was computed of a day.

    Parameters
    ----------
    files
        Of what; files of lines are only ever added, so that their number says which.
    folder
        Where its sums are; ``None`` = it has no samples.
    overview
        Its samples, by topology and source.
    hz
        Node -> the highest clock rate that a line of the day states.
    """

    files: Files
    folder: str | None = None
    overview: Mapping[Key, Overview] = field(default_factory=dict)
    hz: Mapping[str, int] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the day, JSON-ready."""
        return {
            "files": list(self.files),
            "folder": self.folder,
            "overview": [
                [*key, one.samples, one.first.isoformat(), one.last.isoformat()]
                for key, one in self.overview.items()
            ],
            "hz": dict(self.hz),
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Day:
        """Return the day that `to_document` wrote."""
        before, itself, after = data["files"]
        found = {
            (topology, source): Overview(samples, *map(datetime.fromisoformat, times))
            for topology, source, samples, *times in data["overview"]
        }
        return cls((before, itself, after), data["folder"], found, data["hz"])


@dataclass(frozen=True, slots=True)
class DayTable:
    """All days.

    Parameters
    ----------
    made_of
        How lines are judged and summed, in words; sums of anything else are not used.
    hz
        Node -> the clock rate with which all sums were made.
    days
        By the corrected date of their samples.
    """

    FILE: ClassVar[str] = "days.json"

    made_of: str
    hz: Mapping[str, int]
    days: Mapping[date, Day]

    @classmethod
    def read(cls, folder: Path, made_of: str) -> DayTable:
        """Return the table in a folder; an empty one where there is none that is `made_of` that."""
        path = folder / cls.FILE
        if path.is_file():
            with in_file(str(path)):
                data = parse_json(path.read_text("utf-8"))
            if data["made_of"] == made_of:
                days = {date.fromisoformat(day): Day.of(one) for day, one in data["days"].items()}
                return cls(made_of, data["hz"], days)
        return cls(made_of, {}, {})

    def write(self, folder: Path) -> None:
        """Put the table in the place of the one in the folder, in one step."""
        days = {str(day): one.to_document() for day, one in self.days.items()}
        document = {"made_of": self.made_of, "hz": dict(self.hz), "days": days}
        write_atomically(folder / self.FILE, json.dumps(document))

    def folders(self) -> list[str]:
        """Return the folders of all days that have samples."""
        return [one.folder for _, one in sorted(self.days.items()) if one.folder is not None]

    def stated_hz(self) -> dict[str, int]:
        """Return node -> the highest clock rate that any line states."""
        found: dict[str, int] = defaultdict(int)
        for day in self.days.values():
            for node, hz in day.hz.items():
                found[node] = max(found[node], hz)
        return dict(found)

    def overview(self) -> dict[Key, Overview]:
        """Return the samples of all days, by topology and source."""
        found: dict[Key, Overview] = {}
        for day in self.days.values():
            for key, one in day.overview.items():
                other = found.get(key, Overview(0, one.first, one.last))
                found[key] = Overview(
                    one.samples + other.samples,
                    min(one.first, other.first),
                    max(one.last, other.last),
                )
        return found
