"""What a command and all that it starts use."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from time import perf_counter

import psutil

from slotwise.models.errors import SlotwiseError
from slotwise.processes.memory import held_mb
from slotwise.processes.pipes import last_words
from slotwise.processes.reaper import tree


@dataclass(frozen=True, slots=True)
class Use:
    """What a command took, all its processes together.

    They are looked at every `LOOK_S`, so that the last moment of each is missed.

    Parameters
    ----------
    seconds, cpu_s
        From its start to its end; CPU seconds of all threads.
    memory_mb
        At each look, in units of 2^20 bytes; pages that processes share are divided among them.
    """

    seconds: float
    cpu_s: float
    memory_mb: tuple[float, ...]

    @property
    def peak_mb(self) -> float:
        """The most memory."""
        return max(self.memory_mb)


LOOK_S = 1.0
INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""


def use_of(command: Sequence[str], is_enough: Callable[[], bool] = lambda: False) -> Use:
    """Run a command to its end; it is interrupted once `is_enough`, which is asked at each look.

    Raises
    ------
    SlotwiseError
        When its exit code is another one than that of its end, with its last words.
    """
    began = perf_counter()
    memory_mb: list[float] = []
    spent: dict[int, float] = {}
    interrupted = False
    with TemporaryFile() as output:
        with psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=output) as process:
            while process.poll() is None:
                for pid in tree(process.pid):
                    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                        times = psutil.Process(pid).cpu_times()
                        spent[pid] = times.user + times.system
                memory_mb.append(held_mb(process.pid, 0.0))
                if not interrupted and is_enough():
                    interrupted = True
                    process.send_signal(signal.SIGINT)
                time.sleep(LOOK_S)
        if process.returncode != (INTERRUPTED if interrupted else 0):
            output.seek(0)
            raise SlotwiseError(f"exit code {process.returncode}{last_words(output.read())}")
    return Use(perf_counter() - began, sum(spent.values()), tuple(memory_mb))
