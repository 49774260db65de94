"""WHERE with EXISTS and IN over queries → σ, then ⋉ and ▷.

    WHERE a AND EXISTS (SELECT … FROM r WHERE p(r) AND q(r, l))     σ_a(l) ⋉_q σ_p(r)
    WHERE x NOT IN (SELECT y FROM r)                                l ▷_{x = y OR (x = y) IS NULL} r

A name refers to a column of the subquery's own FROM, otherwise to one of the outer query. Such correlated names are allowed in
the AND-ed parts of the subquery's WHERE; anywhere else, or if they refer to a query further out, they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, operand
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type, is_numeric, is_text
from dbt_idivm.errors import finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.resolve import Resolver, bare, is_existence, subqueries_in
from dbt_idivm.frontend.scalar import Scalars, is_row_by_row, with_scalars
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.operators import Select, SemiAntiJoin

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering


@dataclass(frozen=True)
class Existence:
    """An EXISTS or IN over a query as a conjunct of WHERE; `anti` under an odd number of NOTs."""

    node: exp.Expr
    anti: bool

    @property
    def query(self) -> exp.Expr:
        """The subquery without the brackets around it."""
        found: exp.Expr = self.node.args["query"] if isinstance(self.node, exp.In) else self.node.this
        while isinstance(found, exp.Subquery) and not found.args.get("with_"):
            found = found.this
        return found


def is_conjunct(node: exp.Expr) -> bool:
    """Whether the condition `node` is, perhaps negated, one of the AND-ed parts of a WHERE clause."""
    joined, parent = False, node.parent
    while isinstance(parent, exp.Paren | exp.And) or (isinstance(parent, exp.Not) and not joined):
        joined = joined or isinstance(parent, exp.And)
        parent = parent.parent
    return isinstance(parent, exp.Where) and not isinstance(parent.parent, exp.Filter)  # WHERE of a query


def parts_of(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The AND-ed parts, whatever their brackets."""
    inner = bare(condition)
    if isinstance(inner, exp.And):
        yield from parts_of(inner.left)
        yield from parts_of(inner.right)
    else:
        yield condition


def existence_of(part: exp.Expr) -> Existence | None:
    """The conjunct as a test; None for any other condition."""
    anti, node = False, bare(part)
    while isinstance(node, exp.Not):
        anti, node = not anti, bare(node.this)
    return Existence(node, anti) if is_existence(node) else None


def where(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope) -> Operator:
    """σ, ⋉ and ▷ above the rows of FROM, each only where WHERE has it. Names of queries around are refused."""
    root, correlated = filtered(lowering, node, env, root, scope, correlate=False)
    assert not correlated
    return root


def filtered(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope, *,
             correlate: bool) -> tuple[Operator, list[exp.Expr]]:
    """The rows that satisfy WHERE, and with `correlate` its conditions that also refer to the outer query, over attributes."""
    clause = node.args.get("where")
    if clause is None:
        return root, []
    parts = list(parts_of(clause.this))
    tests = [test for test in map(existence_of, parts) if test is not None]
    whole = [clause.this] if not tests and not correlate else [part for part in parts if existence_of(part) is None]
    correlated: list[exp.Expr] = []

    def kept(root: Operator, parts: Sequence[exp.Expr], scalars: Scalars) -> Operator:
        resolver = Resolver(scope, env, lowering.findings, correlate=correlate, scalars=scalars)
        local = []
        for part in parts:
            lowering.refuse_aggregates(part, env, "WHERE")
            condition = bare(resolver.resolve(part))
            if set(attributes(condition)) <= set(root.columns):
                lowering.findings += incomparable_operands(condition, root.types, env.text.place(part))
                local.append(condition)
            else:
                correlated.append(condition)
        if not local:
            return root
        return Select(root, local[0] if len(local) == 1 else cast(exp.Expr, conjunction(local)))

    root = kept(root, [part for part in whole if not subqueries_in(part)], {})
    for part in (part for part in whole if subqueries_in(part)):
        root, scalars = with_scalars(lowering, part, env, root, scope)
        root = kept(root, [part], scalars)
    for test in tests:
        root = tested(lowering, test, env, root, scope)
    return root, correlated


def tested(lowering: Lowering, test: Existence, env: Env, root: Operator, scope: Scope) -> Operator:
    """root ⋉ or ▷ the subquery of one test."""
    inner, conditions, columns = rows_of(lowering, test, env.below(scope))
    if isinstance(test.node, exp.In):
        conditions.append(membership(lowering, test, env, scope, columns, {**root.types, **inner.types}))
    condition = conjunction(conditions) or cast(exp.Expr, exp.true())
    place = env.text.place(test.node)
    lowering.findings += incomparable_operands(condition, {**root.types, **inner.types}, place)
    return SemiAntiJoin(root, inner, condition, test.anti)


def rows_of(lowering: Lowering, test: Existence, env: Env) -> tuple[Operator, list[exp.Expr], list[exp.Expr]]:
    """The rows of a subquery, its correlated conditions, and its columns over its attributes.

    DISTINCT does not matter.
    """
    node = test.query
    if not is_row_by_row(node):
        rows = lowering.query(node, env, "subquery")
        return rows.root, [], [column(entry.attribute) for entry in rows.scope.entries]
    root, _, conditions, selected = lowering.subquery(cast(exp.Select, node), env.within(node))
    return root, conditions, [item.expression for item in selected]


def membership(lowering: Lowering, test: Existence, env: Env, scope: Scope, columns: list[exp.Expr],
               types: dict[str, exp.DataType]) -> exp.Expr:
    """Whether the tested values equal a row of the subquery; for ▷ true also where that is unknown."""
    left = test.node.this
    lowering.refuse_aggregates(left, env, "WHERE")
    raw = left.expressions if isinstance(left, exp.Tuple) else [left]
    place = env.text.place(test.node)
    values = [bare(Resolver(scope, env, lowering.findings).resolve(each)) for each in raw]
    if len(values) != len(columns):
        what = f"IN of {len(values)} values over a query of {len(columns)} columns"
        lowering.findings.append(finding(229, place, what=what))
        return cast(exp.Expr, exp.true())
    for value, item in zip(values, columns, strict=True):
        one, other = infer_type(value, types), infer_type(item, types)
        unknown = exp.DataType.Type.UNKNOWN in (one.this, other.this)
        if unknown and lowering.untyped_unions:
            continue  # it is lowered again with the types of these unions
        if unknown or not _is_comparable(one, other):
            what = f"IN that compares {one.sql('spark').lower()} with {other.sql('spark').lower()} (CAST one of them)"
            lowering.findings.append(finding(208, place, what=what))
    equal = [exp.EQ(this=operand(value), expression=operand(bare(item))) for value, item in zip(values, columns, strict=True)]
    return cast(exp.Expr, conjunction(map(or_unknown, equal) if test.anti else equal))


def or_unknown(test: exp.Expr) -> exp.Expr:
    """True also where `test` is NULL; in the form in which Spark recognises a NOT IN that it can hash."""
    return exp.or_(test, exp.Is(this=operand(test), expression=exp.null()))


def _is_comparable(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether IN and = compare the two in the same way whatever Spark's rules of conversion."""
    return one == other or (is_numeric(one) and is_numeric(other)) or (is_text(one) and is_text(other))
