"""Random texts whose words engines read differently: the maintained view is what Spark itself makes of the user's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.judged import SETTINGS, WAYS, judged
from tests.property.profiles import fewer, on_spark
from tests.property.spark_strategies import NAMES, Theme, grouping_sets, meant

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("theme", [each for each in NAMES if each is not grouping_sets], ids=lambda theme: theme.__name__)
@on_spark
@given(data=st.data(), way=WAYS, setting=SETTINGS)
def test_words(theme: Theme, data: st.DataObject, way: str, setting: str) -> None:
    judged(data.draw(meant(theme)), way, setting)


@fewer
@given(data=st.data(), way=WAYS, setting=SETTINGS)
def test_words_of_grouping_sets(data: st.DataObject, way: str, setting: str) -> None:
    """Their statements are long: a case takes a second."""
    if way.startswith("naive"):
        way = "optimised"  # the judge has no memory for the naive Δ-script of several sets below a subquery
    judged(data.draw(meant(grouping_sets)), way, setting)
