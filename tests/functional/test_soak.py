"""A short soak. `make soak` has hours of it."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.soak import Soak, is_leak, soak

pytestmark = pytest.mark.deep


def test_a_short_soak(spark: Any) -> None:
    play = Soak.made(spark.newSession, 10887, io.StringIO())
    try:
        soak(play, lambda play: play.number < 12)
        assert {"batch", "run", "edit", "interrupted", "two_at_once", "drift", "upkeep"} <= play.done.keys()
        assert play.modes["incremental"] > play.modes["full"] > 0
    finally:
        spark.sql("drop schema soak cascade")


def test_what_grows_is_a_leak() -> None:
    assert is_leak([100, 110, 105, 130, 150, 170, 180, 190, 200])
    assert not is_leak([100, 150, 200, 210, 190, 220, 200, 230, 210])
    assert not is_leak([100, 300])
