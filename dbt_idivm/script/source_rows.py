"""The rows of a MERGE's source: the query that fetches them, and the evaluation of the MERGE's conditions for fetched rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import DIALECT
from dbt_idivm.script.dialect import Dialect, encode, is_inlinable
from dbt_idivm.script.diff import INLINE_ROWS, Row, Value, are_inlined, fetched_row
from dbt_idivm.script.merge import OP, SOURCE, Comparison, Condition, Key, Merge

# Source rows up to these are fetched, and become literals, where fewer than `INLINE_ROWS` were expected: to evaluate them again
# takes longer. Measured: 4,000 literal rows of 20 columns take 1.2 s.
SOURCE_ROWS, _SOURCE_CELLS = 4_000, 80_000
Expected: TypeAlias = Mapping[str, exp.DataType]  # attribute of the view → type


@dataclass(frozen=True)
class SourceQuery:
    """A query for the columns `names`, which a MERGE uses, of the rows of its source.

    The query returns for each name its value, encoded as `types` says; after them, for each
    name, the type that the value really has.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    query: exp.Select  # returns at most `most` + 1 rows
    most: int = INLINE_ROWS

    def answered(self, found: Sequence[tuple[Any, ...]]) -> SourceRows | None:
        """The fetched rows; None if there are more than `most`, or they cannot be inlined."""
        if len(found) > self.most:
            return None
        count = len(self.names)
        kinds = tuple(str(kind) for kind in found[0][count:]) if found else self.types
        if not all(map(_has_encoding_of, kinds, self.types)):
            return None
        rows = tuple(fetched_row(kinds, row[:count]) for row in found)
        return SourceRows(self.names, kinds, rows) if are_inlined(rows) else None


def source_query_of(merge: Merge, types: Expected) -> SourceQuery | None:
    """The query for the source rows; None if some values cannot be inlined. `types`: attribute of the view → type."""
    most = max(INLINE_ROWS, min(SOURCE_ROWS, _SOURCE_CELLS // max(len(merge.names), 1)))
    return query_of(merge.names, types, merge.source.copy(), most)


def query_of(names: Sequence[str], types: Expected, rows: exp.Query, most: int) -> SourceQuery | None:
    """The query for these columns of at most `most` rows; None if some values cannot be inlined."""
    kinds = tuple(_expected(name, types) for name in names)
    if not names or not all(map(is_inlinable, kinds)):
        return None
    return fetching(rows, names, kinds, most)


def fetching(rows: exp.Query, names: Sequence[str], kinds: tuple[str, ...], most: int = INLINE_ROWS) -> SourceQuery:
    """The query that fetches the columns `names` of at most `most` rows. `kinds`: their
    expected types, which must be inlinable. The rows have an order only for the sake of speed: for a bare LIMIT, Spark reads a
    part of the table, then four times as many, in one job after the other.
    """
    columns = [column(name, SOURCE) for name in names]
    cells = [exp.alias_(encode(each, kind), f"c{i}") for i, (each, kind) in enumerate(zip(columns, kinds, strict=True), 1)]
    found = [exp.alias_(exp.Anonymous(this="TYPEOF", expressions=[each.copy()]), f"t{i}") for i, each in enumerate(columns, 1)]
    query = exp.Select(expressions=[*cells, *found]).from_(subquery(rows, SOURCE))
    query = query.order_by(exp.column("c1"), copy=False).limit(most + 1, copy=False)
    return SourceQuery(tuple(names), kinds, query, most)


def _expected(name: str, types: Expected) -> str:
    if name in types:
        return name_of(types[name])
    return "string" if name == OP else "boolean"  # `any_id`, or a mark


def name_of(kind: exp.DataType) -> str:
    """The name of a type as `encode` takes it."""
    return kind.sql(DIALECT).lower()


@dataclass(frozen=True)
class SourceRows:
    """Fetched rows: the name and Spark SQL type of each column, and rows of cells as `decode` accepts them."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Row, ...]

    def cell(self, row: Row, name: str) -> Value:
        return row[self.names.index(name)]

    def type(self, name: str) -> str:
        return self.types[self.names.index(name)]

    def query(self, dialect: Dialect) -> exp.Select:
        """A SELECT of these rows as literals."""
        return dialect.rows(tuple(zip(self.names, self.types, strict=True)), self.rows, "r")

    def holds(self, conditions: Iterable[Condition], row: Row) -> bool | None:
        """Whether all conditions are true for a source row; None if that depends on the stored row."""
        tests = {self._holds(each, row) for each in conditions}
        return False if False in tests else None if None in tests else True

    def _holds(self, condition: Condition, row: Row) -> bool | None:
        if isinstance(condition, Comparison):
            return condition.holds(self.cell(row, condition.name))
        is_any = isinstance(condition, Key) and condition.unless is not None and self.cell(row, condition.unless) is True
        return True if is_any else None


def _has_encoding_of(kind: str, expected: str) -> bool:
    """Whether a value of type `kind` that was encoded as type `expected` can be decoded."""
    return is_inlinable(kind) and encode(exp.column("x"), kind) == encode(exp.column("x"), expected)
