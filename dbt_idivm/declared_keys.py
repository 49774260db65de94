"""The keys that the user has declared for the relations that a model reads: constraints and tests in dbt's graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_idivm.definition.request import Ignored, KeyCandidate
from dbt_idivm.key_tests import said
from dbt_idivm.relation_name import as_named, names_of
from dbt_idivm.settings import OTHERS, own_config

Node = Mapping[str, Any]
# Views and ephemeral models are expanded: their inputs are inputs of the model as well.
READ_THROUGH = ("view", "ephemeral")
KINDS = ("model", "seed", "snapshot", "source")


@dataclass
class Declared:
    """The declarations about one node: keys, the two halves (unique, not null) that together make a key, and what is ignored."""

    keys: list[KeyCandidate] = field(default_factory=list)
    unique: dict[tuple[str, ...], str] = field(default_factory=dict)  # columns -> where it is declared
    not_null: set[str] = field(default_factory=set)
    ignored: list[Ignored] = field(default_factory=list)

    def candidates(self) -> tuple[KeyCandidate, ...]:
        """All keys. A unique constraint or test admits several NULLs, so it is a key only if none of its columns may be NULL."""
        halves = [
            KeyCandidate(columns, source)
            for columns, source in self.unique.items()
            if all(column.lower() in self.not_null for column in columns)
        ]
        return tuple(self.keys + [key for key in halves if key.columns not in {k.columns for k in self.keys}])


class KeyIndex:
    """The declared keys of every node of a dbt graph; built once per invocation."""

    def __init__(self, graph: Mapping[str, Any]) -> None:
        self.nodes: dict[str, Node] = {**graph.get("nodes", {}), **graph.get("sources", {})}
        self.relations = frozenset(
            each
            for node in self.nodes.values()
            if node.get("resource_type") in KINDS
            for name in relation_names(node)
            for each in names_of(name, written_name(node))
        )
        self._declared: dict[str, Declared] = {}
        for node in self.nodes.values():
            if node.get("resource_type") == "test":
                self._add_test(node)

    def inputs(self, model: Node) -> dict[str, Node]:
        """Relation name, as in the compiled SQL -> node, for all inputs of the model."""
        return {name: node for node in self._read_by(model, set()) for name in relation_names(node)}

    def keys(self, model: Node) -> dict[str, tuple[KeyCandidate, ...]]:
        found = {name: self.declared(node) for name, node in self.inputs(model).items()}
        return {name: keys for name, keys in found.items() if keys}

    def input_names(self, model: Node) -> dict[str, str]:
        return {name: written_name(node) for name, node in self.inputs(model).items()}

    def declared(self, node: Node) -> tuple[KeyCandidate, ...]:
        return self._all(node).candidates()

    def halves(self, node: Node) -> dict[tuple[str, ...], str]:
        """Columns declared unique that may be NULL -> where they are declared."""
        known = self._all(node)
        return {
            columns: source for columns, source in known.unique.items() if not known.not_null.issuperset(map(str.lower, columns))
        }

    def ignored(self, node: Node) -> tuple[Ignored, ...]:
        """Declarations of a node about keys that have no effect, as far as this can be seen without knowing its columns."""
        halves = [
            Ignored(source, f"it admits NULLs in ({', '.join(columns)})", "declare the columns as `not_null`, too")
            for columns, source in self.halves(node).items()
        ]
        return (*self._all(node).ignored, *halves)

    def unused(self) -> tuple[Ignored, ...]:
        """The `keys` in configs of maintained models that name a relation of the project which none of these models reads."""
        models: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        used = set[tuple[str, tuple[str, ...]]]()
        for model in self.nodes.values():
            if model.get("resource_type") != "model" or model["config"].get("materialized") != "idivm":
                continue
            read = {each for name, node in self.inputs(model).items() for each in names_of(name, written_name(node))}
            for entry in _configured(model):
                models.setdefault(entry, []).append(str(model["name"]))
                used |= {entry} if as_named(entry[0]) in read else set()
        return tuple(
            Ignored(
                f"`keys: {{{name}: [{', '.join(columns)}]}}`",
                f"none of the models with this key reads `{name}`: {', '.join(sorted(found))}",
                "remove it, or correct its name",
            )
            for (name, columns), found in sorted(models.items())
            if (name, columns) not in used and as_named(name) in self.relations
        )

    def _all(self, node: Node) -> Declared:
        known = self._declared.get(node["unique_id"], Declared())
        both = Declared(list(known.keys), dict(known.unique), set(known.not_null), list(known.ignored))
        _add_constraints(both, node)
        return both

    def _read_by(self, model: Node, seen: set[str]) -> Iterator[Node]:
        for unique_id in sorted((model.get("depends_on") or {}).get("nodes", ())):  # dbt's order varies
            node = self.nodes.get(unique_id)
            if node is None or unique_id in seen:
                continue
            seen.add(unique_id)
            yield node
            if node.get("config", {}).get("materialized") in READ_THROUGH:
                yield from self._read_by(node, seen)

    def _add_test(self, test: Node) -> None:
        about, tested = test.get("test_metadata") or {}, _tested(test)
        found = said(str(about.get("name")), about.get("kwargs") or {})
        if tested is None or found is None:
            return
        declared = self._declared.setdefault(tested, Declared())
        unless, source = found.unless or _exceptions(test), f"test {test['name']}"
        if unless:
            declared.ignored += [Ignored(source, unless, found.do)] if found.unique else []
            return
        if found.not_null:
            declared.not_null.update(map(str.lower, found.columns))
        if found.unique:
            declared.unique[found.columns] = source


def relation_names(node: Node) -> Iterator[str]:
    """The names of a node's relation; with --defer also the relation in the other environment."""
    for holder in (node, node.get("defer_relation") or {}):
        name = holder.get("relation_name")
        if name:
            yield as_named(name)


