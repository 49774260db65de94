"""The clauses of a SELECT above FROM and WHERE: select list, GROUP BY, HAVING, window functions, DISTINCT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type
from dbt_idivm.errors import finding
from dbt_idivm.frontend.aggregate import Grouping, is_aggregated
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import is_generating, with_elements
from dbt_idivm.frontend.grouping_sets import has_sets
from dbt_idivm.frontend.resolve import Resolver, bare, field_of
from dbt_idivm.frontend.scalar import Scalars, with_scalars_of
from dbt_idivm.frontend.scope import Ambiguous, Entry, Scope, Unknown
from dbt_idivm.frontend.subquery import where
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.types import incomparable_attributes
from dbt_idivm.frontend.window import windowed
from dbt_idivm.operators import Aggregate, Project

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering


@dataclass(frozen=True)
class Item:
    """One output column: its name, its expression over attributes, and the user's expression.

    `named` is False if the name is made up. `names` are the column names of a generator with several columns.
    """

    name: str
    expression: exp.Expr
    raw: exp.Expr
    named: bool = True
    names: tuple[str, ...] = ()


def select(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope, name: str) -> tuple[Operator, Scope]:
    """γ, σ, μ, ω, π and γ above the rows that satisfy WHERE, as far as the query has them; with the scope of the result."""
    text = env.text
    grouped = is_aggregated(node)
    clause = node.args.get("group")
    if grouped and is_generating(node) and (node.args.get("having") or (clause or node).args.get("all") or has_sets(clause)):
        what = "a generator next to HAVING, GROUP BY ALL or grouping sets"
        lowering.findings.append(finding(228, text.place(node, "SELECT"), what=what))
    root, scalars = with_scalars_of(lowering, node, env, root, scope)
    selected = tuple(items(lowering, node, env, scope, root.types, scalars))
    if grouped:
        grouping = Grouping(lowering, node, env, root, scope, name, scalars=scalars, again=lambda: _again(lowering, node, env))
        root, expressions = grouping.apply(selected)
        selected = tuple(replace(i, expression=e) for i, e in zip(selected, expressions, strict=True))
    root, selected = with_elements(lowering, env, root, selected, name)
    root, selected = windowed(lowering, env, root, selected, name)
    root, scope = _project(lowering, root, selected, name)
    if node.args.get("distinct"):
        groups = tuple(dict.fromkeys(entry.attribute for entry in scope.entries))
        place = text.place(node, "SELECT")
        lowering.findings += incomparable_attributes(groups, root, place, "SELECT DISTINCT")
        root = Aggregate(root, groups, ())
    return root, scope


def _again(lowering: Lowering, node: exp.Select, env: Env) -> Operator:
    """Lower the rows of FROM and WHERE and the values of subqueries again, with other attributes at the same positions."""
    root, scope = lowering.source(node, env)
    return with_scalars_of(lowering, node, env, where(lowering, node, env, root, scope), scope)[0]


def items(
    lowering: Lowering,
    node: exp.Select,
    env: Env,
    scope: Scope,
    types: Mapping[str, exp.DataType],
    scalars: Scalars = MappingProxyType({}),
) -> Iterator[Item]:
    """The select list with stars expanded. An item may use the aliases before it if FROM has no such column.

    `types`: types of the attributes in scope. `scalars`: values of the subqueries in the list.
    """
    aliases: dict[str, list[exp.Expr]] = {}
    resolver, text = Resolver(scope, env, lowering.findings, aliases, scalars=scalars), env.text
    for raw in node.expressions:
        if raw.is_star and not isinstance(raw, exp.Count):
            yield from _star(lowering, raw, text, scope, types)
            continue
        inner = raw.this if isinstance(raw, exp.Alias | exp.Aliases) else raw
        names = tuple(each.name for each in raw.expressions) if isinstance(raw, exp.Aliases) else ()
        item = Item(_name(raw), resolver.resolve(inner), inner, bool(_name(raw)), names)
        if isinstance(raw, exp.Alias):
            aliases.setdefault(item.name.lower(), []).append(item.expression)
        yield item if item.named else replace(item, name=text.source(raw))


def _star(lowering: Lowering, raw: exp.Expr, text: Text, scope: Scope, types: Mapping[str, exp.DataType]) -> Iterator[Item]:
    """The columns of `*` or `t.*`, or the fields of a struct, except those after EXCEPT."""
    qualifier = tuple(part.name for part in raw.parts[:-1]) if isinstance(raw, exp.Column) else ()
    star = raw.this if isinstance(raw, exp.Column) else raw
    left_out = {each.name.lower() for each in star.args.get("except_") or ()}
    found: list[Item] | None
    try:
        found = [Item(entry.name, column(entry.attribute), raw, entry.named) for entry in scope.star(qualifier)]
    except Unknown:
        found = _fields(qualifier, raw, scope, types)
        if found is None:
            lowering.findings.append(finding(228, text.place(raw), what="a star over a struct whose fields are not known"))
            return
        if not found:
            known = sorted({".".join(entry.qualifier) for entry in scope.entries if entry.qualifier})
            lowering.findings.append(finding(221, text.place(raw), column=raw.sql(DIALECT), nearest=", ".join(known)))
            return
    for name in left_out - {item.name.lower() for item in found}:
        near = ", ".join(item.name for item in found)
        lowering.findings.append(finding(221, text.place(raw), column=name, nearest=near))
    yield from (item for item in found if item.name.lower() not in left_out)


def _fields(name: tuple[str, ...], raw: exp.Expr, scope: Scope, types: Mapping[str, exp.DataType]) -> list[Item] | None:
    """The fields of the struct that a dotted name refers to; [] if it is not a struct, None if its type is unknown."""
    try:
        entry, path = scope.resolve(name)
    except (Unknown, Ambiguous):
        return []
    kind = infer_type(field_of(entry, path), types)
    if kind.this in (exp.DataType.Type.UNKNOWN, exp.DataType.Type.OBJECT):
        return None
    fields = kind.expressions if kind.this == exp.DataType.Type.STRUCT else []
    return [Item(each.name, field_of(entry, (*path, each.name)), raw) for each in fields]


def _name(raw: exp.Expr) -> str:
    """The column name that Spark gives the item, if a table can have such a column; else ""."""
    if isinstance(raw, exp.Alias):
        return str(raw.alias)
    inner = bare(raw)
    if isinstance(inner, exp.Cast | exp.TryCast) and isinstance(inner.this, exp.Column | exp.Dot):
        inner = inner.this
    if isinstance(inner, exp.Column):
        return inner.name
    if isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):  # not a function call
        return str(inner.expression.name)
    return inner.name if isinstance(inner, exp.Literal) else ""


def _project(lowering: Lowering, root: Operator, items: tuple[Item, ...], name: str) -> tuple[Operator, Scope]:
    """(π if an item is computed, else `root`; the scope). Attributes that pass through keep their names."""
    definitions: dict[str, exp.Expr] = {}
    entries = []
    for item in items:
        expression = bare(item.expression)
        if isinstance(expression, exp.Column):
            attribute = expression.name
            definitions[attribute] = column(attribute)
        else:
            attribute = lowering.names.attribute(name, item.name)
            definitions[attribute] = expression
        entries.append(Entry((), item.name, attribute, named=item.named))
    computed = any(not isinstance(definition, exp.Column) for definition in definitions.values())
    return Project(root, tuple(definitions.items())) if computed else root, Scope(tuple(entries))
