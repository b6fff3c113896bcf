"""The measuring process of the experiments `proofs`, without the process: answers from this one."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from slotwise.benchmarks.experiments.proofs import isolated_run
from slotwise.processes.child import Finished


def answer_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `measure` ask this process; for tests of what is made of its rows."""

    def exchange(_: Sequence[str], question: bytes, *__: object) -> Finished:
        return Finished(0, json.dumps(isolated_run._answer(json.loads(question))).encode(), b"")

    monkeypatch.setattr(isolated_run, "exchange", exchange)
