"""The command ``profile``: a model and its trials, on real but tiny tasks."""

from __future__ import annotations

import json
from pathlib import Path

from slotwise.pipeline.profiling import trial as trials

QUICK = ("--threads", "1", "--seconds", "0.1", "--warm-up", "0.02", "--first-rate", "200")


def test_a_task_is_profiled_and_the_trials_are_kept(cli, tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "root.json"
    answer = cli("profile", "math:sqrt", "--out", str(out), "--max-rate", "400", *QUICK)
    assert answer.code == 0, answer.err
    assert "tuples/s: " in answer.err
    kept = (tmp_path / "root.json.trials.jsonl").read_text().splitlines()
    assert json.loads(kept[0])["task"] == "math:sqrt"
    model = json.loads(out.read_text())["models"]["root"]
    assert [row["threads"] for row in model] == [1]
    # The same again needs no trial.
    monkeypatch.setattr(trials, "RunningSlot", None)
    again = cli("profile", "math:sqrt", "--out", str(out), "--max-rate", "400", "--json", *QUICK)
    assert json.loads(again.out)["models"] == {"root": model}
    assert again.err == ""


def test_bad_input_is_one_line(cli, tmp_path: Path) -> None:
    out = str(tmp_path / "m.json")
    for arguments, message in (
        (("nowhere:task", "--out", out), "No module named 'nowhere'"),
        (("cat", "--out", out, "--threads", "2,1"), "threads"),
        (("cat", "--out", out, "--threads", "x"), "must be whole numbers"),
        (("cat", "--out", out, "--parallel", "fibers"), "must be one of threads, processes"),
        (("cat", "--out", str(tmp_path / "no" / "m.json")), "does not exist"),
    ):
        answer = cli("profile", *arguments)
        assert answer.code == 2
        assert message in answer.err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
