"""Literal key ranges, so that Delta skips files: a scan cannot use a join with inlined rows for that, but it can use a range.

    FROM orders AS o JOIN d_upd__parts AS d ON o.pid <=> d.pid      d holds pid 7, 9, 12
    … WHERE o.pid BETWEEN 7 AND 12

    … WHERE o.pid = 7 OR o.pid = 9 OR o.pid = 12                    in a large table

A range is added if an equality that holds for every result row ties a column of a table to a value that comes only from inlined
rows, or from staged rows whose range was queried. It is implied by that equality, so the rows stay the same. The same holds for
the ON of a MERGE.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from sqlglot import exp

from dbt_idivm.algebra.decimals import DIGITS, MOST_DIGITS, size_of
from dbt_idivm.algebra.expressions import conjuncts
from dbt_idivm.relation_name import relation_name
from dbt_idivm.script.value_range import TEXT, Range, inlined, integer, joined

Tree = TypeVar("Tree", bound=exp.Expr)
Types: TypeAlias = Mapping[tuple[str, str], exp.DataType]
# From this number of rows on, reading the rows between the values takes longer than planning one condition per interval.
MANY_ROWS = 2_000_000
Columns: TypeAlias = dict[tuple[str, str], Range]  # (alias, column) → the range of its values


def add_key_ranges(
    tree: Tree,
    types: Types = MappingProxyType({}),
    staged: Mapping[tuple[str, str], Range] = MappingProxyType({}),
    large: frozenset[str] = frozenset(),
) -> Tree:
    """Add literal ranges to the statement, which is changed in place and returned.

    `types`: (table, column) → its type; a column of unknown type gets no range. Only strings get a range of text: a
    number that is compared with text is compared as a number, and as text '10' comes before '9'. Only integers and
    decimals get a range of integers. `staged`: (staged relation, column) → the range of its values, where it is known.
    `large`: the tables with MANY_ROWS or more.
    """
    found = _Ranges(types, staged, large)
    if isinstance(tree, exp.Merge):
        found.merge(tree)
    elif isinstance(tree, exp.Insert):
        found.query(tree.expression)
    elif isinstance(tree, exp.Query):
        found.query(tree)
    return tree


@dataclass(frozen=True)
class _Scope:
    """The scope of a SELECT: its sources by alias, the visible CTEs, and the enclosing scope."""

    sources: Mapping[str, exp.Expression] = field(default_factory=dict)
    nullable: frozenset[str] = frozenset()  # aliases of sources that an outer join pads with NULLs
    ctes: Mapping[str, tuple[exp.Query, _Scope]] = field(default_factory=dict)
    parent: _Scope | None = None

    def source(self, alias: str) -> tuple[exp.Expression, _Scope] | None:
        if alias in self.sources:
            return self.sources[alias], self
        return self.parent.source(alias) if self.parent else None


class _Ranges:
    """Adds ranges to one statement."""

    def __init__(self, types: Types, staged: Mapping[tuple[str, str], Range], large: frozenset[str]) -> None:
        self._types, self._staged, self._large = types, staged, large
        self._known: dict[tuple[int, str], Range | None] = {}
        self._selects: dict[int, Columns] = {}

    def merge(self, tree: exp.Merge) -> None:
        source, target = tree.args["using"], tree.this
        if not isinstance(source, exp.Subquery):
            return
        self.query(source.this)
        scope = _Scope({target.alias_or_name: target, source.alias: source})
        on = tree.args["on"]
        added = [
            self._test(on, (alias, name), found, target)
            for (alias, name), found in self._bounds(on, scope).items()
            if alias == target.alias_or_name
        ]
        if added:
            tree.set("on", exp.and_(*conjuncts(on), *added, copy=False))

    def query(self, query: exp.Expr, outer: _Scope | None = None) -> None:
        """Add ranges to every SELECT of `query`, inner ones first."""
        scope = _Scope(ctes=outer.ctes if outer else {}, parent=outer)
        scope = self._with(query, scope, visit=True)
        if isinstance(query, exp.Subquery):
            self.query(query.this, scope)
        elif isinstance(query, exp.SetOperation):
            self.query(query.this, scope)
            self.query(query.expression, scope)
        elif isinstance(query, exp.Select):
            self._select(query, scope)

    def _select(self, query: exp.Select, outer: _Scope) -> None:
        scope = _inside(query, outer)
        for inner in _nested(query):
            self.query(inner, scope)
        added = [
            self._test(query, (alias, name), found, scope.sources[alias])
            for (alias, name), found in self._select_bounds(query, scope).items()
            if alias in scope.sources
        ]
        if added:
            where = query.args.get("where")
            parts = conjuncts(where.this) if where else ()
            query.set("where", exp.Where(this=exp.and_(*parts, *added, copy=False)))

    def _test(self, within: exp.Expression, of: tuple[str, str], found: Range, source: exp.Expression) -> exp.Expression:
        """The range condition on the column `of`, as (alias, column), of a table that `within` mentions."""
        return found.test(_column(within, *of), in_parts=_table_name(source) in self._large)

    def _with(self, query: exp.Expr, scope: _Scope, *, visit: bool = False) -> _Scope:
        """The scope with the CTEs of `query`. Each of these sees those before it."""
        clause = query.args.get("with_")
        for cte in clause.expressions if clause else ():
            if visit:
                self.query(cte.this, scope)
            scope = replace(scope, ctes={**scope.ctes, cte.alias: (cte.this, scope)})
        return scope

    def _select_bounds(self, query: exp.Select, scope: _Scope) -> Columns:
        """The ranges that hold for every row of FROM and WHERE, found once: those that are added imply no others."""
        if id(query) not in self._selects:
            self._selects[id(query)] = self._bounds_of_rows(query, scope)
        return self._selects[id(query)]

    def _bounds_of_rows(self, query: exp.Select, scope: _Scope) -> Columns:
        found = self._bounds(query.args["where"].this, scope) if query.args.get("where") else {}
        joins = query.args.get("joins") or []
        if not any(join.side in ("FULL", "RIGHT") for join in joins):
            for join in joins:
                if join.args.get("on") is not None and not join.side and join.kind in ("", "INNER"):
                    found = {**self._bounds(join.args["on"], scope), **found}
        return found

    def _bounds(self, condition: exp.Expr, scope: _Scope) -> Columns:
        """The ranges of table columns that `condition` implies."""
        found: Columns = {}
        for part in conjuncts(condition.unnest()):
            part = part.unnest()
            if isinstance(part, exp.And):
                implied = self._bounds(part, scope)
            elif isinstance(part, exp.Or):
                implied = self._either(part, scope)
            elif isinstance(part, exp.Exists) and isinstance(part.this, exp.Select):
                implied = self._exists(part.this, scope)
            elif isinstance(part, exp.EQ | exp.NullSafeEQ):
                implied = self._equal(part, scope)
            else:
                continue
            found = {**implied, **found}
        return found

    def _exists(self, query: exp.Select, outer: _Scope) -> Columns:
        """The ranges that EXISTS implies for columns of the enclosing queries."""
        if not query.args.get("group") and any(each.find(exp.AggFunc) for each in query.expressions):
            return {}  # an aggregate without groups always has a row
        scope = _inside(query, self._with(query, _Scope(ctes=outer.ctes, parent=outer)))
        return {key: found for key, found in self._select_bounds(query, scope).items() if key[0] not in scope.sources}

    def _either(self, condition: exp.Or, scope: _Scope) -> Columns:
        """The ranges that both sides imply, joined. In a long chain the right side is the short one, so it is examined first."""
        right = self._bounds(condition.right, scope)
        left = self._bounds(condition.left, scope) if right else {}
        joined = {key: left[key] | right[key] for key in left if key in right}
        return {key: found for key, found in joined.items() if found is not None}

    def _equal(self, condition: exp.Binary, scope: _Scope) -> Columns:
        found: Columns = {}
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if not isinstance(one, exp.Column) or not isinstance(other, exp.Column):
                continue
            values = self._column(other, scope)
            if values is None or values.family is None or values.is_long:
                continue
            if self._is_ordered_alike(one, values, scope):
                found[one.table, one.name] = values if isinstance(condition, exp.NullSafeEQ) else replace(values, has_null=False)
        return found

    def _is_ordered_alike(self, column: exp.Column, values: Range, scope: _Scope) -> bool:
        """Whether `column` belongs to a table, and the engine compares it with these values in the same order as we do."""
        at = scope.source(column.table)
        if at is None or not _is_table(*at):
            return False
        known = self._types.get((_table_name(at[0]), column.name))
        if known is None:
            return False
        if values.family == "int":
            return _is_compared_exactly(known)
        return known.this in TEXT if values.family == "text" else known.this != exp.DataType.Type.BOOLEAN

    def _column(self, column: exp.Column, scope: _Scope) -> Range | None:
        """The range of a column, if its values come only from inlined rows; else None."""
        alias = column.table or (next(iter(scope.sources)) if len(scope.sources) == 1 else "")
        at = scope.source(alias)
        if at is None:
            return None
        source, where = at
        found = self._output(source, column.name, where)
        if found is not None and alias in where.nullable:
            found = replace(found, has_null=True)
        return found

    def _output(self, source: exp.Expr, name: str, scope: _Scope) -> Range | None:
        """The range of the output column `name` of a source or query."""
        if isinstance(source, exp.Table):
            if source.db:
                return None
            cte = scope.ctes.get(source.name)
            return self._output(cte[0], name, cte[1]) if cte else self._staged.get((source.name, name))
        key = (id(source), name)
        if key not in self._known:
            self._known[key] = None  # also ends a recursive WITH
            self._known[key] = self._query_output(source, name, scope)
        return self._known[key]

    def _query_output(self, query: exp.Expr, name: str, scope: _Scope) -> Range | None:
        if isinstance(query, exp.Values):
            return None
        scope = self._with(query, _Scope(ctes=scope.ctes, parent=scope))
        if isinstance(query, exp.Subquery):
            return self._output(query.this, name, scope)
        if isinstance(query, exp.Union):
            sides = [self._nth(side, _position(query, name), scope) for side in (query.this, query.expression)]
            return sides[0] | sides[1] if sides[0] is not None and sides[1] is not None else None
        return self._projected(query, name, scope) if isinstance(query, exp.Select) else None

    def _nth(self, query: exp.Expression, position: int | None, scope: _Scope) -> Range | None:
        names = query.named_selects if isinstance(query, exp.Query) else []
        if position is None or position >= len(names):
            return None
        return self._output(query, names[position], scope)

    def _projected(self, query: exp.Select, name: str, outer: _Scope) -> Range | None:
        selected = [each for each in query.expressions if each.alias_or_name == name and not each.is_star]
        scope = _inside(query, outer)
        if not selected and any(each.is_star for each in query.expressions) and len(scope.sources) == 1:
            return self._column(exp.column(name), scope)
        return self._value(query, selected[0].unalias(), scope) if len(selected) == 1 else None

    def _value(self, query: exp.Select, value: exp.Expression, scope: _Scope) -> Range | None:
        """The range of an expression in the SELECT list."""
        if isinstance(value, exp.Cast) and isinstance(value.this, exp.Column):
            return inlined(query, value)
        if isinstance(value, exp.Null):
            return Range(None, has_null=True)
        number = integer(value)
        if number is not None:
            return Range("int", number, number)
        if isinstance(value, exp.Case):
            branches = [*(each.args["true"] for each in value.args["ifs"]), value.args.get("default") or exp.null()]
            return joined(self._value(query, branch, scope) for branch in branches)
        if isinstance(value, exp.Column):
            # a column of a table, in the range to which this SELECT restricts it
            return self._column(value, scope) or self._select_bounds(query, scope).get((value.table, value.name))
        return None


def _inside(query: exp.Select, outer: _Scope) -> _Scope:
    """The scope for expressions of a SELECT."""
    sources: dict[str, exp.Expression] = {}
    nullable: set[str] = set()
    first = query.args.get("from_")
    if first is not None:
        sources[first.this.alias_or_name] = first.this
    for join in query.args.get("joins") or ():
        if join.side in ("RIGHT", "FULL"):
            nullable.update(sources)
        if join.side in ("LEFT", "FULL"):
            nullable.add(join.this.alias_or_name)
        sources[join.this.alias_or_name] = join.this
    return _Scope(sources, frozenset(nullable), outer.ctes, outer)


def _nested(query: exp.Select) -> Iterator[exp.Query]:
    """The queries directly inside a SELECT, except in its WITH clause: derived tables and subqueries in expressions."""
    for part in query.iter_expressions():
        if not isinstance(part, exp.With) and part.find(exp.Query) is not None:
            yield from (node for node in part.walk(prune=_is_query) if isinstance(node, exp.Query))


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def _is_table(source: exp.Expression, scope: _Scope) -> bool:
    return (
        isinstance(source, exp.Table)
        and isinstance(source.this, exp.Identifier)
        and (bool(source.db) or source.name not in scope.ctes)
    )


# Wrong for other types. Compared with a literal, which is an INT, a text is cast to INT, but compared with a BIGINT it is cast to
# BIGINT: '3000000000' >= 7 is NULL. A DECIMAL(38, 20) is rounded to a scale of 18 when it is compared with a BIGINT, so that
# 5.00000000000000000001 = 5, but not when it is compared with the literal.
def _is_compared_exactly(kind: exp.DataType) -> bool:
    """Whether a column of the type is compared without rounding, both with integers of any type and with literals."""
    size = size_of(kind)
    return size is not None and max(size[0] - size[1], DIGITS[exp.DataType.Type.BIGINT]) + size[1] <= MOST_DIGITS


def _table_name(source: exp.Expression) -> str:
    return relation_name(*(part.name for part in source.parts)) if isinstance(source, exp.Table) else ""


def _column(query: exp.Expression, alias: str, name: str) -> exp.Column:
    """The column as the statement already contains it, so that its quotes are kept."""
    return next(found.copy() for found in query.find_all(exp.Column) if found.table == alias and found.name == name)


def _position(query: exp.Union, name: str) -> int | None:
    names = query.named_selects
    return names.index(name) if names.count(name) == 1 else None
