"""The process that others are forked from: it has imported what they need, and does no work itself.

Imports take seconds, a fork takes milliseconds, and what a fork changes in its process is gone with
it. The server has one thread: a fork copies no other.

`forked` starts it; its stdin is a socket. A line of JSON asks: ``{"fork": settings, "folder": text,
"memory_mb": number}``, with two descriptors (see `ForkServer.work`), is answered by ``{"pid":
number}``, and ``{"kill": pid}`` by the end of that process. The end of any is reported by itself:
``{"ended": pid, "end": {...}}``. When the socket ends, so does everything.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from slotwise.processes.memory import held_mb
from slotwise.processes.reaper import (
    adopt_orphans,
    die_with_parent,
    end_descendants,
    usage_of,
    wake_up_call,
)

LOOK_S = 0.05
"""Between two looks at the memory of the forked."""

PIECE = 1 << 16

KILLED_FIRST = "500"
"""The kernel ends a fork before anything else of ours where memory runs out (``oom_score_adj``)."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Settings of libraries that otherwise start threads when they are loaded."""

ADDED = "SLOTWISE_ADDED_SETTINGS"
"""Names those of `ONE_THREAD` that are not the user's."""


def server_environment(forked: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server whose forks have `forked`; it starts no thread."""
    added = {name: value for name, value in ONE_THREAD.items() if name not in forked}
    return {**forked, **added, ADDED: ",".join(added)}


def leave_server_environment() -> None:
    """Turn a server's environment into that of its forks, in one of them."""
    for name in os.environ.pop(ADDED, "").split(","):
        os.environ.pop(name, None)


@dataclass(frozen=True, slots=True)
class End:
    """What is known of a forked process that has ended.

    Parameters
    ----------
    code
        Exit code; below 0: the signal that ended it.
    cpu_s, peak_memory_mb
        What it used; memory in units of 2^20 bytes.
    held_mb
        What it held, with all it had started, when it was ended for that; ``None`` = it was not.
    """

    code: int
    cpu_s: float
    peak_memory_mb: float
    held_mb: float | None = None


class ForkServer:
    """The loop of the process; see the module.

    Parameters
    ----------
    prepare
        Called before each fork with its settings: imports what it needs.
    work
        What a fork does, with its end of a socket; the process ends when it returns.
    """

    def __init__(
        self, prepare: Callable[[Any], None], work: Callable[[socket.socket], None]
    ) -> None:
        self._prepare = prepare
        self._work = work
        self._control = socket.socket(fileno=os.dup(0))
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        adopt_orphans()
        self._living: dict[int, float] = {}  # process id -> most memory
        self._wake = wake_up_call()

    def serve(self) -> None:
        """Do what is asked until the other end of the socket is closed."""
        while True:
            wait = LOOK_S if self._living else None
            control = self._control.fileno()
            ready, _, _ = select.select([control, self._wake], [], [], wait)
            if self._wake in ready:
                os.read(self._wake, PIECE)
            self._reap()
            self._limit_memory()
            if control in ready and not self._do_request():
                break
        for pid in list(self._living):
            self._kill(pid)

    def _do_request(self) -> bool:
        """Read a request and do it; false at the end. The next comes once it is answered."""
        line, descriptors, _, _ = socket.recv_fds(self._control, PIECE, 2)
        while line and not line.endswith(b"\n"):
            piece = self._control.recv(PIECE)
            line = line + piece if piece else b""
        if line:
            request = json.loads(line)
            if "fork" in request:
                self._fork(request, descriptors)
            else:
                self._kill(request["kill"])
        return bool(line)

    def _fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        self._prepare(request["fork"])
        gc.freeze()  # else a collection in a fork copies every page
        parent = os.getpid()
        pid = os.fork()
        connection, printed = descriptors
        if pid == 0:
            self._control.close()
            self._work_and_exit(connection, printed, request["folder"], parent)
        os.close(connection)
        os.close(printed)
        self._living[pid] = request["memory_mb"]
        self._report({"pid": pid})

    def _work_and_exit(
        self, connection: int, printed: int, folder: str | None, parent: int
    ) -> NoReturn:
        code = 1
        try:
            _settle(printed, folder, parent)
            self._work(socket.socket(fileno=connection))
            code = 0
        finally:
            # No handler at exit, and no thread that was left, keeps this process.
            error = sys.exception()
            if error is not None:
                traceback.print_exception(error)
            sys.stderr.flush()
            os._exit(code)

    def _kill(self, pid: int, held_mb: float | None = None) -> None:
        if pid in self._living:  # else it has ended, and the number may be another's
            os.kill(pid, signal.SIGKILL)
            self._end(pid, os.wait4(pid, 0), held_mb)

    def _reap(self) -> None:
        """Report processes that have ended by themselves."""
        for pid in list(self._living):
            ended = os.wait4(pid, os.WNOHANG)
            if ended[0]:
                self._end(pid, ended)

    def _end(self, pid: int, ended: tuple[int, int, Any], held_mb: float | None = None) -> None:
        del self._living[pid]
        with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for nobody
            os.killpg(pid, signal.SIGKILL)
        end_descendants(self._living)  # of its orphans this process has become the parent
        _, status, usage = ended
        end = End(os.waitstatus_to_exitcode(status), *usage_of(usage), held_mb)
        self._report({"ended": pid, "end": asdict(end)})

    def _limit_memory(self) -> None:
        """Kill what holds more memory than it may."""
        for pid, most_mb in list(self._living.items()):
            held = held_mb(pid, most_mb)
            if held > most_mb:
                self._kill(pid, held)

    def _report(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the loop will see it
            self._control.sendall(json.dumps(message).encode() + b"\n")


def _settle(printed: int, folder: str | None, parent: int) -> None:
    """Be a process of its own: session, signals, environment, streams, folder, random numbers."""
    os.setsid()
    die_with_parent(parent)
    adopt_orphans()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    leave_server_environment()
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.close(printed)
    score = Path("/proc/self/oom_score_adj")
    if score.exists():
        score.write_text(KILLED_FIRST, encoding="ascii")
    if folder is not None:
        os.chdir(folder)
    random.seed(0)  # a fork begins with other numbers each time
