"""The process that runs are forked from: it has imported what they need, and does none itself.

Imports take seconds, a fork takes milliseconds, and what a run changes in its process is gone with
the process. It has one thread: a fork copies no other.

`server` starts it; its stdin is a socket. A line of JSON asks: ``{"fork": kind, "folder": text,
"memory_mb": number}``, with two descriptors (see `child`), is answered by ``{"pid": number}``, and
``{"kill": pid}`` by the end of that process. The end of any is told by itself:
``{"ended": pid, "end": {...}}``. When the socket ends, so does everything.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from slotwise.benchmarks.grading.children.child import do_runs_and_exit
from slotwise.benchmarks.grading.children.descent import adopt_orphans
from slotwise.benchmarks.grading.children.ends import End
from slotwise.benchmarks.grading.children.process_tree import children, held_mb
from slotwise.benchmarks.grading.preload import preload
from slotwise.benchmarks.grading.rows import EXACT_KINDS, Kind
from slotwise.heuristics.external.reaper import wake_up_call

LOOK_S = 0.05
"""Between two looks at the memory of runs."""

PIECE = 1 << 16


def main() -> None:
    """Serve the socket at stdin."""
    control = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    adopt_orphans()
    ForkServer(control).serve()


@dataclass(slots=True)
class _Watched:
    """A living process, its memory limit, and what it held when it was ended for that."""

    pid: int
    memory_mb: float
    held_mb: float | None = None


class ForkServer:
    """The loop of the process; see the module."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._asked = b""
        self._living: dict[int, _Watched] = {}
        self._exact_runs = 0
        self._wake = wake_up_call()

    def serve(self) -> None:
        """Do what is asked until the other end of the socket is closed."""
        while True:
            wait = LOOK_S if self._living else None
            control = self._control.fileno()
            ready, _, _ = select.select([control, self._wake], [], [], wait)
            if self._wake in ready:
                os.read(self._wake, PIECE)
            self._bury()
            self._look()
            if control in ready and not self._hear():
                break
        for pid in list(self._living):
            self._kill(pid)

    def _hear(self) -> bool:
        """Read commands and do them; false at the end."""
        piece, descriptors, _, _ = socket.recv_fds(self._control, PIECE, 2)
        self._asked += piece
        *lines, self._asked = self._asked.split(b"\n")
        for line in lines:
            command = json.loads(line)
            if "fork" in command:
                self._fork(command, descriptors)
            else:
                self._kill(command["kill"])
        return bool(piece)

    def _fork(self, command: dict[str, Any], descriptors: list[int]) -> None:
        self._prepare(Kind(command["fork"]))
        parent = os.getpid()
        pid = os.fork()
        connection, printed = descriptors
        if pid == 0:
            self._control.close()
            do_runs_and_exit(socket.socket(fileno=connection), printed, command["folder"], parent)
        os.close(connection)
        os.close(printed)
        self._living[pid] = _Watched(pid, command["memory_mb"])
        self._tell({"pid": pid})

    def _prepare(self, kind: Kind) -> None:
        """Import what runs of `kind` need; load compiled loops once they are in the cache.

        They are looked for before the second, the fourth, the eighth exact run and so on: a few
        runs would take less time than loading what others have left in the cache.
        """
        preload(kind)
        if kind in EXACT_KINDS:
            self._exact_runs += 1
            if self._exact_runs > 1 and self._exact_runs.bit_count() == 1:
                from slotwise.benchmarks.grading.children.compiled_loops import load_compiled_loops

                load_compiled_loops()
        gc.freeze()  # else a collection in a run copies every page

    def _kill(self, pid: int) -> None:
        if pid in self._living:  # else it has ended, and the number may be another's
            os.kill(pid, signal.SIGKILL)
            self._end(pid, os.wait4(pid, 0))

    def _bury(self) -> None:
        """Tell of processes that have ended by themselves."""
        for pid in list(self._living):
            ended = os.wait4(pid, os.WNOHANG)
            if ended[0]:
                self._end(pid, ended)

    def _end(self, pid: int, ended: tuple[int, int, Any]) -> None:
        watched = self._living.pop(pid)
        self._end_what_is_left(pid)
        _, status, usage = ended
        unit = 1 if sys.platform == "darwin" else 1024
        end = End(
            code=os.waitstatus_to_exitcode(status),
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_memory_mb=usage.ru_maxrss * unit / 2**20,
            held_mb=watched.held_mb,
        )
        self._tell({"ended": pid, "end": asdict(end)})

    def _end_what_is_left(self, group: int) -> None:
        """End what a process that has ended had started: its group, and those that left that.

        They have become children of this process, and theirs will.
        """
        with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM for nobody
            os.killpg(group, signal.SIGKILL)
        while left := [pid for pid in children(os.getpid()) if pid not in self._living]:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _look(self) -> None:
        """Kill what holds more memory than it may."""
        for watched in list(self._living.values()):
            held = held_mb(watched.pid, watched.memory_mb)
            if held > watched.memory_mb:
                watched.held_mb = held
                self._kill(watched.pid)

    def _tell(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the loop will see it
            self._control.sendall(json.dumps(message).encode() + b"\n")
