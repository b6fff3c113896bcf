"""A token is cancelled by whoever has it, by its deadline, and with its parent."""

from __future__ import annotations

import math
import threading
import time

import pytest

from slotwise.models.cancellation import CancellationToken, CancelledError

FAR_S = 1e6


def test_a_token_without_a_deadline_is_cancelled_by_hand_only() -> None:
    token = CancellationToken()
    token.check()
    assert (token.deadline, token.remaining) == (math.inf, math.inf)
    token.cancel()
    assert token.is_cancelled
    with pytest.raises(CancelledError):
        token.check()


def test_a_deadline_cancels() -> None:
    over = CancellationToken(time.perf_counter() - 1)
    assert over.is_cancelled
    assert over.remaining < 0
    assert not CancellationToken(time.perf_counter() + FAR_S).is_cancelled


def test_an_inner_deadline_does_not_put_off_an_outer_one() -> None:
    outer = CancellationToken(time.perf_counter() - 1)
    inner = outer.child(time.perf_counter() + FAR_S)
    assert inner.deadline == outer.deadline
    assert inner.is_cancelled


def test_a_child_ends_with_its_parent_and_not_the_other_way_round() -> None:
    parent = CancellationToken()
    inner = parent.child().child(time.perf_counter() + FAR_S)
    inner.cancel()
    assert not parent.is_cancelled
    other = parent.child().child(time.perf_counter() + FAR_S)
    other.check()
    parent.cancel()
    with pytest.raises(CancelledError):
        other.check()


def test_any_thread_may_cancel_and_no_other_token_hears_of_it() -> None:
    mine, others = CancellationToken(), CancellationToken()
    thread = threading.Thread(target=mine.cancel)
    thread.start()
    thread.join()
    assert mine.is_cancelled
    others.check()
