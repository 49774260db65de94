"""An adaptation as SQL: the rows of the new view, or what is deleted from and inserted into the stored ones."""

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
    """The stored columns of the new view, over the tables at the versions of the binding, the old view among them."""
    return _query(found.rows, found, new, binding)


def delete_rows(found: Adaptation, dialect: Dialect) -> exp.Delete | None:
    """The stored rows that leave, where the others stay as they are."""
    if found.kept is None:
        return None
    # Wrong with columns that are not qualified: of exists(parts, e -> e > v.e) both would be the variable.
    stored = found.stored.occurrence
    table = exp.alias_(dialect.table(found.stored.table, None), identifier(stored), table=True)
    stays = exp.Coalesce(this=exp.Paren(this=_over_table(found.kept, found)), expressions=[exp.false()])
    return exp.Delete(this=table, where=exp.Where(this=exp.Not(this=stays)))


def insert_rows(found: Adaptation, new: Plan, binding: Binding) -> exp.Insert | None:
    """The rows that come, where the stored ones stay as they are."""
    if found.more is None:
        return None
    # by their names: a user may have moved a column
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
