"""What the planner infers of types against Spark's analyzer, for operators and functions over columns of each type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest
from sqlglot import exp, parse_one

from dbt_idivm.algebra.function_types import functions_giving, type_of_call
from dbt_idivm.algebra.types import Type, infer_type, is_blurred, type_of
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.dialect import parse
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from tests.meaning.spark_meaning import ANSI, NOT_ANSI, SparkRefuses, spark_meaning

_COLUMNS = (
    ("k", "int"),
    ("i", "int"),
    ("d", "double"),
    ("p", "decimal(5,2)"),
    ("s", "string"),
    ("a", "array<double>"),
    ("b", "array<int>"),
    ("q", "boolean"),
)
_NAMES = [name for name, _ in _COLUMNS if name not in ("k", "q")]
_NAMES_OF_TYPES = {Type.TIMESTAMP: Type.TIMESTAMPTZ}
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
    if kind == "void":  # NULL, of raise_error
        return None
    return f"{expression}: {found.sql()}, not {kind}" if is_blurred(type_of(kind)) and not is_blurred(found) else None


@pytest.mark.parametrize("expressions", [by_operators, pytest.param(by_functions, marks=pytest.mark.long)])
def test_zeros_are_not_overlooked(expressions: object) -> None:
    spark = spark_meaning()
    spark.reset()
    spark.table("t", _COLUMNS, ())
    assert callable(expressions)
    assert [wrong for each in expressions() if (wrong := inferred_wrongly(each)) is not None] == []


def test_what_functions_give() -> None:
    """In each of Spark's examples that calls the function, and at least one of most functions."""
    spark = spark_meaning()
    spark.reset()
    typed, shown = functions_giving(), set[str]()
    for name, text in spark.examples():
        if name.lower() not in typed or not re.match(rf"SELECT {name}\s*\(", text, re.IGNORECASE):
            continue
        try:
            kinds = [kind for _, kind in spark.schema(text)]
        except SparkRefuses:
            continue
        if len(kinds) == 1 and not re.search(r"\)\s*[\[.]", text):
            call = parse(text)[0].expressions[0]
            given = type_of_call(exp.Anonymous(this=name, expressions=list(call.iter_expressions())))
            void = kinds[0] == "void" and given is not None and given.this == exp.DataType.Type.NULL
            assert void or (given is not None and given.this == type_of(kinds[0]).this), text
            inferred = infer_type(call.unalias(), {}).this
            assert void or _NAMES_OF_TYPES.get(inferred, inferred) in (type_of(kinds[0]).this, Type.UNKNOWN), text
            shown.add(name.lower())
    assert len(shown) > len(typed) * 0.9, sorted(typed - shown)


_DECIMALS = (("p", "decimal(12,2)"), ("q", "decimal(5,5)"), ("i", "int"), ("t", "tinyint"), ("b", "bigint"), ("f", "boolean"))


@pytest.mark.parametrize("setting", [ANSI, NOT_ANSI], ids=["ANSI", "not ANSI"])
@pytest.mark.deep
def test_digits_of_decimals(setting: dict[str, str]) -> None:
    """Sums and averages are maintained by adding where the digits that Spark gives to their argument are known."""
    spark = spark_meaning()
    spark.reset()
    spark.configure(setting)
    spark.table("t", _DECIMALS, ())
    types = {name: type_of(kind) for name, kind in _DECIMALS}
    leaves = (
        "p",
        "q",
        "i",
        "t",
        "b",
        "0",
        "1",
        "-1",
        "100",
        "007",
        "0.5",
        "0.05",
        "00.10",
        "0.0",
        "1.50",
        "5.",
        "i + 1",
        "3000000000",
        "(1 + 1)",
        "-(1)",
        "-(0.5)",
        "CAST(i AS DECIMAL(7,1))",
        "CAST(p AS INT)",
        "abs(-1)",
        "if(f, i, t)",
        "CASE WHEN f THEN p END",
        "coalesce(q, 0)",
    )
    for one, other in product(leaves, leaves):
        for text in (
            f"{one} + {other}",
            f"({one}) * ({other})",
            f"CASE WHEN p > 0.5 THEN {one} ELSE {other} END",
            f"abs({one})",
            f"coalesce({one}, {other})",
            f"p * ({one} - {other})",
            f"if(f, {one}, NULL)",
            f"q + if(f, {one}, {other})",
            f"({one}) / ({other})",
            f"p / ({one}) * q",
            f"round(p * ({one}), 3)",
            f"round(({one}) / p)",
            f"(p * ({one}) - q) * (p * ({other}))",
            f"try_divide({one}, {other})",
            f"try_add(p, {one}) * try_subtract({other}, q)",
            f"try_multiply(try_divide(p, {one}), {other})",
        ):
            ((_, kind),) = spark.schema(f"SELECT {text} AS x FROM t")
            found = infer_type(parse_one(text, dialect="spark"), types)
            if kind.startswith("decimal"):
                assert found == type_of(kind), text


@pytest.mark.parametrize("setting", [ANSI, NOT_ANSI], ids=["ANSI", "not ANSI"])
def test_arithmetic_that_never_fails(setting: dict[str, str]) -> None:
    """try_divide and the like over columns of each type of numbers, and over other types."""
    spark = spark_meaning()
    spark.reset()
    spark.configure(setting)
    columns = (*_DECIMALS, ("d", "double"), ("r", "float"), ("s", "string"))
    spark.table("t", columns, ())
    types = {name: type_of(kind) for name, kind in columns}
    known = 0
    for function, (one, _), (other, _) in product(("divide", "add", "subtract", "multiply"), columns, columns):
        text = f"try_{function}({one}, {other})"
        try:
            ((_, kind),) = spark.schema(f"SELECT {text} AS x FROM t")
        except SparkRefuses:
            continue
        found = infer_type(parse_one(text, dialect="spark"), types)
        both = {found.this, type_of(kind).this}
        assert found.this == Type.UNKNOWN or found == type_of(kind) or both == {Type.FLOAT, Type.DOUBLE}, text
        known += found.this != Type.UNKNOWN
    assert known == 4 * 49, "of two numbers"


def test_parts_of_texts() -> None:
    spark = spark_meaning()
    spark.reset()
    spark.table("t", _COLUMNS, ())
    types = {name: type_of(kind) for name, kind in _COLUMNS}
    for one in ("i", "d", "p", "s", "q"):
        text = f"split_part({one}, '1', 1)"
        assert infer_type(parse_one(text, dialect="spark"), types) == type_of(spark.schema(f"SELECT {text} AS x FROM t")[0][1])


def test_digits_that_are_not_known() -> None:
    types = {name: type_of(kind) for name, kind in _DECIMALS}
    for text in ("p % 3", "greatest(p, 0)", "p / nullif(p, 0)", "round(p, -1)", "round(p, i)", "bround(p, 1)"):
        assert not infer_type(parse_one(text, dialect="spark"), types).expressions, text
