"""The environment of a query: its text, the visible CTEs, and the enclosing queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sqlglot import exp

from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.text import Text


@dataclass(frozen=True)
class Env:
    """The environment of a query.

    `ctes`: lower-case name → (CTE, environment of its definition). `outer`: the scopes of enclosing queries, innermost last.
    """

    text: Text
    ctes: Mapping[str, tuple[exp.CTE, Env]] = field(default_factory=lambda: MappingProxyType({}))
    outer: tuple[Scope, ...] = ()

    def within(self, query: exp.Expr) -> Env:
        """This environment with the CTEs that `query` defines."""
        env = self
        clause = query.args.get("with_")
        for cte in clause.expressions if clause else ():
            env = replace(env, ctes={**env.ctes, cte.alias.lower(): (cte, env)})
        return env

    def below(self, scope: Scope) -> Env:
        """This environment for a subquery of a query over `scope`."""
        return replace(self, outer=(*self.outer, scope))
