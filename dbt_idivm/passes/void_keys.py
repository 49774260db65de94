"""Attributes of type VOID, that of a bare NULL, by which rows would be compared.

Spark compares join keys by `<=>` through a default value of their type, and VOID has none: NULL then matches no NULL, in MERGE as
in a semijoin, and deleted rows would stay in the view. Elsewhere a VOID attribute is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type
from dbt_idivm.errors import Finding, finding


def compared(root: Operator) -> tuple[str, ...]:
    """The attributes of an ID-extended view by which its stored rows are compared."""
    return root.ids if root.unique else root.columns


def void_keys(root: Operator) -> Iterator[Finding]:
    """IDIVM-218 for each VOID attribute that rows of an ID-extended tree are compared by, as far as types are inferred."""
    names = {**dict.fromkeys(compared(root), root), **{name: node for node in operators(root) for name in node.ids}}
    for name, node in names.items():
        if node.types[name].this == Type.NULL:
            yield finding(218, column=short(name), type="VOID", use="what identifies a row")
