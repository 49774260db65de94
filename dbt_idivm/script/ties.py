"""The orders of a plan that were completed because ORDER BY does not determine a row (ADR 0058)."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column, render
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.operators.aggregate import Aggregate, TiedCall
from dbt_idivm.operators.window import Window
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query

# Window function or aggregate, and the attributes by which its tied rows are ordered.
Ties = tuple[tuple[str, tuple[str, ...]], ...]


def ties(plan: Plan) -> Ties:
    """The window functions and aggregates of the view and of its caches whose order was completed, and by what."""
    return ties_of(over_tables(plan, plan.caches).root)


def lowered_ties(plan: Plan) -> Ties:
    """The same with the attribute names of the plan as it was lowered, which do not depend on caches."""
    return ties_of(plan.passes[0].root) if ties(plan) and plan.passes else ties(plan)


def ties_of(root: Operator) -> Ties:
    """Those of a tree."""
    return tuple(each for node in operators(root) for each in ties_at(node))


def ties_at(node: Operator) -> Ties:
    """Those of one operator."""
    if isinstance(node, Window):
        return tuple((render(call.function), call.broken_by) for call in node.calls if call.ties)
    if isinstance(node, Aggregate):
        return tuple((render(call.written), call.broken_by) for call in node.calls if isinstance(call, TiedCall))
    return ()


def completed_query(plan: Plan, binding: Binding) -> exp.Select | None:
    """The user's columns by the SELECT with completed orders; None if no order was completed."""
    if not ties(plan):
        return None
    rows = subquery(full_query(over_tables(plan, plan.caches), binding), "v")
    return exp.Select(expressions=[column(name, "v") for name in plan.visible]).from_(rows)


def without_ties(root: Operator) -> Operator:
    """The tree with the user's orders. Its rows are not determined; its query says the same as the SELECT."""
    node = root.with_inputs(*map(without_ties, root.inputs))
    if isinstance(node, Window):
        return replace(node, calls=tuple(call.without_ties() for call in node.calls))
    return replace(node, calls=tuple(call.without_ties() for call in node.calls)) if isinstance(node, Aggregate) else node
