"""A short soak. `make soak` has hours of it."""

from __future__ import annotations

import io
from typing import Any

from tests.soak import Soak, soak


def test_a_short_soak(spark: Any) -> None:
    play = Soak.made(spark.newSession, 11, io.StringIO())
    try:
        soak(play, lambda play: play.number < 16)
        assert {"batch", "run", "interrupted", "two_at_once"} <= play.done.keys()
        assert play.modes["incremental"] > play.modes["full"] > 0
    finally:
        spark.sql("drop schema soak cascade")
