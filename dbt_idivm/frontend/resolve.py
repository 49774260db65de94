"""The user's expressions → expressions over attributes. Findings are collected, never raised here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.algebra.aggregates import function_of
from dbt_idivm.algebra.decimals import is_integral
from dbt_idivm.algebra.expressions import DIALECT, as_attribute, column, identifier
from dbt_idivm.algebra.types import Inferred, infer_type, inferred
from dbt_idivm.errors import Finding, finding, nearest
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.scope import Ambiguous, Entry, Scope, Unknown

_TIGHT = (exp.Binary, exp.Unary, exp.Between, exp.In)


# Lower-case alias → expressions of the select items with this alias. An alias of two items refers to neither.
Aliases = Mapping[str, list[exp.Expr]]


@dataclass
class Resolver:
    """Resolves names at one place of a query. A name that is not in the scope may be one of `aliases`, or a field of one.

    `correlate`: whether a name may refer to a column of the directly enclosing query.
    """

    scope: Scope
    env: Env
    findings: list[Finding]
    aliases: Aliases = field(default_factory=dict)
    correlate: bool = False
    scalars: Mapping[int, exp.Expr] = field(default_factory=dict)  # id of a subquery's node → its value

    def resolve(self, expression: exp.Expr) -> exp.Expr:
        """A copy of `expression` in which each column is an attribute of the plan; NULL,
        with a finding, if it cannot be resolved.

        Subqueries, EXISTS and IN are replaced by their values in `scalars`.
        """
        found = {id(node): self._column(node) for node in own_nodes(expression) if isinstance(node, exp.Column)}
        found |= {id(node): self._query(node) for node in subqueries_in(expression)}
        return _substituted(expression, found)

    def _query(self, node: exp.Expr) -> exp.Expr:
        value = self.scalars.get(id(node))
        if value is None:
            self.findings.append(finding(208, self.env.text.place(node, "SELECT"), what="a subquery at this place"))
            return exp.null()
        return exp.Paren(this=value.copy()) if isinstance(value, _TIGHT) else value

    def alias(self, node: exp.Column) -> exp.Expr | None:
        """The expression that the name refers to as an alias, or as a field of one;
        None if it is no alias or an ambiguous one.
        """
        name, *fields = (part.name for part in node.parts)
        found = self.aliases.get(name.lower(), [])
        if len(found) != 1:
            return None
        if not fields or isinstance(found[0], exp.Column):
            return with_fields(_spliced(found[0]), fields)
        return with_fields(exp.paren(found[0]), fields)

    def _column(self, node: exp.Column) -> exp.Expr:
        parts = tuple(part.name for part in node.parts)
        try:
            entry, fields = self.scope.resolve(parts)
        except Unknown:
            alias = self.alias(node)
            return self._around(node, parts) if alias is None else alias
        except Ambiguous as error:
            return self._ambiguous(node, error)
        return field_of(entry, fields)

    def _around(self, node: exp.Column, parts: tuple[str, ...]) -> exp.Expr:
        """A name that is not in FROM: the column of the nearest enclosing query that has it, if correlation is allowed here."""
        for number, scope in enumerate(reversed(self.env.outer)):
            try:
                entry, fields = scope.resolve(parts)
            except Unknown:
                continue
            except Ambiguous as error:
                return self._ambiguous(node, error)
            if self.correlate and number == 0:
                return field_of(entry, fields)
            self.findings.append(finding(208, self.env.text.place(node), what=f"the outer column {_dotted(node)} at this place"))
            return exp.null()
        return self._unknown(node)

    def _ambiguous(self, node: exp.Column, error: Ambiguous) -> exp.Expr:
        self._report(222, node, candidates=", ".join(map(str, error.entries)))
        return exp.null()

    def _unknown(self, node: exp.Column) -> exp.Expr:
        hidden = functions.HIDDEN_COLUMN in (part.name.lower() for part in node.parts)
        if hidden or (len(node.parts) == 1 and node.name.lower() in functions.BARE):
            self.findings.append(finding(204 if hidden else 206, self.env.text.place(node), function=_dotted(node)))
            return exp.null()
        known = [entry.name for entry in self.scope.visible]
        if len(node.parts) > 1:
            known = [str(entry) for entry in self.scope.entries]
        self._report(221, node, nearest=", ".join(nearest(_dotted(node), known)) or "(there are none)")
        return exp.null()

    def _report(self, code: int, node: exp.Column, **details: str) -> None:
        self.findings.append(finding(code, self.env.text.place(node), column=_dotted(node), **details))


def is_existence(node: exp.Expr) -> bool:
    """Whether this is EXISTS or IN over a query."""
    return (isinstance(node, exp.Exists) and isinstance(node.this, exp.Query)) or (
        isinstance(node, exp.In) and node.args.get("query") is not None
    )


def is_limited(query: exp.Expr) -> bool:
    """Whether the query has LIMIT or OFFSET."""
    return bool(query.args.get("limit") or query.args.get("offset"))


def own_nodes(expression: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression, except those inside its subqueries."""
    has_queries = expression.find(exp.Query) is not None  # shortcut: most have none, and testing each node is slower
    return iter(expression.walk(prune=_is_subquery if has_queries else None))


