"""One trial: tuples at a constant rate, and their latencies (RunTaskTrial of Algorithm 1)."""

from __future__ import annotations

import json
import os
import select
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.formats.row_file import RowFile
from slotwise.pipeline.profiling import worker
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.slot import MIB, RunningSlot

FORMAT = "slotwise.trials/1"
START_S = 60.0
"""Seconds that a task may take to load."""
PATIENCE_S = 30.0
"""Seconds that the first answer of a trial may take."""
TICK_S = 0.001
"""Least pause of the source: faster rates send several tuples at once."""
BATCH = select.PIPE_BUF // worker.TUPLE.size
"""Most tuples written at once, atomically."""
NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Trial:
    """The measurements of one trial.

    Parameters
    ----------
    threads
        Threads of the task.
    rate
        Input rate, tuples/s.
    stable
        See `is_stable`; the trial waits for more answers twice as long as the last ones took.
    slope
        Seconds by which latency rose per second.
    latency
        Median latency of those answered, s; ``None`` = none was.
    cpu, memory
        Use of the slot above its base load, %.
    sent, answered
        Tuples after the warm-up; fewer are answered where the trial was cut off.
    """

    threads: int
    rate: float
    stable: bool
    slope: float
    latency: float | None
    cpu: float
    memory: float
    sent: int
    answered: int


def trials_file(path: Path, task: str, settings: Settings) -> RowFile[Trial]:
    """Return the file of the trials of a task with these settings; raises `InputError`."""
    head = {"format": FORMAT, "task": task} | asdict(settings)
    return RowFile(path, Trial, json.dumps(head))


def trial_seconds(rate: float, settings: Settings) -> float:
    """Return the seconds that a trial at `rate` measures, without its warm-up."""
    return max(settings.seconds, settings.least_tuples / rate)


def run_trial(task: str, threads: int, rate: float, settings: Settings) -> Trial:
    """Run one trial.

    Raises
    ------
    InputError
        Where the task cannot be started, or ends or raises in the trial.
    """
    measured = trial_seconds(rate, settings)
    with RunningSlot(task, threads, settings) as slot:
        answers = _Answers(slot)
        answers.wait_ready()
        start = time.monotonic_ns()
        source = _Source(slot, rate, start, settings.warm_up + measured)
        source.start()
        try:
            _wait(answers, slot, start + int(settings.warm_up * NS))
            cpu_before, at = slot.cpu_seconds(), time.monotonic_ns()
            _wait(answers, slot, start + int((settings.warm_up + measured) * NS))
            cpu = (slot.cpu_seconds() - cpu_before) / ((time.monotonic_ns() - at) / NS)
            memory = slot.memory_bytes() / (settings.memory_mb * MIB)
        finally:
            source.stop()
        answers.drain(source.sent, start, rate)
        answers.wait_first(start)
        slot.check_alive()
    first = int(np.ceil(settings.warm_up * rate))
    numbers = np.arange(first, max(first + 1, int((settings.warm_up + measured) * rate)))
    answered = np.array([number for number in numbers if int(number) in answers.done], dtype=int)
    done = np.array([answers.done[int(number)] for number in answered])
    latency = (done - start) / NS - answered / rate
    slope = latency_slope(answered / rate, latency)
    return Trial(
        threads,
        rate,
        is_stable(slope, sent=len(numbers), answered=len(answered), max_slope=settings.max_slope),
        slope,
        float(np.median(latency)) if len(answered) else None,
        100 * cpu,
        100 * memory,
        len(numbers),
        len(answered),
    )


def _wait(answers: _Answers, slot: RunningSlot, until: int) -> None:
    """Take answers until a point in time (`time.monotonic_ns`)."""
    while (left := (until - time.monotonic_ns()) / NS) > 0:
        answers.take(min(left, 0.1))
        slot.check_alive()


