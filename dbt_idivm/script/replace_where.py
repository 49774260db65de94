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
from dbt_idivm.script.merge import OP, SOURCE, op_is, unhinted
from dbt_idivm.script.source_rows import Expected, SourceQuery, SourceRows, query_of, without_ranges
from dbt_idivm.script.ways import Application

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


def keyed_source(merge: exp.Merge, application: Application, expected: Expected) -> KeyedSource | None:
    """The source to be staged, and the query for its keys; None if the view's rows cannot be replaced by key."""
    on = without_ranges(merge).args["on"]
    if not application.has_whole_rows or not isinstance(on, exp.NullSafeEQ) or _inserted(merge) is None:
        return None
    staged = Staged(STAGED, unhinted(merge.args["using"].this).copy(), "changes of the view")
    names = (on.right.name, OP)
    keys = query_of(names, expected, exp.Select(expressions=[exp.Star()]).from_(STAGED), KEYS)
    return None if keys is None else KeyedSource(staged, keys)


def replace_where(merge: exp.Merge, keys: SourceRows, rows: exp.Query) -> exp.Insert | None:
    """The REPLACE WHERE equivalent to `merge`. `rows`: source rows, each a whole row of the
    view. `keys`: key and operation of each.

    None if the view's rows cannot be replaced by key.
    """
    found, inserted = named_by_literals(without_ranges(merge), keys), _inserted(merge)
    if found is None or inserted is None:
        return None
    names, rest = found
    if rest or [keys.type(name) in _FILTERED for name, _ in names.columns] != [True]:
        return None
    (test,) = names.tests()
    columns = [name.name for name in inserted.this.expressions]
    values = [alias(value, name) for name, value in zip(columns, inserted.expression.expressions, strict=True)]
    query = exp.Select(expressions=values).from_(subquery(rows, SOURCE))
    table = merge.this.copy()
    table.set("alias", None)
    return exp.Insert(this=table, where=_unqualified(test), expression=query.where(exp.Not(this=op_is("D"))))


def _inserted(merge: exp.Merge) -> exp.Insert | None:
    """The INSERT clause, which has the values of all columns in the order of the table."""
    whens = merge.args["whens"].expressions
    return next((when.args["then"] for when in whens if not when.args["matched"]), None)


def _unqualified(test: exp.Expr) -> exp.Expr:
    """A condition on the table without its alias, which REPLACE WHERE does not have."""
    return test.transform(lambda node: exp.Column(this=node.this) if isinstance(node, exp.Column) else node)
