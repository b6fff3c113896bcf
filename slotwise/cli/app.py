"""The command line: the table of commands, and running one of them.

Everything heavy is imported inside the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from slotwise import __version__
from slotwise.cli import commands as files
from slotwise.cli import exits
from slotwise.cli.command import Command, Purpose

FIRST = (
    *("solve", "verify", "place", "judge", "explain", "schedule"),
    *("measure", "follow", "rebalance", "profile"),
    *("grade", "summary", "report"),
    *("generate", "convert", "methods"),
)
"""Commands that come first under each purpose of the help, in this order; others follow by name."""


def _rank(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name


MODULES: dict[str, Any] = {
    module.name: import_module(f"{files.__name__}.{module.name}")
    for module in iter_modules(files.__path__)
}
"""The files in `slotwise.cli.commands`: whatever is there is a command."""
COMMANDS = {
    one.name: one
    for module in MODULES.values()
    for one in vars(module).values()
    if isinstance(one, Command)
}
"""Name, as typed -> command."""
GROUPS = {name: module for name, module in MODULES.items() if hasattr(module, "app")}
"""Name -> file of the commands that have subcommands."""


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
        for purpose in Purpose:
            commands = sorted(
                (n for n, one in COMMANDS.items() if one.purpose == purpose), key=_rank
            )
            named = [(name, COMMANDS[name].body.__doc__) for name in commands]
            named += [(n, one.app.info.help) for n, one in GROUPS.items() if purpose == one.PURPOSE]
            rows = [(name.ljust(widest), _first_sentence(text or "")) for name, text in named]
            with formatter.section(purpose):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by the first two arguments, else by the first."""
        both = " ".join(args[:2])
        if both in self.commands:
            return super().resolve_command(ctx, [both, *args[2:]])
        if args[0] not in self.commands:
            self._say_second_words(ctx, args)
        return super().resolve_command(ctx, args)

    def _say_second_words(self, ctx: Any, args: list[str]) -> None:
        """End with the commands that begin with a word which is none alone, if there are any."""
        several = sorted(name for name in self.commands if name.startswith(f"{args[0]} "))
        if not several:
            return
        if not set(args[1:2]) <= set(ctx.help_option_names):
            ctx.fail(f"No such command {' '.join(args[:2])!r}; there are {', '.join(several)}")
        formatter = ctx.make_formatter()
        with formatter.section(f"Commands {args[0]}"):
            rows = [(name, _first_sentence(COMMANDS[name].body.__doc__ or "")) for name in several]
            formatter.write_dl(rows)
        exits.emit(formatter.getvalue())
        ctx.exit()


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


@cache
def _built(name: str) -> Any:
    """Return a command as an object of Click; building all takes a quarter of a second."""
    alone = typer.Typer(
        context_settings=SETTINGS,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    alone.command(name, cls=_Command)(COMMANDS[name].build())
    return typer.main.get_command(alone)


SETTINGS = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="slotwise",
    cls=_Commands,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for word, group in GROUPS.items():
    app.add_typer(group.app, name=word)


def main() -> None:
    """Run the command line and exit with its code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        exits.silence_stdout()
    exits.leave(code)


@cache
def _command() -> Any:
    """Return all commands as one object of Click."""
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
