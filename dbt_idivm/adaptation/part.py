"""A part of the adapted view while rules extend it to the new definition: stored rows of the old view, or rows of its sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_idivm.adaptation.derive import Held, translated
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.algebra.expressions import attributes, column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.passes.query_graph import Definitions

Kind = str


@dataclass(frozen=True)
class Part:
    """`rows`: the rows so far. `held`: the values in stored rows, over old attributes; None if the rows have the attributes of
    the new graph's own sources. `fetched`: attributes of these sources that were looked up, defined over the rows."""

    rows: Operator
    difference: Difference
    held: Held | None
    fetched: Definitions = field(default_factory=dict)

    def derived(self, expression: exp.Expr) -> exp.Expr | None:
        """Rewrite an expression over attributes of the new graph's sources to one over the rows; None if that is impossible."""
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
        """The part with these rows, which additionally have the fetched attributes of sources."""
        assert self.held is not None
        names = (name for each in fetched.values() for name in attributes(each))
        return replace(self, rows=rows, held=self.held.beside(names), fetched=fetched)


@dataclass(frozen=True)
class Rule:
    """One kind of edit. `takes`: whether the difference contains it. `adapt`: the part with the edit applied; None if that is
    unsound or a required value is missing. `name`: what was edited, for people."""

    name: str
    takes: Callable[[Part], bool]
    adapt: Callable[[Part], Part | None]
