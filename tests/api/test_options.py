"""Every option of the command line is an argument of a Python function."""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import get_args, get_type_hints

import pytest

import slotwise
import slotwise.testing
from slotwise.cli.app import COMMANDS
from slotwise.cli.commands import models, reproduce

FUNCTION = {
    "solve": "solve",
    "verify": "verify",
    "place": "place",
    "partition": "partition",
    "schedule": "schedule",
    "rebalance": "rebalance",
    "allocate": "allocate",
    "judge": "judge",
    "explain": "explain",
    "convert": "convert",
    "grade": "grade",
    "report": "report",
    "summary": "summary",
    "pack": "pack",
    "generate": "generate",
    "generate_logs": "generate_logs",
    "profile": "profile",
    "measure": "measure",
    "follow": "follow",
    "methods": "methods",
    "families": "families",
    "schema": "schema",
    "test_scheduler": "testing.check",
    "test_validator": "testing.check_validator",
}
"""Command -> public function with its options as arguments."""

OTHER_NAME = {
    "plan": "placement",
    "time_limit": "time_limit_s",
    "without_node": "without_nodes",
    "memory_limit": "memory_limit_mb",
    "check": "demand",
    "examples": "max_examples",
    "rule": "rules",
}
"""Option -> argument, where a unit or a noun belongs to the name."""

NO_ARGUMENT = {
    ("*", "as_json"): "to_document",
    ("summary", "as_csv"): "Summary.methods",
    ("summary", "as_latex"): "a table of the command line",
    ("*", "quiet"): "nothing is printed: on_progress and logging tell",
    ("report", "other"): "compare",
    ("solve", "out"): "write_placement",
    ("place", "out"): "write_placement",
    ("schedule", "out"): "write_placement",
    ("rebalance", "out"): "Rebalanced.plan_document",
    ("rebalance", "svg"): "a drawing of the command line",
    ("rebalance", "spare"): "spare",
    ("explain", "out"): "write_placement",
    ("explain", "html"): "a page of the command line",
    ("convert", "out"): "Written.text",
    ("measure", "out"): "Measurement.instance and write_instance",
    ("measure", "page"): "Measurement.write_page",
    ("generate", "out"): "write_instance",
    ("partition", "out"): "PartitionedFile.partition",
    ("partition", "out_instance"): "ProvenPartition.result and write_instance",
    ("partition", "certificate"): "certify and write_certificate",
    ("allocate", "out"): "to_document",
    ("allocate", "out_instance"): "Allocated.to_instance",
    ("allocate", "plot"): "a drawing of the command line",
    ("test_scheduler", "kind"): "instances, a strategy",
    ("test_scheduler", "instance"): "instances, a strategy",
    ("test_scheduler", "save"): "CheckFailed.failure",
    ("test_validator", "save"): "ValidatorReport.findings",
    ("solve", "crosscheck"): "crosscheck",
    ("solve", "certificate"): "certify and write_certificate",
}
"""(Command, option) that is none, and what does the same in Python."""


TEXTS_THERE = (
    *(("profile", "threads"), ("grade", "sources"), ("test_validator", "rule")),
    *(("generate_logs", "ghz"), ("summary", "by"), ("follow", "jars")),
    *((command, "without_node") for command in ("solve", "rebalance", "explain", "verify")),
)
"""Texts, or none for all, on the command line; sequences in Python."""


def parameters(function):
    """The names of the arguments, those of a ``TypedDict`` behind ``**options`` among them."""
    hints = get_type_hints(function)
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        is_unpacked = parameter.kind is inspect.Parameter.VAR_KEYWORD and name in hints
        names += get_type_hints(get_args(hints[name])[0]) if is_unpacked else [name]
    return names


def public(name):
    """The public function behind a command."""
    return attrgetter(FUNCTION[name])(slotwise)


def test_every_command_has_a_function():
    names = [command.__name__ for command in COMMANDS]
    assert [name for name in names if name not in FUNCTION] == []
    for name in names:
        package, _, function = FUNCTION[name].rpartition(".")
        assert function in (attrgetter(package)(slotwise) if package else slotwise).__all__


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_every_option_is_an_argument(command):
    name = command.__name__
    taken = parameters(public(name))
    missing = [
        option
        for option in parameters(command)
        if OTHER_NAME.get(option, option) not in taken
        and ("*", option) not in NO_ARGUMENT
        and (name, option) not in NO_ARGUMENT
    ]
    assert missing == []


def test_exceptions_are_needed():
    commands = {command.__name__: command for command in COMMANDS}
    for command, option in NO_ARGUMENT:
        named = COMMANDS if command == "*" else (commands[command],)
        assert any(option in parameters(one) for one in named), (command, option)
        if command != "*":
            assert option not in parameters(public(command))


@pytest.mark.parametrize("name", [word for words in NO_ARGUMENT.values() for word in words.split()])
def test_what_stands_in_for_an_option_is_there(name):
    if name.isidentifier() and name.split("_")[0] in ("write", "crosscheck", "certify"):
        assert name in slotwise.__all__


def test_commands_of_groups_have_functions():
    assert {one.callback.__name__ for one in models.app.registered_commands} == {"show", "convert"}
    assert {one.callback.__name__ for one in reproduce.app.registered_commands} == {"sam"}
    assert {"read_models", "write_models", "reproduce"} <= set(slotwise.__all__)


def test_a_missing_argument_would_be_seen():
    def command(instance: str, brand_new: int) -> None: ...

    assert "brand_new" not in parameters(slotwise.solve)
    assert "brand_new" in parameters(command)


def test_defaults_are_those_of_the_commands():
    for command in COMMANDS:
        function = public(command.__name__)
        theirs = inspect.signature(function).parameters
        for option, one in inspect.signature(command).parameters.items():
            other = theirs.get(OTHER_NAME.get(option, option))
            if other is None or other.default is inspect.Parameter.empty or option == "out":
                continue
            if (command.__name__, option) in TEXTS_THERE:
                continue
            assert one.default == other.default, (command.__name__, option)
