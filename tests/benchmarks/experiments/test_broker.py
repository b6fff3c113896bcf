"""Records of log files, as a topic of Kafka takes them."""

from __future__ import annotations

from pathlib import Path

from slotwise.benchmarks.experiments.measuring.broker import records_of


def test_records_hold_every_line_once_and_in_rounds_a_share_of_each_file(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    files[0].write_bytes(b"".join(b"a%02d\n" % number for number in range(20)))
    files[1].write_bytes(b"".join(b"b%d\n" % number for number in range(4)) + b"end")
    keys = [path.as_uri().encode() for path in files]
    lines = [(keys[0], b"a%02d\n" % n) for n in range(20)]
    lines += [(keys[1], b"b%d\n" % n) for n in range(4)] + [(keys[1], b"end\n")]

    one_by_one = [tuple(record.split(b"\x01")) for record in records_of(files)]
    assert one_by_one == lines
    in_turn = [tuple(record.split(b"\x01")) for record in records_of(files, 4)]
    assert sorted(in_turn) == sorted(lines)
    assert [one for one in in_turn if one[0] == keys[1]] == lines[20:]
    for a, b in ((5, 1), (10, 2), (15, 3)):  # as much of both
        assert in_turn.index(lines[20 + b]) > in_turn.index(lines[a - 1])
        assert in_turn.index(lines[a + 3]) > in_turn.index(lines[20 + b - 1])
