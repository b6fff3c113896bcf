"""Progress goes to standard logging, and nowhere unless somebody listens."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import slotwise

FILE = "word-count.json"


def test_a_solve_tells_the_log(examples, caplog):
    with caplog.at_level(logging.DEBUG, logger="slotwise"):
        slotwise.solve(FILE, engine="exhaustive", time_limit_s=20)
    records = [record for record in caplog.records if record.name == "slotwise.solve"]
    assert records[0].message == "word-count: engine exhaustive, 20 s"
    assert any("exhaustive: engine (asked for)" in record.message for record in records)
    found = [record for record in records if ": placement" in record.message]
    assert found
    assert "network" in found[-1].message
    assert {record.levelno for record in found} == {logging.INFO}
    bounds = [record for record in records if ": bound" in record.message]
    assert {record.levelno for record in bounds} == {logging.DEBUG}
    assert records[-1].message.startswith("Result word-count: optimal by exhaustive")


def test_bounds_are_for_debugging(examples, caplog):
    with caplog.at_level(logging.INFO, logger="slotwise"):
        slotwise.solve(FILE, engine="exhaustive")
    assert caplog.records
    assert not [record for record in caplog.records if ": bound" in record.message]


def test_the_log_does_not_take_the_place_of_on_progress(examples, caplog):
    for level in (logging.DEBUG, logging.WARNING):
        events = []
        with caplog.at_level(level, logger="slotwise"):
            slotwise.solve(FILE, engine="exhaustive", on_progress=events.append)
        assert "engine" in [event.event for event in events]


@pytest.mark.slow
def test_nothing_is_printed_or_configured(examples):
    code = (
        "import logging, slotwise\n"
        f"slotwise.solve({FILE!r}, engine='exhaustive')\n"
        "logging.getLogger('slotwise.solve').warning('unseen')\n"
        "print(logging.getLogger().handlers, logging.getLogger('slotwise').handlers)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] [<NullHandler (NOTSET)>]\n"
    assert done.stderr == ""
