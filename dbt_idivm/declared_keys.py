"""Which keys the user declared for the relations that a model reads: constraints and tests, found in dbt's graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_idivm.refresh.protocol import KeyCandidate
from dbt_idivm.relation_name import as_named

Node = Mapping[str, Any]
# A view or an ephemeral model is read through: its inputs are the model's inputs as well.
READ_THROUGH = ("view", "ephemeral")
IDENTIFIER = re.compile(r"(\w+)|`((?:[^`]|``)+)`|\"(\w+)\"")


@dataclass
class Declared:
    """What is declared for one node: keys, and the two halves (unique, not null) that together make a key."""

    keys: list[KeyCandidate] = field(default_factory=list)
    unique: dict[tuple[str, ...], str] = field(default_factory=dict)  # columns -> where it is declared
    not_null: set[str] = field(default_factory=set)

    def candidates(self) -> tuple[KeyCandidate, ...]:
        """A unique constraint or test admits NULLs, many of them: it is a key only where no column may be NULL."""
        halves = [
            KeyCandidate(columns, source)
            for columns, source in self.unique.items()
            if all(column.lower() in self.not_null for column in columns)
        ]
        return tuple(self.keys + [key for key in halves if key.columns not in {k.columns for k in self.keys}])


class KeyIndex:
    """The declared keys of every node of a dbt graph; made once for an invocation."""

    def __init__(self, graph: Mapping[str, Any]) -> None:
        self.nodes: dict[str, Node] = {**graph.get("nodes", {}), **graph.get("sources", {})}
        self._declared: dict[str, Declared] = {}
        for node in self.nodes.values():
            if node.get("resource_type") == "test":
                self._add_test(node)

    def inputs(self, model: Node) -> dict[str, Node]:
        """Relation name as in the compiled SQL -> node, for all that the model reads."""
        return {name: node for node in self._read_by(model, set()) for name in relation_names(node)}

    def keys(self, model: Node) -> dict[str, tuple[KeyCandidate, ...]]:
        found = {name: self.declared(node) for name, node in self.inputs(model).items()}
        return {name: keys for name, keys in found.items() if keys}

    def input_names(self, model: Node) -> dict[str, str]:
        return {name: written_name(node) for name, node in self.inputs(model).items()}

    def declared(self, node: Node) -> tuple[KeyCandidate, ...]:
        return self._all(node).candidates()

    def halves(self, node: Node) -> dict[tuple[str, ...], str]:
        """Columns that are declared to be unique, and may be NULL -> where they are declared."""
        known = self._all(node)
        return {
            columns: source for columns, source in known.unique.items() if not known.not_null.issuperset(map(str.lower, columns))
        }

    def _all(self, node: Node) -> Declared:
        known = self._declared.get(node["unique_id"], Declared())
        both = Declared(list(known.keys), dict(known.unique), set(known.not_null))
        _add_constraints(both, node)
        return both

    def _read_by(self, model: Node, seen: set[str]) -> Iterator[Node]:
        for unique_id in sorted((model.get("depends_on") or {}).get("nodes", ())):  # dbt has them in another order each time
            node = self.nodes.get(unique_id)
            if node is None or unique_id in seen:
                continue
            seen.add(unique_id)
            yield node
            if node.get("config", {}).get("materialized") in READ_THROUGH:
                yield from self._read_by(node, seen)

    def _add_test(self, test: Node) -> None:
        about = test.get("test_metadata") or {}
        tested = _tested(test)
        if tested is None or not _holds_for_all_rows(test):
            return
        declared = self._declared.setdefault(tested, Declared())
        kind, kwargs = (about.get("namespace"), about.get("name")), about.get("kwargs") or {}
        if kind == (None, "unique"):
            for column in _column(kwargs.get("column_name")):
                declared.unique[(column,)] = f"test {test['name']}"
        elif kind == (None, "not_null"):
            declared.not_null.update(column.lower() for column in _column(kwargs.get("column_name")))
        elif kind == ("dbt_utils", "unique_combination_of_columns"):
            columns = [c for name in kwargs.get("combination_of_columns") or () for c in _column(name)]
            if columns and len(columns) == len(kwargs["combination_of_columns"]):
                declared.unique[tuple(columns)] = f"test {test['name']}"


def relation_names(node: Node) -> Iterator[str]:
    """The names of a node's relation; with --defer the other's too."""
    for holder in (node, node.get("defer_relation") or {}):
        name = holder.get("relation_name")
        if name:
            yield as_named(name)


def written_name(node: Node) -> str:
    """What the user wrote: `orders` for ref('orders'), `shop.orders` for source('shop', 'orders')."""
    if node.get("resource_type") == "source":
        return f"{node['source_name']}.{node['name']}"
    return str(node["name"])


def _tested(test: Node) -> str | None:
    """The node that a test is about. A test that reads several (relationships) is attached to one of them."""
    nodes = (test.get("depends_on") or {}).get("nodes", ())
    return test.get("attached_node") or (nodes[0] if len(nodes) == 1 else None)


def _holds_for_all_rows(test: Node) -> bool:
    """A test that is filtered, tolerant or only warns promises nothing about the rows it lets pass."""
    config = test.get("config", {})
    severe = str(config.get("severity") or "error").lower() == "error"
    strict = str(config.get("error_if") or "!= 0").replace(" ", "") in ("!=0", ">0", ">=1", "<>0")
    counted = (config.get("fail_calc") or "count(*)") == "count(*)"
    return bool(config.get("enabled", True) and severe and strict and counted and not config.get("where"))


def _column(name: Any) -> list[str]:
    """A test may name an expression instead of a column; that is no key."""
    found = IDENTIFIER.fullmatch(str(name or "").strip())
    return [(found[1] or found[2] or found[3]).replace("``", "`")] if found else []


def _add_constraints(declared: Declared, node: Node) -> None:
    for name, column in (node.get("columns") or {}).items():
        kinds = {_kind(constraint) for constraint in column.get("constraints") or ()}
        if kinds & {"not_null", "primary_key"}:
            declared.not_null.add(name.lower())
        if "primary_key" in kinds:
            declared.keys.append(KeyCandidate((name,), "primary key constraint"))
        if "unique" in kinds:
            declared.unique.setdefault((name,), "unique constraint")
    for constraint in node.get("constraints") or ():
        columns = tuple(constraint.get("columns") or ())
        if columns and _kind(constraint) == "primary_key":
            declared.keys.append(KeyCandidate(columns, "primary key constraint"))
        elif columns and _kind(constraint) == "unique":
            declared.unique.setdefault(columns, "unique constraint")


def _kind(constraint: Node) -> str:
    return str(getattr(constraint.get("type"), "value", constraint.get("type")))
