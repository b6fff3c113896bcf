"""A command has the parameters of its public function."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from slotwise.cli.app import COMMANDS
from slotwise.cli.command import Call, Command, Purpose, command, defaults

SHELLS = {name: one for name, one in COMMANDS.items() if one.function is not None}


@pytest.mark.parametrize("shell", SHELLS.values(), ids=SHELLS)
def test_defaults_in_the_source_are_those_of_the_function(shell: Command) -> None:
    assert shell.function is not None
    package, _, name = shell.function.rpartition(".")
    function = getattr(import_module(package), name)
    read = defaults(shell.function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        known = read.pop(parameter.name)
        if not isinstance(parameter.default, tuple) and known is not None:
            assert known == parameter.default
    assert set(read) <= {"topology", "worker_min_cpu", "submitters"}


def test_a_parameter_without_a_declaration_is_an_error() -> None:
    @command("slotwise.place", Purpose.PLACE)
    def place(call: Call) -> int:
        return 0

    with pytest.raises(KeyError, match="method"):
        place.build()
    assert command("slotwise.place", Purpose.PLACE, method=None)(place.body).build()


def test_what_is_not_typed_is_left_to_the_function() -> None:
    calls = []

    @command("slotwise.schema", Purpose.FILES, name=None)
    def schema(call: Call) -> int:
        calls.append(call)
        return 0

    assert schema.build()() == 0
    assert calls == [Call("slotwise.schema", {})]
    assert "placement" in calls[0]()
    assert calls[0](name="placement")["title"]
