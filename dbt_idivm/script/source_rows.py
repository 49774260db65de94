"""The rows of a MERGE's source: the query that fetches them, and the evaluation of the MERGE's conditions for fetched rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column, conjunction, conjuncts
from dbt_idivm.algebra.types import DIALECT
from dbt_idivm.script.dialect import Dialect, encode, is_inlinable
from dbt_idivm.script.diff import INLINE_ROWS, Row, Value, are_inlined, fetched_row
from dbt_idivm.script.merge import OP, SOURCE, unhinted

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


def source_query_of(merge: exp.Merge, types: Expected) -> SourceQuery | None:
    """The query for the source rows; None if some values cannot be inlined. `types`: attribute of the view → type."""
    parts = (merge.args["on"], merge.args["whens"])
    names = tuple(dict.fromkeys(found.name for part in parts for found in part.find_all(exp.Column) if found.table == SOURCE))
    return query_of(names, types, unhinted(merge.args["using"].this).copy(), INLINE_ROWS)


def query_of(names: Sequence[str], types: Expected, rows: exp.Query, most: int) -> SourceQuery | None:
    """The query for these columns of at most `most` rows; None if some values cannot be inlined."""
    kinds = tuple(_expected(name, types) for name in names)
    if not names or not all(map(is_inlinable, kinds)):
        return None
    return fetching(rows, names, kinds, most)


def fetching(rows: exp.Query, names: Sequence[str], kinds: tuple[str, ...], most: int = INLINE_ROWS) -> SourceQuery:
    """The query that fetches the columns `names` of at most `most` rows. `kinds`: their
    expected types, which must be inlinable.
    """
    columns = [column(name, SOURCE) for name in names]
    cells = [exp.alias_(encode(each, kind), f"c{i}") for i, (each, kind) in enumerate(zip(columns, kinds, strict=True), 1)]
    found = [exp.alias_(exp.Anonymous(this="TYPEOF", expressions=[each.copy()]), f"t{i}") for i, each in enumerate(columns, 1)]
    query = exp.Select(expressions=[*cells, *found]).from_(subquery(rows, SOURCE)).limit(most + 1)
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

    def holds(self, condition: exp.Expr | None, row: Row) -> bool | None:
        """Whether a condition of a MERGE is true for a source row; None if that depends on the stored row."""
        tests = [self._test(part.unnest(), row) for part in conjuncts(condition)] if condition is not None else []
        return False if False in tests else None if None in tests else True

    def _test(self, part: exp.Expr, row: Row) -> bool | None:
        if isinstance(part, exp.And):
            return self.holds(part, row)
        if isinstance(part, exp.Or) and is_of_source(part.left):
            # `any_id`: set for i-diffs that do not have this ID
            return True if self.cell(row, part.left.name) is True else self._test(part.right.unnest(), row)
        if not isinstance(part, exp.EQ | exp.GT | exp.LT) or not is_of_source(part.left):
            return None
        cell, literal = self.cell(row, part.left.name), part.right
        if not isinstance(literal, exp.Literal):
            return None
        if isinstance(part, exp.EQ):
            return cell == literal.name if isinstance(cell, str) and literal.is_string else None
        if not isinstance(cell, int) or not literal.is_int:
            return None
        return cell > int(literal.name) if isinstance(part, exp.GT) else cell < int(literal.name)


def _has_encoding_of(kind: str, expected: str) -> bool:
    """Whether a value of type `kind` that was encoded as type `expected` can be decoded."""
    return is_inlinable(kind) and encode(exp.column("x"), kind) == encode(exp.column("x"), expected)


def without_ranges(merge: exp.Merge) -> exp.Merge:
    """The MERGE without its source and without the literal ranges of its ON, which the rows imply (`key_ranges.py`)."""
    on = conjunction(part for part in conjuncts(merge.args["on"]) if any(map(is_of_source, part.find_all(exp.Column))))
    return exp.Merge(this=merge.this.copy(), on=on or exp.true(), whens=merge.args["whens"].copy())


def is_of_source(side: exp.Expr) -> bool:
    """Whether the expression is a column of the source."""
    return isinstance(side, exp.Column) and side.table == SOURCE
