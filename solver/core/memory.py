"""The memory of a solve: its limit, what is left of it, and the notes where it runs short.

Engines estimate what they are about to build and ask their `RunToken` for it (`check_room`,
`has_room`). A thread catches what no estimate foresees: it reads the resident memory of the process
every `SAMPLE_S` seconds (`watched`). Above the limit it cancels the token of the engine that
started last, and those of the others if that does not help within `PATIENCE_S`.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slotwise.models.cancellation import CancellationToken, WorkClock
from slotwise.solver.core.not_taken import NotTakenError

# How much memory this process holds, and how much it may have.

MB = 2**20
"""Bytes of a megabyte, as the word is used here."""

OFFERED_FRACTION = 0.8
"""Default limit, as a share of what is offered: the rest is for others and for late reactions."""

_STATM = Path("/proc/self/statm")
_GROUPS = Path("/proc/self/cgroup")
_CONTROL = Path("/sys/fs/cgroup")


def resident_bytes() -> int:
    """Return the resident memory of this process; its peak where the system reports only that."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def default_limit_mb() -> int:
    """Return `OFFERED_FRACTION` of what the machine or its control group offers, at least 1."""
    return max(1, int(OFFERED_FRACTION * offered_bytes()) // MB)


def offered_bytes() -> int:
    """Return the least of physical memory, limits of control groups and limits of the process."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *group_limits(_GROUPS, _CONTROL), *_process_limits()])


def group_limits(groups: Path, control: Path) -> Iterator[int]:
    """Yield the limits of the control groups that a process is in, and of those around them.

    Parameters
    ----------
    groups
        The file that names them: ``number:controllers:path`` a line, ``0::path`` for version 2.
    control
        Where they are mounted. In a container the path may be missing; the root always exists.
    """
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return  # not Linux
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _limits_up(control, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _limits_up(control / "memory", path, "memory.limit_in_bytes")


def _limits_up(root: Path, path: str, file: str) -> Iterator[int]:
    """Yield the limits in the files of a group and of all groups around it."""
    inner = root / path.lstrip("/")
    for folder in (inner, *inner.parents):
        if not folder.is_relative_to(root):
            return
        try:
            written = (folder / file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if written.isdecimal():  # else "max"
            yield int(written)


def _process_limits() -> Iterator[int]:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            yield soft


SAMPLE_S = 0.05
"""Seconds between readings of resident memory; at 2 GB a second the limit is passed by 0.1 GB."""
PATIENCE_S = 2.0
"""Seconds an engine has to end and free its memory before the others are stopped, too."""

OVERRUN_FRACTION = 0.1
"""A search that takes this share of the limit more, long after it was asked to stop, is abandoned.
"""

BYTES_PER_UNIT = 1000 * MB
"""Bytes of a table whose construction counts as about one unit of work, see `WorkClock`."""

COMPILER_BYTES = 110 * MB
"""Bytes that Numba takes when the first engine that needs it loads it, with its compiled loops."""

SMALL = MB
"""Sizes below this number of bytes are not checked."""


class MemoryLimitError(NotTakenError):
    """What an engine would build does not fit the memory that is left."""


class Memory:
    """The memory of one solve; safe to use from several threads.

    Parameters
    ----------
    limit_mb
        Resident memory that the process must not exceed, in units of 2^20 bytes.
    """

    def __init__(self, limit_mb: int) -> None:
        self.limit_mb = limit_mb
        self.notes: list[str] = []
        self._running: list[RunToken] = []
        self._short_since: float | None = None

    @property
    def left_bytes(self) -> int:
        """Bytes left under the limit; below 0 where it is passed."""
        return self.limit_mb * MB - resident_bytes()

    @property
    def is_overdue(self) -> bool:
        """Whether a search that was asked to stop did not, and takes more and more memory."""
        since = self._short_since
        if since is None or time.perf_counter() < since + 2 * PATIENCE_S:
            return False
        return self.left_bytes < -OVERRUN_FRACTION * self.limit_mb * MB

    def note(self, engine: str, what: str) -> None:
        """Note, for people, what lack of memory changed; once."""
        line = f"{engine}: {what}" if engine else what
        if line not in self.notes:
            self.notes.append(line)

    def look(self) -> None:
        """Stop the engine that started last if the limit is passed; later all of them."""
        if self.left_bytes >= 0 or not self._running:
            self._short_since = None
            return
        now = time.perf_counter()
        if self._short_since is None:
            self._short_since = now
        running = list(self._running)
        patient = now < self._short_since + PATIENCE_S
        for token in running[-1:] if patient else running:
            token.cancel()

    def check_room(self, size: float, what: str, engine: str) -> None:
        """Refuse to build more bytes than are left, and note that; see `RunToken.check_room`."""
        left = self.left_bytes
        if size > left:
            self.free()
            left = self.left_bytes
        if size > left:
            text = (
                f"{what} would take {size / MB:,.0f} MB, but only {max(left, 0) / MB:,.0f} MB are "
                f"left of the memory limit of {self.limit_mb:,} MB"
            )
            self.note(engine, text)
            raise MemoryLimitError(text)

    @contextmanager
    def running(self, token: RunToken) -> Iterator[None]:
        """Let `look` cancel this token of a run meanwhile."""
        self._running.append(token)
        try:
            yield
        finally:
            self._running.remove(token)

    def free(self) -> None:
        """Give memory that nothing uses back to the system, where the limit is near or passed."""
        if self.left_bytes > self.limit_mb * MB // 2:
            return
        gc.collect()
        if sys.platform == "linux":
            with suppress(OSError, AttributeError):  # a libc without it keeps its free memory
                ctypes.CDLL(None).malloc_trim(0)


class RunToken(CancellationToken):
    """A token that also knows the memory of the solve: engines ask it before they build tables.

    Parameters
    ----------
    deadline, parent, clock
        As for any token.
    memory
        ``None`` = there is no limit.
    engine
        Name of the engine that runs; notes on memory begin with it.
    """

    def __init__(
        self,
        deadline: float = math.inf,
        parent: CancellationToken | None = None,
        memory: Memory | None = None,
        engine: str = "",
        clock: WorkClock | None = None,
    ) -> None:
        super().__init__(deadline, parent, clock)
        self.memory = memory
        self.engine = engine

    def child(self, deadline: float = math.inf, engine: str | None = None) -> RunToken:
        """Return a token with the same memory, which follows this one; ``None`` = same engine."""
        return RunToken(deadline, self, self.memory, self.engine if engine is None else engine)

    def check_room(self, size: float, what: str) -> None:
        """Refuse to build something that takes more bytes than are left.

        Parameters
        ----------
        size
            Estimated bytes.
        what
            Its name, for example ``tables of configurations``.

        Raises
        ------
        MemoryLimitError
            Naming size and limit; noted in the solve's memory, too.
        """
        self.spend(size / BYTES_PER_UNIT)
        if self.memory is not None and size >= SMALL:
            self.memory.check_room(size, what, self.engine)

    def has_room(self, size: float, what: str) -> bool:
        """Return whether something may be built, see `check_room`; noted where it may not."""
        try:
            self.check_room(size, what)
        except MemoryLimitError:
            return False
        return True


@contextmanager
def watched(limit_mb: int | None) -> Iterator[Memory]:
    """Yield the memory of a solve, which a thread watches until the end.

    ``None`` = the default limit, see `default_limit_mb`.
    """
    memory = Memory(default_limit_mb() if limit_mb is None else limit_mb)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_S):
            memory.look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        done.set()
        thread.join()
