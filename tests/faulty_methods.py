"""Methods of another package that do everything wrong; `test_child_faults` installs them."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from slotwise.heuristics.method import Method
from slotwise.heuristics.one_by_one import ROUND_ROBIN
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem

MB = 2**20


def exits() -> None:
    os._exit(3)


def says_exit() -> None:
    sys.exit(3)


def raises() -> None:
    raise ValueError("no \x1b[2J")


def segfault() -> None:
    ctypes.string_at(0)


def kills_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kills_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(99)


def bomb() -> None:
    held = []
    while True:
        held.append(b"x" * (20 * MB))
        time.sleep(0.02)


def bomb_in_a_child() -> None:
    subprocess.run([sys.executable, "-c", "import time; a = b'x' * (900 << 20); time.sleep(99)"])


def greedy() -> None:
    bytearray(1 << 60)


def hangs() -> None:
    time.sleep(99)


def hangs_deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(99)


def closes_all_files() -> None:
    os.closerange(0, 256)
    time.sleep(99)


def prints_rubbish() -> None:
    sys.stdout.write('{"status": "optimal"}\n\x00\xff\n')
    os.write(1, b'{"status": "optimal"}\n' * 1000)
    os.write(2, bytes(range(256)))


def floods() -> None:
    while True:
        os.write(1, b"x" * 65536)
        os.write(2, b"x\n" * 32768)


def answers_rubbish() -> None:
    for number in range(3, 64):
        try:
            socket.socket(fileno=os.dup(number)).sendall(b"[1, 2\n")
        except OSError:
            continue


def leaves_children() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
        time.sleep(99)


def returns_twice() -> None:
    os.fork()


def leaves_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(99,)).start()


def changes_everything() -> None:
    os.chdir("/")
    os.environ.clear()
    os.umask(0o777)
    random.seed(5)
    sys.path.clear()
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    gc.disable()


FAULTS: dict[str, Callable[[], None]] = {
    name.replace("_", "-"): value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__
} | {"aborts": os.abort}


def method(name: str) -> Method:
    """Return the method that does one thing wrong, and then what round-robin does."""

    def place(problem: Problem, rng: object) -> Placement | Refusal:
        FAULTS[name]()
        return ROUND_ROBIN.place(problem, rng)  # type: ignore[arg-type]

    return Method(name, "a test", place)


def lies() -> Method:
    """Return the method that puts everything on one node."""

    def place(problem: Problem, rng: object) -> Placement:
        return Placement((0,) * problem.task_count, (0,) * problem.task_count)

    return Method("lies", "a test", place)


def tells() -> Method:
    """Return the method that refuses and tells in what state it is run."""

    def place(problem: Problem, rng: object) -> Refusal:
        umask = os.umask(0o22)
        blocked = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
        handler = str(signal.getsignal(signal.SIGALRM))
        state = (
            os.getcwd(), len(os.environ), umask, random.random(), len(sys.path), blocked, handler,
            len(os.listdir("/proc/self/fd")), threading.active_count(), Path().exists(),
        )  # fmt: skip
        return Refusal(repr(state))

    return Method("tells", "a test", place)


def __getattr__(name: str) -> Callable[[], Method]:
    """Return what makes the method of an entry point: ``make_raises``."""
    if not name.startswith("make_"):
        raise AttributeError(name)
    return lambda: method(name.removeprefix("make_").replace("_", "-"))
