"""Progress of a grading: counts, lines, the log; with a clock of our own."""

from __future__ import annotations

import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from slotwise.benchmarks.grading.batch.arrivals import NewRows
from slotwise.benchmarks.grading.progress import display as display_module
from slotwise.benchmarks.grading.progress.display import (
    PLAIN_EVERY_S,
    Bars,
    PlainLines,
    clock_text,
    described,
    display,
)
from slotwise.benchmarks.grading.progress.run_log import FORMAT, LOGGED, LogFile, run_log
from slotwise.benchmarks.grading.progress.tally import OVERHEAD_S, Tally
from slotwise.benchmarks.grading.progress.watching import Watcher, watching
from slotwise.models.errors import InputError, SlotwiseError


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def row(kind="exact", status="optimal", wall_s: float | None = 1.0, **other):
    """The columns of a row that progress takes."""
    names = {"instance": "i", "instance_hash": "sha256:0", "method": "auto", "seed": 0}
    return {**names, "time_limit_s": 5.0, "error": None, **other} | {
        "kind": kind,
        "status": status,
        "wall_s": wall_s,
    }


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tally(clock: Clock) -> Tally:
    made = Tally(clock)
    made.expect({"exact": 4, "heuristic": 16}, slots=3)
    return made


def test_runs_are_counted_by_how_they_ended(tally: Tally) -> None:
    tally.take([row(), row(status="infeasible"), row(status="feasible"), row(status="timeout")])
    tally.take([row("heuristic", status) for status in ("valid", "broken rule", "refused")])
    assert (tally.total, tally.done, tally.failed, tally.proven) == (20, 7, 2, 2)
    assert tally.statuses["refused"] == 1


def test_a_method_proves_nothing(tally: Tally) -> None:
    tally.take([row("external", "optimal")])
    assert tally.proven == 0


def test_no_more_runs_than_slots_or_than_are_left(tally: Tally) -> None:
    assert tally.running == 3
    tally.take([row("heuristic", "valid")] * 16 + [row()] * 2)
    assert tally.running == 2
    tally.take([row()] * 2)
    assert tally.running == 0


def test_the_time_left_takes_each_kind_as_it_was(tally: Tally, clock: Clock) -> None:
    assert tally.seconds_left() is None
    tally.take([row(wall_s=10 - OVERHEAD_S)] * 2)
    clock.now += 7
    # 2 of the exact runs took 7 s, so do the other 2; of heuristics nothing is known.
    assert tally.seconds_left() == (pytest.approx(7.0), True)
    tally.take([row("heuristic", "valid", wall_s=1 - OVERHEAD_S)] * 4)
    clock.now += 5
    # 24 s of work took 12 s; 20 s and 12 s of work are left.
    assert tally.seconds_left() == (pytest.approx(16.0), False)


def test_a_run_without_seconds_counts_as_overhead(tally: Tally, clock: Clock) -> None:
    tally.take([row(status="crashed", wall_s=None)])
    clock.now += 1
    assert tally.seconds_left() == (pytest.approx(3.0), True)


def test_stages_add_up(tally: Tally) -> None:
    tally.expect({"exact": 1}, slots=5)
    assert (tally.total, tally.running) == (21, 5)


