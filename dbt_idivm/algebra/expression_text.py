"""Expressions as text that is equal for spellings with the same meaning.

    5 < o.price     o.price > 5     NOT o.price <= 5        all are `LT(5, #0.price)`

Only equivalences that are exact for all types are used: the order of operands of =, <>, <=>, + and *, flipped and negated
comparisons, the order of values in IN, the order of AND and OR. Sums are not regrouped: a + (b + c) may overflow or round where
(a + b) + c does not. AND and OR of expressions that may fail keep their order: in `qty = 0 OR price / qty > 1` the first part
guards the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes

Names = Mapping[str, str]  # column of an expression → its name in the text
_PLAIN = re.compile(r"[\w.]+\Z")
_COMMUTATIVE = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.Add, exp.Mul)
# (name in the text, whether the operands are swapped)
_ORDERED: Mapping[type[exp.Expr], tuple[str, bool]] = {
    exp.LT: ("LT", False),
    exp.LTE: ("LTE", False),
    exp.GT: ("LT", True),
    exp.GTE: ("LTE", True),
}
_NEGATED: Mapping[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def expression_text(expression: exp.Expr, names: Names, *, ordered: bool = False) -> str:
    """The normalised text of an expression. `ordered`: AND and OR keep their order. Everything in the tree except brackets is
    included."""
    node = expression.unnest()
    if isinstance(node, exp.Column):
        return column_text(names[node.name])
    if isinstance(node, exp.Literal):
        return repr(node.name) if node.is_string else node.name
    if isinstance(node, exp.Not) and (inverse := negated(node.this.unnest())) is not None:
        return expression_text(inverse, names, ordered=ordered)
    kind, parts = type(node).__name__, None
    if isinstance(node, exp.And | exp.Or):
        parts = [expression_text(each, names, ordered=ordered) for each in _flat(node, type(node))]
        parts = parts if ordered else sorted(set(parts))
    elif isinstance(node, exp.Binary) and type(node) in _COMMUTATIVE and len(_present(node)) == 2:
        parts = sorted(expression_text(each, names, ordered=ordered) for each in (node.left, node.right))
    elif isinstance(node, exp.Binary) and type(node) in _ORDERED and len(_present(node)) == 2:
        kind, flipped = _ORDERED[type(node)]
        sides = (node.right, node.left) if flipped else (node.left, node.right)
        parts = [expression_text(each, names, ordered=ordered) for each in sides]
    if parts is not None:
        return f"{kind}({', '.join(parts)})"
    return f"{kind}({', '.join(f'{key}={text}' for key, text in _arguments(node, names, ordered=ordered))})"


def text_of(expression: exp.Expr) -> str:
    """Text that is equal for expressions with the same value and type in each row. The order of AND and OR is kept, because parts
    may fail."""
    return expression_text(expression, {name: name for name in attributes(expression)}, ordered=True)


def column_text(name: str) -> str:
    """The text of a column, which cannot be confused with a value."""
    return f"#{name}" if _PLAIN.match(name) else f"#{name!r}"


def negated(node: exp.Expr) -> exp.Expr | None:
    """The comparison that is true where this one is false; None if it is not a comparison."""
    kind = _NEGATED.get(type(node))
    return kind(this=node.this.copy(), expression=node.expression.copy()) if kind is not None else None


def _flat(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The operands of nested ANDs or ORs."""
    inner = node.unnest()
    if isinstance(inner, kind) and isinstance(inner, exp.Connector):
        yield from _flat(inner.left, kind)
        yield from _flat(inner.right, kind)
    else:
        yield inner


def _present(node: exp.Expr) -> dict[str, object]:
    """The arguments that are set. False is kept, because it may differ from the default."""
    return {key: value for key, value in node.args.items() if value is not None and value != []}


def _arguments(node: exp.Expr, names: Names, *, ordered: bool) -> Iterator[tuple[str, str]]:
    for key, value in _present(node).items():
        values = value if isinstance(value, list) else [value]
        texts = [expression_text(each, names, ordered=ordered) if isinstance(each, exp.Expr) else repr(each) for each in values]
        if isinstance(node, exp.In) and key == "expressions" and all(isinstance(each, exp.Literal) for each in values):
            texts = sorted(set(texts))
        yield key, f"[{', '.join(texts)}]" if isinstance(value, list) else texts[0]
