"""Guards around casts of texts to TIMESTAMP, in select lists and conditions (`algebra/guards.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.algebra.guards import guarded, guarded_text
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import infer_type, inferred, is_text
from dbt_idivm.algebra.types_of_times import TIMESTAMPS
from dbt_idivm.frontend.families import is_of_users
from dbt_idivm.frontend.functions import PARSE_TIMESTAMP

_TRYING = (exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.SafeDivide)
_Types = Mapping[str, exp.DataType]


def with_guards(root: Operator) -> Operator:
    """The tree with a guard around each text that is cast to TIMESTAMP, except constants.

    No guards are added if the error of a guard could be caught; these casts are then refused (`clock.py`).
    """
    found = _with_guards(root)
    return root if found is not root and _may_be_lost(found) else found


def _with_guards(root: Operator) -> Operator:
    inputs = tuple(map(_with_guards, root.inputs))
    types = inferred({name: kind for each in inputs for name, kind in each.types.items()})
    evaluated = (*root.conditions, *(value for _, value in root.defined))
    if all(map(is_, inputs, root.inputs)) and not any(_is_unguarded(each, types) for each in evaluated):
        return root
    return root.rewritten(lambda each: _guarded(each, types), *inputs)


def _guarded(expression: exp.Expr, types: _Types) -> exp.Expr:
    """The expression with guards, except around lambda variables, which have no types here."""
    if not _is_unguarded(expression, types):
        return expression
    found = expression.copy()
    for text in [each for node in found.walk() for each in _texts(node, types)]:
        text.replace(guarded(text))
    return found


def _is_unguarded(expression: exp.Expr, types: _Types) -> bool:
    return any(_texts(node, types) for node in expression.walk())


def _texts(node: exp.Expr, types: _Types) -> list[exp.Expr]:
    """[the text that this node itself casts to TIMESTAMP], if it needs a guard; else []."""
    if isinstance(node, exp.Cast):
        text = node.this if node.to.this in TIMESTAMPS else None
    else:
        is_parsing = isinstance(node, exp.Anonymous) and call_name(node) in PARSE_TIMESTAMP and len(node.expressions) == 1
        text = node.expressions[0] if is_parsing else None
    if text is None or text.find(exp.Column) is None or text.find_ancestor(exp.Lambda) is not None:
        return []
    return [text] if is_text(infer_type(text, types)) and guarded_text(text) is None else []


# Wrong without it: try_add(CAST(s AS TIMESTAMP), INTERVAL 1 DAY) is NULL if any part of it fails, including the guard.
def _may_be_lost(root: Operator) -> bool:
    """Whether a function may catch the error of a guard: one of Spark's TRY functions, or a
    user's function, whose body may call one.

    Spark inlines the definitions of attributes where these are used, across subqueries.
    """
    failing: set[str] = set()  # attributes that are computed from a guard

    def may_fail(expression: exp.Expr) -> bool:
        return any(
            guarded_text(each) is not None or (isinstance(each, exp.Column) and each.name in failing)
            for each in expression.walk()
        )

    for node in operators(root):
        if any(_catches(each) and may_fail(each) for expression in node.expressions for each in expression.walk()):
            return True
        failing.update(name for name, made in node.defined if may_fail(made))
        failing.update(output for output, sources in node.united if not failing.isdisjoint(sources))
    return False


def _catches(node: exp.Expr) -> bool:
    """Whether this is a call that may return NULL if an argument fails."""
    return isinstance(node, _TRYING) or call_name(node).startswith("try_") or is_of_users(node)