def test_the_counts_in_words(tally: Tally, clock: Clock) -> None:
    assert described(tally) == "0 of 20 runs, 0 failed, 3 running, 0 proven, 0 s"
    tally.take([row(wall_s=60.0), row(status="crashed", wall_s=60.0)])
    clock.now += 65
    assert described(tally) == (
        "2 of 20 runs, 1 failed, 3 running, 1 proven, 1 min 5 s, at least 1 min 5 s left"
    )
    tally.take([row(wall_s=60.0)] * 2 + [row("heuristic", "valid", wall_s=60.0)] * 16)
    assert described(tally) == "20 of 20 runs, 1 failed, 0 running, 3 proven, 1 min 5 s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.7, "1 h 0 min"),
        (12_000, "3 h 20 min"),
    ],
)
def test_lengths_of_time(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


def test_lines_come_at_once_and_then_now_and_then(tally: Tally, clock: Clock) -> None:
    lines: list[str] = []
    plain = PlainLines(lines.append, clock)
    plain.waiting("starting Spark")
    for _ in range(int(2 * PLAIN_EVERY_S / 0.5)):
        plain.show(tally)
        clock.now += 0.5
    plain.end(tally)
    assert lines[0] == "slotwise: starting Spark\n"
    seconds = [line.rsplit(", ", 1)[1] for line in lines[1:]]
    assert seconds == ["0 s\n", "10 s\n", "20 s\n"]


def test_a_bar_has_the_counts(tally: Tally) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, no_color=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        bars = Bars(progress)
        bars.waiting("starting Spark")
        progress.refresh()
        tally.take([row()])
        bars.show(tally)
        progress.refresh()
        bar = progress.tasks[0]
        assert (bar.completed, bar.total) == (1, 20)
    assert "starting Spark" in screen.getvalue()
    assert "1 of 20 runs, 0 failed, 3 running, 1 proven" in screen.getvalue()


def test_quiet_shows_nothing(tally: Tally, capsys: pytest.CaptureFixture[str]) -> None:
    with display(False, lambda: 0.0) as shown:
        shown.waiting("starting Spark")
        shown.show(tally)
        shown.end(tally)
    assert capsys.readouterr() == ("", "")


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_log_tells_the_whole_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    with watching({"out": "out"}, log, shown=True) as watcher:
        watcher.begin({"exact": 1, "heuristic": 1}, slots=2)
        watcher.ended([row(), row("heuristic", "crashed", error="broke\ndown")])
        watcher.ended([])
    started, running, one, two, finished = lines_of(log)
    assert started == {"event": "started", "time": started["time"], "format": FORMAT, "out": "out"}
    assert (running["event"], running["runs"], running["slots"]) == ("running", 2, 2)
    assert set(one) == {"event", "time", *LOGGED}
    assert (one["event"], one["status"], two["error"]) == ("run", "optimal", "broke\ndown")
    assert (finished["event"], finished["outcome"], finished["error"]) == ("finished", "done", None)
    assert (finished["runs"], finished["statuses"]) == (2, {"crashed": 1, "optimal": 1})
    assert datetime.fromisoformat(finished["time"]).tzinfo is not None
    assert "2 of 2 runs, 1 failed, 0 running, 1 proven" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(KeyboardInterrupt(), "interrupted"), (SlotwiseError("no\nSpark"), "failed")],
)
def test_the_log_tells_how_the_call_ended(
    error: BaseException, outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    with pytest.raises(type(error)), watching({}, log, shown=True):
        raise error
    last = lines_of(log)[-1]
    assert (last["event"], last["outcome"], last["runs"]) == ("finished", outcome, 0)
    assert capsys.readouterr().err == ""


def test_the_log_grows_by_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"event": "run"}\n{"event": "ru', encoding="utf-8")
    with run_log(log, lambda: datetime(2026, 1, 2, tzinfo=UTC)) as events:
        events.write("started", {"master": "é"})
    first, broken, ours = log.read_text(encoding="utf-8").splitlines()
    assert (first, broken) == ('{"event": "run"}', '{"event": "ru')
    assert json.loads(ours)["time"] == "2026-01-02T00:00:00.000+00:00"


def test_two_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    def write(method: str) -> None:
        with run_log(log) as events:
            for _ in range(50):
                events.runs([row(method=method * 200)] * 5)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line["method"][0] for line in lines_of(log)) == ["a"] * 250 + ["b"] * 250


def test_a_log_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "log.jsonl"
    refused = pytest.raises(InputError, match=r"log = .*: cannot be written to: No such file")
    with refused, watching({}, missing, shown=False):
        pytest.fail("it must not begin")


def test_a_log_file_takes_no_numbers_that_are_none(tmp_path: Path) -> None:
    with run_log(tmp_path / "log.jsonl") as events, pytest.raises(ValueError, match="JSON"):
        events.runs([row(wall_s=float("nan"))])
    assert isinstance(events, LogFile)


@pytest.mark.slow
def test_each_new_file_of_rows_is_read_once(tmp_path: Path) -> None:
    def write(name: str, *rows: dict) -> None:
        pq.write_table(pa.Table.from_pylist(list(rows)), tmp_path / name)

    write("part-0.parquet", row(method="old"))
    new = NewRows(tmp_path)
    assert new.take() == []
    write("part-1.parquet", row(method="a", extra=1), row(method="b", extra=2))
    (tmp_path / ".part-2.parquet").write_bytes(b"half")
    (tmp_path / "_temporary").mkdir()
    found = new.take()
    assert [one["method"] for one in found] == ["a", "b"]
    assert set(found[0]) == set(LOGGED)
    write("part-3.parquet", row(method="c"))
    assert [one["method"] for one in new.take()] == ["c"]
    assert new.take() == []


def test_a_watcher_begins_its_clock_with_the_runs(clock: Clock) -> None:
    lines: list[str] = []
    with (
        run_log(None) as nothing,
        Watcher({}, PlainLines(lines.append, clock), nothing, clock) as watcher,
    ):
        with watcher.waiting("starting Spark"):
            clock.now += 30
        watcher.begin({"exact": 1}, slots=1)
        clock.now += 2
        watcher.ended([row()])
    assert lines == [
        "slotwise: starting Spark\n",
        "slotwise: 0 of 1 runs, 0 failed, 1 running, 0 proven, 0 s\n",
        "slotwise: 1 of 1 runs, 0 failed, 0 running, 1 proven, 2 s\n",
    ]


def test_stages_of_long_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal nothing is said at first, then a line now and then."""
    monkeypatch.setattr(display_module, "PLAIN_EVERY_S", 0.001)
    seen = threading.Event()

    def share() -> tuple[int, int]:
        seen.set()
        return (12, 40)

    with display_module.stages(True, share) as say:
        say("reading lines")
        assert not seen.wait(0.05)
    monkeypatch.setattr(display_module, "QUIET_S", 0.0)
    with display_module.stages(True, share) as say:
        assert not seen.wait(0.05)  # nothing has begun
        say("reading lines")
        assert seen.wait(10)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert set(lines) <= {"slotwise: reading lines, 12 of 40 tasks, 0 s"}
    with display_module.stages(False, share) as say:
        say("reading lines")
    assert not capsys.readouterr().err
