"""A part of the adapted view, while rules add what the new definition has: stored rows of the old one, or rows of its sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_idivm.adaptation.block import Definitions
from dbt_idivm.adaptation.derive import Held, translated
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.algebra.expressions import attributes, column
from dbt_idivm.algebra.operator import Operator

Kind = str


@dataclass(frozen=True)
class Part:
    """`rows` so far. `held`: what stored rows hold, over old attributes; None where the rows have the attributes of the new
    block's own sources. `fetched`: attributes of these that were looked up, over those of the rows."""

    rows: Operator
    difference: Difference
    held: Held | None
    fetched: Definitions = field(default_factory=dict)

    def derived(self, expression: exp.Expr) -> exp.Expr | None:
        """An expression over attributes of the new block's sources, over those of the rows; None if it cannot be had."""
        if self.held is None:
            return expression
        added = {name: column(name) for name in self.difference.added}
        for fetched in ({}, self.fetched):
            found = translated(expression, {**added, **self.difference.known, **fetched})
            value = self.held.derived(found) if found is not None else None
            if value is not None:
                return value
        return None

    def over(self, rows: Operator) -> Part:
        return replace(self, rows=rows)

    def with_fetched(self, rows: Operator, fetched: Definitions) -> Part:
        """Rows that have more: attributes of the sources, over those of these rows."""
        assert self.held is not None
        names = (name for each in fetched.values() for name in attributes(each))
        return replace(self, rows=rows, held=self.held.beside(names), fetched=fetched)


@dataclass(frozen=True)
class Rule:
    """One kind of edit. `takes`: whether the difference has it; `adapt`: the part with it, None where it is not sound, or what it
    needs is not there. `name` is for people: what was edited, and over what it is computed."""

    name: str
    takes: Callable[[Part], bool]
    adapt: Callable[[Part], Part | None]
