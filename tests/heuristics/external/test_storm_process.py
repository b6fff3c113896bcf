"""The process behind Storm's scheduler, with a program of ours in Java's place."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from live_processes import end_in_time

from slotwise.heuristics.external.storm_process import STORM_2, PeerError, StormProcess
from slotwise.processes import pipes

Java = Callable[[str], None]

GREETS = """
import json, os, subprocess, sys, time
print(json.dumps({"storm": "2.8.3", "java": "17"}), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """Make a program the Java that runs the peer."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "peer.jar").touch()
    monkeypatch.setenv(STORM_2.variable, str(tmp_path / "peer.jar"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    def make(code: str) -> None:
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
        program.chmod(0o755)

    return make


def test_an_answer_is_heard(java: Java) -> None:
    java(GREETS + "print(json.dumps({'pid': os.getpid()}), flush=True); time.sleep(60)")
    process = StormProcess()
    pid = process.ask("{}", 20.0)["pid"]
    assert process.storm_version == "2.8.3"
    process.close()
    assert end_in_time(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only groups can be ended")
def test_what_it_has_started_ends_with_it(java: Java) -> None:
    java(
        GREETS + "sleep = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(sleep, start_new_session=True)\n"
        "print(json.dumps({'pid': child.pid}), flush=True)\n"
    )
    process = StormProcess()
    pid = process.ask("{}", 20.0)["pid"]
    process.close()
    assert end_in_time(pid)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("time.sleep(60)", r"\(out of time\)"),
        ("sys.exit('\\x1b[2J no heap')", r"\(exit code 1\); stderr: \\x1b\[2J no heap"),
        ("print('x' * 3_000_000)", r"it wrote more than 1 MiB"),
        ("sys.stderr.write('x' * 3_000_000); time.sleep(60)", r"it wrote more than 1 MiB"),
        ("os.kill(os.getpid(), 9)", r"\(killed\)"),
    ],
)
def test_no_answer_is_an_error_of_one_line(
    java: Java, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    monkeypatch.setattr(pipes, "MOST_BYTES", 1 << 20)
    java(GREETS + code)
    process = StormProcess()
    start = time.monotonic()
    limit = 0.5 if "out of time" in said else 40.0
    with pytest.raises(PeerError, match=said) as caught:
        process.ask("{}", limit)
    assert str(caught.value).isprintable()
    assert caught.value.timed_out == ("out of time" in said)
    assert time.monotonic() - start < 20
    process.close()


def test_a_program_that_does_not_greet_is_an_error(java: Java) -> None:
    java("import sys; sys.exit('wrong version')")
    with pytest.raises(PeerError, match="wrong version"):
        StormProcess()
