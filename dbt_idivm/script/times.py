"""Times of writing in the statements that change a view: each clause that inserts or updates a row also writes them.

    WHEN MATCHED AND … THEN UPDATE SET price = d.price, loaded_at = CURRENT_TIMESTAMP()
    WHEN NOT MATCHED … THEN INSERT (id, price, loaded_at) VALUES (d.id, d.price, CURRENT_TIMESTAMP())

No part of a Δ-script has these columns (`algebra/written_time.py`), so a row that differs in nothing else is not touched, and a
statement that is made of the MERGE (`known_rows.py`) writes them as the MERGE does. All copies of a row in a view without unique
IDs are written if their number changes (`replace.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, same
from dbt_idivm.algebra.types import distinguishable, is_blurred
from dbt_idivm.script.merge import TARGET, Clause, Merge
from dbt_idivm.script.stored import Stored
from dbt_idivm.script.ways import Change, Shape


def may_repeat(view: Stored, shape: Shape) -> bool:
    """Whether a source row of a view with times may be equal to the stored row with its ID. Then rows cannot be replaced: only an
    update can compare them."""
    return bool(view.times) and shape == "tuple" and any(is_blurred(view.root.types[each.attribute]) for each in view.columns)


def definitions(view: Stored) -> dict[str, exp.Expr]:
    """Column that has the time of writing → its definition."""
    return {each.name: each.definition for each in view.times}


def with_times(change: Change, view: Stored) -> Change:
    """The change, which writes the times as well. An INSERT has them already (`append.py`)."""
    if not view.times or not isinstance(change, Merge):
        return change
    clauses = tuple(_written(clause, view) for clause in change.matching.clauses)
    matching = replace(change.matching, clauses=clauses)
    return replace(change, matching=matching, times={each.name: each.type for each in view.times})


def _written(clause: Clause, view: Stored) -> Clause:
    if clause.action == "delete":
        return clause
    values: Mapping[str, exp.Expr] = {**clause.values, **definitions(view)}
    values = {name: values[name] for name in view.names if name in values}  # REPLACE WHERE takes them in the order of the table
    if clause.action == "insert":
        return replace(clause, values=values)
    return replace(clause, conditions=(*clause.conditions, *_differs(clause, view)), values=values)


# Wrong without it: a changed row may leave the maximum of its group as it is. Then the MERGE would write only the time. And the
# tuple that is deleted may be another one than the stored one: the minimum of 0.0 and -0.0, if it is computed again.
def _differs(clause: Clause, view: Stored) -> tuple[exp.Expr, ...]:
    """The condition that an update changes the stored row; () if the clause has it, as one for an i-diff (`direct.py`)."""
    if any(isinstance(each, exp.Expr) for each in clause.conditions):
        return ()
    types = {each.name: view.root.types[each.attribute] for each in view.columns}

    def compared(name: str, value: exp.Expr) -> exp.Expr:
        return same(*(distinguishable(side, types[name]) for side in (column(name, TARGET), value.copy())))

    return (exp.Not(this=exp.paren(exp.and_(*(compared(*each) for each in clause.values.items())))),)
