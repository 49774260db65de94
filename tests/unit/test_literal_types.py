"""Numbers that a tree takes for others are refused where that matters; and what is read of a table of which nothing is used."""

from __future__ import annotations

import pytest

from dbt_idivm.context import Catalog
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute, Scan
from tests.property.directed import table

DECIMALS, INTEGERS = table("t(k int, d decimal(6,2), x int; k)"), table("t(k int, x int; k)")


def codes(sql: str, found: object = DECIMALS) -> list[str]:
    try:
        lower(sql, Catalog({"t": found.info()}))  # type: ignore[attr-defined]
    except IdivmError as error:
        return [each.summary for each in error.findings]
    return []


@pytest.mark.parametrize("item", ["d / +7", "+k", "d * (+x)", "concat(+k, '')", "CASE WHEN k > +1 THEN 1 END"])
def test_a_plus_in_front_of_a_value(item: str) -> None:
    assert codes(f"SELECT k, {item} AS y FROM t") == ["IDIVM-228 + in front of a value"]


@pytest.mark.parametrize(
    "item", ["k + 1", "(d) + x", "CASE WHEN k > 1 THEN 1 END + 1", "sum(x) OVER (PARTITION BY k) + 1", "1e+3"]
)
def test_a_plus_between_values(item: str) -> None:
    assert codes(f"SELECT k, {item} AS y FROM t") == []


@pytest.mark.parametrize(
    ("item", "number"),
    [("d / 7L", "7L"), ("d / (7S)", "7S"), ("-7L * d", "7L"), ("3Y - d", "3Y"), ("try_divide(d, 3L)", "3L"), ("d > 0L", "0L")],
)
def test_a_suffix_beside_decimals(item: str, number: str) -> None:
    assert codes(f"SELECT k, {item} AS y FROM t") == [f"IDIVM-228 {number} in a query with decimals"]


def test_other_suffixes() -> None:
    assert codes("SELECT k, d * 1.5BD AS y FROM t WHERE x IN (1, 2)") == []
    assert codes("SELECT k, x + 7L AS y FROM t", INTEGERS) == []
    assert codes("SELECT k, CAST(x AS DECIMAL(6,2)) / 7L AS y FROM t", INTEGERS) != []


@pytest.mark.parametrize("item", ["INTERVAL 1 DAY 2 HOURS", "k * interval '1' day '2' hour", "INTERVAL -1 YEAR 2 MONTHS"])
def test_an_interval_of_several_units(item: str) -> None:
    (found,) = codes(f"SELECT k, {item} AS y FROM t")
    assert found.startswith("IDIVM-228 INTERVAL with several units")


@pytest.mark.parametrize(
    "item", ["INTERVAL 1 DAY + INTERVAL 2 HOURS", "INTERVAL '1 day 2 hours'", "INTERVAL '1 2' DAY TO HOUR", "k + INTERVAL 1 DAY"]
)
def test_other_intervals(item: str) -> None:
    assert codes(f"SELECT k, {item} AS y FROM t") == []


@pytest.mark.parametrize("key", [("k",), None])
def test_of_a_table_without_use_a_comparable_column_is_read(key: tuple[str, ...] | None) -> None:
    columns = tuple(Attribute(name, kind) for name, kind in (("v", "variant"), ("m", "map<int,int>"), ("x", "int"), ("k", "int")))
    pruned = Scan("t", "a", columns, key).pruned(frozenset())
    assert isinstance(pruned, Scan) and [each.name for each in pruned.base_columns] == ["x"]
