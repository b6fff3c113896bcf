"""The process of a Java program around Storm's scheduler: one line of JSON asked, one answered."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, Timer
from typing import Any, ClassVar, Self

from slotwise.heuristics.external.exchange import KEPT_BYTES, MOST_BYTES
from slotwise.heuristics.external.process import LEAVE_S, CommandProcess
from slotwise.heuristics.external.stderr_tail import last_words
from slotwise.heuristics.method_error import MethodError
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_document, instance_hash
from slotwise.models.formats.json_text import canonical_json, parse_json
from slotwise.models.instance.instance import Instance


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built in the checkout.

    Parameters
    ----------
    jar
        Path in the folder ``storm_programs``.
    variable
        Environment variable that names a jar elsewhere.
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


PROGRAMS = Path(__file__).with_name("storm_programs")
"""Their sources, in a checkout, and what is built from them."""


class PeerError(MethodError):
    """Storm's scheduler did not answer; the message says why. The process is gone."""


def jar_path(program: Program = STORM_2) -> Path:
    """Return where the program is or would be."""
    named = os.environ.get(program.variable)
    return Path(named) if named else PROGRAMS / program.jar


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
    program
        Which one.
    storm_version, java_version
        What it is linked with and runs on, for example ``2.8.3`` and ``17.0.15``.

    Raises
    ------
    InputError
        When it is not built, or there is no Java.
    PeerError
        When it does not start.
    """

    program: ClassVar[Program] = STORM_2

    def __init__(self) -> None:
        reason = missing(self.program)
        java = _java()
        if reason is not None or java is None:
            raise InputError(str(reason), field="Storm's scheduler", has_value=False)
        jar = str(jar_path(self.program))
        self._process = CommandProcess([java, "-XX:+UseSerialGC", "-jar", jar])
        self._out_of_time = False
        self._said = _Tail(self._process)
        try:
            greeting = self._answer()
        except BaseException:
            self.close()
            raise
        self.storm_version = str(greeting["storm"])
        self.java_version = str(greeting["java"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process with all that it has started; once is enough."""
        self._process.kill()
        self._said.join(LEAVE_S)
        self._process.close()

    def ask_about(
        self, instance: Instance, time_limit_s: float | None, **settings: object
    ) -> dict[str, Any]:
        """Return the answer to a request about `instance`.

        Raises
        ------
        InputError
            When Storm cannot read the request.
        PeerError
            When the process broke down or was out of time.
        """
        request = {
            "instance": instance_document(instance),
            "hash": instance_hash(instance),
            **settings,
        }
        answer = self.ask(canonical_json(request), time_limit_s)
        if "error" in answer:
            raise InputError(answer["error"], field="Storm's scheduler", has_value=False)
        return answer

    def ask(self, line: str, time_limit_s: float | None) -> dict[str, Any]:
        """Return the answer to a line of JSON; raises `PeerError` when none comes in time."""
        limit = Timer(time_limit_s, self._end_in_time) if time_limit_s is not None else None
        if limit is not None:
            limit.start()
        try:
            self._process.stdin.write(line.encode("ascii") + b"\n")
            self._process.stdin.flush()
            return self._answer()
        except BrokenPipeError as error:
            raise self._failed() from error
        finally:
            if limit is not None:
                limit.cancel()

    def _end_in_time(self) -> None:
        self._out_of_time = True
        self._process.kill()

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline(MOST_BYTES)
        if not line.endswith(b"\n"):
            raise self._failed(too_long=len(line) == MOST_BYTES)
        answer: dict[str, Any] = parse_json(line.decode())
        return answer

    def _failed(self, *, too_long: bool = False) -> PeerError:
        if too_long or self._said.too_long:
            reason = f"killed: it wrote more than {MOST_BYTES >> 20} MiB"
        elif self._out_of_time:
            reason = "out of time"
        else:
            code = self._process.exit_code()
            reason = "killed" if code is None or code < 0 else f"exit code {code}"
        self._process.kill()
        self._said.join(LEAVE_S)
        said = last_words(bytes(self._said.end))
        return PeerError(
            f"Storm's scheduler ended without an answer ({reason}){said}",
            timed_out=self._out_of_time,
        )


class _Tail(Thread):
    """Reads what the program says on stderr, keeps the end, and ends one that says too much.

    Attributes
    ----------
    end
        The last `KEPT_BYTES` until now.
    too_long
        Whether it has written more than `MOST_BYTES`.
    """

    def __init__(self, process: CommandProcess) -> None:
        super().__init__(daemon=True)
        self.end = bytearray()
        self.too_long = False
        self._process = process
        self.start()

    def run(self) -> None:
        """Read until the pipe ends."""
        count = 0
        while piece := os.read(self._process.stderr.fileno(), KEPT_BYTES):
            count += len(piece)
            self.end += piece
            del self.end[:-KEPT_BYTES]
            if count > MOST_BYTES and not self.too_long:
                self.too_long = True
                self._process.kill()