def written_name(node: Node) -> str:
    """The user's name of a node: `orders` for ref('orders'), `shop.orders` for source('shop', 'orders')."""
    if node.get("resource_type") == "source":
        return f"{node['source_name']}.{node['name']}"
    return str(node["name"])


def _tested(test: Node) -> str | None:
    """The node that a test is about. A test with several nodes (relationships) is attached to one of them."""
    nodes = (test.get("depends_on") or {}).get("nodes", ())
    return test.get("attached_node") or (nodes[0] if len(nodes) == 1 else None)


def _configured(model: Node) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The entries of `keys` in a model's config. Values that are not columns are skipped; they are reported elsewhere."""
    keys = own_config(model).get("keys")
    for written, columns in (keys if isinstance(keys, Mapping) else {}).items():
        if written != OTHERS and isinstance(columns, str | list | tuple):
            yield str(written), (columns,) if isinstance(columns, str) else tuple(map(str, columns))


def _exceptions(test: Node) -> str:
    """Why a test guarantees nothing for all rows: it is filtered, tolerant, or only warns; "" if it does."""
    config = test.get("config", {})
    if config.get("where"):
        return "its `where` leaves rows out"
    if str(config.get("severity") or "error").lower() != "error":
        return "it only warns (`severity`)"
    if str(config.get("error_if") or "!= 0").replace(" ", "") not in ("!=0", ">0", ">=1", "<>0"):
        return "it tolerates failures (`error_if`)"
    if (config.get("fail_calc") or "count(*)") != "count(*)":
        return "it counts other things than failures (`fail_calc`)"
    if config.get("limit") is not None and str(config["limit"]) in ("0", "None"):
        return "it looks at no failures (`limit`)"
    return "" if config.get("enabled", True) is True else "it is disabled"


def _add_constraints(declared: Declared, node: Node) -> None:
    """Add the constraints of columns and of the table, enforced or not. A table has only one primary key: columns that are each
    declared as such form it together."""
    primary: list[str] = []
    for name, column in (node.get("columns") or {}).items():
        kinds = {_kind(constraint) for constraint in column.get("constraints") or ()}
        if kinds & {"not_null", "primary_key"}:
            declared.not_null.add(name.lower())
        if "primary_key" in kinds:
            primary.append(name)
        if "unique" in kinds:
            declared.unique.setdefault((name,), "unique constraint")
    if primary:
        declared.keys.append(KeyCandidate(tuple(primary), "primary key constraint"))
    for constraint in node.get("constraints") or ():
        columns, kind = tuple(constraint.get("columns") or ()), _kind(constraint)
        if not columns:
            if kind in ("primary_key", "unique"):
                declared.ignored.append(Ignored(f"constraint {kind}", "it names no columns", "name its `columns`"))
        elif kind == "unique":
            declared.unique.setdefault(columns, "unique constraint")
        elif kind in ("primary_key", "not_null"):
            declared.not_null.update(map(str.lower, columns))
            declared.keys += [KeyCandidate(columns, "primary key constraint")] if kind == "primary_key" else []


def _kind(constraint: Node) -> str:
    return str(getattr(constraint.get("type"), "value", constraint.get("type")))
