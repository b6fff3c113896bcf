"""Fixtures that several test files share, and settings of Hypothesis."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("SLOTWISE_SHARED", ROOT.parent / "shared"))
EXAMPLES = ROOT / "docs" / "examples"
TESTS = os.environ.get("SLOTWISE_TESTS", "all")
"""Which tests run: ``fast`` (`make test`), ``all`` (`test-all`) or ``deep`` (`test-deep`)."""
DEEP = TESTS == "deep"
DAILY_SEED = os.environ.get("SLOTWISE_DAILY_SEED")

SPARK_FILES = {
    "grading": (
        "tests/benchmarks/judged/test_spark.py",
        "tests/benchmarks/grading/batch/test_arrivals.py",
        "tests/benchmarks/grading/batch/test_runs.py",
        "tests/benchmarks/grading/oracle/test_oracle.py",
        "tests/benchmarks/grading/test_faults.py",
        "tests/benchmarks/grading/test_grade.py",
        "tests/benchmarks/grading/test_grade_command.py",
        "tests/benchmarks/grading/test_grade_sam.py",
        "tests/benchmarks/grading/test_kept_over_tasks.py",
        "tests/pipeline/spark/test_session.py",
        "tests/test_tutorials.py",
    ),
    "logs": (
        "tests/benchmarks/experiments/agreement/test_yarn.py",
        "tests/pipeline/following/test_follow.py",
        "tests/pipeline/spark/test_scratch.py",
        "tests/pipeline/statistics/test_parsing.py",
        "tests/pipeline/statistics/test_quarantine.py",
        "tests/pipeline/statistics/test_tables.py",
        "tests/pipeline/statistics/weights/test_damaged_logs.py",
        "tests/pipeline/statistics/weights/test_days.py",
        "tests/pipeline/statistics/weights/test_hand_written_logs.py",
        "tests/pipeline/statistics/weights/test_lines_to_weights.py",
        "tests/pipeline/statistics/weights/test_weights.py",
        "tests/cli/test_measure.py",
    ),
}
"""Files that use the fixture `spark`: a process runs all of a group, so that Spark starts twice."""

GROUPS = {file: f"spark-{name}" for name, files in SPARK_FILES.items() for file in files}

BEFORE_OTHERS = (*GROUPS, "tests/testing/")
"""Long files and folders: none of them is left to one process when the others have ended."""
ONE_BY_ONE = "tests/test_docs.py"
"""A file whose tests share nothing; they fill the gaps at the end."""


def rank(nodeid: str) -> int:
    """Return when a test runs: 0 = early, 2 = last."""
    return 2 if nodeid.startswith(ONE_BY_ONE) else not nodeid.startswith(BEFORE_OTHERS)


# A JVM that lives for seconds is sooner done without the second compiler; the room for what the
# first one makes, 48 MB by default, is soon full, and then Java interprets. Unlike the variables
# that Java itself reads, Spark's is not announced on stderr; the subprocesses of tests inherit it.
JAVA_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC"]
# `make test-all` has made it; another Java, or other jars, do without it, and would say so.
ARCHIVE = ROOT / ".venv" / "spark.jsa"
if ARCHIVE.is_file():
    JAVA_OPTIONS += [f"-XX:SharedArchiveFile={ARCHIVE}", "-Xlog:disable"]
if not DEEP:
    # Spark compiles what it does with the rows; for the few rows of a test that takes longer than
    # the rows themselves.
    JAVA_OPTIONS += [
        "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
        "-Dspark.sql.codegen.wholeStage=false",
    ]
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(JAVA_OPTIONS))

_notes: list[str] = []

settings.register_profile(
    "default",
    deadline=None,
    max_examples=20,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# The default profile tries the same cases in every run; the deep one looks for new ones.
settings.register_profile(
    "deep",
    parent=settings.get_profile("default"),
    max_examples=2000,
    derandomize=False,
    print_blob=True,
)
settings.load_profile("deep" if DEEP else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors",
        action="append",
        default=[],
        metavar="DIR",
        help="another folder of scheduling vectors for tests/heuristics/ras/vectors (repeatable)",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Spread tests over processes by file, but `SPARK_FILES` by group and `ONE_BY_ONE` by test."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return nodeid if file == ONE_BY_ONE else GROUPS.get(file, file)

    return Scheduling(config, log)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take a test's notes from its last report, in which they come from other processes, too."""
    if report.when == "teardown":
        _notes.extend(str(value) for key, value in report.user_properties if key == "note")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the notes of tests below the results, also where the tests pass."""
    if _notes:
        terminalreporter.section("notes")
        for line in dict.fromkeys(_notes):
            terminalreporter.write_line(line)


TURNS = 7
"""Days on which all files with tests that are marked ``in_turn`` have been run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests; skip those that take longer than `TESTS` allows, or need a seed."""
    items.sort(key=lambda item: rank(item.nodeid))
    costly = sorted({item.path for item in items if item.get_closest_marker("in_turn")})
    for item in items:
        if item.get_closest_marker("in_turn") and DAILY_SEED and not DEEP:
            days = (costly.index(item.path) - int(DAILY_SEED)) % TURNS
            if days:
                why = f"its turn comes {days} days later; without SLOTWISE_DAILY_SEED all are run"
                item.add_marker(pytest.mark.skip(reason=why))
        if "spark" in getattr(item, "fixturenames", ()):
            file = item.path.relative_to(ROOT).as_posix()
            assert file in GROUPS, f"SPARK_FILES of tests/conftest.py lacks {file}"
        if item.get_closest_marker("deep") and not DEEP:
            item.add_marker(pytest.mark.skip(reason="takes minutes; make test-deep runs it"))
        uses_spark = item.get_closest_marker("spark") or "spark" in getattr(
            item, "fixturenames", ()
        )
        if TESTS == "fast" and (item.get_closest_marker("slow") or uses_spark):
            item.add_marker(pytest.mark.skip(reason="takes seconds; make test-all runs it"))
        if item.get_closest_marker("daily") and not DAILY_SEED:
            item.add_marker(pytest.mark.skip(reason="needs SLOTWISE_DAILY_SEED"))


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Lines to show at the end of the run."""
    lines: list[str] = []
    yield lines
    request.node.user_properties += [("note", line) for line in lines]


@pytest.fixture
def daily_seed(note: list[str]) -> int:
    """The seed of SLOTWISE_DAILY_SEED, which is shown at the end of the run."""
    assert DAILY_SEED is not None, "tests that need it are skipped without it"
    again = f"again: SLOTWISE_DAILY_SEED={DAILY_SEED} make test-all"
    note += [again] if again not in note else []
    return int(DAILY_SEED)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the project (or SLOTWISE_SHARED)."""
    if SHARED.is_dir():
        return SHARED
    reason = f"no reference material in {SHARED}; SLOTWISE_SHARED can name another folder"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark session for all tests of a process.

    Functions that run on the workers must be defined inside a test or in slotwise: workers cannot
    import the test modules.
    """
    from slotwise.pipeline.spark.session import spark_session

    session = spark_session("local[2]", "slotwise-tests")
    yield session
    session.stop()


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit code, stdout and stderr of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


Cli = Callable[..., Answer]


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of docs/examples, which is also the current folder."""
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run the command line in this process."""
    from slotwise.cli.app import run

    def call(*words: object, stdin: str = "") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = run([str(word) for word in words])
        caught = capsys.readouterr()
        return Answer(code, caught.out, caught.err)

    return call
