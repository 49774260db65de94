"""What a played refresh driver gets of a real Spark, through the materialization: rows, errors, and how far a statement is.

The rest of the contract between the two needs no engine: `tests/unit/test_adapter_materialization.py`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbt_idivm.refresh.protocol import EngineError, Rows, Statement
from tests.fake_driver import FakeDriver, driver, models

__all__ = ["driver", "models"]  # fixtures


def test_rows_and_errors_reach_the_driver(models: Any, driver: FakeDriver) -> None:
    driver.extra = [
        Statement("select 1 as a, timestamp'2020-07-01 12:00:00' as t, cast(null as string) as s", "read", "probe"),
        Statement("select * from nowhere.nothing", "metadata", "missing table"),
        Statement("select cast('x' as int)", "read", "fails when it is executed", fetch=False),
        Statement("selec 1", "read", "syntax"),
        Statement("set spark.sql.shuffle.partitions", "setting", "a setting"),
    ]
    models.dbt("run", "--select", "people")
    models.dbt("run", "--select", "v")
    probe, missing, cast, syntax, setting = driver.replies[:5]
    assert isinstance(probe, Rows) and probe.dicts()[0]["t"].isoformat() == "2020-07-01T12:00:00"
    assert probe.columns == ("a", "t", "s") and probe.rows[0][2] is None
    errors = [reply.error_class for reply in (missing, cast, syntax) if isinstance(reply, EngineError)]
    assert errors[0] == "TABLE_OR_VIEW_NOT_FOUND"
    assert errors[1] == "CAST_INVALID_INPUT"
    assert errors[2] == "PARSE_SYNTAX_ERROR"
    assert isinstance(setting, Rows) and setting.rows == (("spark.sql.shuffle.partitions", "2"),)
    assert "\tat " not in str(missing)


def test_a_long_refresh_says_what_it_is_doing(
    models: Any, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At a terminal, with Spark's tasks."""
    driver.extra = [Statement("select count(*) from range(0, 50000000, 1, 8) where hash(id) = 1", "read", "count them")]
    for name in ("FIRST", "EVERY"):
        monkeypatch.setattr(f"dbt.adapters.idivm.maintenance.{name}", 0.1)
    monkeypatch.setattr("dbt.adapters.idivm.maintenance.is_watched", lambda: True)
    models.dbt("run")
    assert re.search(r"v: count them, for \d+ s.*, \d+ of 9 tasks", capsys.readouterr().out)
