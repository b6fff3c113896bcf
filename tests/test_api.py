"""The public Python API."""

from __future__ import annotations

import subprocess
import sys

import pytest

import slotwise


def test_every_public_name_can_be_loaded():
    for name in slotwise.__all__:
        assert getattr(slotwise, name) is not None


def test_a_star_import_and_dir_have_all_names():
    names: dict[str, object] = {}
    exec("from slotwise import *", names)
    assert set(names) - {"__builtins__"} == set(slotwise.__all__) == set(dir(slotwise))
    assert {"solve", "Result", "InputError", "__version__"} <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'sovle'"):
        slotwise.sovle  # noqa: B018


def test_import_is_light():
    code = (
        "import sys, slotwise, slotwise.models\n"
        "print(sorted({'numpy', 'ortools', 'pyspark', 'pandas', 'matplotlib', 'pulp', 'highspy', "
        "'pydantic', 'typer', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_solve_place_and_judge(examples):
    instance = slotwise.read_instance("word-count.json")
    result = slotwise.solve(instance, time_limit_s=30, seed=1)
    assert result.status == slotwise.Status.OPTIMAL
    assert result.placement is not None
    assert result.seed == 1
    verdict = slotwise.judge(instance, result.placement)
    assert verdict.valid
    placed = slotwise.place(instance, "r-storm", seed=0)
    if isinstance(placed, slotwise.Placement):
        judged = slotwise.judge(instance, placed)
        assert not judged.valid or judged.scaled >= verdict.scaled


def test_files_go_round(examples):
    instance = slotwise.read_instance("word-count.json")
    slotwise.write_instance("again.json", instance)
    assert slotwise.read_instance("again.json") == instance
    result = slotwise.solve(instance)
    assert result.placement is not None
    slotwise.write_placement("plan.json", instance, result.placement)
    assert slotwise.read_placement("plan.json", instance) == result.placement


def test_errors_are_value_errors_of_one_family(examples):
    instance = slotwise.read_instance("word-count.json")
    with pytest.raises(slotwise.InputError):
        slotwise.solve(instance, time_limit_s=float("nan"))
    with pytest.raises(slotwise.InputError, match="r-storm"):
        slotwise.place(instance, "r-strom")
    assert issubclass(slotwise.InputError, slotwise.SlotwiseError)
    assert issubclass(slotwise.InputError, ValueError)
