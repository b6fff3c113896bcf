"""The measuring process of the experiments `proofs`, without the process: answers from this one."""

from __future__ import annotations

import json
import subprocess
from types import SimpleNamespace

import pytest

from slotwise.benchmarks.experiments.proofs import isolated_run


def answer_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `measure` ask this process; for tests of what is made of its rows."""

    def run(command: list[str], *, input: str, **_: object) -> subprocess.CompletedProcess[str]:
        answer = json.dumps(isolated_run._answer(json.loads(input)))
        return subprocess.CompletedProcess(command, 0, answer, "")

    stand_in = SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(isolated_run, "subprocess", stand_in)
