"""The canonical form of an operator tree: equal for trees that differ only in the names of occurrences and attributes.

    p.price of `parts AS p`, q.price of `parts AS q`     both are `#1` of `Scan('parts', …)`

Attributes are numbered in the order in which they are introduced, inputs before the operators that read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import LEFT, RIGHT
from dbt_idivm.algebra.structure import structure
from dbt_idivm.cache_names import without_digest
from dbt_idivm.frontend.names import Names
from dbt_idivm.operators.outer_join import OuterJoin
from dbt_idivm.operators.scan import Attribute, Scan
from dbt_idivm.operators.union import UnionAll
from dbt_idivm.relation_name import name_parts


@dataclass(frozen=True)
class Canonical:
    """`text` is the canonical form, without names of occurrences. `attributes` are the tree's own attribute names, by number."""

    text: str
    attributes: tuple[str, ...]

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    def names_for(self, other: Canonical) -> dict[str, str]:
        """Attribute of this tree → attribute with the same number of `other`, which must have the same text."""
        return dict(zip(self.attributes, other.attributes, strict=True))


def canonical(root: Operator) -> Canonical:
    numbers: dict[str, str] = {}

    def walk(node: Operator) -> str:
        inputs = [walk(child) for child in node.inputs]
        for name in node.columns:
            numbers.setdefault(name, f"#{len(numbers)}")
        return f"{type(node).__name__}({', '.join([*_content(node, numbers), *inputs])})"

    return Canonical(walk(root), tuple(numbers))


def _column(each: Attribute) -> tuple[str, ...]:
    return (each.name, each.type) if each.definition is None else (each.name, each.type, each.definition.sql(DIALECT))


def _content(node: Operator, numbers: Mapping[str, str]) -> list[str]:
    """The parameters of the node, as texts, without its inputs."""
    if isinstance(node, Scan):
        return [repr(part) for part in (node.table, list(map(_column, node.base_columns)), node.key, node.state)]
    assert is_dataclass(node)
    values = {each.name: getattr(node, each.name) for each in fields(node)}
    if isinstance(node, UnionAll):
        values["name"] = node.branch  # the branch attribute is derived from the name
    if isinstance(node, OuterJoin):
        values["name"] = node.marks if node.marked else ()
    values.pop("by_key", None)  # it does not affect the rows
    return [f"{name}={_numbered(value, numbers)}" for name, value in values.items() if not _is_input(value, node)]


def _is_input(value: object, node: Operator) -> bool:
    return value is node.inputs or any(value is each for each in node.inputs)


def _numbered(value: object, numbers: Mapping[str, str]) -> str:
    """The value as text, with attributes by number. Function names cannot be mistaken for
    attributes, which contain two underscores.
    """
    if isinstance(value, exp.Expr):
        return structure(value.transform(lambda node: exp.column(numbers[node.name]) if isinstance(node, exp.Column) else node))
    if isinstance(value, str):
        return numbers.get(value, repr(value))
    if isinstance(value, tuple):
        return f"({', '.join(_numbered(each, numbers) for each in value)})"
    if is_dataclass(value):
        return _numbered(tuple(getattr(value, each.name) for each in fields(value)), numbers)
    return repr(value)


def with_canonical_names(root: Operator) -> tuple[Operator, dict[str, str]]:
    """The tree with names that are the same for all equal trees, and a mapping from its own names to these.

    The mapping includes all columns of its tables. Occurrences are named after their tables: a column is parts__price, and
    parts_2__price in a second occurrence.
    """
    names: dict[str, str] = {}
    given = Names()

    def walk(node: Operator) -> Operator:
        inputs = {id(child): walk(child) for child in node.inputs}
        if isinstance(node, Scan):
            occurrence = given.occurrence(without_digest(name_parts(node.table)[-1]), (each.name for each in node.attributes))
            found = replace(node, occurrence=occurrence, names=())
            names.update((node.attribute(each.name), found.attribute(each.name)) for each in node.attributes)
            return found
        if isinstance(node, UnionAll):
            node, before = replace(node, name=given.union("united")), node
            names[before.branch] = names[node.branch] = node.branch
        if isinstance(node, OuterJoin):
            node, before_join = replace(node, name=given.outer_join("joined")), node
            names.update((each.mark(side), node.mark(side)) for side in (LEFT, RIGHT) for each in (before_join, node))
        for name in (each for each in node.columns if each not in names):
            names[name] = given.attribute("computed", "value")
        assert is_dataclass(node)
        values = {each.name: _renamed(getattr(node, each.name), names, inputs) for each in fields(node)}
        return replace(node, **values)

    return walk(root), names


def _renamed(value: Any, names: Mapping[str, str], inputs: Mapping[int, Operator]) -> Any:
    if id(value) in inputs:
        return inputs[id(value)]
    if isinstance(value, exp.Expr):
        return value.transform(lambda node: exp.column(names[node.name]) if isinstance(node, exp.Column) else node)
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(_renamed(each, names, inputs) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _renamed(getattr(value, each.name), names, inputs) for each in fields(value)})
    return value
