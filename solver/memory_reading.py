"""How much memory this process holds, and how much it may have."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

MB = 2**20
"""Bytes of what is called a megabyte here."""

SHARE_OFFERED = 0.8
"""Of what is offered, the limit where none is given: the rest is for others, and for being late."""

_STATM = Path("/proc/self/statm")
_GROUPS = Path("/proc/self/cgroup")
_CONTROL = Path("/sys/fs/cgroup")


def resident_bytes() -> int:
    """Return the resident memory of this process; where the system tells only its peak, that."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def default_limit_mb() -> int:
    """Return `SHARE_OFFERED` of what the machine, or less its control group, offers; 1 or more."""
    return max(1, int(SHARE_OFFERED * offered_bytes()) // MB)


def offered_bytes() -> int:
    """Return the least of physical memory, limits of control groups and limits of the process."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *group_limits(_GROUPS, _CONTROL), *_process_limits()])


def group_limits(groups: Path, control: Path) -> Iterator[int]:
    """Yield the limits of the control groups that a process is in, and of those around them.

    Parameters
    ----------
    groups
        The file that names them: ``number:controllers:path`` a line, ``0::path`` for version 2.
    control
        Where they are mounted. Within a container the path may not be there, the root always is.
    """
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return  # not Linux
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _limits_up(control, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _limits_up(control / "memory", path, "memory.limit_in_bytes")


def _limits_up(root: Path, path: str, file: str) -> Iterator[int]:
    """Yield the limits in the files of a group and of all groups around it."""
    inner = root / path.lstrip("/")
    for folder in (inner, *inner.parents):
        if not folder.is_relative_to(root):
            return
        try:
            written = (folder / file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if written.isdecimal():  # else "max"
            yield int(written)


def _process_limits() -> Iterator[int]:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            yield soft
