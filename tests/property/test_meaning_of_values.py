"""Random values and types, and the views that DuckDB judges too: the maintained view is what Spark makes of the user's text."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meaning.spark_meaning import ANSI, NOT_ANSI, spark_meaning
from tests.property.judged import SETTINGS, WAYS, judged
from tests.property.profiles import on_spark
from tests.property.spark_strategies import TYPES, Theme, meant
from tests.property.strategies import Case, cases


@pytest.mark.deep
@pytest.mark.parametrize("theme", TYPES, ids=lambda theme: theme.__name__)
@on_spark
@given(data=st.data(), way=WAYS, setting=SETTINGS)
def test_values(theme: Theme, data: st.DataObject, way: str, setting: str) -> None:
    judged(data.draw(meant(theme)), way, setting)


@pytest.mark.parametrize("setting", [ANSI, NOT_ANSI], ids=["ANSI", "not ANSI"])
@pytest.mark.parametrize(
    ("kind", "total", "rows"),
    [
        *(
            (f"decimal({precision},2)", total, rows)
            for precision in (8, 10, 11, 12, 15, 18)
            for total, rows in ((7, 160), (-7, 160), (1, 32), (10**precision - 1, 3), (1 - 10**precision, 7), (5, 1), (0, 2))
        ),
        ("decimal(11,0)", 60132783313432, 1127),
        ("decimal(12,0)", 60132783313432, 1127),
        ("decimal(18,18)", 10**18 - 1, 7),
    ],
)
def test_what_an_average_of_decimals_is(kind: str, total: int, rows: int, setting: dict[str, str]) -> None:
    """Up to 11 digits a quotient of DOUBLEs, from 12 on the quotient, rounded (ADR 0004)."""
    precision, scale = (int(each) for each in kind.removeprefix("decimal(").removesuffix(")").split(","))
    each, rest = divmod(total, rows)
    values = [Decimal(each + (number < rest)).scaleb(-scale) for number in range(rows)]
    spark = spark_meaning()
    spark.reset()
    spark.configure(setting)
    spark.table("t", [("k", "int"), ("y", kind)], list(enumerate(values)))
    ((found,),) = spark.query("select avg(y) from t")
    with localcontext(prec=100):
        exact = (Decimal(total) / rows).scaleb(-scale)
        double = Decimal(repr(float(total) / rows / 10.0**scale))
        wanted = double if precision <= 11 else exact
        assert Decimal(found) == wanted.quantize(Decimal(1).scaleb(-scale - 4), ROUND_HALF_UP)
    if (kind, total, rows) == ("decimal(10,2)", 7, 160):
        assert found == "0.000437"


@pytest.mark.deep
@on_spark
@given(case=cases(batches=2), way=WAYS)
def test_views(case: Case, way: str) -> None:
    """Aliases that say nothing, types that all engines agree upon."""
    judged(case, way, "ANSI")
