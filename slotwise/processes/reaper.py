"""Ends whatever a process has started: of this process, and, as a program, of a command.

As a program (``python reaper.py SOCKET COMMAND...``) it gives its stdin, stdout and stderr to the
command and writes lines to the socket (a descriptor): ``pid N`` when the command has started or
``errno N`` when it cannot be; ``code N CPU_S PEAK_MB`` when it has ended (N below 0: by that
signal). Then, or as soon as the other end of the socket is closed, it kills all that is left.

On Linux processes that leave their group (``setsid``, daemons) are found as well: those whose
parent has died become children of this process (``PR_SET_CHILD_SUBREAPER``). Elsewhere the process
group ends, and what has left it stays.

It imports little, and nothing of slotwise: the program starts once per command.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
from collections.abc import Collection
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

TO_DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores and commands should not."""

_LISTED = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
"""Whether the system lists the children of a thread: then no look at all processes is needed."""

_GONE = (FileNotFoundError, ProcessLookupError)


def main() -> None:
    """Run the command of `sys.argv`."""
    socket, words = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(socket, False)
    adopts = adopt_orphans()
    wake = wake_up_call()
    try:
        group = os.posix_spawnp(words[0], words, os.environ, setpgroup=0, setsigdef=TO_DEFAULT)
    except OSError as error:
        _report(socket, f"errno {error.errno}")
        return
    _report(socket, f"pid {group}")
    _let_go_of_pipes()
    end = _wait(group, socket, wake)
    if end is not None:
        _report(socket, f"code {end}")
    if adopts:
        end_descendants()
    else:
        _kill(-group)


def adopt_orphans() -> bool:
    """Become the parent of descendants whose parent ends; false where that is not possible."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1) and os.path.exists("/proc/self/stat")


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent, `parent`, ends, where the system can."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def wake_up_call() -> int:
    """Return a descriptor that can be read when a child has ended."""
    read, write = os.pipe()
    for end in (read, write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])  # the caller may block it
    return read


def usage_of(usage: resource.struct_rusage) -> tuple[float, float]:
    """Return CPU seconds, and the peak memory in units of 2^20 bytes, of what `os.wait4` gives."""
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20


def children(pid: int) -> list[int]:
    """Return the process ids of the children of a process; none where it has gone."""
    if sys.platform != "linux":
        import psutil

        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    if not _LISTED:
        return [
            int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == pid
        ]
    pids: list[int] = []
    with suppress(*_GONE):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                pids += map(int, file.read().split())
    return pids


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except _GONE:  # it has ended
        return None


def tree(pid: int) -> list[int]:
    """Return the process ids of a process and of all below it."""
    pids = [pid]
    for parent in pids:  # grows while it is read
        pids += children(parent)
    return pids


def end_descendants(spared: Collection[int] = ()) -> None:
    """Kill and reap the processes below this one, save the children `spared` and theirs.

    What is forked meanwhile is found in the next round: orphans have become children.
    """
    while left := [pid for pid in children(os.getpid()) if pid not in spared]:
        for pid in [below for child in left for below in tree(child)]:
            _kill(pid)
        for pid in left:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _report(socket: int, line: str) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # the caller has gone
        os.write(socket, f"{line}\n".encode())


def _let_go_of_pipes() -> None:
    """Keep no end of the command's pipes: they must end when it does."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nowhere, pipe)


def _wait(command: int, socket: int, wake: int) -> str | None:
    """Return exit code and usage of the command; ``None`` = the caller wants it ended."""
    while True:
        ready, _, _ = select.select([socket, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            with suppress(ChildProcessError):
                while (ended := os.wait4(-1, os.WNOHANG))[0]:
                    if ended[0] == command:
                        return "{} {} {}".format(
                            os.waitstatus_to_exitcode(ended[1]), *usage_of(ended[2])
                        )
        if socket in ready:
            return None


if __name__ == "__main__":
    main()
