"""Attributes of type VOID (the type of a bare NULL) by which rows would be compared.

Spark implements `<=>` on join keys with a default value of their type, and VOID has none. Then NULL does not match NULL, in a
MERGE or a semijoin, and deleted rows would stay in the view. Elsewhere a VOID attribute is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.algebra.expressions import short
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.types import Type
from dbt_idivm.errors import Finding, finding


def compared(root: Operator) -> tuple[str, ...]:
    """The attributes by which the stored rows of an ID-extended view are compared: its
    IDs if they are unique, else all columns.
    """
    return root.ids if root.unique else root.columns


def void_keys(root: Operator) -> Iterator[Finding]:
    """IDIVM-218 for each VOID attribute by which rows of an ID-extended tree are compared, as far as types can be inferred."""
    names = {**dict.fromkeys(compared(root), root), **{name: node for node in operators(root) for name in node.ids}}
    for name, node in names.items():
        if node.types[name].this == Type.NULL:
            yield finding(218, column=short(name), type="VOID", use="what identifies a row")
