"""The archive for executors, of small virtual environments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark import pack as module
from slotwise.pipeline.spark.pack import pack_environment

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
SITE = f"lib/{VERSION}/site-packages"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment with a package, jars of Spark and a development install of ours."""
    prefix = tmp_path / "env"
    venv.create(prefix, symlinks=True, with_pip=False)
    for name in ("other/__init__.py", "pyspark/__init__.py", "pyspark/jars/spark.jar"):
        path = prefix / SITE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("NAME = 'other'\n")
    (prefix / SITE / "__editable___slotwise_0_1_0_finder.py").write_text("")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(module, "_editable", list)
    return prefix


def names_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return tar.getnames()


@pytest.mark.in_turn
def test_the_packed_python_has_the_packages(environment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out" / "env.tar.gz"
    out.parent.mkdir()
    packed = pack_environment(out)
    assert [path.name for path in out.parent.iterdir()] == ["env.tar.gz"]
    assert (packed.file, packed.megabytes) == (out, out.stat().st_size / 1e6)
    assert packed.conf == {"spark.archives": f"{out}#environment"}
    unpacked = tmp_path / "elsewhere"
    with tarfile.open(out) as tar:
        tar.extractall(unpacked, filter="fully_trusted")
    code = "import other, slotwise.models.errors as ours; print(other.__file__, ours.__file__)"
    command = [str(unpacked / "bin" / "python"), "-P", "-c", code]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
    assert done.stdout.split() == [
        str(unpacked / SITE / "other" / "__init__.py"),
        str(unpacked / SITE / "slotwise" / "models" / "errors.py"),
    ]


@pytest.mark.in_turn
def test_what_executors_have_stays_out(environment: Path, tmp_path: Path) -> None:
    pack_environment(tmp_path / "env.tgz")
    names = names_in(tmp_path / "env.tgz")
    assert f"{SITE}/pyspark/__init__.py" in names
    assert not [name for name in names if name.endswith("spark.jar") or "__editable__" in name]
    assert not [name for name in names if "slotwise" in name and "__pycache__" in name]


@pytest.mark.in_turn
def test_an_older_slotwise_of_the_environment_stays_out(environment: Path, tmp_path: Path) -> None:
    old = environment / SITE / "slotwise" / "old.py"
    old.parent.mkdir()
    old.write_text("")
    pack_environment(tmp_path / "env.tgz")
    names = names_in(tmp_path / "env.tgz")
    assert f"{SITE}/slotwise/old.py" not in names
    assert names.count(f"{SITE}/slotwise/__init__.py") == 1


@pytest.mark.in_turn
def test_python_can_be_elsewhere_on_executors(environment: Path, tmp_path: Path) -> None:
    packed = pack_environment(tmp_path / "env.tgz", "/opt/python/")
    assert packed.python_prefix == "/opt/python"
    with tarfile.open(tmp_path / "env.tgz") as tar:
        links = {one.name: one.linkname for one in tar if one.issym() and one.name[:4] == "bin/"}
        settings = tar.extractfile("pyvenv.cfg")
        assert settings is not None
        assert b"home = /opt/python/bin" in settings.read()
    absolute = {link for link in links.values() if os.path.isabs(link)}
    assert absolute == {f"/opt/python/bin/{VERSION}"}


def test_the_mode_is_that_of_other_files(environment: Path, tmp_path: Path) -> None:
    pack_environment(tmp_path / "env.tgz")
    (tmp_path / "other").touch()
    assert (tmp_path / "env.tgz").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_nothing_is_left_of_one_that_fails(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, *_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("venv_pack.core.Packer.add", fail)
    out = tmp_path / "out" / "env.tar.gz"
    out.parent.mkdir()
    out.write_text("the one before")
    with pytest.raises(KeyboardInterrupt):
        pack_environment(out)
    assert [path.read_text() for path in out.parent.iterdir()] == ["the one before"]


@pytest.mark.parametrize("name", ["env.zip", "env", "env.tar"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.tar\.gz or \.tgz"):
        pack_environment(tmp_path / name)


def test_a_relative_prefix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="python_prefix = 'usr': must be absolute"):
        pack_environment(tmp_path / "env.tgz", "usr")


def test_a_folder_that_is_not_there_is_refused(environment: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        pack_environment(tmp_path / "none" / "env.tgz")


def test_only_a_virtual_environment_can_be_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(SlotwiseError, match="is in no virtual environment"):
        pack_environment(tmp_path / "env.tgz")


def test_one_that_borrows_from_the_system_is_refused(environment: Path, tmp_path: Path) -> None:
    settings = environment / "pyvenv.cfg"
    text = settings.read_text()
    settings.write_text(text.replace("packages = false", "packages = true"))
    with pytest.raises(SlotwiseError, match="without --system-site-packages"):
        pack_environment(tmp_path / "env.tgz")


def test_other_development_installs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("slotwise", "mine"):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "direct_url.json").write_text(
            json.dumps({"url": "file:///x", "dir_info": {"editable": True}})
        )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SlotwiseError, match=r"^mine: installed with pip install -e"):
        pack_environment(tmp_path / "env.tgz")


def test_one_that_venv_pack_refuses(environment: Path, tmp_path: Path) -> None:
    (environment / SITE / "mine.pth").write_text("/somewhere/else\n")
    with pytest.raises(SlotwiseError, match="Cannot pack an environment with editable") as refused:
        pack_environment(tmp_path / "env.tgz")
    assert "\n" not in str(refused.value)


def test_without_venv_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(SlotwiseError, match=r"pip install slotwise\[cluster\]"):
        pack_environment(tmp_path / "env.tgz")
