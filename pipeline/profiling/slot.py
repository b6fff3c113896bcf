"""One slot: a task's threads or processes, pinned to one core, between two pipes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

import psutil

from slotwise.models.errors import InputError
from slotwise.pipeline.profiling import worker
from slotwise.pipeline.profiling.settings import Parallel, Settings
from slotwise.processes.child import command_of
from slotwise.processes.ending import end_process
from slotwise.processes.pipes import last_line

MIB = 2**20


def is_callable_name(task: str) -> bool:
    """Return whether a task is ``package.module:callable``; else it is a command."""
    module, colon, path = task.partition(":")
    names = [*module.split("."), *path.split(".")]
    return bool(colon) and all(name.isidentifier() for name in names)


def core_of(settings: Settings) -> int:
    """Return the core for the task.

    Raises
    ------
    InputError
        Where this system cannot pin a process, or this process may not use the core.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise InputError("this system cannot pin a process to a core", has_value=False)
    cores = sorted(os.sched_getaffinity(0))
    core = cores[-1] if settings.core is None else settings.core
    if core not in cores:
        listed = ", ".join(map(str, cores))
        raise InputError(f"must be one of {listed}", field="core", value=core)
    return core


@dataclass(slots=True)
class RunningSlot:
    """A task that runs on a slot, to be used in a ``with`` statement.

    Parameters
    ----------
    task
        ``package.module:callable``, called with the number of each tuple; or a command, of which
        each process reads a line per tuple and answers with a line.
    threads
        How many threads or processes.
    settings
        The rest.
    """

    task: str
    threads: int
    settings: Settings
    source: int = field(init=False)
    """End of the pipe that takes tuples; does not block."""
    sink: int = field(init=False)
    """End of the pipe that gives answers."""
    ready: int = field(init=False)
    """Answers `worker.READY` to wait for before the first tuple."""
    base: int = field(init=False, default=0)
    """Memory of all processes before their task was loaded, bytes; known when they are ready."""
    _processes: list[subprocess.Popen[bytes]] = field(init=False, default_factory=list)
    _feeders: list[threading.Thread] = field(init=False, default_factory=list)
    _said: IO[bytes] = field(init=False)
    _task_source: int = field(init=False)
    _task_sink: int = field(init=False)

    def __enter__(self) -> Self:
        """Start the processes."""
        self._task_source, self.source = os.pipe()
        self.sink, self._task_sink = os.pipe()
        os.set_blocking(self.source, False)
        self._said = tempfile.TemporaryFile()
        with ExitStack() as stack:
            stack.callback(self.__exit__)
            try:
                if is_callable_name(self.task):
                    self._start_python(self._task_source, self._task_sink)
                else:
                    self._start_commands(self._task_source, self._task_sink)
            except OSError as error:
                rule = f"cannot be started: {error.strerror or error}"
                raise InputError(rule, field="TASK", value=self.task) from error
            stack.pop_all()
        return self

    def _start_python(self, source: int, sink: int) -> None:
        alone = self.settings.parallel is Parallel.PROCESSES
        self.ready = self.threads if alone else 1
        said = {
            "task": self.task,
            "threads": 1 if alone else self.threads,
            "source": source,
            "sink": sink,
            "core": core_of(self.settings),
        }
        command = [*command_of(worker.main), json.dumps(said)]
        for _ in range(self.ready):
            self._processes.append(
                subprocess.Popen(
                    command,
                    pass_fds=(source, sink),
                    stdout=self._said,
                    stderr=self._said,
                    start_new_session=True,
                )
            )

    def _start_commands(self, source: int, sink: int) -> None:
        self.ready = 0
        core = core_of(self.settings)
        command = _command(self.task)
        for _ in range(self.threads):
            with _pinned(core):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._said,
                    start_new_session=True,
                )
            self._processes.append(process)
            feeder = threading.Thread(target=_feed, args=(process, source, sink), daemon=True)
            self._feeders.append(feeder)
            feeder.start()

    def check_alive(self) -> None:
        """Raise `InputError` with its last words where a process of the task has ended."""
        for process in self._processes:
            if process.poll() is not None:
                self._said.seek(0)
                last = last_line(self._said.read())
                raise InputError(
                    f"ended with exit code {process.returncode} in a trial"
                    f"{f': {last}' if last else ''}",
                    field="TASK",
                    value=self.task,
                )

    def cpu_seconds(self) -> float:
        """Return the CPU time so far of all processes and those that they started."""
        return sum(map(_cpu_seconds, self._running()))

    def memory_bytes(self) -> int:
        """Return the memory of all processes above their base."""
        resident = 0
        for process in self._running():
            with suppress(psutil.NoSuchProcess):
                resident += process.memory_info().rss
        return max(0, resident - self.base)

    def _running(self) -> Iterator[psutil.Process]:
        """Yield the processes, each followed by those that it started."""
        for one in self._processes:
            process = psutil.Process(one.pid)
            yield process
            yield from process.children(recursive=True)

    def __exit__(self, *raised: object) -> None:
        """End the processes."""
        for process in self._processes:
            end_process(process)
        os.close(self.source)  # feeders see the end of the pipe
        os.close(self.sink)
        for feeder in self._feeders:
            feeder.join()
        os.close(self._task_source)
        os.close(self._task_sink)
        self._said.close()


@contextmanager
def _pinned(core: int) -> Iterator[None]:
    """Pin this thread to a core, and so the processes that it starts, and theirs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU time of a process so far, and of its children that have ended.

    In nanoseconds where Linux tells them (``schedstat`` of each thread), else in clock ticks: of a
    task that mostly waits, a short trial uses less than a tick.
    """
    try:
        times = process.cpu_times()
        ended = times.children_user + times.children_system
        stats = list(Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
        own = sum(int(one.read_text("ascii").split()[0]) for one in stats) / 1e9
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        return 0.0  # it ended; what it used is with its parent
    return float(ended + (own if stats else times.user + times.system))


def check_task(task: str) -> None:
    """Raise `InputError` for a task that is neither a callable's name nor a command."""
    if not is_callable_name(task):
        _command(task)


def _command(task: str) -> list[str]:
    try:
        words = shlex.split(task)
    except ValueError as error:
        raise InputError(f"is not a valid command: {error}", field="TASK", value=task) from error
    if not words:
        raise InputError("must be a command, or package.module:callable", field="TASK", value=task)
    return words


def _feed(process: subprocess.Popen[bytes], source: int, sink: int) -> None:
    """Pass tuples to a command and its answers back, until either ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while number := os.read(source, worker.TUPLE.size):
            tuple_number = worker.TUPLE.unpack(number)[0]
            process.stdin.write(b"%d\n" % tuple_number)
            process.stdin.flush()
            if not process.stdout.readline():
                return
            os.write(sink, worker.ANSWER.pack(tuple_number, time.monotonic_ns()))
    except BrokenPipeError:
        return  # the command ended; the trial finds out
