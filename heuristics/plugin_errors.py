"""Calling code of other packages: its exceptions become one line with file and line number."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FunctionType

from slotwise.heuristics.method import MethodError
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import one_line

MOST_CHARACTERS = 300
"""Most characters shown of an exception's message; the last ones are kept."""

OURS = "slotwise"


def package_of(function: object) -> str:
    """Return the top-level package of a callable; empty where it is unknown."""
    module = getattr(_innermost(function), "__module__", None)
    return str(module or "").partition(".")[0]


def _innermost(function: object) -> object:
    """Return the function in a partial function, or in one that wraps it."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, FunctionType) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function


def defined_at(function: object) -> str:
    """Return file and line where a callable of another package begins, as `` (file:line)``.

    Empty for our own, and where it is unknown.
    """
    if package_of(function) == OURS:
        return ""
    function = _innermost(function)
    if callable(function):
        function = inspect.unwrap(function)
        if not hasattr(function, "__code__"):  # an object whose class says how it is called
            function = type(function).__call__
    code = getattr(function, "__code__", None)
    return _place(code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else ""


def raised_at(error: BaseException, package: str) -> str:
    """Return the innermost place in `package` that `error` came through, as `` (file:line)``.

    Empty where it came through none.
    """
    if isinstance(error, SyntaxError) and error.filename is not None:
        return _place(error.filename, error.lineno or 0)
    where = ""
    for frame, line in walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            where = _place(frame.f_code.co_filename, line)
    return where


def _place(file: str, line: int) -> str:
    return f" ({Path(file)}:{line})"


def format_error(error: BaseException, package: str) -> str:
    """Return type, message and place of an exception from `package`."""
    text = one_line(str(error), MOST_CHARACTERS)
    kind = type(error).__name__
    return (f"{kind}: {text}" if text else kind) + raised_at(error, package)


@contextmanager
def wrap_plugin_errors(
    name: str, function: object, token: CancellationToken | None = None
) -> Iterator[None]:
    """Turn any exception of `function`, of the method `name`, into a `MethodError`.

    Exceptions of our own methods are bugs of ours and keep their traceback. With `CancelledError`
    a function that was given `token` obeys it, if that is cancelled.
    """
    package = package_of(function)
    try:
        yield
    except MethodError:
        raise
    except (Exception, SystemExit) as error:
        obeys = isinstance(error, CancelledError) and token is not None and token.is_cancelled
        if package == OURS or obeys:
            raise
        where = "" if raised_at(error, package) else defined_at(function)
        raise MethodError(
            f"the method {name} failed: {format_error(error, package)}{where}"
        ) from error
