"""The range of the values of a column of inlined rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dbt_idivm.script.dialect import literal

Bound: TypeAlias = int | str
Interval: TypeAlias = tuple[Bound, Bound]  # both ends are values

# In 20M rows in 40 files that are ordered by a key, separate conditions for 20 keys read a twentieth of the bytes that their
# common range reads. But planning a hundred conditions takes Spark and Delta longer than reading the whole table.
MOST_PARTS = 32
# More values are divided only by gaps that are at least this part of the range. Measured: 32 conditions for 190 keys all over the
# table skip nothing, and a scan of 20M rows takes 4.2 s instead of 1.2, because a method of that size is not compiled.
_LEAST_GAP = 1 / 16

_INTEGRAL = frozenset({exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT, exp.DataType.Type.BIGINT})
TEXT = frozenset({exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR})
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")  # only for these the order of texts is the order of dates
_REPLACEMENT = "\ufffd"
_LONGEST = 256  # longer bounds bloat the statement
_COMPARED = 12  # leading bytes of texts by which their distance is measured


@dataclass(frozen=True)
class Range:
    """Values between `low` and `high`, of family int, text or date, and NULL if `has_null`. Without a family: only NULL.

    `parts`: disjoint intervals, in order, that contain all values; () if nothing more than the range is known.
    """

    family: str | None
    low: Bound | None = None
    high: Bound | None = None
    has_null: bool = False
    parts: tuple[Interval, ...] = ()

    def __or__(self, other: Range) -> Range | None:
        return joined((self, other))

    @property
    def intervals(self) -> tuple[Interval, ...]:
        if self.low is None or self.high is None:
            return ()
        return self.parts or ((self.low, self.high),)

    @property
    def is_long(self) -> bool:
        return any(isinstance(bound, str) and len(bound) > _LONGEST for each in self.intervals for bound in each)

    def test(self, column: exp.Column, *, in_parts: bool = False) -> exp.Expression:
        """The condition that the column is in this range; with `in_parts`, that it is in one of the intervals."""
        assert self.low is not None and self.high is not None
        tests = [self._between(column, each) for each in (self.parts if in_parts and self.parts else ((self.low, self.high),))]
        if self.has_null:
            tests.append(exp.Is(this=column.copy(), expression=exp.null()))
        return tests[0] if len(tests) == 1 else exp.paren(exp.or_(*tests, copy=False), copy=False)

    def _between(self, column: exp.Column, interval: Interval) -> exp.Expression:
        low, high = map(self._literal, interval)
        if self.parts and interval[0] == interval[1]:
            return exp.EQ(this=column.copy(), expression=low)
        return exp.Between(this=column.copy(), low=low, high=high)

    def _literal(self, bound: Bound) -> exp.Expr:
        found = literal(bound)
        return exp.Cast(this=found, to=exp.DataType.build("date")) if self.family == "date" else found


def has_range(kind: exp.DataType) -> bool:
    """Whether literal ranges of the type are worth a query, and certain: for integers and dates."""
    return kind.this in _INTEGRAL or kind.this == exp.DataType.Type.DATE


def between(kind: exp.DataType, low: str | None, high: str | None, *, has_null: bool) -> Range | None:
    """The range between the least and the greatest value of a type, given as text from the engine.

    None if they are not certain: the type has no such range, or a text may contain bytes that are not UTF-8.
    """
    if low is None or high is None:
        return Range(None, has_null=has_null)
    if kind.this in _INTEGRAL:
        return Range("int", int(low), int(high), has_null)
    family = "text" if kind.this in TEXT else "date" if kind.this == exp.DataType.Type.DATE else None
    certain = all(_DATE.match(each) if family == "date" else _REPLACEMENT not in each for each in (low, high))
    found = Range(family, low, high, has_null)
    return found if family is not None and certain and not found.is_long else None


Ranges: TypeAlias = Mapping[str, Range]  # column → the range of its values


def joined(ranges: Iterable[Range | None]) -> Range | None:
    """The union of the ranges; None if one is unknown, or their values have no common order."""
    known = list(ranges)
    found = [each for each in known if each is not None]
    families = {each.family for each in found if each.family is not None}
    if len(found) < len(known) or len(families) > 1:
        return None
    has_null = any(each.has_null for each in found)
    intervals = _united(each for one in found for each in one.intervals)
    if not intervals:
        return Range(None, has_null=has_null)
    return Range(families.pop(), intervals[0][0], intervals[-1][1], has_null, intervals if len(intervals) > 1 else ())


def _united(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Disjoint intervals that contain the same values. If there are more than MOST_PARTS, all but large gaps between them are
    included.
    """
    found: list[Interval] = []
    for low, high in sorted(intervals, key=lambda each: _order(each[0])):
        if found and _order(low) <= _order(found[-1][1]):
            found[-1] = (found[-1][0], max(found[-1][1], high, key=_order))
        else:
            found.append((low, high))
    kept = [place for place in range(1, len(found)) if _gap_before(found, place) > 1]
    if len(kept) >= MOST_PARTS:
        kept = sorted(_largest(found, kept))
    starts, ends = [0, *kept], [*kept, len(found)]
    return tuple((found[first][0], found[end - 1][1]) for first, end in zip(starts, ends, strict=True)) if found else ()


def _gap_before(found: list[Interval], place: int) -> int:
    return _gap(found[place - 1][1], found[place][0])


def _largest(found: list[Interval], places: list[int]) -> Iterator[int]:
    """The places before which there is a gap that is large beside what the intervals are spread over without larger gaps."""
    spread = _gap(found[0][0], found[-1][1])
    for place in sorted(places, key=lambda each: _gap_before(found, each), reverse=True)[: MOST_PARTS - 1]:
        gap = _gap_before(found, place)
        if gap < spread * _LEAST_GAP:
            return
        spread -= gap
        yield place


def _order(bound: Bound) -> tuple[int, str]:
    return (bound, "") if isinstance(bound, int) else (0, bound)


def _gap(before: Bound, after: Bound) -> int:
    """The distance between two values: exact for integers, so that 1 means there is no value between them."""
    return _place(after) - _place(before)


def _place(bound: Bound) -> int:
    """A number that increases with the bound. For texts only the leading bytes count."""
    if isinstance(bound, int):
        return bound
    return int.from_bytes(bound.encode("utf-8", "surrogatepass")[:_COMPARED].ljust(_COMPARED, b"\0"), "big") << 1


def inlined(query: exp.Select, value: exp.Cast) -> Range | None:
    """The range of CAST(c AS type) over literal rows; None if it is not known."""
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
