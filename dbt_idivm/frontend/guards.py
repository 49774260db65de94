"""Casts of texts to TIMESTAMP are guarded, in select lists and conditions (`algebra/guards.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import call_name
from dbt_idivm.algebra.guards import guarded, guarded_text
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type, is_text
from dbt_idivm.frontend.functions import PARSE_TIMESTAMP
from dbt_idivm.operators import Join, OuterJoin, Project, Select, SemiAntiJoin

_Type = exp.DataType.Type
_TIMESTAMPS = frozenset({_Type.TIMESTAMP, _Type.TIMESTAMPTZ, _Type.TIMESTAMPLTZ})
_Types = Mapping[str, exp.DataType]


def with_guards(root: Operator) -> Operator:
    """The tree with a guard around each text that is cast to TIMESTAMP, but constants."""
    inputs = tuple(map(with_guards, root.inputs))
    node = root if all(one is other for one, other in zip(inputs, root.inputs, strict=True)) else root.with_inputs(*inputs)
    types = {name: kind for each in inputs for name, kind in each.types.items()}
    if isinstance(node, Project):
        values = tuple((name, _guarded(value, types)) for name, value in node.definitions)
        return node if values == node.definitions else replace(node, definitions=values)
    if isinstance(node, Select | Join | OuterJoin | SemiAntiJoin):
        condition = _guarded(node.condition, types)
        return node if condition == node.condition else replace(node, condition=condition)
    return node


def _guarded(expression: exp.Expr, types: _Types) -> exp.Expr:
    """The expression with its guards. Those of variables of lambdas, which have no types here, are left out."""
    if not any(_texts(node, types) for node in expression.walk()):
        return expression
    found = expression.copy()
    for text in [each for node in found.walk() for each in _texts(node, types)]:
        text.replace(guarded(text))
    return found


def _texts(node: exp.Expr, types: _Types) -> list[exp.Expr]:
    """The text that is cast to TIMESTAMP by this node itself."""
    if isinstance(node, exp.Cast):
        text = node.this if node.to.this in _TIMESTAMPS else None
    else:
        is_parsing = isinstance(node, exp.Anonymous) and call_name(node) in PARSE_TIMESTAMP and len(node.expressions) == 1
        text = node.expressions[0] if is_parsing else None
    if text is None or text.find(exp.Column) is None or text.find_ancestor(exp.Lambda) is not None:
        return []
    return [text] if is_text(infer_type(text, types)) and guarded_text(text) is None else []
