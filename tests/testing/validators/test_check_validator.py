"""`check_validator` finds what is wrong with a validator, and nothing wrong with the judge."""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis.database import InMemoryExampleDatabase
from validator_mutants import FORGETFUL, TOO_STRICT, fewer_on_a_node, per_node, without

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.testing.validators.answers import answer_from
from slotwise.testing.validators.case import MOST_NODES, MOST_TASKS, RULES
from slotwise.testing.validators.catalogue import sub_cases
from slotwise.testing.validators.check import check_validator
from slotwise.testing.validators.report import Mistake, ValidatorReport


def verdicts(report: ValidatorReport) -> dict[str, str]:
    return {one.rule: one.verdict for one in report.rules}


@pytest.mark.slow
def test_the_judge_passes() -> None:
    report = check_validator(judge)
    assert report.holds, str(report)
    assert verdicts(report) == dict.fromkeys(RULES, "holds")
    report.check()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_left_out_is_caught_within_100_examples(rule: str) -> None:
    report = check_validator(without(rule), rules=[rule], max_examples=100)
    assert verdicts(report) == {rule: "misses violations"}
    assert {finding.case.sub_case for finding in report.findings} == {
        part.name for part in sub_cases(rule)
    }
    for finding in report.findings:
        assert len(finding.case.placement.nodes) <= MOST_TASKS
        assert len(finding.case.instance.cluster.nodes) <= MOST_NODES
    assert report.rules[0].cases <= 200  # 100 for each side, less where a mistake ends a search


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_left_out_spoils_no_other(rule: str) -> None:
    others = [one for one in RULES if one != rule]
    assert check_validator(without(rule), rules=others, max_examples=1).holds


@pytest.mark.slow
@pytest.mark.parametrize("rule", TOO_STRICT)
def test_a_limit_lower_by_one_unit_is_caught(rule: str) -> None:
    report = check_validator(TOO_STRICT[rule], rules=[rule])
    assert verdicts(report) == {rule: "rejects what is valid"}


def test_a_limit_on_tasks_of_a_node_lower_by_one_is_caught() -> None:
    report = check_validator(fewer_on_a_node, rules=["max_per_node"])
    assert verdicts(report) == {"max_per_node": "rejects what is valid"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule",
    [
        *("one_topology_per_worker", "one_task_per_worker", "one_component_per_worker"),
        *("incompatible", "heap"),
    ],
)
def test_rules_of_workers_held_on_nodes_are_too_strict(rule: str) -> None:
    assert "rejects what is valid" in verdicts(check_validator(per_node, rules=[rule]))[rule]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGETFUL)
def test_what_validators_forget_is_caught(name: str) -> None:
    validator, rule, sub_case = FORGETFUL[name]
    report = check_validator(validator, rules=[rule])
    assert sub_case in {finding.case.sub_case for finding in report.findings}, str(report)


def test_the_smallest_case_is_told() -> None:
    report = check_validator(without("capacity"), rules=["capacity"], reproducible=True)
    first = report.findings[0]
    assert (first.case.sub_case, first.case.size) == ("cpu", "1 task, 1 node")
    assert str(first).splitlines() == [
        "capacity, cpu: misses violations (1 task, 1 node)",
        "  judge:     capacity: node n0, cpu: 1 needed, 0 available",
        "  validator: valid",
    ]


@pytest.mark.slow
def test_the_table_has_a_row_for_each_rule() -> None:
    lines = str(check_validator(lambda instance, placement: True, max_examples=1)).splitlines()
    assert lines[0].split() == ["rule", "verdict", "cases", "smallest", "mistake"]
    rows = lines[1 : 1 + len(RULES)]
    assert [line.split()[0] for line in rows] == list(RULES)
    assert all("misses violations" in line for line in rows)


def test_a_report_is_raised_on_demand() -> None:
    with pytest.raises(AssertionError, match=r"slots +misses violations"):
        check_validator(without("slots"), rules=["slots"], max_examples=1, raise_on_failure=True)


