"""Queries → operators: FROM, joins, CTEs, derived tables, views. The other clauses of a SELECT are in `select.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, conjunction
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.context import Catalog, Subview, TableInfo
from dbt_idivm.errors import Finding, IdivmError, Place, finding, nearest
from dbt_idivm.frontend.coercion import UntypedUnion
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import generator, lateral, lateral_join
from dbt_idivm.frontend.lateral import is_joined, lateral_query
from dbt_idivm.frontend.limit import first_of_each, limited, takes_first_rows
from dbt_idivm.frontend.names import Names
from dbt_idivm.frontend.pivot import pivoted
from dbt_idivm.frontend.resolve import Resolver, bare, is_limited, own_nodes
from dbt_idivm.frontend.scalar import with_scalars_of
from dbt_idivm.frontend.scope import Entry, Scope, Unknown
from dbt_idivm.frontend.select import Item, items, select
from dbt_idivm.frontend.sessions import Session
from dbt_idivm.frontend.set_operations import set_operation, united_all
from dbt_idivm.frontend.size import MOST_TABLES, too_large
from dbt_idivm.frontend.subquery import filtered, where
from dbt_idivm.frontend.tables import name_of
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.time_windows import calls_in, with_time_windows
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.frontend.values import rows_of
from dbt_idivm.operators import Join, OneRow, OuterJoin, Project, Scan, SemiAntiJoin
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.relation_name import name_parts

_CALLS: tuple[type[exp.Expr], ...] = (exp.Window, exp.AggFunc, exp.Grouping, exp.GroupingId)


@dataclass(frozen=True)
class Rows:
    """A query as operators, with the scope of its columns."""

    root: Operator
    scope: Scope


@dataclass
class Lowering:
    """The state of lowering one model: used names and numbers, and the findings so far. `views`: name → (text, parsed query)."""

    catalog: Catalog
    views: Mapping[str, tuple[Text, exp.Query]]
    names: Names = field(default_factory=Names)
    findings: list[Finding] = field(default_factory=list)
    places: dict[str, Place | None] = field(default_factory=dict)  # by occurrence
    subviews: list[Subview] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)  # by attribute
    ties: list[Finding] = field(default_factory=list)  # the refusals of orders that were completed
    unions: int = 0  # so many have a number
    untyped_unions: dict[int, UntypedUnion] = field(default_factory=dict)
    uncast: int = 0  # the number of INTERSECTs and EXCEPTs that still have the types of their left branch

    @property
    def is_to_be_repeated(self) -> bool:
        """Whether the model will be lowered again with types from the engine."""
        return bool(self.untyped_unions) or self.catalog.has_untyped_functions

    def query(self, node: exp.Expr, env: Env, name: str) -> Rows:
        """Lower any query. Its computed columns are called `<name>__<column>`."""
        if is_limited(node):
            return Rows(*limited(self, cast(exp.Query, node), env, name))
        if isinstance(node, exp.Subquery):
            return self.query(node.this, env.within(node), name)
        if isinstance(node, exp.SetOperation):
            return Rows(*set_operation(self, node, env.within(node), name))
        node, env = cast(exp.Select, node), env.within(node)
        root, scope = self.source(node, env)
        root = where(self, node, env, root, scope)
        node, root, scope = with_time_windows(self, node, env, root, scope, name)
        return Rows(*select(self, node, env, root, scope, name))

    def subquery(self, node: exp.Select, env: Env) -> tuple[Operator, Scope, list[exp.Expr], tuple[Item, ...]]:
        """(rows of FROM and WHERE of a subquery, its scope, its correlated conditions, its select list over the rows)."""
        for call in calls_in(node)[:1]:
            what = f"{env.text.source(call)} in a subquery at this place"
            self.findings.append(finding(208, env.text.place(call), what=what))
        root, scope = self.source(node, env)
        root, conditions = filtered(self, node, env, root, scope, correlate=True)
        root, scalars = with_scalars_of(self, node, env, root, scope)
        return root, scope, conditions, tuple(items(self, node, env, scope, root.types, scalars))

    def first_of_each(
        self, node: exp.Expr, env: Env, root: Operator, name: str, *, outer: bool
    ) -> tuple[Operator, tuple[Entry, ...]] | None:
        """Each row of `root` with the first rows of a subquery that belong to it; None if
        the subquery is not an ORDER BY with LIMIT.
        """
        if not takes_first_rows(node):
            return None
        return first_of_each(self, cast(exp.Select, node), env, root, name, outer=outer)

    def source(self, node: exp.Expr, env: Env) -> tuple[Operator, Scope]:
        """FROM with its joins, from left to right. A comma is a join as well: `a, b JOIN c` is `(a CROSS JOIN b) JOIN c`."""
        if not node.args.get("from_"):
            return OneRow(), Scope()
        root, scope = self.relation(node.args["from_"].this, env)
        for join in node.args.get("joins") or ():
            root, scope = self.join(root, scope, join, env)
        for view in node.args.get("laterals") or ():
            root, names = lateral(self, view, env, root, scope)
            scope = scope.plus(names)
        return root, scope

    def join(self, left: Operator, names: Scope, node: exp.Join, env: Env) -> tuple[Operator, Scope]:
        """left ⋈, ⟕, ⟗, ⋉ or ▷ the relation of one JOIN clause, with the scope of the result."""
        if isinstance(node.this, exp.Lateral):
            joined = lateral_query if is_joined(node.this) else lateral_join
            return joined(self, left, names, node, env)
        right, others = self.relation(node.this, env)
        shared = tuple(identifier.name for identifier in node.args.get("using") or ())
        if node.method == "NATURAL":
            shared = names.shared_with(others)
        try:
            scope, pairs = names.using(others, shared)
        except Unknown as error:
            self._not_shared(str(error), node, env, names)
            scope, pairs = names.plus(others), ()
        equal: list[exp.Expr] = [exp.EQ(this=column(one.attribute), expression=column(other.attribute)) for one, other in pairs]
        if node.args.get("on"):
            self.refuse_aggregates(node.args["on"], env, "ON")
            equal.append(bare(Resolver(scope, env, self.findings).resolve(node.args["on"])))
        condition = conjunction(equal) or cast(exp.Expr, exp.true())
        types = {**left.types, **right.types}
        self.findings += incomparable_operands(condition, types, env.text.place(node, "JOIN"))
        if node.kind in ("SEMI", "ANTI"):
            kept = tuple(entry for entry in scope.entries if entry.attribute in left.columns)
            return SemiAntiJoin(left, right, condition, anti=node.kind == "ANTI"), Scope(kept)
        if node.side:
            return self._outer(left, right, condition, pairs, scope, node)
        return Join(left, right, condition), scope

    def _outer(
        self,
        left: Operator,
        right: Operator,
        condition: exp.Expr,
        pairs: tuple[tuple[Entry, Entry], ...],
        scope: Scope,
        node: exp.Join,
    ) -> tuple[Operator, Scope]:
        """⟕ or ⟗; `left RIGHT JOIN right` becomes right ⟕ left. A USING column has the value of the
        preserved side; for ⟗ it is COALESCE of both.
        """
        name = self.names.outer_join(node.alias_or_name or "outer")
        if node.side == "LEFT":
            return OuterJoin(left, right, condition, name), scope
        if node.side == "RIGHT":
            return OuterJoin(right, left, condition, name), scope.shown({one: other for one, other in pairs})
        root: Operator = OuterJoin(left, right, condition, name, full=True)
        if not pairs:
            return root, scope
        merged = {one: Entry((), one.name, self.names.attribute(name, one.name)) for one, _ in pairs}
        definitions: dict[str, exp.Expr] = {each: column(each) for each in root.columns}
        for one, other in pairs:
            value = exp.Coalesce(this=column(one.attribute), expressions=[column(other.attribute)])
            definitions[merged[one].attribute] = value
        return Project(root, tuple(definitions.items())), scope.shown(merged)

    def relation(self, node: exp.Expr, env: Env) -> tuple[Operator, Scope]:
        """One item of FROM, with its alias and any joins inside its brackets."""
        alias = node.alias
        if isinstance(node, exp.Table):
            root, scope = self._table(node, env)
        elif isinstance(node, exp.Values):
            root, scope = self._values(node, env)
        elif isinstance(node.this, exp.Table):
            root, scope = self.relation(node.this, env)
        else:
            rows = self.query(node, env, alias or "subquery")
            root, scope = rows.root, rows.scope
            self._remember(alias, root, node.args.get("alias") or node, env)
        if alias:
            scope = self.aliased(scope, node, env)
        for each in node.args.get("pivots") or ():
            root, scope = pivoted(self, each, env, root, scope)
        for join in node.args.get("joins") or ():
            root, scope = self.join(root, scope, join, env)
        return root, scope

    def _values(self, node: exp.Values, env: Env) -> tuple[Operator, Scope]:
        """∪ of the rows of VALUES. Their types are determined as for UNION ALL."""
        name = node.alias or "values"
        branches = [Rows(root, scope) for root, scope in rows_of(self, node, env, name)]
        first = branches[0]
        if len(branches) == 1:
            return first.root, first.scope
        root, outputs = united_all(self, branches, env.text.place(node, "VALUES"), name, at_once=True)
        return root, Scope(
            tuple(replace(entry, attribute=output) for entry, output in zip(first.scope.entries, outputs, strict=True))
        )

    def _table(self, node: exp.Table, env: Env) -> tuple[Operator, Scope]:
        if len(node.parts) == 1 and node.name.lower() in env.ctes:
            cte, outside = env.ctes[node.name.lower()]
            rows = self.query(cte.this, outside, cte.alias)
            self._remember(cte.alias, rows.root, node, env)
            return rows.root, self.aliased(rows.scope, cte, outside)
        if generator(node.this):
            return lateral(self, node, env, OneRow(), Scope())
        if isinstance(node.this, exp.Func):
            raise IdivmError(finding(228, env.text.place(node), what=f"{env.text.source(node.this)} in FROM"))
        name = name_of(node)
        if name in self.views:
            text, tree = self.views[name]
            rows = self.query(tree, Env(text), node.alias or node.name)
            return rows.root, self._view_columns(rows.scope, name, node, env)
        return self._scan(self.catalog.tables[name], node, env)

    def _remember(self, name: str, root: Operator, node: exp.Expr, env: Env) -> None:
        """Record a subview that the model's own SELECT names. A config cannot name those inside plain SQL views."""
        if name and env.text.view is None:
            self.subviews.append(Subview(name, root, env.text.place(node)))

    def _scan(self, info: TableInfo, node: exp.Table, env: Env) -> tuple[Operator, Scope]:
        columns = tuple(attribute.name for attribute in info.columns)
        occurrence = self.names.occurrence(node.alias or node.name, columns)
        scan = Scan(info.table, occurrence, info.columns, info.key)
        self.places[occurrence] = env.text.place(node)
        if len(self.places) > MOST_TABLES:
            raise IdivmError(too_large(f"more than {MOST_TABLES:,} tables"))
        seen = {name.lower() for name in columns if info.visible is None}
        seen.update(name.lower() for name in info.visible or ())
        qualifier = _qualifier(info.name)
        shown = tuple(Entry(qualifier, c, scan.attribute(c)) for c in columns if c.lower() in seen)
        return scan, Scope(shown)

    def _view_columns(self, scope: Scope, name: str, node: exp.Table, env: Env) -> Scope:
        """The scope of a view's columns, under their names in the catalog."""
        shown = self.catalog.views[name].columns
        if shown is not None:
            scope, missing = scope.selected(tuple(selected for _, selected in shown))
            if missing:
                message = f"its text has no column {missing[0]}, or more than one"
                raise self.stopped_by(finding(307, env.text.place(node), source=name, message=message))
        renamed = scope.aliased(name, tuple(column for column, _ in shown or ()))
        return Scope(tuple(replace(entry, qualifier=_qualifier(name)) for entry in renamed.entries))

    def aliased(self, scope: Scope, node: exp.Expr, env: Env) -> Scope:
        """The scope under the alias of `node`, and under its column names if it lists them."""
        names = tuple(identifier.name for identifier in node.args["alias"].args.get("columns") or ())
        if names and len(names) != len(scope.visible):
            what = f"{len(names)} column names for the {len(scope.visible)} columns of {node.alias}"
            self.findings.append(finding(229, env.text.place(node.args["alias"]), what=what))
            names = ()
        return scope.aliased(node.alias, names)

    def extend_by_ids(self, root: Operator) -> None:
        """Record that `root` is replaced by its ID-extended form: the subviews in it are, too."""
        inside = {id(each) for each in operators(root)}
        self.subviews = [replace(each, root=infer_ids(each.root)) if id(each.root) in inside else each for each in self.subviews]

    def stopped_by(self, found: Finding) -> IdivmError:
        """An error with all findings so far and one after which lowering cannot continue."""
        return IdivmError([*self.findings, found])

    def refuse_aggregates(self, node: exp.Expr, env: Env, clause: str) -> None:
        """Report aggregates and window functions in a clause that may not contain them.

        In a subquery, an aggregate may belong to the outer query, which Spark supports. There is no rule for it.
        """
        text = env.text
        for call in (each for each in own_nodes(node) if isinstance(each, _CALLS)):
            kind = "window function" if isinstance(call, exp.Window) else "aggregate"
            what = f"{kind} {text.source(call)} in {clause}"
            self.findings.append(finding(208 if env.outer else 229, text.place(call), what=what))

    def _not_shared(self, word: str, node: exp.Join, env: Env, names: Scope) -> None:
        near = ", ".join(nearest(word, [entry.name for entry in names.visible]))
        self.findings.append(finding(221, env.text.place(node, "USING"), column=word, nearest=near))


def _qualifier(relation: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in name_parts(relation))
