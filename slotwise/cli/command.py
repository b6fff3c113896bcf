"""A command is a thin layer on a public function: its arguments are the function's parameters.

``@command("slotwise.judge", Purpose.PLACE, placement=...)`` above a function that takes a `Call`
makes a command. The names and defaults of its arguments and options are those of `slotwise.judge`;
`options.SHARED` or the decorator declares how each is typed. Options of the terminal only, such as
``--json``, are in the signature of the decorated function. A parameter without a declaration is an
error.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.models import ArgumentInfo

from slotwise.cli import exits, options
from slotwise.models.errors import InputError
from slotwise.models.lazy_names import homes

if TYPE_CHECKING:
    from slotwise.models.problem.problem import Problem

STDIN = "-"
TYPED = {
    "generate_logs": "generate logs",
    "import_storm": "import",
    "storm_apply": "storm apply",
    "storm_commands": "storm commands",
    "storm_rollback": "storm rollback",
    "storm_status": "storm status",
}
"""Functions of commands whose names are typed otherwise: two words, or a word of Python's."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a public function with the typed arguments, and defaults for the others."""

    function: str
    arguments: dict[str, Any]

    def __call__(self, **changes: Any) -> Any:
        """Load and call the function, with `changes` of its arguments."""
        package, _, name = self.function.rpartition(".")
        with exits.defer_interrupts():
            function = getattr(import_module(package), name)
        return function(**self.arguments | changes)

    def take(self, *names: str) -> dict[str, Any]:
        """Remove arguments from the call and return them; ``instance`` with options of reading."""
        wanted = (*names, *(options.DECODED if "instance" in names else ()))
        return {name: self.arguments.pop(name) for name in wanted if name in self.arguments}

    def refuse(self, rule: str, *names: str) -> None:
        """Raise `InputError` with `rule` if one of these arguments is not at its default."""
        unchanged = defaults(self.function)
        for name in names:
            if name in self.arguments and self.arguments[name] != unchanged[name]:
                raise InputError(rule, field=name, value=self.arguments[name])

    def problem(self) -> Problem:
        """Read and compile the instance; the function is then called with the problem."""
        with exits.defer_interrupts():
            from slotwise.api.inputs import as_problem

        taken = self.take("instance")
        problem = as_problem(taken.pop("instance"), **taken)
        self.arguments["instance"] = problem
        return problem


class Purpose(StrEnum):
    """The purposes by which the help lists commands, in its order."""

    PLACE = "Place and prove"
    CLUSTER = "A running cluster"
    COMPARE = "Compare methods"
    KIT = "Your own scheduler"
    FILES = "Files"


@dataclass(frozen=True, slots=True)
class Command:
    """A command; `build` makes the function for Typer.

    Parameters
    ----------
    function
        The public function whose parameters are its arguments; ``None`` = those of `body`.
    purpose
        The section of the help that lists it.
    declared
        Declarations of arguments that `options.SHARED` lacks or declares differently.
    body
        The function to run; its name is that of the command.
    """

    function: str | None
    purpose: Purpose
    declared: Mapping[str, Any]
    body: Callable[..., int]

    @property
    def name(self) -> str:
        """The name as typed."""
        name = self.body.__name__
        return TYPED.get(name, name.replace("_", "-"))

    def build(self) -> Callable[..., int]:
        """Return the command with all its arguments and options in its signature."""
        if self.function is None:
            return self.body
        function = self.function
        own = dict(inspect.signature(self.body, eval_str=True).parameters)
        del own["call"]
        shared = {}
        for name, default in defaults(function).items():
            kind = self.declared[name] if name in self.declared else options.SHARED[name]
            if kind is not None:
                shared[name] = inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
                )
        typed = {name: _typed(one) for name, one in shared.items()}
        declared = {name: _declaration(one) for name, one in (shared | own).items()}
        written = {
            name: _typed(one)
            for name, one in (shared | own).items()
            if getattr(declared[name], "callback", None) is options.target
        }

        def run(**values: Any) -> int:
            both = [word for name, word in typed.items() if values[name] == STDIN]
            if len(both) > 1:
                rule = f"only one of {', '.join(both[:-1])} and {both[-1]} can come from stdin"
                raise typer.BadParameter(rule)
            others = [name for name in values if name not in (*written, *IN_PLACE)]
            for name, option in written.items():
                read = (file for one in others for file in _files(values[one]))
                options.check_not_read(values[name], option, read)
            options.check_distinct({option: values[name] for name, option in written.items()})
            given = {name: values[name] for name in shared if values[name] not in (None, [])}
            with exits.noted_warnings(), options.as_options(**typed):
                return self.body(Call(function, given), **{name: values[name] for name in own})

        rest = [one for name, one in own.items() if name not in shared]
        parameters = sorted([*shared.values(), *rest], key=lambda one: one.default is not one.empty)
        run.__name__, run.__doc__ = self.body.__name__, self.body.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run


