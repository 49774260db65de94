"""Values that Spark's optimizer may find to be NULL in all rows of a part of the query.

    SELECT … FROM (SELECT k, x FROM t UNION ALL SELECT k, CAST(NULL AS INT) FROM u) AS v WHERE x NOT IN (SELECT y FROM r)

For SQL a NOT IN of no rows is true, of NULL too. Without ANSI mode (`spark.sql.legacy.nullInEmptyListBehavior`) Spark evaluates
the NOT IN of a NULL that it knows of to NULL, however empty r is; which NULLs it knows of depends on its optimizer.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import OuterJoin, Project, Scan, UnionAll


def may_be_folded(value: exp.Expr, root: Operator) -> bool:
    """Whether the value, over attributes of `root`, may be a NULL that Spark knows of: where one is written, and in an expression
    over constants."""
    if isinstance(value, exp.Column):
        return any(_may_be_folded(each) for each in _sources(value.name, root))
    if isinstance(value, exp.Literal | exp.Boolean):
        return False
    below = [source for name in attributes(value) for source in _sources(name, root)]
    return value.find(exp.Null) is not None or not below or any(each is None or not attributes(each) for each in below)


def _may_be_folded(source: exp.Expr | None) -> bool:
    return source is None or not isinstance(source, exp.Literal | exp.Boolean | exp.Column)


def _sources(name: str, root: Operator) -> Iterator[exp.Expr | None]:
    """What the values of an attribute are, in each branch below: a column of a table, or what another operator computes, or a
    constant; None where they may be NULLs that Spark knows of."""
    if isinstance(root, Scan):
        yield column(name)
    elif isinstance(root, Project):
        value = dict(root.definitions)[name]
        if isinstance(value, exp.Column):
            yield from _sources(value.name, root.child)
        elif isinstance(value, exp.Literal | exp.Boolean):
            yield value
        else:
            yield None if may_be_folded(value, root.child) else column(name)
    elif isinstance(root, UnionAll):
        yield from _of_branches(name, root)
    else:
        holder = next((each for each in root.inputs if name in each.columns), None)
        if isinstance(root, OuterJoin) and not attributes(root.condition):
            yield None
        elif holder is None:  # computed from rows
            yield column(name)
        else:
            yield from _sources(name, holder)


def _of_branches(name: str, root: UnionAll) -> Iterator[exp.Expr | None]:
    if name == root.branch:
        yield exp.Literal.number(0)
        return
    place = root.outputs.index(name)
    for part, sources in zip(root.parts, root.sources, strict=True):
        source = sources[place]
        if source is None:
            yield None
        else:
            yield from _sources(source, part)
