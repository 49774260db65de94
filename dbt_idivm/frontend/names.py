"""Attribute names of a plan: readable, deterministic, and unique in the whole plan, ignoring case."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.fresh_name import fresh_name

_OTHER = re.compile(r"[^a-z0-9_]+")


class Names:
    """Makes the names of one plan, in reading order. A name that is taken gets the suffix `_2`, `_3`, …"""

    def __init__(self) -> None:
        self._attributes: set[str] = set()
        self._occurrences: set[str] = set()

    def occurrence(self, alias: str, columns: Iterable[str]) -> str:
        """A name for an occurrence of a table, such that its attributes do not collide with others."""
        base = _not_ours(plain(alias, "table"))
        columns = tuple(columns)
        name = fresh_name(base, lambda tried: tried in self._occurrences or self._collide(tried, columns))
        self._occurrences.add(name)
        self._attributes.update(f"{name}__{column}".lower() for column in columns)
        return name

    def attribute(self, scope: str, column: str) -> str:
        """A name for a computed column: `<scope>__<column>`."""
        base = f"{_not_ours(plain(scope, 'v'))}__{plain(column, 'column')}"
        name = fresh_name(base, self._attributes.__contains__)
        self._attributes.add(name)
        return name

    def union(self, scope: str) -> str:
        """A name for a union. Its branch attribute is `<name>__branch`."""
        return self.occurrence(scope, ("branch",))

    def outer_join(self, scope: str) -> str:
        """A name for an outer join. Its presence markers are `<name>__has_left` and `<name>__has_right`."""
        return self.occurrence(scope, ("has_left", "has_right"))

    def take(self, root: Operator) -> None:
        """Mark all names of a tree as taken."""
        for node in operators(root):
            self._attributes.update(name.lower() for name in node.columns)
            if node.scope is not None:
                self._occurrences.add(node.scope)

    def _collide(self, name: str, columns: tuple[str, ...]) -> bool:
        return any(f"{name}__{column}".lower() in self._attributes for column in columns)


def names_of(root: Operator) -> Names:
    """A `Names` in which all names of a plan are taken."""
    names = Names()
    names.take(root)
    return names


def plain(text: str, default: str) -> str:
    """The text in lower case with only letters, digits and underscores; `default` if nothing remains."""
    return _OTHER.sub("_", text.lower()).strip("_") or default


def _not_ours(base: str) -> str:
    """The name, with a prefix if it could collide with the planner's own attributes:
    `count__…`, `sum__…`, `any_…`, `idivm_…`, `one`.
    """
    return f"t_{base}" if base in ("count", "sum", "one") or base.startswith(("any_", "idivm_")) else base
