"""CBC as bundled with PuLP: PuLP writes the model and reads the answer.

The program is started here and not by PuLP, so that Ctrl-C ends it and keeps what it found.
"""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pulp

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError
from slotwise.solver.compact.milp.backend import Ended, MipSolver, Question, Reply, Report
from slotwise.solver.compact.native_call import run_interruptible

PROGRAM = str(pulp.PULP_CBC_CMD.pulp_cbc_path)
TOLERANCE = "1e-9"
PATIENCE_S = 0.2
"""What CBC may take to write its answer after it was told to stop; then it is killed."""

ENDED = {
    (pulp.LpStatusOptimal, pulp.LpSolutionOptimal): Ended.COMPLETE,
    (pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible): Ended.STOPPED,
    (pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound): Ended.STOPPED,
    (pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible): Ended.INFEASIBLE,
    (pulp.LpStatusInfeasible, pulp.LpSolutionNoSolutionFound): Ended.INFEASIBLE,
    # Every column is bounded.
    (pulp.LpStatusUnbounded, pulp.LpSolutionUnbounded): Ended.FAILED,
    (pulp.LpStatusUndefined, pulp.LpSolutionNoSolutionFound): Ended.FAILED,
}
"""By PuLP's status and its status of the solution; anything else fails."""

_LOWER_BOUND = re.compile(r"^Lower bound:\s+(\S+)", re.MULTILINE)
_OBJECTIVE = re.compile(r"^Objective value:\s+(\S+)", re.MULTILINE)


def search(question: Question, report: Report) -> Reply:
    """Minimise; the solution is reported at the end."""
    lp = question.model.lp
    lp.setObjective(question.objective)
    reader = pulp.COIN_CMD(path=PROGRAM, msg=False)
    with tempfile.TemporaryDirectory() as folder:
        model, answer = Path(folder, "model.mps"), Path(folder, "answer.txt")
        columns, names, rows, _ = lp.writeMPS(str(model), rename=True)
        start = _start_file(question, names, Path(folder, "start.txt"))
        started = time.perf_counter()
        question.token.check()  # writing takes long
        log, interrupted = _run(_command(question, model, answer, start), question.token)
        in_time = time.perf_counter() - started < question.time_s
        if log is None:
            return Reply(Ended.STOPPED, None, interrupted)
        if not answer.exists():
            raise InternalError(f"CBC wrote no answer; it said {log[-300:]!r}")
        if not answer.stat().st_size:  # CBC crashed, as it does without preprocessing at times
            return Reply(Ended.TROUBLE, None, interrupted)
        read = reader.readsol_MPS(str(answer), lp, columns, names, rows)
    values: dict[str, float] = read[1]
    ended = ENDED.get((read[0], read[5]), Ended.FAILED)
    if ended is Ended.INFEASIBLE and (interrupted or not in_time):
        # Stopped before it had any solution, CBC may call that infeasible, too.
        return Reply(Ended.STOPPED, None, interrupted)
    if read[5] in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        # Without a solution CBC writes that of the relaxation.
        report(lambda column: values[column.name], None)
    return Reply(ended, _bound(ended, log, question.gap), interrupted)


def _command(question: Question, model: Path, answer: Path, start: Path | None) -> list[str]:
    options: dict[str, Any] = {
        "sec": question.time_s,
        "timeMode": "elapsed",
        "ratio": 0,
        "allow": question.gap,
        "threads": question.threads if question.threads > 1 else 0,
        "randomCbcSeed": question.seed,
        "presolve": "on" if question.presolve else "off",
        "preprocess": "on" if question.presolve else "off",
        "primalT": TOLERANCE,
        "integerT": TOLERANCE,
    }
    words = [PROGRAM, str(model)]
    if start is not None:
        words += ["-mipstart", str(start)]
    for option, value in options.items():
        words += [f"-{option}", str(value)]
    return [*words, "-solve", "-printingOptions", "all", "-solution", str(answer)]


def _start_file(question: Question, names: dict[str, str], path: Path) -> Path | None:
    """Write the values to start from as CBC reads them."""
    if not question.start:
        return None
    lines = [
        f"{i} {names[column.name]} {value} 0" for i, (column, value) in enumerate(question.start)
    ]
    path.write_text("\n".join(["Stopped on time - objective value 0", *lines, ""]))
    return path


def _run(command: list[str], token: CancellationToken) -> tuple[str | None, bool]:
    """Run CBC in a session of its own, so that Ctrl-C reaches it through us.

    Return its log, ``None`` where it had to be killed, and whether it was told to stop.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    log: list[str] = []
    told: list[float] = []

    def stop() -> None:
        told.append(time.perf_counter())
        if told[-1] - told[0] > PATIENCE_S:
            process.kill()
        else:
            process.send_signal(signal.SIGINT)

    interrupted = run_interruptible(lambda: log.append(process.communicate()[0]), stop, token)
    return None if process.returncode == -signal.SIGKILL else log[0], interrupted


def _bound(ended: Ended, log: str, gap: float) -> float | None:
    """Return the bound that CBC's summary gives; at the end of a search its own optimum."""
    if ended not in (Ended.COMPLETE, Ended.STOPPED):
        return None
    found = _LOWER_BOUND.search(log)
    if found is not None:
        return float(found.group(1))
    found = _OBJECTIVE.search(log)
    if ended is Ended.COMPLETE and found is not None:
        return float(found.group(1)) - gap
    return None


CBC = MipSolver("CBC", search, lambda: f"PuLP {version('pulp')} with its CBC")
