"""``reproduce``: the figures of an article beside ours."""

from __future__ import annotations


def test_sam_for_people(cli):
    answer = cli("reproduce", "sam")
    assert (answer.code, answer.err) == (0, "")
    text = " ".join(answer.out.split())
    assert "54 of 76 figures are the same, 22 differ" in text
    assert "[1] An error of the article" in text
    assert "Not reproducible:" in text


def test_sam_as_json(cli):
    answer = cli("reproduce", "sam", "--json")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 1
    assert {*answer.json} == {"article", "figures", "not_reproducible"}
    first = answer.json["figures"][0]
    assert {*first} == {"section", "what", "published", "ours", "same", "note"}
    assert all(one["same"] or one["note"] for one in answer.json["figures"])


def test_bad_usage(cli):
    for words in (["reproduce"], ["reproduce", "smas"], ["reproduce", "sam", "--nope"]):
        answer = cli(*words)
        assert (answer.code, answer.out) == (2, "")
        assert len(answer.err.splitlines()) == 1
