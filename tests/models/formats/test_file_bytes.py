"""Odd files: devices, pipes, folders, files too large. Each is one line, at once."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import Cli

from slotwise.models.errors import InputError
from slotwise.models.formats import file_bytes
from slotwise.models.formats.file_bytes import MAX_BYTES, read_bytes, read_stdin


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("command", ["judge", "solve", "verify", "schedule"])
def test_a_device_is_no_file(examples: Path, cli: Cli, command: str, device: str) -> None:
    words = [device] if command in ("solve", "schedule") else ["word-count.json", device]
    answer = cli(command, *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"slotwise: {device}: is a device; give a file or a pipe\n"


def test_the_empty_device_is_empty(examples: Path, cli: Cli) -> None:
    answer = cli("judge", "word-count.json", os.devnull)
    assert answer.code == 2
    assert f"{os.devnull}: is empty" in answer.err


def test_a_device_on_stdin_is_refused(tmp_path: Path) -> None:
    code = "from slotwise.models.formats.file_bytes import read_stdin; read_stdin()"
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=zeros, capture_output=True, text=True, check=False
        )
    assert "InputError: stdin: is a device" in done.stderr


def test_a_file_too_large_is_not_read(examples: Path, cli: Cli) -> None:
    with Path("large.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    answer = cli("judge", "word-count.json", "large.json")
    assert (answer.code, answer.out) == (2, "")
    assert (
        answer.err
        == "slotwise: large.json: is larger than 1024 MiB, the largest size that is read\n"
    )


def test_a_stream_too_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "MAX_BYTES", 3 << 20)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" " * (4 << 20))))
    with pytest.raises(InputError, match="stdin: is larger than 3 MiB"):
        read_stdin()


def test_a_pipe_without_a_writer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_bytes, "WRITER_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is a pipe that no process writes to"):
        read_bytes(tmp_path / "pipe")


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_a_pipe_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """A writer may come late, write in parts, and be slower than the wait for its coming."""
    monkeypatch.setattr(file_bytes, "WRITER_S", 0.2)
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as pipe:
            for part in (b"one ", b"two ", b"x" * (1 << 21)):
                threading.Event().wait(pause)
                pipe.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    content = read_bytes(path)
    writer.join()
    assert content == b"one two " + b"x" * (1 << 21)


def test_a_pipe_of_the_shell_is_read(examples: Path) -> None:
    """As in ``slotwise judge <(command) <(command)``; one that ends without a word is empty."""
    reader, writer = os.pipe()
    os.write(writer, b"{}")
    os.close(writer)
    assert read_bytes(Path(f"/dev/fd/{reader}")) == b"{}"
    os.close(reader)
    reader, writer = os.pipe()
    os.close(writer)
    assert read_bytes(Path(f"/dev/fd/{reader}")) == b""
    os.close(reader)


def test_a_pipe_in_the_place_of_a_generated_file(tmp_path: Path, cli: Cli) -> None:
    os.mkfifo(tmp_path / "linear-a.json")
    answer = cli("generate", "rstorm", "--count", "1", "--out", tmp_path)
    assert answer.code == 2
    assert "linear-a.json: exists with other content" in answer.err
