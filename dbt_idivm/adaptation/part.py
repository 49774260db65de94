"""A part of the adapted view, while rules add what the new definition has: stored rows of the old one, or rows of its sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.derive import Held, translated
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator

Kind = str


@dataclass(frozen=True)
class Part:
    """`rows` so far. `held`: what stored rows hold, over old attributes; None where the rows have the attributes of the new
    block's own sources."""

    rows: Operator
    difference: Difference
    held: Held | None

    def derived(self, expression: exp.Expr) -> exp.Expr | None:
        """An expression over attributes of the new block's sources, over those of the rows; None if it cannot be had."""
        if self.held is None:
            return expression
        added = {name: column(name) for name in self.difference.added}
        found = translated(expression, {**added, **self.difference.known})
        return None if found is None else self.held.derived(found)

    def over(self, rows: Operator) -> Part:
        return replace(self, rows=rows)


@dataclass(frozen=True)
class Rule:
    """One kind of edit. `takes`: whether the difference has it; `adapt`: the part with it, None where it is not sound, or what it
    needs is not there. `name` is for people: what was edited, and over what it is computed."""

    name: str
    takes: Callable[[Part], bool]
    adapt: Callable[[Part], Part | None]
