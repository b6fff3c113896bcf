"""Mutations of valid files: of the values in them, of their text, and of their bytes.

What comes out may still be valid; most of it is not. The same state of the generator gives the same
mutation.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import yaml

from slotwise.testing.choices import Chooser, chance, pick

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 3.5, 0.1, 1e-7, -0.0, 0.000001, 999999.999999),
    *(10**15, 10**16, 2**31, 2**53, 2**62, 2**63, 10**40, 1e300, 1e-300),
    *(math.nan, math.inf, -math.inf),
    *("", " ", "n1", "a\nb", "\x00", "\x1b[31m", "\ud800", "é", "x" * 3000, "1", "NaN", "null"),
    *("t0", "c0", "c0[0]", "c0[99]", "c0[-1]", "t0/c0[0]", "network", "linear", "moved", "rates"),
    *([], {}, [[]], [None], {"": {}}, {"a": {"a": {"a": 1}}}, [1, 2, 3]),
)
ODD_NUMBERS = (
    *("1e9999999", "1e-9999999", "1E+400", "1e5000", "-1e5000", "9" * 400, "9" * 5000),
    *("0." + "0" * 400 + "1", "0.000001", "0.0000001", "1.", ".5", "1e", "-0", "00", "+1"),
    *("NaN", "Infinity", "-Infinity", ".inf", ".nan", "1_000", "0x10", "0o7", "1:30", "2020-01-01"),
    *("1e15", "1000000000000001", "4611686018427387904", "9007199254740992"),
    *("true", "null", "~", '"1"', "'1'", "[1]", "\u0967"),
)
ODD_TEXTS = (
    *("{", "}", "[", "]", ",", ":", '"', "'", "\\", "\n", "\t", " ", "#", "-", "|", ">", "? "),
    *("\x00", "\x1b[2J", "\ufeff", "\u202e", "\u2028", "\\u0000", "\\ud800", "null", "{}", "[]"),
    *("[" * 3000, '{"a":' * 3000, "&a ", "*a", "&a [*a]", "<<: *a", "!!", "...", "---\n"),
    *("!!python/object:os.system ", "%YAML 9.9\n"),
)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def mutated_file(choose: Chooser, data: Any, *, as_yaml: bool) -> bytes:
    """Return the bytes of a file of `data` after one mutation, or a few of them."""
    changes = [choose.whole(0, 9) for _ in range(pick(choose, (1, 1, 1, 2, 3)))]
    for change in changes:
        data = mutated_value(choose, data) if change <= 6 else data
    text = file_text(data, as_yaml=as_yaml)
    for change in changes:
        text = mutated_text(choose, text) if change in (7, 8) else text
    content = text.encode("utf-8", "surrogatepass")
    return mutated_bytes(choose, content) if 9 in changes else content


def file_text(data: Any, *, as_yaml: bool) -> str:
    """Return data as JSON or YAML; what JSON has no word for is written as Python does."""
    if as_yaml:
        text: str = yaml.safe_dump(data, allow_unicode=False, sort_keys=False)
        return text
    return json.dumps(data, indent=1)


def mutated_value(choose: Chooser, data: Any) -> Any:
    """Return a copy of `data` with one value changed, dropped, doubled, renamed or exchanged."""
    copy = _copied(data)
    spots = list(_spots(copy))
    if not spots:
        return pick(choose, ODD_VALUES)
    holder, key = pick(choose, spots)
    alike = [spot for spot in spots if type(spot[0][spot[1]]) is type(holder[key])]
    change = choose.whole(0, 9)
    if change <= 2:
        holder[key] = _copied(pick(choose, ODD_VALUES))
    elif change <= 4:
        other, other_key = pick(choose, alike)
        holder[key] = _copied(other[other_key])
    elif change == 5:
        del holder[key]
    elif change == 6 and isinstance(holder, list):
        holder[key:key] = [_copied(holder[key])] * pick(choose, (1, 2, 300))
    elif change == 7 and isinstance(holder, dict):
        name = pick(choose, ("", "x", "format", "id", "\n", "moved", str(key).upper()))
        holder[name] = holder[key] if chance(choose, 50) else holder.pop(key)
    elif isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
        factor, more = pick(choose, (-1, 2, 0.5, 10, 10**6)), pick(choose, (0, 0, 1, 1e-6))
        holder[key] = holder[key] * factor + more
    else:
        other, other_key = pick(choose, spots)
        holder[key] = _copied(other[other_key])
    return copy


def mutated_text(choose: Chooser, text: str) -> str:
    """Return the text with a number replaced, or a piece of it cut, doubled, moved or inserted."""
    start = choose.whole(0, len(text))
    stop = min(start + choose.whole(1, 20), len(text))
    change = choose.whole(0, 6)
    numbers = list(NUMBER.finditer(text))
    if change <= 2 and numbers:
        found = pick(choose, numbers)
        return text[: found.start()] + pick(choose, ODD_NUMBERS) + text[found.end() :]
    if change == 3:
        return text[:start] + text[stop:]
    if change == 4:
        return text[:stop] + text[start:stop] + text[stop:]
    if change == 5 and chance(choose, 30):
        return text[:start]
    lines = text.splitlines(keepends=True)
    if change == 5 and lines:
        line = lines.pop(choose.whole(0, len(lines) - 1))
        lines.insert(choose.whole(0, len(lines)), line * choose.whole(1, 2))
        return "".join(lines)
    return text[:start] + pick(choose, ODD_TEXTS) + text[start:]


def mutated_bytes(choose: Chooser, content: bytes) -> bytes:
    """Return the bytes with one changed, a piece cut out, or in another encoding."""
    change = choose.whole(0, 4)
    start = choose.whole(0, max(len(content) - 1, 0))
    if change == 0:
        return content[:start]
    if change == 1:
        return b"\xef\xbb\xbf" + content
    if change == 2:
        return content.decode("utf-8", "replace").encode("utf-16")
    if change == 3:
        return content[:start] + content[start + choose.whole(1, 50) :]
    return content[:start] + bytes([choose.whole(0, 255)]) + content[start + 1 :]


def _copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_copied(value) for value in data]
    return data


def _spots(data: Any) -> list[tuple[Any, Any]]:
    """Return (holder, key or index) of every value inside `data`."""
    found: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
    return found
