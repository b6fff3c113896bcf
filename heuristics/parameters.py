"""Parameters of a method, written after its name: ``r-storm:weights=1,1,2,normalise=capacity``.

After the colon stand ``key=value`` pairs with commas between; a value may be a list with commas of
its own, for a part without ``=`` goes on with the value before it.
"""

from __future__ import annotations

from slotwise.heuristics.method import Method
from slotwise.heuristics.method_names import SEPARATOR
from slotwise.models.errors import InputError


def configured(method: Method, text: str) -> Method:
    """Return `method` with the parameters that `text` says.

    Raises
    ------
    InputError
        When the method takes none, `text` is no list of ``key=value``, a key is given twice or is
        none of the method's, or its value is not allowed.
    """
    written = f"{method.name}{SEPARATOR}{text}"
    if method.configure is None:
        raise InputError(
            f"takes no parameters; write only {method.name}", field="method", value=written
        )
    return method.configure(_pairs(text, written))


def _pairs(text: str, written: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    key = ""
    for part in text.split(","):
        if "=" in part:
            key, _, value = (word.strip() for word in part.partition("="))
            if key in found:
                raise InputError(f"gives {key} twice", field="method", value=written)
            found[key] = (value,)
        elif key:
            found[key] = (*found[key], part.strip())
        else:
            rule = "must have key=value after the colon, as in r-storm:normalise=capacity"
            raise InputError(rule, field="method", value=written)
    return found
