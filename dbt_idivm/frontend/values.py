"""VALUES → for each of its rows a π over the relation of one row.

    VALUES (1, 'a'), (2, 'b') AS t(x, y)        π_{1 → x, 'a' → y}(1) ∪ π_{2 → x, 'b' → y}(1)

A row is a list in brackets, a struct literal, or a single value. Its expressions cannot refer to columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.resolve import Resolver, bare
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import OneRow, Project

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

# Each row is a branch of ∪, and a Δ-script repeats all branches wherever it reads the relation.
MOST_ROWS = 200


def cells(row: exp.Expr) -> list[exp.Expr]:
    """The values of one row. A single struct is spread into its fields, as in Spark: `VALUES (struct(1, 2))`."""
    found = row.expressions if isinstance(row, exp.Tuple) else [row]
    if len(found) == 1:
        inner = bare(found[0])
        if isinstance(inner, exp.Tuple | exp.Struct):
            found = [each.expression if isinstance(each, exp.PropertyEQ) else each for each in inner.expressions]
    return found


def constant_rows(node: exp.Expr, text: Text) -> Finding | None:
    """Why VALUES is refused; also a star in a SELECT without FROM."""
    if isinstance(node, exp.Select) and not node.args.get("from_"):
        star = next((item for item in node.expressions if item.is_star and not isinstance(item, exp.Count)), None)
        return None if star is None else finding(229, text.place(node, "SELECT"), what="a star without FROM")
    if not isinstance(node, exp.Values):
        return None
    place, rows = text.place(node, "VALUES"), [cells(row) for row in node.expressions]
    if any(isinstance(cell, exp.Alias) for row in rows for cell in row):
        return finding(228, place, what="VALUES with a name inside a row, or an alias without AS")
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        return finding(229, place, what="VALUES with rows of different widths")
    if any(node.args.get(key) for key in node.args if key not in ("expressions", "alias")):
        return finding(228, place, what="VALUES with clauses of its own")
    return finding(228, place, what=f"VALUES of more than {MOST_ROWS} rows") if len(rows) > MOST_ROWS else None


def rows_of(lowering: Lowering, node: exp.Values, env: Env, name: str) -> list[tuple[Project, Scope]]:
    """The rows of VALUES, each with a scope of its columns, called col1, col2, … before any alias."""
    found = []
    for number, row in enumerate(node.expressions):
        definitions, entries = [], []
        scope = f"{name}_{number}" if len(node.expressions) > 1 else name
        for position, cell in enumerate(cells(row), 1):
            lowering.refuse_aggregates(cell, env, "VALUES")
            column = f"col{position}"
            attribute = lowering.names.attribute(scope, column)
            definitions.append((attribute, bare(Resolver(Scope(), env, lowering.findings).resolve(cell))))
            entries.append(Entry((), column, attribute))
        found.append((Project(OneRow(), tuple(definitions)), Scope(tuple(entries))))
    return found
