"""The surroundings of a query: its text, the CTEs that it sees, and the queries around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sqlglot import exp

from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.text import Text


@dataclass(frozen=True)
class Env:
    """`ctes`: each CTE with the place where it was defined. `outer`: the scopes around a subquery of WHERE, the nearest last."""

    text: Text
    ctes: Mapping[str, tuple[exp.CTE, Env]] = field(default_factory=lambda: MappingProxyType({}))
    outer: tuple[Scope, ...] = ()

    def within(self, query: exp.Expr) -> Env:
        """The same with the CTEs that `query` defines."""
        env = self
        clause = query.args.get("with_")
        for cte in clause.expressions if clause else ():
            env = replace(env, ctes={**env.ctes, cte.alias.lower(): (cte, env)})
        return env

    def below(self, scope: Scope) -> Env:
        """The same for a subquery in the WHERE clause over `scope`."""
        return replace(self, outer=(*self.outer, scope))
