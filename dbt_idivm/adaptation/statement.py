"""An adaptation as SQL: a query for the rows of the new view, or statements that delete and insert rows in place."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.algebra.expressions import column, identifier, substitute
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.merge import insert_into
from dbt_idivm.script.plan import Plan


def adapted_query(found: Adaptation, new: Plan, binding: Binding) -> exp.Select:
    """Query for the stored columns of the new view, over the tables and the old view at the versions of the binding."""
    return _query(found.rows, found, new, binding)


def delete_rows(found: Adaptation, dialect: Dialect) -> exp.Delete | None:
    """DELETE for the stored rows that leave while the others stay in place; None if none leave."""
    if found.kept is None:
        return None
    # Wrong without qualified columns: in exists(parts, e -> e > v.e) both would be the lambda variable.
    stored = found.stored.occurrence
    table = exp.alias_(dialect.table(found.stored.table, None), identifier(stored), table=True)
    stays = exp.Coalesce(this=exp.Paren(this=_over_table(found.kept, found)), expressions=[exp.false()])
    return exp.Delete(this=table, where=exp.Where(this=exp.Not(this=stays)))


def insert_rows(found: Adaptation, new: Plan, binding: Binding) -> exp.Insert | None:
    """INSERT for the additional rows while the stored ones stay in place; None if there are none."""
    if found.more is None:
        return None
    # by name: a user may have moved a column
    names = [each.name for each in new.columns]
    return insert_into(binding.dialect.table(found.stored.table, None), names, _query(found.more, found, new, binding))


def _query(rows: Relation, found: Adaptation, new: Plan, binding: Binding) -> exp.Select:
    names = (
        new.column_names
        | {each.name.lower() for each in found.stored.attributes}
        | {each.lower() for each in found.stored.columns}
    )
    block = rows.block(replace(binding, columns=names).statement())
    return replace(block, output={each.name: block.output[each.attribute] for each in new.columns}).select()


def _over_table(condition: exp.Expr, found: Adaptation) -> exp.Expr:
    stored = found.stored
    names = {stored.attribute(each.name): each.name for each in stored.attributes}
    return substitute(condition, {attribute: column(name, stored.occurrence) for attribute, name in names.items()})
