"""The measuring process of the experiments `proofs`, without the process: answers from this one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from slotwise.benchmarks.experiments.proofs import isolated_run
from slotwise.processes.child import Finished


def answer_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `measure` ask this process; for tests of what is made of its rows."""

    def exchange(_: Sequence[str], question: bytes, *__: object) -> Finished:
        return Finished(0, json.dumps(isolated_run._answer(json.loads(question))).encode(), b"")

    monkeypatch.setattr(isolated_run, "exchange", exchange)


def a_row(**changes: Any) -> isolated_run.Measured:
    """Return the row of a small proven instance, with some of its fields changed."""
    row = isolated_run.Measured(
        instance="small",
        tasks=2,
        nodes=2,
        engine="auto",
        by="cp-sat (1.0)",
        status="optimal",
        objective=(isolated_run.MeasuredTerm("network", 10, 10),),
        gap=0.0,
        seconds=1.0,
        memory_mb=200.0,
        limit_s=10.0,
        cpu_s=1.0,
        improvements=((0.5, [0, 10]),),
    )
    return replace(row, **changes)
