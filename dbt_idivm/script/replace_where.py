"""REPLACE WHERE: rows of the view are replaced by the source rows with the same IDs, instead of a MERGE.

    MERGE INTO v USING s AS d ON v.id <=> d.id
    WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
    WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET x = d.x
    WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (id, x) VALUES (d.id, d.x)

    INSERT INTO v REPLACE WHERE id IN (4, 5, 6) SELECT d.id AS id, d.x AS x FROM s AS d WHERE d.idivm_op <> 'D'

It is one commit as well. It reads the IDs of the stored rows once, while MERGE joins the touched files with the source three
times (ADR 0033). Spark must be able to push the condition down as a filter, and it does not push a condition on combinations of
values. So the condition for several IDs tests each ID alone:

    INSERT INTO v REPLACE WHERE id IN (4, 5) AND no IN (1, 2)
    SELECT d.id AS id, d.no AS no, d.x AS x FROM s AS d WHERE d.idivm_op <> 'D' UNION ALL SELECT id, no, x FROM neighbours

If the source rows have the IDs (4, 1) and (5, 2), it also holds for a stored row (4, 2). The IDs of such neighbours are queried
first, and the condition leaves them out: AND NOT (id <=> 4 AND no <=> 2). If they are too many for that, or if an ID is of a type
that no filter can have, the neighbours themselves are queried, and are inserted again as they were (ADR 0056). For few source
rows the condition has their combinations, AND (id = 4 AND no = 1 OR id = 5 AND no = 2), and nothing is queried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import hinted, subquery
from dbt_idivm.algebra.expressions import alias, column
from dbt_idivm.algebra.types import is_float, type_of
from dbt_idivm.script.binding import Staged
from dbt_idivm.script.by_key import is_exactly, is_one_of
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import INLINE_ROWS, INTEGERS, Value
from dbt_idivm.script.merge import OP, SOURCE, TARGET, Clause, Key, Merge, op_is, tree_of
from dbt_idivm.script.source_rows import Expected, SourceQuery, SourceRows, query_of

STAGED = "idivm_source"
KEYS = 10_000  # maximal number of literal keys in one statement
_LEFT_OUT = 100  # maximal number of neighbours that a condition leaves out
# Maximal number of IDs, of all source rows together, for a condition with their combinations. Spark compiles it, and with 500
# rows of four IDs the method is beyond the 64 KB of the JVM.
_COMBINED = 200
# The types for which Spark pushes IN down as a filter; for decimals it fails. Wrong with timestamps: Delta writes them as local
# times of the session, which are ambiguous when clocks are set back. Rows of the later hour would stay.
_FILTERED = INTEGERS | {"string", "date"}
# Delta writes the condition as text without quotes, and parses it again. Then `null IN ('a') OR null IS NULL` is true for all
# rows, and `select IN (1, 2)` is a subquery.
_MISREAD = {"false", "from", "not", "null", "select", "true", "values"}


@dataclass(frozen=True)
class KeyedSource:
    """The source of a MERGE that may be replaced by REPLACE WHERE: `staged` contains its rows,
    `keys` queries the IDs and operation of each. `types`: attribute of the view → type.
    """

    staged: Staged
    keys: SourceQuery
    types: Expected

    @property
    def rows(self) -> exp.Select:
        return exp.Select(expressions=[exp.Star()]).from_(self.staged.name)


@dataclass(frozen=True)
class Replacing:
    """A REPLACE WHERE of the rows of `table` that satisfy `condition`, by `rows`, without the neighbours of the replaced rows.

    `left_out` queries the IDs of the neighbours, for a condition that leaves them out. `inserted` queries the neighbours, to be
    inserted again, where these are too many for that. Both are None if there are no neighbours for certain. `merge` makes the
    MERGE with the same effect, for the case that neither query can be answered.
    """

    table: exp.Table
    condition: exp.Expr
    rows: exp.Query
    left_out: SourceQuery | None
    inserted: SourceQuery | None
    merge: Callable[[], exp.Merge]

    def asks(self, asked: SourceQuery | None = None, found: SourceRows | None = None) -> SourceQuery | None:
        """The query for the neighbours to begin with, or the one to follow where `asked` has `found` too many of them to be left
        out; None if there is none. What has more rows than can be fetched is not asked for again."""
        if asked is None:
            return self.left_out or self.inserted
        return self.inserted if asked is self.left_out and found is not None and len(found.rows) > _LEFT_OUT else None

    def statement(self, asked: SourceQuery | None, found: SourceRows | None, dialect: Dialect) -> exp.Insert | exp.Merge:
        """The statement for the neighbours that `asked` has `found`, or without any query if there are none for certain; if they
        cannot be fetched, the MERGE."""
        if asked is not None and found is None:
            return self.merge()
        if found is None or not found.rows:
            return self._insert(self.condition, self.rows)
        if asked is self.left_out:
            return self._insert(exp.and_(self.condition, _are_others(found)), self.rows)
        return self._insert(self.condition, union_all([self.rows, found.query(dialect)]))

    def _insert(self, where: exp.Expr, rows: exp.Query) -> exp.Insert:
        return exp.Insert(this=self.table.copy(), where=where, expression=rows)


def _are_others(neighbours: SourceRows) -> exp.Expr:
    """The condition that a row has the IDs of none of the neighbours."""
    ids = [*zip(neighbours.names, neighbours.types, strict=True)]
    each = (
        exp.and_(*(is_exactly(column(name), cell, kind) for (name, kind), cell in zip(ids, row, strict=True)))
        for row in neighbours.rows
    )
    return exp.Not(this=exp.paren(exp.or_(*each)))


def keyed_source(merge: Merge, expected: Expected) -> KeyedSource | None:
    """The source to be staged, and the query for its keys, for a MERGE whose source rows are whole rows of the view; None if
    they cannot be replaced by key.
    """
    ids = _ids(merge)
    if not ids or _insert(merge) is None:
        return None
    rows = exp.Select(expressions=[exp.Star()]).from_(STAGED)
    keys = query_of((*(each.given for each in ids), OP), expected, rows, KEYS)
    return None if keys is None else KeyedSource(Staged(STAGED, merge.source.copy(), "changes of the view"), keys, expected)


def replace_where(
    merge: Merge, keys: SourceRows, rows: exp.Query, otherwise: Callable[[], exp.Merge], expected: Expected, dialect: Dialect
) -> Replacing | None:
    """The REPLACE WHERE equivalent to `merge`. `rows`: source rows, each a whole row of the view. `keys`: the IDs and operation
    of each. `otherwise` makes the MERGE. `expected`: attribute of the view → type.

    None if literals cannot identify the rows: an ID is floating-point, or two source rows have the same IDs.
    """
    ids, insert = _ids(merge), _insert(merge)
    if not ids or insert is None or any(is_float(type_of(keys.type(key.given))) for key in ids):
        return None
    named = tuple(tuple(keys.cell(row, key.given) for key in ids) for row in keys.rows)
    if len(set(named)) < len(named):
        return None
    tests = [_Test(key.stored, keys.type(key.given), cells) for key, cells in zip(ids, zip(*named, strict=True), strict=True)]
    tests = list(dict.fromkeys(tests))  # IDs may share a column
    pushed, combined, left_out, inserted = [test for test in tests if test.is_filter], None, None, None
    has_neighbours = pushed != tests or (len(tests) > 1 and math.prod(len(test.values) for test in tests) > len(named))
    if has_neighbours and pushed == tests and len(named) * len(tests) <= _COMBINED:
        combined = _combined(tests)
    elif has_neighbours:
        values = {
            name: merge.times[name] if name in merge.times else expected[value.name] for name, value in insert.values.items()
        }
        can_be_left_out = pushed == tests
        pushed = list({test.cells: test for test in pushed}.values())  # an ID is often the same as another one
        if can_be_left_out:
            left_out = _neighbours(merge, {test.name: values[test.name] for test in tests}, pushed, keys, dialect)
        inserted = _neighbours(merge, values, pushed, keys, dialect)
        if inserted is None or not pushed:
            return None
    query = exp.Select(expressions=[alias(value, name) for name, value in insert.values.items()]).from_(subquery(rows, SOURCE))
    condition = exp.and_(*(test.tree(table=None) for test in pushed), combined)  # REPLACE WHERE has no alias
    return Replacing(merge.table, condition, query.where(exp.Not(this=tree_of(op_is("D")))), left_out, inserted, otherwise)


@dataclass(frozen=True)
class _Test:
    """The test of one ID, a column of the view. `cells`: its value in each source row."""

    name: str
    kind: str
    cells: tuple[Value, ...]

    @property
    def is_filter(self) -> bool:
        return self.kind in _FILTERED and self.name.lower() not in _MISREAD

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self.cells))

    def tree(self, table: str | None) -> exp.Expr:
        return is_one_of(column(self.name, table), self.values, self.kind)


def _combined(tests: Sequence[_Test]) -> exp.Expr:
    """The condition that a row has the IDs of one of the source rows. It has a term for each value of the ID with the fewest, of
    which each tests the other IDs of the source rows with this value."""
    rows = dict.fromkeys(zip(*(test.cells for test in tests), strict=True))
    if math.prod(len(test.values) for test in tests) == len(rows):
        return exp.and_(*(test.tree(table=None) for test in tests))
    first = min((test for test in tests if len(test.values) > 1), key=lambda test: len(test.values))
    found: list[exp.Expr] = []
    for value in first.values:
        places = [place for place, cell in enumerate(first.cells) if cell == value]
        others = [replace(test, cells=tuple(test.cells[place] for place in places)) for test in tests if test is not first]
        found.append(exp.and_(is_one_of(column(first.name), (value,), first.kind), _combined(others)))
    return exp.or_(*found)


def _neighbours(merge: Merge, names: Expected, tests: Sequence[_Test], keys: SourceRows, dialect: Dialect) -> SourceQuery | None:
    """The query for these columns of at most `INLINE_ROWS` stored rows that satisfy the tests and have no source row's IDs."""
    found = hinted(exp.Select(expressions=[exp.Literal.number(1)]).from_(subquery(keys.query(dialect), SOURCE)), [SOURCE])
    is_replaced = exp.Exists(this=found.where(*(each.tree for each in _ids(merge))))
    rows = exp.Select(expressions=[column(name, TARGET) for name in names]).from_(merge.target)
    rows = rows.where(*(test.tree(TARGET) for test in tests), exp.Not(this=is_replaced))
    return query_of(tuple(names), names, rows, INLINE_ROWS)


def _ids(merge: Merge) -> tuple[Key, ...]:
    """The keys by which the source rows match; none if there are other conditions."""
    keys = tuple(each for each in merge.matching.on if isinstance(each, Key) and each.unless is None)
    return keys if len(keys) == len(merge.matching.on) else ()


def _insert(merge: Merge) -> Clause | None:
    """The clause that inserts, which has the values of all columns in the order of the table."""
    return next((clause for clause in merge.matching.clauses if not clause.is_matched), None)
