"""What the planner infers of types against Spark's analyzer, for operators and functions over columns of each type."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from dbt_idivm.algebra.types import is_blurred, type_of
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from tests.meaning.spark_meaning import SparkRefuses, spark_meaning

_COLUMNS = (("k", "int"), ("i", "int"), ("d", "double"), ("p", "decimal(5,2)"), ("s", "string"), ("a", "array<double>"),
            ("b", "array<int>"), ("q", "boolean"))
_NAMES = [name for name, _ in _COLUMNS if name not in ("k", "q")]
_OPERATORS = ("+", "-", "*", "/", "%", "||")
_CATALOG = Catalog({"t": TableInfo("t", tuple(Attribute(*each) for each in _COLUMNS), ("k",))})


def by_operators() -> Iterator[str]:
    for one, other in product(_NAMES, _NAMES):
        yield from (f"{one} {operator} {other}" for operator in _OPERATORS)
        yield f"CASE WHEN q THEN {one} ELSE {other} END"
        yield f"coalesce({one}, {other})"
        yield f"array({one}, {other})"


def by_functions() -> Iterator[str]:
    for function in sorted({name for name, _ in spark_meaning().examples() if name.isidentifier()}):
        yield from (f"{function}({one})" for one in _NAMES)
        yield from (f"{function}({one}, {other})" for one, other in product(_NAMES, _NAMES))


def inferred_wrongly(expression: str) -> str | None:
    """What is wrong if a value may hold zeros of either sign, and the planner does not know."""
    try:
        ((_, kind),) = spark_meaning().schema(f"SELECT {expression} AS x FROM t")
        lowered = lower(f"SELECT k, x FROM (SELECT k, {expression} AS x FROM t) AS u", _CATALOG)
    except (SparkRefuses, IdivmError):
        return None
    found = lowered.root.types[dict(lowered.output)["x"]]
    return f"{expression}: {found.sql()}, not {kind}" if is_blurred(type_of(kind)) and not is_blurred(found) else None


@pytest.mark.parametrize("expressions", [by_operators, pytest.param(by_functions, marks=pytest.mark.long)])
def test_zeros_are_not_overlooked(expressions: object) -> None:
    spark = spark_meaning()
    spark.reset()
    spark.table("t", _COLUMNS, ())
    assert callable(expressions)
    assert [wrong for each in expressions() if (wrong := inferred_wrongly(each)) is not None] == []
