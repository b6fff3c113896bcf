"""Numbers as Java writes them into Storm's messages."""

from __future__ import annotations

import math
from decimal import Decimal


def double_text(value: float) -> str:
    """Return ``Double.toString``: ``100.0``, ``1.0E7``, ``5.0E-4``, ``Infinity``.

    With the fewest digits that name the double, as Java writes them since release 19.
    """
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value) if "e" not in repr(value) else f"{value:f}"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "finite"
    first, rest = str(digits[0]), "".join(map(str, digits[1:])) or "0"
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{first}.{rest}E{power}"
