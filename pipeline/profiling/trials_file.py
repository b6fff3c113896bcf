"""The raw trials of a profile: JSON lines, each written when its trial ends; none is lost."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from slotwise.models.errors import InputError
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.trial import Trial

FORMAT = "slotwise.trials/1"

_TRIAL = TypeAdapter(Trial)


class TrialsFile:
    """The trials of one task and settings in a file.

    Parameters
    ----------
    path
        Of the file, which is created with the first trial.
    task
        As the user wrote it.
    settings
        How it is profiled.

    Raises
    ------
    InputError
        Where the file has other content than trials of this task with these settings.
    """

    def __init__(self, path: Path, task: str, settings: Settings) -> None:
        self.path = path
        made: dict[str, Any] = {"format": FORMAT, "task": task} | asdict(settings)
        self._head = json.dumps(made)
        self.trials: tuple[Trial, ...] = ()
        try:
            text = path.read_text("utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", has_value=False, file=str(path)) from error
        lines = text.splitlines(keepends=True)
        if not lines:
            return
        if lines[0].rstrip("\n") != self._head:
            raise InputError(
                "holds trials of another task or with other settings; remove it, or choose another "
                "--out",
                field="line 1",
                has_value=False,
                file=str(path),
            )
        # A last line without its end was being written when the machine went down.
        self.trials = tuple(
            self._parsed(number, line)
            for number, line in enumerate(lines[1:], 2)
            if line.endswith("\n")
        )

    def _parsed(self, number: int, line: str) -> Trial:
        try:
            return _TRIAL.validate_json(line)
        except ValidationError as error:
            raise InputError(
                "is not a trial; remove the line",
                field=f"line {number}",
                file=str(self.path),
                value=line.strip(),
            ) from error

    def append(self, trial: Trial) -> None:
        """Add a trial; when this returns, it is on the disk."""
        if not self.trials:
            self._write("w", self._head)
        self.trials = (*self.trials, trial)
        self._write("a", json.dumps(asdict(trial)))

    def _write(self, mode: str, line: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror or error}",
                has_value=False,
                file=str(self.path),
            ) from error