class _Source(threading.Thread):
    """Sends the tuples 0, 1, ... so that number n is due n / rate seconds after the start.

    Where the task does not keep up the pipe fills and tuples leave late; their latency counts from
    the moment at which they were due.
    """

    def __init__(self, slot: RunningSlot, rate: float, start: int, seconds: float) -> None:
        super().__init__(daemon=True)
        self.sent = 0
        self._slot, self._rate, self._start_ns = slot, rate, start
        self._end, self._all = start + int(seconds * NS), int(seconds * rate)
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Stop sending; return when it has stopped, before the pipe closes."""
        self._stopped.set()
        self.join()

    def run(self) -> None:
        while (now := time.monotonic_ns()) < self._end and not self._stopped.is_set():
            if not self._send(int((now - self._start_ns) / NS * self._rate) + 1):
                return
            next_due = self._start_ns + self.sent / self._rate * NS
            self._stopped.wait(max(TICK_S, min((next_due - time.monotonic_ns()) / NS, 0.1)))
        if time.monotonic_ns() >= self._end:  # what became due since it last looked
            self._send(self._all)

    def _send(self, due: int) -> bool:
        """Send the tuples before number `due` that the pipe takes; false: the task has ended."""
        while self.sent < due:
            batch = range(self.sent, min(due, self.sent + BATCH))
            try:
                os.write(self._slot.source, b"".join(map(worker.TUPLE.pack, batch)))
            except BlockingIOError:
                break
            except BrokenPipeError:
                return False  # it ended; the trial finds out
            self.sent = batch.stop
        return True


class _Answers:
    """The sink: the time at which each tuple was done."""

    def __init__(self, slot: RunningSlot) -> None:
        self.done: dict[int, int] = {}
        self._slot = slot
        self._ready = slot.ready
        self._poll = select.poll()
        self._poll.register(slot.sink, select.POLLIN)

    def take(self, seconds: float) -> bool:
        """Wait at most `seconds` for answers and keep them; return whether there were any."""
        if not self._poll.poll(1000 * seconds):
            return False
        data = os.read(self._slot.sink, BATCH * 64 * worker.ANSWER.size)
        for number, value in worker.ANSWER.iter_unpack(data):
            if number == worker.READY:
                self._ready -= 1
                self._slot.base += value
            else:
                self.done[number] = value
        return bool(data)

    def wait_ready(self) -> None:
        """Wait until all processes have loaded the task."""
        deadline = time.monotonic() + START_S
        while self._ready:
            self.take(0.1)
            self._slot.check_alive()
            if time.monotonic() > deadline:
                raise InputError(
                    f"was not loaded in {START_S:g} s", field="TASK", value=self._slot.task
                )

    def wait_first(self, start: int) -> None:
        """Wait `PATIENCE_S` from the start for any answer; raises `InputError` without one."""
        deadline = start + int(PATIENCE_S * NS)
        while not self.done and time.monotonic_ns() < deadline:
            self.take(0.1)
            self._slot.check_alive()
        if not self.done:
            raise InputError(
                f"answered no tuple in {PATIENCE_S:g} s; a command must answer each line of its "
                "stdin with a line at once (flush its stdout)",
                field="TASK",
                value=self._slot.task,
            )

    def drain(self, sent: int, start: int, rate: float) -> None:
        """Wait for tuples under way: twice as long as the last ones took, at least 0.2 s."""
        waited = max(self.done, default=None)
        last = 0.0 if waited is None else (self.done[waited] - start) / NS - waited / rate
        deadline = time.monotonic() + 0.2 + 2 * last
        while len(self.done) < sent and time.monotonic() < deadline:
            self.take(0.05)


BUCKETS = 10
"""The number of parts of equal length that a trial is cut into; the median latency of each counts,
so that a hiccup of the machine does not."""
NO_ANSWERS = 1.0
"""Slope where fewer than two tuples come back: the latency of one that waits rises by 1 s per s."""


def is_stable(slope: float, *, sent: int, answered: int, max_slope: float) -> bool:
    """Return whether a trial was stable: the task keeps up with the rate.

    Parameters
    ----------
    slope
        See `latency_slope`.
    sent, answered
        Tuples after the warm-up; of these, those that were answered before the trial was cut off.
    max_slope
        Most seconds by which latency may rise per second (`Settings.max_slope`).
    """
    return answered == sent and slope <= max_slope


def latency_slope(moments: NDArray[np.float64], latency: NDArray[np.float64]) -> float:
    """Return by how many seconds latency rises per second.

    The least-squares slope through the medians of `BUCKETS` parts (section 5.1: the slope of the
    tuples' latency after the warm-up).

    Parameters
    ----------
    moments, latency
        When each tuple was due, rising, and how long it took, s; `NO_ANSWERS` for fewer than 2.
    """
    if len(moments) < 2:
        return NO_ANSWERS
    parts = np.array_split(np.arange(len(moments)), min(BUCKETS, len(moments)))
    when = [float(np.median(moments[part])) for part in parts]
    long = [float(np.median(latency[part])) for part in parts]
    return float(np.polyfit(when, long, 1)[0])
