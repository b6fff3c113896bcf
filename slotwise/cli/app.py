"""The command line: the table of commands, and how one of them is run.

Everything heavy is imported inside the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from slotwise import __version__
from slotwise.cli import exits
from slotwise.cli.command import Command
from slotwise.cli.commands import models, new, reproduce
from slotwise.cli.commands.allocate import allocate
from slotwise.cli.commands.convert import convert
from slotwise.cli.commands.explain import explain
from slotwise.cli.commands.follow import follow
from slotwise.cli.commands.generate import generate
from slotwise.cli.commands.generate_logs import generate_logs
from slotwise.cli.commands.grade import grade
from slotwise.cli.commands.judge import judge
from slotwise.cli.commands.lists import families, methods, schema
from slotwise.cli.commands.measure import measure
from slotwise.cli.commands.pack import pack
from slotwise.cli.commands.partition import partition
from slotwise.cli.commands.place import place
from slotwise.cli.commands.profile import profile
from slotwise.cli.commands.rebalance import rebalance
from slotwise.cli.commands.report import report
from slotwise.cli.commands.schedule import schedule
from slotwise.cli.commands.solve import solve
from slotwise.cli.commands.summary import summary
from slotwise.cli.commands.test_scheduler import test_scheduler
from slotwise.cli.commands.test_validator import test_validator
from slotwise.cli.commands.verify import verify

PURPOSES: dict[str, tuple[Command | Callable[..., int], ...]] = {
    "Place and prove": (solve, verify, place, judge, explain, schedule, allocate, partition),
    "A running cluster": (measure, follow, rebalance, profile, generate_logs),
    "Compare methods": (grade, summary, report, pack),
    "Your own scheduler": (test_scheduler, test_validator),
    "Files": (generate, convert, methods, families, schema),
}
"""The commands by what people come for, in the order of the help."""

GROUPS = (
    ("Compare methods", "reproduce", reproduce.app),
    ("Your own scheduler", "new", new.app),
    ("Files", "models", models.app),
)
"""Purpose and name of the commands that have commands of their own."""

TWO_WORDS = {"generate_logs": "generate logs"}
"""Functions of commands that are named by two words; the first word alone is a command, too."""


def _body(command: Command | Callable[..., int]) -> Callable[..., int]:
    return command.body if isinstance(command, Command) else command


def _name(command: Command | Callable[..., int]) -> str:
    function = _body(command).__name__
    return TWO_WORDS.get(function, function.replace("_", "-"))


COMMANDS = {_name(command): command for commands in PURPOSES.values() for command in commands}
"""What people type -> the command."""


class _Command(TyperCommand):
    """A command whose help lists options by their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List arguments, options, then the options of each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            usual = "Arguments" if one.param_type_name == "argument" else "Options"
            rows = sections.setdefault(getattr(one, "rich_help_panel", None) or usual, [])
            record = one.get_help_record(ctx)
            rows += [] if record is None else [record]
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class _Commands(TyperGroup):
    """The commands, each built when it is used; the help lists them by their purposes."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: dict[str, Any] = {**dict.fromkeys(COMMANDS), **self.commands}

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return the command of this name."""
        return _built(name) if name in COMMANDS else super().get_command(ctx, name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their first sentences, a section for each purpose."""
        widest = max(map(len, self.commands))
        for purpose, commands in PURPOSES.items():
            named = [(_name(one), _body(one).__doc__) for one in commands]
            named += [(name, group.info.help) for of, name, group in GROUPS if of == purpose]
            rows = [(name.ljust(widest), _first_sentence(text or "")) for name, text in named]
            with formatter.section(purpose):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first two arguments name, else what the first one does."""
        both = " ".join(args[:2])
        words = [both, *args[2:]] if both in self.commands else args
        return super().resolve_command(ctx, words)


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


@cache
def _built(name: str) -> Any:
    """Return a command as Click has it; building all takes a quarter of a second."""
    command = COMMANDS[name]
    alone = typer.Typer(
        context_settings=SETTINGS,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    build = command.build() if isinstance(command, Command) else command
    alone.command(name, cls=_Command)(build)
    return typer.main.get_command(alone)


SETTINGS = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="slotwise",
    cls=_Commands,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _, word, group in GROUPS:
    app.add_typer(group, name=word)


def main() -> None:
    """Run the command line and leave with its exit code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        exits.silence_stdout()
    exits.leave(code)


@cache
def _command() -> Any:
    """Return all commands as Click has them."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""

    def call(words: Sequence[str]) -> object:
        return _command().main(args=list(words), prog_name="slotwise", standalone_mode=False)

    return int(exits.run(call, arguments))


def _print_version(wanted: bool) -> None:
    if wanted:
        exits.emit(f"slotwise {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print and exit."),
    ] = False,
) -> None:
    """Place the tasks of stream processors on machines, exactly or by published heuristics."""
    if context.invoked_subcommand is None:
        exits.emit(context.get_help() + "\n")
