"""The process of a Java program around Storm's scheduler: a line of JSON in, a line out."""

from __future__ import annotations

import math
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from slotwise.heuristics.method import MethodError
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_document, instance_hash
from slotwise.models.formats.json_text import canonical_json, parse_json
from slotwise.models.instance.instance import Instance
from slotwise.processes import pipes
from slotwise.processes.child import Child
from slotwise.processes.pipes import last_words


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
        Its target of ``make``.
    """

    jar: str
    variable: str
    target: str


STORM_2 = Program("target/storm-peer.jar", "SLOTWISE_STORM_PEER", "storm-peer")
"""Around the Storm release that our ``ras-`` strategies are compared with."""

STORM_1 = Program("storm_1/target/storm-1-peer.jar", "SLOTWISE_STORM_1_PEER", "storm-1-peer")
"""Around Storm 1.0.6, which ``r-storm-1.0`` is compared with."""


PROGRAMS = Path(__file__).with_name("storm_programs")
"""Their sources and build results in a checkout."""


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
        Versions of Storm and Java, for example ``2.8.3`` and ``17.0.15``.

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
        self._child = Child([java, "-XX:+UseSerialGC", "-jar", jar])
        try:
            greeting = self._answer(math.inf)
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
        self._child.close()

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
        deadline = time.monotonic() + (math.inf if time_limit_s is None else time_limit_s)
        self._child.pipes.send(line.encode("ascii") + b"\n")
        return self._answer(deadline)

    def _answer(self, deadline: float) -> dict[str, Any]:
        line = self._child.pipes.read_line(deadline)
        if line is None:
            raise self._failed(deadline)
        answer: dict[str, Any] = parse_json(line.decode())
        return answer

    def _failed(self, deadline: float) -> PeerError:
        self._child.wait(deadline)
        finished = self._child.end()
        if finished.timed_out:
            reason = "out of time"
        elif finished.overrun:
            reason = f"killed: it wrote more than {pipes.MOST_BYTES >> 20} MiB"
        elif finished.code is None or finished.code < 0:
            reason = "killed"
        else:
            reason = f"exit code {finished.code}"
        return PeerError(
            f"Storm's scheduler ended without an answer ({reason}){last_words(finished.stderr)}",
            timed_out=finished.timed_out,
        )
