"""The range of values that a column of inlined rows holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from dbt_idivm.script.dialect import literal

Bound: TypeAlias = int | str

_INTEGRAL = frozenset({exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT,
                       exp.DataType.Type.BIGINT})
TEXT = frozenset({exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR})
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")  # text order is date order for these only
_REPLACEMENT = "\ufffd"
_LONGEST = 256  # longer bounds bloat the statement


@dataclass(frozen=True)
class Range:
    """Values between `low` and `high`, of family int, text or date; perhaps NULL as well. No family: NULL only."""

    family: str | None
    low: Bound | None = None
    high: Bound | None = None
    has_null: bool = False

    def __or__(self, other: Range) -> Range | None:
        if self.family is None or other.family is None:
            known = other if self.family is None else self
            return replace(known, has_null=self.has_null or other.has_null)
        if self.family != other.family:
            return None
        assert self.low is not None and self.high is not None and other.low is not None and other.high is not None
        low, high = min(self.low, other.low, key=_order), max(self.high, other.high, key=_order)
        return Range(self.family, low, high, self.has_null or other.has_null)

    @property
    def is_long(self) -> bool:
        return any(isinstance(bound, str) and len(bound) > _LONGEST for bound in (self.low, self.high))

    def test(self, column: exp.Column) -> exp.Expression:
        """The condition that the column is in this range."""
        between = exp.Between(this=column.copy(), low=self._literal(self.low), high=self._literal(self.high))
        if not self.has_null:
            return between
        return exp.paren(exp.or_(between, exp.Is(this=column.copy(), expression=exp.null())))

    def _literal(self, bound: Bound | None) -> exp.Expr:
        found = literal(bound)
        return exp.Cast(this=found, to=exp.DataType.build("date")) if self.family == "date" else found


def has_range(kind: exp.DataType) -> bool:
    """Whether literal ranges of the type are worth asking for, and certain: numbers without a fraction, and dates."""
    return kind.this in _INTEGRAL or kind.this == exp.DataType.Type.DATE


def between(kind: exp.DataType, low: str | None, high: str | None, *, has_null: bool) -> Range | None:
    """The values of a type between the least and the greatest one, as the engine shows them as text; None where these are not
    certain, because the type has no such range, or a text may be of bytes that are not UTF-8."""
    if low is None or high is None:
        return Range(None, has_null=has_null)
    if kind.this in _INTEGRAL:
        return Range("int", int(low), int(high), has_null)
    family = "text" if kind.this in TEXT else "date" if kind.this == exp.DataType.Type.DATE else None
    certain = all(_DATE.match(each) if family == "date" else _REPLACEMENT not in each for each in (low, high))
    found = Range(family, low, high, has_null)
    return found if family is not None and certain and not found.is_long else None


Ranges: TypeAlias = Mapping[str, Range]  # column → the values it may have


def _order(bound: Bound) -> tuple[int, str]:
    return (bound, "") if isinstance(bound, int) else (0, bound)


def joined(ranges: Iterable[Range | None]) -> Range | None:
    """The range of all of them; None if one is not known."""
    found: Range | None = Range(None)
    for each in ranges:
        found = found | each if found is not None and each is not None else None
    return found


def inlined(query: exp.Select, value: exp.Cast) -> Range | None:
    """The values of CAST(c AS type) over literal rows."""
    source = query.args["from_"].this if query.args.get("from_") else None
    if not isinstance(source, exp.Values) or query.args.get("joins"):
        return None
    columns = [each.name for each in source.args["alias"].columns]
    if value.this.name not in columns:
        return None
    place = columns.index(value.this.name)
    return joined(_cell(row.expressions[place], value.to.this) for row in source.expressions)


def _cell(cell: exp.Expression, kind: object) -> Range | None:
    if isinstance(cell, exp.Null):
        return Range(None, has_null=True)
    number = integer(cell)
    if number is not None:
        return Range("int", number, number) if kind in _INTEGRAL else None
    text = _text(cell)
    if text is None:
        return None
    if kind in TEXT:
        return Range("text", text, text)
    return Range("date", text, text) if kind == exp.DataType.Type.DATE and _DATE.match(text) else None


def integer(cell: exp.Expression) -> int | None:
    if isinstance(cell, exp.Neg):
        found = integer(cell.this)
        return -found if found is not None else None
    return int(cell.name) if isinstance(cell, exp.Literal) and cell.is_int and not cell.is_string else None


def _text(cell: exp.Expression) -> str | None:
    if isinstance(cell, exp.Literal) and cell.is_string:
        return cell.name
    if isinstance(cell, exp.Anonymous) and cell.name.upper() == "CONCAT":
        parts = [_text(part) for part in cell.expressions]
        return None if None in parts else "".join(part for part in parts if part is not None)
    return None
