"""``allocate``: plans, tables, files and charts; results and bad input apart by exit code."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from slotwise.solver import allocation

KEYS = {
    *(
        "dataflow",
        "rate",
        "bound_rate",
        "method",
        "status",
        "reason",
        "slots",
        "bound",
        "gap",
        "estimate",
    ),
    *("acquired", "threads", "vms", "price", "routing", "predicted_rate", "safe_rate", "limit"),
    *("shuffle", "failures", "mapping", "seconds"),
}


def test_the_default_is_the_optimum(cli):
    answer = cli("allocate", "linear", "--rate", 100, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert len(answer.out.splitlines()) == 1
    found = answer.json
    assert set(found) == KEYS
    assert (found["method"], found["status"], found["routing"]) == ("optimal", "optimal", "planned")
    assert (found["slots"], found["bound"], found["gap"], found["price"]) == (5, 5, 0, 0.49)
    assert set(found["threads"]) == {"blob", "table", "pi", "xml", "file"}
    assert found["predicted_rate"] >= found["safe_rate"] >= 100
    assert len(found["mapping"]) == 5
    assert {*found["mapping"][0]} == {"vm", "slot", "cpu", "memory", "bundles"}
    assert {*found["mapping"][0]["bundles"][0]} == {"task", "threads", "rate"}
    assert {*found["vms"][0]} == {"name", "size", "slots", "price", "cpu", "memory"}
    assert "default" in cli("allocate", "--help").out


def test_a_pair_beside_the_bound(cli):
    found = cli("allocate", "star", "--rate", 200, "--method", "mba+sam", "--json").json
    assert (found["status"], found["slots"], found["estimate"]) == ("feasible", 17, 17)
    assert (found["bound"], found["acquired"]) == (12, 17)
    assert found["predicted_rate"] == found["safe_rate"] == 200
    assert found["shuffle"]["predicted_rate"] == 192.5  # by peak rates alone
    assert round(found["shuffle"]["safe_rate"]) == 190  # XML lacks CPU first
    assert found["shuffle"]["limit"]["resource"] == "cpu"
    answer = cli("allocate", "star", "--rate", 200, "--method", "mba+sam")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    assert "17 slots (estimated 17) on 3 VMs with 17 slots" in text
    assert "proven: a plan that reaches the rate needs 12 or more" in text
    assert "192.5" in text
    assert "cpu of xml on" in text
    assert "The plan reaches 200 tuples/s under planned routing" in text


def test_a_plan_that_does_not_reach_its_rate_is_a_failure(cli):
    answer = cli("allocate", "diamond", "--rate", 50, "--method", "lsa+rsm")
    assert (answer.code, answer.err) == (1, "")
    assert "The plan does not reach 50 tuples/s under shuffle routing:" in answer.out
    assert "slot 0 of vm1: rate (blob): needs 4 tuples/s, has 3 tuples/s" in answer.out
    found = cli("allocate", "diamond", "--rate", 50, "--method", "lsa+rsm", "--json")
    assert found.code == 1
    assert found.json["status"] == "violated"
    assert found.json["failures"][0] == {
        "rule": "rate",
        "vm": "vm1",
        "slot": 0,
        "task": "blob",
        "needed": 4,
        "available": 3,
    }
    assert found.json["predicted_rate"] < 50


@pytest.mark.slow
@pytest.mark.in_turn
def test_shuffle_grouping_for_all(cli):
    sam = cli("allocate", "linear", "--rate", 100, "--method", "mba+sam", "--shuffle", "--json")
    assert (sam.code, sam.json["status"], sam.json["routing"]) == (1, "violated", "shuffle")
    assert {one["task"] for one in sam.json["failures"]} == {"blob", "table"}
    best = cli("allocate", "linear", "--rate", 100, "--shuffle", "--json")
    assert (best.code, best.json["slots"], best.json["bound"]) == (0, 5, 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "slots"), [("--exclusive", [6, 8, 6]), ("--unscaled", [6, 9, 7])]
)
def test_variants_of_the_optimum(cli, option, slots):
    found = [
        cli("allocate", dag, "--rate", 100, option, "--json")
        for dag in ("linear", "diamond", "star")
    ]
    assert [one.code for one in found] == [0, 0, 0]
    assert [one.json["slots"] for one in found] == slots


@pytest.mark.slow
def test_the_highest_rate_for_slots_and_for_vms(cli, tmp_path):
    words = ("allocate", "linear", "--exclusive")
    by_slots = cli(*words, "--slots", 3, "--json")
    assert by_slots.code == 0
    found = by_slots.json
    assert set(found) == KEYS
    assert (found["status"], found["slots"], found["bound"]) == ("optimal", 3, None)
    rate = found["rate"]
    assert found["bound_rate"] == rate == int(rate)
    assert cli(*words, "--rate", rate, "--json").json["slots"] == 3
    assert cli(*words, "--rate", rate + 1, "--json").json["bound"] == 4
    vms = tmp_path / "vms.json"
    vms.write_text(
        '{"format": "slotwise.vms/1",'
        ' "sizes": [{"name": "S", "slots": 1, "price": 1, "available": 3}]}'
    )
    by_vms = cli(*words, "--vms", vms, "--out-instance", tmp_path / "instance.json")
    text = " ".join(by_vms.out.split())
    assert f"linear at {rate} tuples/s, optimal: 3 slots on 3 VMs" in text
    assert f"proven: no more than {rate} whole tuples/s" in text
    assert (tmp_path / "instance.json").exists()


@pytest.mark.slow
def test_several_rates_are_a_table(cli):
    words = ("allocate", "star", "--rate", "50:100:25", "--rate", "200", "--method", "mba+sam")
    found = cli(*words, "--json").json
    assert {*found} == {"dataflow", "method", "rates"}
    assert [(one["rate"], one["slots"], one["bound"]) for one in found["rates"]] == [
        *((50, 4, 3), (75, 6, 5), (100, 8, 6)),
        (200, 17, 12),
    ]
    text = cli(*words).out
    assert "planned" in text
    assert "shuffle" in text
    assert [line.split()[:3] for line in text.splitlines() if "feasible" in line] == [
        *(["50", "4", "3"], ["75", "6", "5"], ["100", "8", "6"]),
        ["200", "17", "12"],
    ]


def test_one_failure_fails_the_table(cli):
    answer = cli("allocate", "linear", "--rate", 1, "--rate", 100, "--method", "lsa+dsm")
    assert answer.code == 1
    assert "feasible" in answer.out
    assert "violated" in answer.out


def test_rates_are_exact_decimals(cli):
    found = cli("allocate", "linear", "--rate", "0.1:0.3:0.1", "--rate", "0.30", "--json").json
    assert [one["rate"] for one in found["rates"]] == [0.1, 0.2, 0.3]


def test_files_are_written(cli, examples):
    pytest.importorskip("matplotlib")
    words = ("allocate", "sensors.json", "--vms", "vms.json", "--rate", "20:60:20")
    answer = cli(*words, "--out", "plan.json", "--plot", "curve.svg", "--json")
    assert answer.code == 0
    assert json.loads(Path("plan.json").read_text()) == answer.json
    drawn = Path("curve.svg").read_text()
    for label in ("optimal", "lsa+dsm", "mba+sam", "rate of sensors, tuples/s", "slots"):
        assert label in drawn
    assert "misses" in drawn


def test_methods_without_a_plan_are_left_out_of_the_chart(cli, examples):
    pytest.importorskip("matplotlib")
    Path("few.json").write_text(
        '{"format": "slotwise.vms/1",'
        ' "sizes": [{"name": "S", "slots": 5, "price": 1, "available": 1}]}'
    )
    words = ("--vms", "few.json", "--rate", "100", "--plot", "curve.svg")
    assert cli("allocate", "linear", *words).code == 0
    drawn = Path("curve.svg").read_text()
    assert "optimal" in drawn
    assert "mba+sam" not in drawn


def test_a_dataflow_file_with_own_models_and_vms(cli, examples):
    Path("models.csv").write_text(
        "task,threads,peak_rate,cpu,memory\n"
        "xml,1,10,40,10\ntable,1,5,20,10\ntable,4,20,60,20\nfile,1,100,30,10\n"
    )
    words = ("--models", "models.csv", "--vms", "vms.json", "--rate", "20", "--json")
    found = cli("allocate", "sensors.json", *words)
    assert found.code == 0
    assert (found.json["slots"], [vm["size"] for vm in found.json["vms"]]) == (2, ["small"])
    stdin = Path("sensors.json").read_text()
    again = cli("allocate", "-", *words, stdin=stdin)
    assert again.json["mapping"] == found.json["mapping"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "lsa+dsm", "mba+sam"])
def test_a_rate_beyond_all_vms_is_a_result(cli, examples, method):
    Path("few.json").write_text(
        '{"format": "slotwise.vms/1",'
        ' "sizes": [{"name": "S", "slots": 2, "price": 1, "available": 2}]}'
    )
    words = ("allocate", "linear", "--rate", 100, "--vms", "few.json", "--method", method)
    answer = cli(*words, "--out-instance", "instance.json")
    assert answer.code == 1
    assert answer.err == (
        "slotwise: --out-instance = 'instance.json': not written, there is no plan\n"
    )
    assert "slots or more" in " ".join(answer.out.split())
    assert not Path("instance.json").exists()
    found = cli(*words, "--json").json
    assert found["status"] == ("infeasible" if method == "optimal" else "refused")
    assert found["slots"] is None
    assert found["mapping"] == found["vms"] == []
    assert "slots or more" in found["reason"]


NOTHING_TO_ALLOCATE = {
    "no tasks": '"tasks": [], "streams": []',
    "a source": '"tasks": [{"name": "a", "model": null}], "streams": []',
    "selectivity 0": '"tasks": [{"name": "a", "model": null}, {"name": "b", "model": "pi"}],'
    ' "streams": [{"from": "a", "to": "b", "selectivity": 0}]',
}


@pytest.mark.slow
@pytest.mark.parametrize("fields", NOTHING_TO_ALLOCATE.values(), ids=NOTHING_TO_ALLOCATE)
@pytest.mark.parametrize("method", allocation.METHODS)
def test_nothing_to_allocate_needs_no_slots(cli, tmp_path, monkeypatch, fields, method):
    """It was a traceback."""
    monkeypatch.chdir(tmp_path)
    Path("idle.json").write_text(f'{{"format": "slotwise.dataflow/1", "name": "idle", {fields}}}')
    words = ("allocate", "idle.json", "--rate", 5, "--method", method)
    found = cli(*words, "--json")
    assert (found.code, found.err) == (0, "")
    assert (found.json["slots"], found.json["bound"], found.json["vms"]) == (0, 0, [])
    assert (found.json["gap"], found.json["price"], found.json["mapping"]) == (0, 0, [])
    assert found.json["status"] == ("optimal" if method == "optimal" else "feasible")
    assert cli(*words, "--shuffle", "--rate", "6:8:1").code == 0
    shown = cli(*words, "--out-instance", "instance.json")
    assert "0 slots" in shown.out
    assert "No task receives tuples" in shown.out
    assert (shown.code, len(shown.err.splitlines())) == (0, 1)
    assert "not written, the plan has no threads" in shown.err
    assert not Path("instance.json").exists()


@pytest.mark.slow
def test_the_allocation_as_an_instance(cli, examples):
    words = ("allocate", "linear", "--rate", 50, "--method", "lsa+rsm")
    assert cli(*words, "--out-instance", "instance.json").code == 1  # the plan is short; written
    solved = cli("solve", "instance.json", "--time-limit", 30, "--json")
    assert solved.code == 0
    assert len(solved.json["placement"]["topologies"]["linear"]) == 25 + 17 + 3
    for method in ("r-storm", "ras-default"):
        placed = cli("place", "instance.json", "--with", method, "--json")
        assert placed.json["status"] == "feasible"
        assert placed.json["objective"][1]["value"] >= solved.json["objective"][1]["bound"]


CYCLE = """{"format": "slotwise.dataflow/1", "name": "c",
 "tasks": [{"name": "a", "model": "blob"}, {"name": "b", "model": "pi"}],
 "streams": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}]}"""
FILES = {
    "cycle.json": CYCLE,
    "missing.json": '{"format": "slotwise.dataflow/1", "name": "m", "streams": [],'
    ' "tasks": [{"name": "a", "model": "blub"}]}',
    "negative.json": CYCLE.replace('{"from": "b", "to": "a"}', "").replace(
        '"b"},', '"b", "selectivity": -1}'
    ),
    "idle.csv": "task,threads,peak_rate,cpu,memory\nxml,1,0,1,1\ntable,1,1,1,1\nfile,1,1,1,1\n",
    "fat.csv": "task,threads,peak_rate,cpu,memory\nxml,1,5,1,130\ntable,1,1,1,1\nfile,1,1,1,1\n",
    "vms.csv": "no VMs",
}
BAD = [
    (["linaer", "--rate", "5"], ["DAG = 'linaer'", "did you mean 'linear'"]),
    (["lineage.json", "--rate", "5"], ["lineage.json", "No such file"]),
    (["linear"], ["--rate"]),
    (["linear", "--rate", "-5"], ["--rate = '-5'", "0 or more"]),
    (["linear", "--rate", "0"], ["--rate = '0'", "above 0 tuples/s"]),
    (["linear", "--rate", "nan"], ["--rate = 'nan'", "finite"]),
    (["linear", "--rate", "inf"], ["--rate = 'inf'", "finite"]),
    (["linear", "--rate", "fast"], ["--rate = 'fast'", "number"]),
    (["linear", "--rate", "1e-7"], ["--rate = '1e-7'", "6 decimals"]),
    (["linear", "--rate", "1e300"], ["--rate = '1e300'"]),
    (["linear", "--rate", "5:1:1"], ["--rate = '5:1:1'", "FROM:TO:STEP"]),
    (["linear", "--rate", "1:5:0"], ["--rate = '1:5:0'", "above 0"]),
    (["linear", "--rate", "1:5"], ["--rate = '1:5'", "FROM:TO:STEP"]),
    (["linear", "--rate", "1:5000:1"], ["--rate = '1:5000:1'", "more than 1000"]),
    (["linear", "--rate", "1:900:1", "--rate", "901:1800:1"], ["--rate", "more than 1000"]),
    (["linear", "--rate", "5", "--method", "mba+sma"], ["mba+sma", "did you mean 'mba+sam'"]),
    (["linear", "--rate", "5", "--time-limit", "0"], ["--time-limit", "above 0"]),
    (["linear", "--rate", "5", "--slots", "3"], ["--slots = 3", "cannot be given with --rate"]),
    (["linear", "--slots", "0"], ["--slots = 0"]),
    (["linear", "--slots", "3", "--method", "mba+sam"], ["--method = 'mba+sam'", "--rate"]),
    (["linear", "--slots", "3", "--plot", "x.svg"], ["--plot = 'x.svg'", "--rate"]),
    (["linear", "--rate", "5", "--exclusive", "--method", "mba+sam"], ["--exclusive", "optimal"]),
    (["linear", "--rate", "5", "--unscaled", "--plot", "x.svg"], ["--unscaled", "--plot"]),
    (["linear", "--rate", "5", "--plot", "x.png"], ["--plot = 'x.png'", ".svg"]),
    (["linear", "--rate", "5", "--plot", "no/x.svg"], ["--plot", "no"]),
    (["linear", "--rate", "5", "--out", "no/x.json"], ["--out", "no"]),
    (["linear", "--rate", "5", "--out-instance", "no/x.json"], ["--out-instance", "no"]),
    (["linear", "--rate", "5:6:1", "--out-instance", "x.json"], ["--out-instance", "one --rate"]),
    (["linear", "--rate", "5", "--vms", "word-count.json"], ["word-count.json", "format"]),
    (["linear", "--rate", "5", "--vms", "vms.csv"], ["vms.csv"]),
    (["linear", "--rate", "5", "--models", "nowhere.csv"], ["nowhere.csv"]),
    (["cycle.json", "--rate", "5"], ["cycle.json: streams = 'a -> b': must be acyclic"]),
    (["negative.json", "--rate", "5"], ["negative.json: streams[0].selectivity = -1"]),
    (["missing.json", "--rate", "5"], ["tasks.a.model = 'blub': has no performance model"]),
    (["sensors.json", "--rate", "5", "--models", "idle.csv"], ["models.xml", "best rate is 0"]),
    (["sensors.json", "--rate", "5", "--models", "fat.csv"], ["'xml'", "130 % memory"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "fragments"), BAD, ids=lambda value: " ".join(value))
def test_bad_input(cli, examples, words, fragments):
    for name, text in FILES.items():
        Path(name).write_text(text)
    before = sorted(examples.rglob("*"))
    answer = cli("allocate", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("slotwise: ")
    assert len(answer.err.splitlines()) == 1
    for fragment in fragments:
        assert fragment in answer.err
    assert sorted(examples.rglob("*")) == before


def test_no_answer_within_the_limit(cli, monkeypatch):
    from slotwise.solver import allocation
    from slotwise.solver.core.result import Status
    from slotwise.solver.slots.result import SlotResult

    class Late:
        def __init__(self, *words: object) -> None: ...

        def fewest_slots(self, rate: object, *, token: object) -> SlotResult:
            return SlotResult(Status.UNKNOWN, None, 4, None, 1.0)

    monkeypatch.setattr(allocation, "SlotSolver", Late)
    answer = cli("allocate", "linear", "--rate", 100)
    assert answer.code == 3
    text = " ".join(answer.out.split())
    assert "no answer: no plan was found within the time limit" in text
    assert cli("allocate", "linear", "--rate", 100, "--json").json["bound"] == 4


def test_a_pair_out_of_time(cli):
    words = ("allocate", "linear", "--rate", 10_000, "--method", "lsa+rsm", "--time-limit", 0.01)
    answer = cli(*words)
    assert (answer.code, answer.err) == (3, "")
    text = " ".join(answer.out.split())
    assert text.startswith("linear at 10000 tuples/s, lsa+rsm: no answer: no plan was found")
    found = cli(*words, "--json").json
    assert (found["status"], found["slots"]) == ("unknown", None)


def test_ctrl_c_keeps_the_plan_found(cli, monkeypatch, tmp_path):
    """It was lost: no plan, no file."""
    searched = allocation.slots_curve

    def pressed(*words, **options):
        signal.raise_signal(signal.SIGINT)
        return searched(*words, **options)

    monkeypatch.setattr(allocation, "slots_curve", pressed)
    kept = tmp_path / "kept.json"
    answer = cli("allocate", "diamond", "--rate", "50:200:50", "--out", kept)
    assert answer.code == 130
    assert "interrupted; what was found is kept" in answer.err
    found = json.loads(kept.read_text())["rates"]
    assert all(one["status"] in ("feasible", "optimal") for one in found)
    assert all(one["bound"] <= one["slots"] for one in found)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
