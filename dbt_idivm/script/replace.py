"""Parts of a MERGE that replaces rows of the stored view: the stored rows, and the clauses for their post-images.

Rows with an ID are replaced by ID. Rows without an ID are replaced by number of copies, because MERGE cannot delete one of
several equal rows: a D row removes all copies of a changed row, and one I row for each copy of the post-state inserts them again.
Rows are the same if their values are identical: 0.0 and -0.0 are two values, except inside arrays and structs. There must be no D
row for a row that is not stored. If all its columns are NULL, Delta with deletion vectors considers the NULL-safe condition true,
because the columns of a missing target row are NULL, and fails because no clause applies (ADR 0018).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import Block, Source, subquery
from dbt_idivm.algebra.expressions import alias, column, same
from dbt_idivm.algebra.types import distinguishable, is_blurred, is_comparable
from dbt_idivm.script.binding import StatementBinder
from dbt_idivm.script.merge import OP, SOURCE, TARGET, Clause, Key, Matching, op_is
from dbt_idivm.script.stored import Stored

COPIES, STORED = "idivm_copies", "idivm_stored"
_COPY = "idivm_copy"


def stored_rows(view: Stored, binder: StatementBinder, target: str) -> Block:
    """The rows of the stored view `target`, under the names of its attributes."""
    stored = binder.alias(TARGET)
    table = exp.alias_(binder.binding.dialect.table(target, None), stored, table=True)
    return Block((Source(table),), {name: column(view.stored(name), stored) for name in view.root.columns})


def replace_by_id(view: Stored, *, update: str) -> Matching:
    """Source rows with an ID: D deletes the row, `update` assigns its other columns, I inserts a new row."""
    ids, insert = view.root.ids, op_is("I")
    values = {c.name: column(c.attribute, SOURCE) for c in view.columns}
    others = {c.name: values[c.name] for c in view.columns if c.attribute not in ids}
    updates = [Clause("update", (op_is(update),), others)] if others else []
    clauses = (Clause("delete", (op_is("D"),)), *updates, Clause("insert", (insert,), values))
    on = tuple(Key(view.stored(name), name) for name in ids)
    return Matching(on, clauses, unmatched=None if op_is(update) == insert else insert)


def counted(view: Stored, parts: Sequence[exp.Query]) -> exp.Select:
    """The distinct rows of `parts`, which are view rows, with the sum of their COPIES and the
    maximum of STORED (1: the view has the row).
    """
    copies, stored = (
        exp.Cast(this=each, to=exp.DataType.build("int"))
        for each in (exp.Sum(this=exp.column(COPIES)), exp.Max(this=exp.column(STORED)))
    )
    names, types = view.root.columns, view.root.types
    values = (alias(exp.AnyValue(this=column(name)), name) if is_blurred(types[name]) else column(name) for name in names)
    return (
        exp.Select(expressions=[*values, alias(copies, COPIES), alias(stored, STORED)])
        .from_(subquery(union_all(parts), "counted"))
        .group_by(*(distinguishable(column(name), types[name]) for name in names))
    )


def replace_copies(view: Stored) -> Matching:
    """Source rows without an ID: D deletes all copies of the row, I inserts one."""
    names, types = view.root.columns, view.root.types
    keys = (Key(view.stored(name), name) for name in names if is_comparable(types[name]))
    texts = (
        same(*(distinguishable(side, types[name]) for side in (column(view.stored(name), TARGET), column(name, SOURCE))))
        for name in names
        if is_blurred(types[name])
    )
    values = {c.name: column(c.attribute, SOURCE) for c in view.columns}
    return Matching((op_is("D"), *keys, *texts), (Clause("delete"), Clause("insert", (op_is("I"),), values)))


def exploded(view: Stored, changed: exp.Select) -> exp.Select:
    """The source rows for `replace_copies`. `changed`: distinct view rows, their COPIES in the post-state, and STORED."""
    names = view.root.columns
    # Spark does not resolve a MERGE whose source uses the grouped rows twice, so each row is exploded into its D and I rows
    first_copy = exp.Sub(this=exp.Literal.number(1), expression=exp.column(STORED))
    series = exp.GenerateSeries(start=first_copy, end=exp.column(COPIES), step=exp.Literal.number(1))
    rows = exp.Select(expressions=[*(column(n) for n in names), exp.alias_(exp.Explode(this=series), _COPY)])
    first = exp.EQ(this=exp.column(_COPY), expression=exp.Literal.number(0))
    op = exp.Case(ifs=[exp.If(this=first, true=exp.Literal.string("D"))], default=exp.Literal.string("I"))
    return exp.Select(expressions=[alias(op, OP), *(column(n) for n in names)]).from_(
        subquery(rows.from_(subquery(changed, "changed")), "copies")
    )
