"""Random texts whose words engines read differently: the maintained view is what Spark itself makes of the user's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.judged import SETTINGS, WAYS, judged
from tests.property.profiles import on_spark
from tests.property.spark_strategies import NAMES, Theme, grouping_sets, meant


@pytest.mark.parametrize("theme", NAMES, ids=lambda theme: theme.__name__)
@on_spark
@given(data=st.data(), way=WAYS, setting=SETTINGS)
def test_words(theme: Theme, data: st.DataObject, way: str, setting: str) -> None:
    if theme is grouping_sets and way.startswith("naive"):
        way = "optimised"  # the judge has no memory for the naive Δ-script of several sets below a subquery
    judged(data.draw(meant(theme)), way, setting)
