"""Earlier names of engines: understood, answered alike, and said to be earlier names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXAMPLES, Cli

from slotwise.models.certificates.file import certificate_digest, read_certificate
from slotwise.models.certificates.file import write_certificate as write
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Status
from slotwise.solver.engine_names import RENAMED, current_name, renaming
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve
from slotwise.solver.verification.claim import engines_behind

WORD_COUNT = EXAMPLES / "word-count.json"


def test_earlier_names_are_no_names_of_engines() -> None:
    assert not set(RENAMED) & set(ENGINES)
    assert set(RENAMED.values()) <= set(ENGINES)
    assert (current_name("cp-sat"), renaming("cp-sat")) == ("cp-sat", None)


def test_pieces_answers_as_connected_and_says_so() -> None:
    problem = compile_problem(read_instance(WORD_COUNT))
    with pytest.warns(FutureWarning, match="'pieces' is now called 'connected'"):
        earlier = solve(problem, engine="pieces")
    found = solve(problem, engine="connected")
    assert earlier.engine == found.engine == "connected"
    assert earlier.status == found.status == Status.OPTIMAL
    assert (earlier.objective, earlier.placement) == (found.objective, found.placement)


def test_the_command_line_takes_the_earlier_name(cli: Cli) -> None:
    answer = cli("solve", WORD_COUNT, "--engine", "pieces", "--json", "--quiet")
    assert answer.code == 0
    assert answer.json["engine"] == "connected"
    assert answer.err.splitlines() == ["slotwise: engine 'pieces' is now called 'connected'"]


def test_certificates_of_pieces_are_those_of_connected(cli: Cli, tmp_path: Path) -> None:
    """Read, checked, and not confirmed by the engine that made them."""
    path = tmp_path / "certificate.json"
    made = cli("solve", WORD_COUNT, "--engine", "connected", "--certificate", path)
    assert made.code == 0
    certificate = read_certificate(path)
    proofs = tuple(replace(proof, engine="pieces") for proof in certificate.proofs)
    earlier = replace(certificate, proofs=proofs, digest=None)
    write(path, replace(earlier, digest=certificate_digest(earlier)))
    assert engines_behind(read_certificate(path).proofs) == ("connected",)
    checked = cli("verify", WORD_COUNT, path, "--resolve", "--json")
    assert (checked.code, checked.err) == (0, "")
    named = cli("verify", WORD_COUNT, path, "--resolve", "--engine", "pieces")
    assert named.code == 2
    assert "made the claim itself" in named.err
