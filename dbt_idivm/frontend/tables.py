"""The relations that a query reads."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import Finding, IdivmError
from dbt_idivm.frontend.text import Text
from dbt_idivm.relation_name import relation_name


@deep_recursion()
def tables_in(sql: str) -> tuple[str, ...]:
    """The names of the relations that `sql` reads, each once, in reading order, without CTEs.

    Raises IDIVM-220 if `sql` does not parse.
    """
    text = Text(sql)
    tree = text.parse()
    if isinstance(tree, Finding):
        raise IdivmError(tree)
    return names_in(tree)


@deep_recursion()
def depends_on_order(sql: str) -> bool:
    """Whether the column order of the relations that `sql` reads may change its result.

    It may if there is a `*`, or columns are named by position, as in `t AS x(a, b)`.
    """
    tree = Text(sql).parse()
    if isinstance(tree, Finding):
        return True
    stars = any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))
    return stars or any(table.args["alias"].args.get("columns") for table in tree.find_all(exp.Table) if table.args.get("alias"))


def names_in(tree: exp.Expr) -> tuple[str, ...]:
    """The names of the relations that `tree` reads, each once, in reading order."""
    return tuple(dict.fromkeys(name for name, _ in relations(tree)))


def relations(tree: exp.Expr) -> Iterator[tuple[str, exp.Table]]:
    """(name, node) for each reference to a relation of the catalog."""
    found = [table for table in tree.find_all(exp.Table) if not isinstance(table.this, exp.Func)]
    for table in sorted(found, key=_position):
        if len(table.parts) > 1 or not _is_cte(table):
            yield name_of(table), table


def name_of(table: exp.Table) -> str:
    return relation_name(*(part.name for part in table.parts))


def _position(table: exp.Table) -> int:
    return min((part.meta.get("start", 0) for part in table.parts), default=0)


def _is_cte(table: exp.Table) -> bool:
    """Whether a CTE of that name is visible here: it belongs to an enclosing query and is defined before."""
    name = table.name.lower()
    inside: exp.Expr = table
    ancestor = table.parent
    while ancestor is not None:
        clause = ancestor if isinstance(ancestor, exp.With) else ancestor.args.get("with_")
        if isinstance(clause, exp.With) and inside is not clause:
            for cte in clause.expressions:
                if cte is inside and not clause.recursive:
                    break
                if cte.alias.lower() == name:
                    return True
        inside, ancestor = ancestor, ancestor.parent
    return False