_NULLS = (exp.IgnoreNulls, exp.RespectNulls)


def without_nulls_clause(call: exp.Expr) -> exp.Expr:
    """The function itself, without IGNORE NULLS or RESPECT NULLS."""
    return call.this if isinstance(call, _NULLS) else call


def is_over_window(node: exp.Expr) -> bool:
    """Whether this node is the function of a window, and not something else inside one."""
    above = node.parent.parent if isinstance(node.parent, _NULLS) else node.parent
    return isinstance(above, exp.Window) and (above.this is node or without_nulls_clause(above.this) is node)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether this is a whole aggregate over groups, not one with OVER."""
    return function_of(node) is not None and not is_over_window(node)


def subqueries_in(expression: exp.Expr) -> list[exp.Expr]:
    """The outermost subqueries of an expression: scalar ones, EXISTS, and IN over a query."""
    return [] if expression.find(exp.Query) is None else [node for node in own_nodes(expression) if _is_subquery(node)]


def _is_subquery(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query) or is_existence(node)


def field_of(entry: Entry, fields: tuple[str, ...]) -> exp.Expr:
    """The column, or the struct field inside it."""
    return with_fields(column(entry.attribute), fields)


def with_fields(value: exp.Expr, fields: Iterable[str]) -> exp.Expr:
    """The struct field at the end of the path `fields`, starting from the value."""
    for name in fields:
        value = exp.Dot(this=value, expression=identifier(name))
    return value


def _dotted(node: exp.Column) -> str:
    return ".".join(part.name for part in node.parts)


def _spliced(expression: exp.Expr) -> exp.Expr:
    """A copy that keeps its precedence wherever it is inserted."""
    copy = as_attribute(expression).copy()
    return exp.Paren(this=copy) if isinstance(copy, _TIGHT) else copy


def _substituted(node: exp.Expr, found: Mapping[int, exp.Expr]) -> exp.Expr:
    """A copy of `node`, without positions and comments, in which the nodes in `found` (by id) are replaced."""
    return found[id(node)].copy() if id(node) in found else rebuilt(node, lambda each: _substituted(each, found))


def rebuilt(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """A copy of `node` with `change` applied to each child."""
    return node.__class__(**{key: _mapped(value, change) for key, value in node.args.items()})


def _mapped(value: object, change: Callable[[exp.Expr], exp.Expr]) -> object:
    """An argument of a node, with `change` applied to the nodes in it."""
    if isinstance(value, exp.Expr):
        return change(value)
    return [_mapped(each, change) for each in value] if isinstance(value, list) else value


def bare(expression: exp.Expr) -> exp.Expr:
    """The expression without the brackets around it."""
    return expression.unnest()


# The structure of an expression: equal exactly for expressions that Spark considers equal.
Canonical = tuple[object, ...]
Types = Mapping[str, exp.DataType]


def canonical(expression: exp.Expr, types: Types) -> Canonical:
    """The structure by which Spark recognises equal expressions, in GROUP BY and among aggregates.

    The operands of commutative operators, and of IN, are unordered; a > b equals b < a, and NOT a > b equals a <= b. Otherwise
    brackets matter, as they are part of the tree: a - (b - c) is not a - b - c.
    """
    return _canonical(expression, inferred(types))


def _canonical(expression: exp.Expr, types: Inferred) -> Canonical:
    node = _negated(bare(expression))
    if isinstance(node, exp.Identifier):
        return ("Identifier", node.name)
    if isinstance(node, exp.Greatest | exp.Least):
        return (type(node).__name__, *_unordered(node.iter_expressions(), types))
    if isinstance(node, exp.In) and node.args.get("expressions") and not node.args.get("query"):
        return ("In", _canonical(node.this, types), *_unordered(node.expressions, types))
    if isinstance(node, _CHAINED):
        return (type(node).__name__, *_unordered(_chain(node, types), types))
    if isinstance(node, _SYMMETRIC):
        return (type(node).__name__, *_unordered((node.this, node.expression), types))
    if type(node) in _FLIPPED:
        node = _FLIPPED[type(node)](this=node.expression.copy(), expression=node.this.copy())
    arguments = {key: _structure(value, types) for key, value in node.args.items() if not _is_absent(value)}
    if isinstance(node, exp.Anonymous):
        arguments["this"] = node.name.lower()
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        arguments["expression"] = node.expression.name.lower()  # a struct field, in any case
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        arguments["this"] = node.this.sql(DIALECT).lower()  # the schema of a function, in any case
    return (type(node).__name__, *sorted(arguments.items()))


_CHAINED = (exp.Add, exp.Mul, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_SYMMETRIC = (exp.EQ, exp.NullSafeEQ)
_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}

_NEGATED: Mapping[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}
_NOTS: Mapping[type[exp.Expr], type[exp.Expr]] = {exp.NEQ: exp.EQ, exp.NullSafeNEQ: exp.NullSafeEQ}


def _negated(node: exp.Expr) -> exp.Expr:
    """NOT a > b as a <= b, and a <> b as NOT a = b."""
    if type(node) in _NOTS:
        return exp.Not(this=_NOTS[type(node)](this=node.this.copy(), expression=node.expression.copy()))
    inner = bare(node.this) if isinstance(node, exp.Not) else node
    if isinstance(node, exp.Not) and type(inner) in _NEGATED:
        return _NEGATED[type(inner)](this=inner.this.copy(), expression=inner.expression.copy())
    return node


def _unordered(operands: Iterable[exp.Expr], types: Inferred) -> list[Canonical]:
    return sorted((_canonical(each, types) for each in operands), key=repr)


def _chain(node: exp.Expr, types: Inferred) -> tuple[exp.Expr, ...]:
    """The operands of a chain of one operator, across brackets. Arithmetic is only chained if
    all operands have the same integral type.

    Wrong without the guard: in (a + b) + c with a and b INT and c BIGINT, Spark casts a
    + b, which may overflow before the cast.
    """
    if isinstance(node, exp.Connector) or types.once(_integral_type, node) is not None:
        return tuple(_flat(node, type(node)))
    return bare(node.this), bare(node.expression)


def _integral_type(node: exp.Expr, types: Inferred) -> exp.DataType | None:
    """The integral type that all operands of a chain have; None if there is none."""
    kinds = set()
    for side in map(bare, (node.this, node.expression)):
        kinds.add(types.once(_integral_type, side) if type(side) is type(node) else infer_type(side, types))
    only = kinds.pop() if len(kinds) == 1 else None
    return only if only is not None and is_integral(only) else None


def _flat(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    left = [node]
    while left:
        inner = bare(left.pop())
        if type(inner) is kind:
            left += (inner.expression, inner.this)
        else:
            yield inner


def _is_absent(value: object) -> bool:
    return value is None or value is False or value == []


def _structure(value: object, types: Inferred) -> object:
    if isinstance(value, exp.Expr):
        return _canonical(value, types)
    return tuple(_structure(each, types) for each in value) if isinstance(value, list) else value
