"""Child processes: talks by lines, what is measured of them, and how they are ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest

from slotwise.processes.child import Child, exchange
from slotwise.processes.ending import end_process
from slotwise.processes.pipes import Overrun

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only groups can be ended")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


ECHO = "import sys\nfor line in sys.stdin: print(len(line), flush=True)"


def test_lines_longer_than_a_pipe_are_answered_one_by_one() -> None:
    with Child(python(ECHO)) as child:
        for length in (3, 300_000):
            child.pipes.send(b"x" * (length - 1) + b"\n")
            assert child.pipes.read_line() == str(length).encode()


def test_a_line_that_does_not_come_in_time_is_an_overrun() -> None:
    with Child(python(ECHO)) as child:
        assert child.pipes.read_line(time.monotonic() + 0.1) is None
        finished = child.end()
    assert (finished.code, finished.overrun, finished.timed_out) == (None, Overrun.TIME, True)


def test_what_a_command_used_is_measured() -> None:
    code = "import sys; held = bytearray(200 << 20); print(len(sys.stdin.read())); sys.exit(3)"
    finished = exchange(python(code), b"question")
    assert (finished.code, finished.stdout, finished.overrun) == (3, b"8\n", None)
    assert 200 < finished.peak_memory_mb < 400
    assert 0 < finished.cpu_s < 60


DEAF = """
import json, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleep, start_new_session=True)
print(json.dumps(child.pid), flush=True)
time.sleep(60)
"""


@linux
@pytest.mark.parametrize("patience_s", [0.0, 0.1])
def test_a_deaf_process_is_killed_with_what_left_its_session(patience_s: float) -> None:
    with subprocess.Popen(python(DEAF), stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        below = psutil.Process(json.loads(process.stdout.readline()))
        assert end_process(process, patience_s) == -signal.SIGKILL
    psutil.wait_procs([below], timeout=20)
    assert not below.is_running() or below.status() == psutil.STATUS_ZOMBIE


def test_a_process_that_listens_ends_by_itself() -> None:
    with subprocess.Popen(python("input()"), stdin=subprocess.PIPE, start_new_session=True) as one:
        assert one.stdin is not None
        assert end_process(one, 20.0, one.stdin.close) == 1
        assert end_process(one) == 1, "once more"


def test_sigterm_comes_before_the_kill() -> None:
    with subprocess.Popen(python("input()"), stdin=subprocess.PIPE, start_new_session=True) as one:
        assert end_process(one, 20.0) == -signal.SIGTERM
