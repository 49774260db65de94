"""The statement of a refresh whose source rows are known: the cheapest one with the same effect as the MERGE.

    all rows insert, and match nothing    INSERT INTO v SELECT … FROM VALUES …
    all rows update, or all delete        UPDATE v SET c = m[id] WHERE id IN (…), DELETE FROM v WHERE id IN (…)   (`by_key.py`)
    whole rows with one ID                INSERT INTO v REPLACE WHERE id IN (…) SELECT … FROM VALUES …   (`replace_where.py`)
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
from dbt_idivm.script.merge import OP, SOURCE, insert_into, source_query
from dbt_idivm.script.replace_where import replace_where
from dbt_idivm.script.source_rows import SourceRows, without_ranges
from dbt_idivm.script.ways import Write


def with_rows(
    merge: exp.Merge, source: SourceRows, dialect: Dialect, unmatched: str | None = None, *, replaces: bool = False
) -> Write | None:
    """The cheapest statement with the same effect as `merge` if its source has the rows `source`; None if they change nothing.

    `unmatched`: the operation of source rows that match no row of the view. `replaces`: whether its rows may be replaced by key.
    """
    merge = without_ranges(merge)
    whens: list[exp.When] = merge.args["whens"].expressions
    may_fire = [_may_fire(merge, source, row, unmatched) for row in source.rows]
    known = replace(source, rows=tuple(row for row, numbers in zip(source.rows, may_fire, strict=True) if numbers))
    fired = [when for number, when in enumerate(whens) if any(number in numbers for numbers in may_fire)]
    if not fired:
        return None
    if len(fired) == 1:
        only = fired[0]
        statement = by_key(merge, only, known) if only.args["matched"] else None
        if statement is not None:
            return statement
        if not only.args["matched"] and not any(_may_match(merge, known, row, unmatched) for row in known.rows):
            return _insert(merge, only, known, dialect)
    rows = known.query(dialect)
    if replaces and (replacing := replace_where(merge, known, rows)) is not None:
        return replacing
    merge.set("using", subquery(source_query(rows, broadcast=True), SOURCE))
    merge.set("whens", exp.Whens(expressions=fired))
    return merge


def _insert(merge: exp.Merge, when: exp.When, source: SourceRows, dialect: Dialect) -> exp.Insert:
    then = when.args["then"]
    names = [name.name for name in then.this.expressions]
    values = [alias(value, name) for name, value in zip(names, then.expression.expressions, strict=True)]
    table = merge.this.copy()
    table.set("alias", None)
    return insert_into(table, names, exp.Select(expressions=values).from_(subquery(source.query(dialect), SOURCE)))


def _may_fire(merge: exp.Merge, source: SourceRows, row: Row, unmatched: str | None) -> frozenset[int]:
    """The numbers of the clauses that may apply to a source row, as far as its cells tell."""
    found: set[int] = set()
    is_taken = not _may_match(merge, source, row, unmatched)  # a matched row fires only the first clause whose condition is true
    for number, when in enumerate(merge.args["whens"].expressions):
        holds = source.holds(when.args.get("condition"), row)
        if holds is False or (when.args["matched"] and is_taken):
            continue
        found.add(number)
        is_taken = is_taken or (bool(when.args["matched"]) and holds is True)
    return frozenset(found)


def _may_match(merge: exp.Merge, source: SourceRows, row: Row, unmatched: str | None) -> bool:
    if unmatched is not None and OP in source.names and source.cell(row, OP) == unmatched:
        return False
    return source.holds(merge.args["on"], row) is not False
