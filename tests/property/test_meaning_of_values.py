"""Random values and types, and the views that DuckDB judges too: the maintained view is what Spark makes of the user's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.judged import SETTINGS, WAYS, judged
from tests.property.profiles import on_spark
from tests.property.spark_strategies import TYPES, Theme, meant
from tests.property.strategies import Case, cases


@pytest.mark.parametrize("theme", TYPES, ids=lambda theme: theme.__name__)
@on_spark
@given(data=st.data(), way=WAYS, setting=SETTINGS)
def test_values(theme: Theme, data: st.DataObject, way: str, setting: str) -> None:
    judged(data.draw(meant(theme)), way, setting)


@on_spark
@given(case=cases(batches=2), way=WAYS)
def test_views(case: Case, way: str) -> None:
    """Aliases that say nothing, types that all engines agree upon."""
    judged(case, way, "ANSI")
