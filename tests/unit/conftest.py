"""What tests of the refresh have in common."""

from __future__ import annotations

import pytest

from tests.unit.fake_engine import FakeEngine


@pytest.fixture
def engine() -> FakeEngine:
    """An engine with one source; files that need another one have their own."""
    fake = FakeEngine()
    fake.source("o", id="int", name="string")
    return fake
