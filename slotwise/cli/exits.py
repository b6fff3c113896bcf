"""Exit codes, and the one place where errors of the command line become one line on stderr."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import typer

from slotwise.api.exit_code import Exit as Exit
from slotwise.models.errors import InternalError, SlotwiseError, one_line
from slotwise.solver.core.supervision import is_any_abandoned

Main = Callable[[Sequence[str]], object]


# Typer exports BadParameter only; its base is click's, which newer versions of Typer bring along.
_UsageError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def run(main: Main, arguments: Sequence[str]) -> int:
    """Call `main` with `arguments` and return the exit code.

    Errors made on purpose, of usage and of the operating system become one line on stderr.
    Anything else is a bug and keeps its traceback.
    """
    try:
        code = main(arguments)
    except _UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        return complain(f"{message.rstrip('.')}; see slotwise --help")
    except InternalError as error:
        complain(f"internal error, please report it: {error}")
        return Exit.FAILED
    except SlotwiseError as error:
        return complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except OSError as error:
        return complain(_os_message(error))
    except MemoryError:
        complain("out of memory; nothing was written")
        return Exit.NO_ANSWER
    if code == Exit.INTERRUPTED:
        # A command that kept something returns our code, Typer a bare 130 for an exception.
        return _interrupted("; what was found is kept" if isinstance(code, Exit) else "")
    return code if isinstance(code, int) else Exit.DONE


def _interrupted(kept: str = "") -> int:
    complain(f"interrupted{kept}")
    return Exit.INTERRUPTED


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Defer Ctrl-C while native modules load: they swallow it, or fail to load because of it.

    Where Ctrl-C is ignored or handled by other code, nothing changes.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def leave(code: int) -> NoReturn:
    """End the process; at once where an abandoned search runs in native code.

    Finalizing the interpreter under it could crash, and would wait for it.
    """
    if is_any_abandoned():
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def complain(message: str) -> int:
    """Write one line to stderr, control characters escaped; return `Exit.BAD_INPUT`."""
    note(message)
    return Exit.BAD_INPUT


def note(message: str) -> None:
    """Write one line to stderr, control characters escaped."""
    sys.stderr.write(f"slotwise: {one_line(message)}\n")


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Write warnings of public functions to stderr as notes, a line each, when the block ends.

    Where it ends with an exception, that is the only line.
    """
    held: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        shown = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category is UserWarning:
                held.append(str(message))
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
    for line in held:
        note(line)


def emit(text: str) -> None:
    """Write to stdout; a closed reader (``| head``) does not change the exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def print_json(document: Any) -> None:
    """Write one JSON object, on one line."""
    emit(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def silence_stdout() -> None:
    """Redirect stdout to nowhere, so that nothing fails on it when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _os_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