def test_a_report_is_json() -> None:
    report = check_validator(without("slots"), rules=["slots"], max_examples=1)
    document = json.loads(report.to_json())
    assert document == report.to_document()
    (rule,) = document["rules"]
    assert (document["holds"], rule["rule"], rule["verdict"]) == (
        False,
        "slots",
        "misses violations",
    )
    assert rule["findings"][0]["instance"]["format"] == "slotwise.instance/1"


def test_a_name_of_another_rule_is_a_mistake() -> None:
    def validate(instance: Instance, placement: Placement) -> list[str]:
        return ["capacity" for _ in judge(instance, placement).violations]

    report = check_validator(validate, rules=["capacity", "slots"], max_examples=1)
    assert verdicts(report) == {"capacity": "holds", "slots": "names another rule"}


def test_an_exception_is_a_mistake() -> None:
    def validate(instance: Instance, placement: Placement) -> bool:
        raise KeyError("slots")

    report = check_validator(validate, rules=["slots"], max_examples=1)
    assert verdicts(report) == {"slots": "fails"}
    assert "it raised KeyError: 'slots' (" in str(report)
    assert "test_check_validator.py" in str(report)


def test_an_answer_of_another_form_is_a_mistake() -> None:
    report = check_validator(lambda instance, placement: "valid", rules=["slots"], max_examples=1)
    assert verdicts(report) == {"slots": "fails"}
    assert "must be a bool, a collection of names of broken rules" in str(report)


def misses_large_heaps(instance: Instance, placement: Placement) -> bool:
    """The judge, to which a need of 30 or more is not a violation."""
    return all(one.needed >= 30 for one in judge(instance, placement).violations)


@pytest.mark.slow
def test_hypothesis_keeps_mistakes_in_its_database() -> None:
    """A single case of each part finds what the plainest cases do not show, once it is kept."""
    before = settings.get_current_profile_name()
    database = InMemoryExampleDatabase()
    settings.register_profile("kept", database=database, derandomize=False)
    settings.load_profile("kept")
    try:
        assert check_validator(misses_large_heaps, rules=["heap"], max_examples=1).holds
        found = check_validator(misses_large_heaps, rules=["heap"], max_examples=300)
        assert not found.holds
        assert not check_validator(misses_large_heaps, rules=["heap"], max_examples=1).holds
        nothing = check_validator(
            misses_large_heaps, rules=["heap"], max_examples=1, reproducible=True
        )
        assert nothing.holds
    finally:
        settings.load_profile(before)


def test_a_validator_that_wavers_is_told() -> None:
    rng = Random(0)

    def validate(instance: Instance, placement: Placement) -> bool:
        return rng.random() < 0.5

    report = check_validator(validate, rules=["max_moved"])
    assert Mistake.WAVERS in {finding.mistake for finding in report.findings}


@pytest.mark.parametrize(
    ("answer", "valid", "rules"),
    [
        (True, True, None),
        (False, False, None),
        ([], True, set()),
        (SimpleNamespace(valid=False, violations=[]), False, None),
        ({"slots"}, False, {"slots"}),
        (("slots", "heap"), False, {"slots", "heap"}),
    ],
)
def test_answers(answer: object, valid: bool, rules: set[str] | None) -> None:
    read = answer_from(answer)
    assert (read.valid, read.rules, read.error) == (valid, rules, "")


@pytest.mark.parametrize("answer", [None, 1, "slots", [1], {"slots": 1}.items()])
def test_answers_of_other_forms(answer: object) -> None:
    with pytest.raises(InputError, match="must be a bool"):
        answer_from(answer)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": ["slot"]}, "rule = 'slot': is not a hard rule; did you mean 'slots'"),
        ({"max_examples": 0}, "max_examples = 0: must be 1 or more"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_validator(judge, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["judge", "cmd:", "cmd:'", "cmd:/no/such/program"])
def test_texts_that_are_no_validator(text: str) -> None:
    with pytest.raises(InputError):
        check_validator(text)
