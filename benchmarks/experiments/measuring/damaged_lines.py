"""Lines of a log damaged as writers, disks and people damage them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Edit = Callable[[str, np.random.Generator], str]
"""Changes a line; returns it as it is where it has no such part."""

_STORM_NUMBER = re.compile(r"-?\d[\d.E-]*(?=\}?$)")
_JSON_NUMBER = re.compile(r'(?<="tuples": )-?\d+')
_STAMP = re.compile(r'(?<=[ \t])1[67]\d{8}(?=\t)|(?<="time": )\d{10,13}')


def _number(line: str, change: Callable[[str], str]) -> str:
    """Change the last number of Storm's value, or the tuples of a JSON line."""
    pattern = _JSON_NUMBER if line.startswith("{") else _STORM_NUMBER
    return pattern.sub(lambda match: change(match[0]), line, count=1)


def _is_count(line: str) -> bool:
    return "-count" in line or line.startswith("{")


def _key_twice(line: str) -> str:
    if line.startswith("{"):
        return line[:-1] + ', "tuples": 7}'
    return re.sub(r"\{([^,{}]+)(.*)\}$", r"{\1\2, \1}", line)


IMPOSSIBLE: dict[str, Edit] = {
    "decimal comma": lambda line, _: _number(line, lambda text: f"{text.replace('.', ',')},5"),
    "not a number": lambda line, _: _number(line, lambda _: "NaN"),
    "infinite": lambda line, _: _number(line, lambda _: "Infinity"),
    "below zero": lambda line, _: _number(line, lambda text: f"-{text}"),
    "half a tuple": lambda line, _: (
        _number(line, lambda text: f"{text}.5") if "-count\t" in _squeezed(line) else line
    ),
    "a letter": lambda line, _: _number(line, lambda text: f"{text}d"),
    "nothing": lambda line, _: _number(line, lambda _: ""),
    "a key twice": lambda line, _: _key_twice(line),
    "hexadecimal": lambda line, _: _number(line, lambda text: f"0x{text}"),
    "too large": lambda line, _: _number(line, lambda text: f"{text}{'0' * 300}"),
    "too busy": lambda line, _: (
        _number(line, lambda text: f"{text.partition('.')[0]}00000") if _is_count(line) else line
    ),
    "clock": lambda line, random: _STAMP.sub(
        lambda match: str(int(match[0]) + int(random.choice([-1, 1])) * (10**5 + len(match[0]))),
        line,
        count=1,
    ),
}
"""Values that a metric cannot have, by name."""


def _squeezed(line: str) -> str:
    return re.sub(r" +\t", "\t", line)


def damaged(
    lines: list[str], share: float, kinds: tuple[str, ...], random: np.random.Generator
) -> bytes:
    """Return the lines of a log with a share of them damaged in place.

    Parameters
    ----------
    lines
        Without line breaks.
    share
        Of the lines, from 0 to 1.
    kinds
        Of `DAMAGES`; each as frequent as the others.
    random
        Of all choices.
    """
    written: list[bytes] = []
    hit = random.random(len(lines)) < share
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not kinds or not hit[at - 1]:
            written.append(line.encode() + b"\n")
            continue
        kind = kinds[int(random.integers(len(kinds)))]
        middle = int(random.integers(1, len(line)))
        if kind == "cut":
            # A writer that dies leaves no line break either.
            written.append(line[:middle].encode() + (b"\n" if random.random() < 0.5 else b""))
        elif kind == "doubled":
            written.append(2 * (line.encode() + b"\n"))
        elif kind == "interleaved":  # with the next line, if there is one
            inner, at = "".join(lines[at : at + 1]), at + 1
            written.append(f"{line[:middle]}{inner}\n{line[middle:]}\n".encode())
        elif kind == "encoded":
            written.append(line[:middle].encode() + b"\xe9" + line[middle + 1 :].encode() + b"\n")
        else:
            written.append(IMPOSSIBLE[kind](line, random).encode() + b"\n")
    return b"".join(written)


DAMAGES = ("cut", "doubled", "interleaved", "encoded", *IMPOSSIBLE)
"""What `damaged` does to lines."""
