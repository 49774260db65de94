"""The expressions of GROUP BY: given by position, by alias, as an expression over FROM, or as ALL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT
from dbt_idivm.errors import finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import holds_generator
from dbt_idivm.frontend.resolve import Aliases, Resolver, bare
from dbt_idivm.frontend.scope import Scope

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering


class SelectItem(Protocol):
    """The properties of a select item that are needed here."""

    @property
    def name(self) -> str: ...
    @property
    def expression(self) -> exp.Expr: ...
    @property
    def raw(self) -> exp.Expr: ...
    @property
    def named(self) -> bool: ...


@dataclass(frozen=True)
class GroupBy:
    """Reads one GROUP BY clause, given the select list."""

    lowering: Lowering
    env: Env
    scope: Scope
    items: Sequence[SelectItem]

    def expressions(self, clause: exp.Group) -> list[exp.Expr]:
        """The grouping expressions: positions, aliases and ALL are resolved."""
        written = clause.expressions
        if clause.args.get("all"):
            if not self._names_a_column("all"):
                return [bare(item.expression) for item in self.items if not item.expression.find(exp.AggFunc, exp.Window)]
            written = [exp.column("all"), *written]
        found = [self.expression(raw) for raw in written]
        return [expression for expression in found if expression is not None]

    def _names_a_column(self, name: str) -> bool:
        return name in aliases_of(self.items) or any(entry.name.lower() == name for entry in self.scope.visible)

    def expression(self, raw: exp.Expr) -> exp.Expr | None:
        """One grouping expression; None, with a finding, if it cannot be one."""
        if isinstance(raw, exp.Tuple):
            self._report(228, raw, what="a tuple in GROUP BY")
            return None
        literal = bare(raw)
        position = int(literal.name) if isinstance(literal, exp.Literal) and literal.is_int else None
        if position is not None and not 1 <= position <= len(self.items):
            self._report(229, raw, what=f"GROUP BY {position} with {len(self.items)} columns")
            return None
        expression = self._resolver.resolve(raw) if position is None else self.items[position - 1].expression
        if holds_generator(expression):
            what = f"the generator {self.env.text.source(raw)} in GROUP BY"
            raise self.lowering.stopped_by(finding(228, self.env.text.place(raw), what=what))
        if expression.find(exp.AggFunc, exp.Window):
            what = "window function" if expression.find(exp.Window) else "aggregate"
            self._report(229, raw, what=f"the {what} {expression.sql(DIALECT)} in GROUP BY")
            return None
        return bare(expression)

    @property
    def _resolver(self) -> Resolver:
        return Resolver(self.scope, self.env, self.lowering.findings, aliases_of(self.items))

    def _report(self, code: int, node: exp.Expr, **details: str) -> None:
        self.lowering.findings.append(finding(code, self.env.text.place(node), **details))


def without_constants(groups: list[exp.Expr]) -> list[exp.Expr]:
    """The groups without constants, which distinguish no rows. If no group remains, a constant of our own.

    We do not use the user's constant: NULL has a type that no table can store. Nor a number: a grouping expression becomes a
    column in the select list, and so would every equal number in it, in `sum(w) * 1` and in DECIMAL(20, 1).
    """
    varying = [group for group in groups if group.find(exp.Column)]
    return varying if varying or not groups else [exp.false()]


def aliases_of(items: Sequence[SelectItem]) -> Aliases:
    """Alias, or name of a selected column, in lower case → expressions of the items with that name."""
    found: dict[str, list[exp.Expr]] = {}
    for item in items:
        found.setdefault(item.name.lower(), []).append(item.expression)
    return found
