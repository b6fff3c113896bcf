"""The process of a Java program around Storm's scheduler: one line of JSON asked, one answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import IO, Any, Self

from slotwise.heuristics.last_words import last_words
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.json_text import parse_json


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built in the checkout.

    Parameters
    ----------
    jar
        Path from the folder ``benchmarks/storm_peer``.
    variable
        Environment variable that names the jar elsewhere than in the checkout.
    target
        What ``make`` builds it as.
    """

    jar: str
    variable: str
    target: str


STORM_2 = Program("target/storm-peer.jar", "SLOTWISE_STORM_PEER", "storm-peer")
"""Around the Storm release that our ``ras-`` strategies are compared with."""

STORM_1 = Program("storm_1/target/storm-1-peer.jar", "SLOTWISE_STORM_1_PEER", "storm-1-peer")
"""Around Storm 1.0.6, which ``r-storm-1.0`` is compared with."""


class PeerError(SlotwiseError):
    """Storm's scheduler did not answer; the message says why. The process is gone."""


def jar_path(program: Program = STORM_2) -> Path:
    """Return where the program is or would be."""
    named = os.environ.get(program.variable)
    if named:
        return Path(named)
    return Path(__file__).resolve().parents[1] / "benchmarks" / "storm_peer" / program.jar


def missing(program: Program = STORM_2) -> str | None:
    """Return why the program cannot run, in one line; ``None`` where it can."""
    jar = jar_path(program)
    if not jar.is_file():
        return f"is not built ({jar}): run `make {program.target}`, which needs Maven and Java 17"
    if _java() is None:
        return "needs Java 17 or newer: set JAVA_HOME, or put java on the PATH"
    return None


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    named = shutil.which("java", path=os.path.join(home, "bin")) if home else None
    return named or shutil.which("java")


class StormProcess:
    """The running program; a context manager, which ends it.

    Attributes
    ----------
    storm_version, java_version
        What it is linked with and runs on, for example ``2.8.3`` and ``17.0.15``.

    Raises
    ------
    InputError
        When it is not built, or there is no Java.
    PeerError
        When it does not start.
    """

    def __init__(self, program: Program = STORM_2) -> None:
        reason = missing(program)
        java = _java()
        if reason is not None or java is None:
            raise InputError(str(reason), field="Storm's scheduler", has_value=False)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._process = subprocess.Popen(
            [java, "-XX:+UseSerialGC", "-jar", str(jar_path(program))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        greeting = self._answer()
        self.storm_version = str(greeting["storm"])
        self.java_version = str(greeting["java"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; once is enough."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            # A request that could not be written is still waiting in the pipe.
            with suppress(BrokenPipeError):
                _pipe(pipe).close()

    def ask(self, line: str, time_limit_s: float | None) -> dict[str, Any]:
        """Return the answer to a line of JSON; raises `PeerError` when none comes in time."""
        limit = Timer(time_limit_s, self._process.kill) if time_limit_s is not None else None
        if limit is not None:
            limit.start()
        try:
            _pipe(self._process.stdin).write(line.encode("ascii") + b"\n")
            _pipe(self._process.stdin).flush()
            return self._answer()
        except BrokenPipeError as error:
            raise self._failed() from error
        finally:
            if limit is not None:
                limit.cancel()

    def _answer(self) -> dict[str, Any]:
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise self._failed()
        answer: dict[str, Any] = parse_json(line.decode())
        return answer

    def _failed(self) -> PeerError:
        code = self._process.wait()
        self._stderr.seek(0)
        said = last_words(self._stderr.read())
        reason = "out of time, or killed" if code < 0 else f"exit code {code}"
        return PeerError(f"Storm's scheduler ended without an answer ({reason}){said}")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
