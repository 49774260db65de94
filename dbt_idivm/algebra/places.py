"""Replacing many nodes of a tree at once."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp


def put(pairs: Iterable[tuple[exp.Expr, exp.Expr]]) -> None:
    """Replace, for each pair (old, new), the node `old` by `new`. Each `old` must have a parent.

    `Expression.replace` visits all elements of a list for each replacement: n operands of COALESCE would take n² steps.
    """
    lists: dict[tuple[int, str], tuple[exp.Expr, list[exp.Expr]]] = {}
    for old, new in pairs:
        parent, key, index = old.parent, old.arg_key, old.index
        assert parent is not None and key is not None, "a node without a place"
        if index is None:
            parent.set(key, new)
        else:
            lists.setdefault((id(parent), key), (parent, [*parent.args[key]]))[1][index] = new
    for (_, key), (parent, elements) in lists.items():
        parent.set(key, elements)
