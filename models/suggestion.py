"""What to say of a name that is not known: the names close to it, or all there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_LISTED = 30
"""Where nothing is close and there are more names, only the first are listed."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the second half of a message about a name that is none of `known`.

    ``did you mean 'a' or 'b'?`` with up to two names that are close (`difflib`, ratio of 0.5 or
    more, best first), else ``must be one of a, b, c``.
    """
    names = list(known)
    close = get_close_matches(name, names, n=2, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    more = ", ..." if len(names) > MAX_LISTED else ""
    return f"must be one of {', '.join(names[:MAX_LISTED])}{more}"
