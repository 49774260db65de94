"""REPLACE WHERE: rows of the view are replaced by those of the source with the same key, instead of a MERGE of both.

    MERGE INTO v USING s AS d ON v.id <=> d.id
    WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
    WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET x = d.x
    WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (id, x) VALUES (d.id, d.x)

    INSERT INTO v REPLACE WHERE id IN (4, 5, 6) SELECT d.id AS id, d.x AS x FROM s AS d WHERE d.idivm_op <> 'D'

One commit as well. It reads the keys of the stored rows once, where MERGE joins the touched files with the source three times
(ADR 0033). The condition has to be one that Spark hands down as a filter, so the view has one ID: the
combinations of two are none.
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
KEYS = 10_000  # of one statement, literals
# Of the types that literals name, those whose IN Spark hands down as a filter; on decimals it fails. Wrong with timestamps: Delta
# writes them as local times of the session, two of which are the same where clocks are put back. Rows of the later would stay.
_FILTERED = frozenset({"tinyint", "smallint", "int", "bigint", "string", "date"})


@dataclass(frozen=True)
class KeyedSource:
    """The source of a MERGE that may be replaced: `staged` has its rows, `keys` asks for the key and operation of each."""

    staged: Staged
    keys: SourceQuery

    @property
    def rows(self) -> exp.Select:
        return exp.Select(expressions=[exp.Star()]).from_(self.staged.name)


def keyed_source(merge: exp.Merge, application: Application, expected: Expected) -> KeyedSource | None:
    """The source as one that is staged and whose keys are asked for; None if the view's rows cannot be replaced by key."""
    on = without_ranges(merge).args["on"]
    if not application.has_whole_rows or not isinstance(on, exp.NullSafeEQ) or _inserted(merge) is None:
        return None
    staged = Staged(STAGED, unhinted(merge.args["using"].this).copy(), "changes of the view")
    names = (on.right.name, OP)
    keys = query_of(names, expected, exp.Select(expressions=[exp.Star()]).from_(STAGED), KEYS)
    return None if keys is None else KeyedSource(staged, keys)


def replace_where(merge: exp.Merge, keys: SourceRows, rows: exp.Query) -> exp.Insert | None:
    """What `merge` does with a source of `rows`, each a whole row of the view, and of which `keys` has the key and operation.

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
    """The clause for new rows, which has the values of all columns, in the order of the table."""
    whens = merge.args["whens"].expressions
    return next((when.args["then"] for when in whens if not when.args["matched"]), None)


def _unqualified(test: exp.Expr) -> exp.Expr:
    """A condition on the table, which has no alias in REPLACE WHERE."""
    return test.transform(lambda node: exp.Column(this=node.this) if isinstance(node, exp.Column) else node)
