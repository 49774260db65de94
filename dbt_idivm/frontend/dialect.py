"""Spark SQL, read so that every function is written back as the user wrote it.

sqlglot's own reader normalises functions across dialects, and some come back as something else: log10(x) as LOG(10, x),
which differs in the last digit; date_trunc(unit, t) with a column `unit` as DATE_TRUNC('UNIT', t). Here a function stays
a typed node only where its text stays the same; otherwise it is a call by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.spark import Spark

Builder = Callable[..., exp.Expr]

# Other names for the same function, and forms with their own syntax that are written back in full.
_SAME = frozenset({"NVL", "IFNULL", "MEAN", "STRUCT", "INT", "BIGINT", "SMALLINT", "TINYINT", "DOUBLE", "FLOAT", "STRING",
                   "BOOLEAN", "DATE", "TIMESTAMP", "BINARY", "DECIMAL", "SUBSTR", "CEILING", "LCASE", "UCASE", "POW"})
# f(unit, x, y): the unit is a word, not a column.
_UNIT_FIRST = frozenset({"DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPADD", "TIMESTAMPDIFF"})
_OWN_SYNTAX = frozenset({"CAST", "TRY_CAST", "EXTRACT", "TRIM", "OVERLAY", "POSITION", "SUBSTRING", "SUBSTR", "LISTAGG",
                         "STRING_AGG", "PERCENTILE", "PERCENTILE_APPROX", "APPROX_PERCENTILE", "MAX_BY", "MIN_BY"})


def as_written(name: str, builder: Builder) -> Builder:
    """`builder`, unless what it builds would be written back differently."""

    def build(args: Sequence[exp.Expr], dialect: Any = None) -> exp.Expr:
        plain = exp.Anonymous(this=name.lower(), expressions=[arg.copy() for arg in args])
        if name in _UNIT_FIRST and len(args) == 3:
            plain.expressions[0].replace(exp.Var(this=args[0].name.upper()))
        try:
            node = _built(builder, args, dialect or Spark())
            same = name in _SAME or _text(node) == _text(plain)
        except (AttributeError, IndexError, KeyError, ValueError):  # not the arguments that it expects
            same = False
        return node if same else plain

    return build


def _built(builder: Builder, args: Sequence[exp.Expr], dialect: Any) -> exp.Expr:
    """Builders take the dialect or do not; sqlglot finds out in the same way."""
    try:
        return builder(args)
    except TypeError:
        return builder(args, dialect=dialect)


def _text(node: exp.Expr) -> str:
    return node.sql(Spark, unsupported_level=ErrorLevel.IGNORE)


_SPARK: Any = Spark.parser_class


class AsWritten(Spark):
    """The dialect that models are read in."""

    class Parser(_SPARK):  # type: ignore[misc]
        FUNCTIONS: ClassVar[dict[str, Builder]] = {
            name: as_written(name, _SPARK.FUNCTIONS.get(name, exp.Anonymous.from_arg_list))
            for name in (*_SPARK.FUNCTIONS, *sorted(_UNIT_FIRST))}
        FUNCTION_PARSERS: ClassVar[dict[str, Builder]] = {
            name: parse for name, parse in _SPARK.FUNCTION_PARSERS.items() if name in _OWN_SYNTAX}
