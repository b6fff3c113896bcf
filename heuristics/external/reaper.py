"""Runs one command and ends whatever it has started, however either of them ends.

A program of its own, in a process of its own: ``python command_reaper.py SOCKET COMMAND...``. It
gives its stdin, stdout and stderr to the command and writes lines to the socket (a descriptor):
``pid N`` when the command has started or ``errno N`` when it cannot be, ``code N`` when it has
ended (below 0: by that signal). Then, or as soon as the other end of the socket is closed, it kills
all that is left.

On Linux processes that leave their group (``setsid``, daemons) are found as well: those whose
parent has died become children of this process (``PR_SET_CHILD_SUBREAPER``). Elsewhere the process
group ends, and what has left it stays.

It imports little, and nothing of slotwise: it starts once per call.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress

PR_SET_CHILD_SUBREAPER = 36
TO_DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores and commands should not."""


def main() -> None:
    """Run the command of `sys.argv`."""
    socket, words = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(socket, False)
    adopts = _adopt_orphans()
    wake = wake_up_call()
    try:
        group = os.posix_spawnp(words[0], words, os.environ, setpgroup=0, setsigdef=TO_DEFAULT)
    except OSError as error:
        _tell(socket, f"errno {error.errno}")
        return
    _tell(socket, f"pid {group}")
    _let_go_of_pipes()
    code = _wait(group, socket, wake)
    if code is not None:
        _tell(socket, f"code {code}")
    _end_all(group, adopts)


def _adopt_orphans() -> bool:
    """Become the parent of descendants whose parent dies; false where that is not possible."""
    if sys.platform != "linux" or not os.path.exists("/proc/self/stat"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def wake_up_call() -> int:
    """Return a descriptor that can be read when a child has ended."""
    read, write = os.pipe()
    for end in (read, write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])  # the caller may block it
    return read


def _tell(socket: int, line: str) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # the caller has gone
        os.write(socket, f"{line}\n".encode())


def _let_go_of_pipes() -> None:
    """Keep no end of the command's pipes: they must end when it does."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nowhere, pipe)


def _wait(command: int, socket: int, wake: int) -> int | None:
    """Return the exit code of the command; ``None`` = the caller wants it ended."""
    while True:
        ready, _, _ = select.select([socket, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            for pid, status in _ended():
                if pid == command:
                    return os.waitstatus_to_exitcode(status)
        if socket in ready:
            return None


def _ended() -> list[tuple[int, int]]:
    """Return process id and status of the children that have ended."""
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    return found


def _end_all(group: int, adopts: bool) -> None:
    """Kill until nothing is left: what is forked meanwhile is found in the next round."""
    while True:
        for pid in _descendants() if adopts else (-group,):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
        _ended()


def _descendants() -> list[int]:
    """Return the process ids below this process."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for pid in found:  # grows while it is read
        found += children.get(pid, ())
    return found


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return None


if __name__ == "__main__":
    main()
