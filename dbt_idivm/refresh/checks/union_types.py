"""Types of UNIONs and of their branches, as the engine reports them.

A rule that carries values up from one branch uses that branch's type: 7 in an INT branch is '7' as a text, but '7.00' after a
union with DECIMAL(10, 2). The front end casts the branches to the union's types; here the engine is asked whether they are now
equal.
"""

from __future__ import annotations

from dbt_idivm.algebra.operator import operators_of
from dbt_idivm.definition.compiling import union_types
from dbt_idivm.frontend.coercion import UntypedUnion
from dbt_idivm.operators import UnionAll
from dbt_idivm.refresh.checks.questions import answered
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.plan import Plan

_NULL = "void"  # the type of NULL, which takes the type of the other branches


def differing_branches(client: Client, plan: Plan, binding: Binding) -> Steps[str | None]:
    """A column with different types in two branches, as text; None if there is none. `plan` reads tables and the clock of the
    binding only, no caches."""
    unions = tuple(operators_of(plan.root, UnionAll))
    asked = tuple(UntypedUnion(union, at_once=True) for union in unions)  # the branches are cast to one type already
    types_of = (yield from answered(client, union_types(asked, binding))) if asked else ()
    for union, types in zip(unions, types_of or (), strict=True):
        for output, *kinds in zip(union.outputs, *types.branches, strict=True):
            found = sorted({*kinds} - {_NULL})
            if len(found) > 1:
                return f"the branches of ∪ have {' and '.join(found)} for {output}"
    return None
