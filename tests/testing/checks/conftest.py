"""What tests of the checks share."""

from __future__ import annotations

import pytest

from slotwise.testing.checks import search


@pytest.fixture
def only_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for further rules and for smaller instances, which takes longest."""
    monkeypatch.setattr(search, "_look_on", lambda *_: None)
    monkeypatch.setattr(search, "SHRINK_S", 0.0)