IN_PLACE = ("hint",)
"""Options whose file an output may replace: by a placement that is as good or better."""


def _files(value: object) -> list[str]:
    """Return what may be names of files in the value of an argument or option."""
    several = value if isinstance(value, list | tuple) else [value]
    return [str(one) for one in several if isinstance(one, str | Path)]


def command(
    function: str, purpose: Purpose, **declared: Any
) -> Callable[[Callable[..., int]], Command]:
    """Make a command of the decorated function, which calls the public `function`.

    `declared` has declarations of parameters that `options.SHARED` lacks or declares differently;
    ``None`` = the parameter is not an option of the command.
    """
    return lambda body: Command(function, purpose, declared, body)


def own_command(purpose: Purpose) -> Callable[[Callable[..., int]], Command]:
    """Make a command of the decorated function, whose signature has all arguments and options."""
    return lambda body: Command(None, purpose, {}, body)


def defaults(function: str) -> dict[str, Any]:
    """Return parameter -> default of a public function; `inspect.Parameter.empty` without one.

    They are read from its source, since loading it takes up to two seconds, for which neither
    ``--help`` nor a misspelt option should wait. Defaults shown by the help are literals there.
    """
    package, _, name = function.rpartition(".")
    import_module(package)
    spec = find_spec(homes(package)[name])
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text("utf-8")
    (node,) = (
        one
        for one in ast.parse(source).body
        if isinstance(one, ast.FunctionDef) and one.name == name
    )
    taken = node.args
    required = len(taken.args) - len(taken.defaults)
    texts = [*[None] * required, *taken.defaults, *taken.kw_defaults]
    values = {
        one.arg: inspect.Parameter.empty if text is None else _literal(text)
        for one, text in zip([*taken.args, *taken.kwonlyargs], texts, strict=True)
    }
    if taken.kwarg is not None and taken.kwarg.annotation is not None:
        decoded = ast.unparse(taken.kwarg.annotation)
        values |= options.DECODED if "[DecodedCluster]" in decoded else options.WHOLE_DECODED
    return values


def _literal(text: ast.expr) -> Any:
    """Return a default as it would be typed; ``None`` for one that is not a literal."""
    try:
        value = ast.literal_eval(text)
    except ValueError:
        return None
    return ",".join(map(str, value)) or None if isinstance(value, tuple) else value


def _declaration(parameter: inspect.Parameter) -> Any:
    """Return what declares how a parameter is typed; ``None`` where nothing does."""
    return getattr(parameter.annotation, "__metadata__", (None,))[0]


def _typed(parameter: inspect.Parameter) -> str:
    """Return a parameter as it is typed: ``--time-limit``, or ``INSTANCE``."""
    info = _declaration(parameter)
    if isinstance(info, ArgumentInfo):
        return str(info.metavar).strip("[]")
    named = info.default  # where Typer keeps the first name in an `Annotated` option
    return named if isinstance(named, str) else f"--{parameter.name.replace('_', '-')}"
