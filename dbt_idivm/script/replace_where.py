"""REPLACE WHERE: rows of the view are replaced by the source rows with the same key, instead of a MERGE.

    MERGE INTO v USING s AS d ON v.id <=> d.id
    WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
    WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET x = d.x
    WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (id, x) VALUES (d.id, d.x)

    INSERT INTO v REPLACE WHERE id IN (4, 5, 6) SELECT d.id AS id, d.x AS x FROM s AS d WHERE d.idivm_op <> 'D'

It is one commit as well. It reads the keys of the stored rows once, while MERGE joins the touched files with the source three
times (ADR 0033). Spark must be able to push the condition down as a filter, so the view must have a single ID: a condition on
combinations of two IDs is not pushed down.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import alias
from dbt_idivm.script.binding import Staged
from dbt_idivm.script.by_key import named_by_literals
from dbt_idivm.script.merge import OP, SOURCE, Clause, Key, Merge, op_is, tree_of
from dbt_idivm.script.source_rows import Expected, SourceQuery, SourceRows, query_of

STAGED = "idivm_source"
KEYS = 10_000  # maximal number of literal keys in one statement
# The types for which Spark pushes IN down as a filter; for decimals it fails. Wrong with timestamps: Delta writes them as local
# times of the session, which are ambiguous when clocks are set back. Rows of the later hour would stay.
_FILTERED = frozenset({"tinyint", "smallint", "int", "bigint", "string", "date"})


@dataclass(frozen=True)
class KeyedSource:
    """The source of a MERGE that may be replaced by REPLACE WHERE: `staged` contains its rows,
    `keys` queries the key and operation of each.
    """

    staged: Staged
    keys: SourceQuery

    @property
    def rows(self) -> exp.Select:
        return exp.Select(expressions=[exp.Star()]).from_(self.staged.name)


def keyed_source(merge: Merge, expected: Expected) -> KeyedSource | None:
    """The source to be staged, and the query for its keys, for a MERGE whose source rows are whole rows of the view; None if
    they cannot be replaced by key.
    """
    key, *others = merge.matching.on or (None,)
    if others or not isinstance(key, Key) or key.unless is not None or _insert(merge) is None:
        return None
    rows = exp.Select(expressions=[exp.Star()]).from_(STAGED)
    keys = query_of((key.given, OP), expected, rows, KEYS)
    return None if keys is None else KeyedSource(Staged(STAGED, merge.source.copy(), "changes of the view"), keys)


def replace_where(merge: Merge, keys: SourceRows, rows: exp.Query) -> exp.Insert | None:
    """The REPLACE WHERE equivalent to `merge`. `rows`: source rows, each a whole row of the
    view. `keys`: key and operation of each.

    None if the view's rows cannot be replaced by key.
    """
    found, insert = named_by_literals(merge.matching.on, keys), _insert(merge)
    if found is None or insert is None:
        return None
    names, rest = found
    if rest or [keys.type(name) in _FILTERED for name, _ in names.columns] != [True]:
        return None
    (test,) = names.tests(table=None)  # REPLACE WHERE has no alias
    query = exp.Select(expressions=[alias(value, name) for name, value in insert.values.items()]).from_(subquery(rows, SOURCE))
    return exp.Insert(this=merge.table.copy(), where=test, expression=query.where(exp.Not(this=tree_of(op_is("D")))))


def _insert(merge: Merge) -> Clause | None:
    """The clause that inserts, which has the values of all columns in the order of the table."""
    return next((clause for clause in merge.matching.clauses if not clause.is_matched), None)
