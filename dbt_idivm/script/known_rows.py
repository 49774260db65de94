"""The statement of a refresh whose source rows are known: the cheapest one with the same effect as the MERGE.

    all rows insert, and match nothing    INSERT INTO v SELECT … FROM VALUES …
    all rows update, or all delete        UPDATE v SET c = m[id] WHERE id IN (…), DELETE FROM v WHERE id IN (…)   (`by_key.py`)
    whole rows with IDs                   INSERT INTO v REPLACE WHERE id IN (…) SELECT … FROM VALUES …   (`replace_where.py`)
    otherwise                             MERGE INTO v USING VALUES …, with only the clauses that a row may fire

MERGE evaluates its source several times and joins it with the whole view, once to find files and once to write them (ADR 0030).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias
from dbt_idivm.script.by_key import by_key
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row
from dbt_idivm.script.merge import SOURCE, Clause, Matching, Merge, insert_into
from dbt_idivm.script.replace_where import Replacing, replace_where
from dbt_idivm.script.source_rows import Expected, SourceRows
from dbt_idivm.script.ways import Write


def with_rows(merge: Merge, source: SourceRows, dialect: Dialect, replaced: Expected | None = None) -> Write | Replacing | None:
    """The cheapest statement with the same effect as `merge` if its source has the rows `source`; None if they change nothing.

    `replaced`: attribute of the view → type, if the rows of the view may be replaced by key.
    """
    may_fire = [_may_fire(merge.matching, source, row) for row in source.rows]
    known = replace(source, rows=tuple(row for row, numbers in zip(source.rows, may_fire, strict=True) if numbers))
    fired = tuple(each for number, each in enumerate(merge.matching.clauses) if any(number in numbers for numbers in may_fire))
    if not fired:
        return None
    if len(fired) == 1:
        (only,) = fired
        statement = by_key(merge, only, known) if only.is_matched else None
        if statement is not None:
            return statement
        if not only.is_matched and not any(_may_match(merge.matching, known, row) for row in known.rows):
            return _insert(merge, only, known, dialect)
    rows = known.query(dialect)

    def merged() -> exp.Merge:
        return replace(merge, source=rows, broadcast=True, matching=replace(merge.matching, clauses=fired)).tree

    replacing = None if replaced is None else replace_where(merge, known, rows, merged, replaced, dialect)
    return replacing or merged()


def _insert(merge: Merge, clause: Clause, source: SourceRows, dialect: Dialect) -> exp.Insert:
    values = exp.Select(expressions=[alias(value, name) for name, value in clause.values.items()])
    query = values.from_(subquery(source.query(dialect), SOURCE))
    return insert_into(merge.table.copy(), tuple(clause.values), query)


def _may_fire(matching: Matching, source: SourceRows, row: Row) -> frozenset[int]:
    """The numbers of the clauses that may apply to a source row, as far as its cells tell."""
    found: set[int] = set()
    is_taken = not _may_match(matching, source, row)  # a matched row fires only the first clause whose condition is true
    for number, clause in enumerate(matching.clauses):
        holds = source.holds(clause.conditions, row)
        if holds is False or (clause.is_matched and is_taken):
            continue
        found.add(number)
        is_taken = is_taken or (clause.is_matched and holds is True)
    return frozenset(found)


def _may_match(matching: Matching, source: SourceRows, row: Row) -> bool:
    if matching.unmatched is not None and source.holds((matching.unmatched,), row):
        return False
    return source.holds(matching.on, row) is not False
