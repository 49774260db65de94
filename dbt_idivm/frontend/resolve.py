"""Expressions as the user wrote them → expressions over attributes. Findings are collected, never raised here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, column
from dbt_idivm.errors import Finding, finding, nearest
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.scope import Ambiguous, Entry, Scope, Unknown

_TIGHT = (exp.Binary, exp.Unary, exp.Between, exp.In)


def never(entry: Entry, node: exp.Column) -> bool:
    return False


@dataclass
class Resolver:
    """Names of one place. A name that the scope has not may be one of `aliases` (lower-case alias → expression).

    `yields(entry, node)` says where an alias of that name goes before the column that was found. `correlate`: whether a
    name may be a column of the query around.
    """

    scope: Scope
    env: Env
    findings: list[Finding]
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    yields: Callable[[Entry, exp.Column], bool] = never
    correlate: bool = False

    def resolve(self, expression: exp.Expr) -> exp.Expr:
        """A copy of `expression` in which each column is an attribute of the plan; NULL where there is none."""
        # `yields` looks at parents, so columns are looked up in the original and put into the copy
        found = {id(node): self._column(node) for node in expression.find_all(exp.Column)}
        return _substituted(expression, found)

    def _column(self, node: exp.Column) -> exp.Expr:
        parts = tuple(part.name for part in node.parts)
        alias = self.aliases.get(parts[0].lower()) if len(parts) == 1 else None
        try:
            entry, fields = self.scope.resolve(parts)
        except Unknown:
            return _spliced(alias) if alias is not None else self._around(node, parts)
        except Ambiguous as error:
            return self._ambiguous(node, error)
        if alias is not None and self.yields(entry, node):
            return _spliced(alias)
        return field_of(entry, fields)

    def _around(self, node: exp.Column, parts: tuple[str, ...]) -> exp.Expr:
        """A name that FROM has not: of the nearest query around that has it, if it may be correlated."""
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


def field_of(entry: Entry, fields: tuple[str, ...]) -> exp.Expr:
    """The column, or the struct field inside it."""
    result: exp.Expr = column(entry.attribute)
    for name in fields:
        result = exp.Dot(this=result, expression=exp.to_identifier(name))
    return result


def _dotted(node: exp.Column) -> str:
    return ".".join(part.name for part in node.parts)


def _spliced(expression: exp.Expr) -> exp.Expr:
    """A copy that keeps its own precedence wherever it is put."""
    copy = expression.copy()
    return exp.Paren(this=copy) if isinstance(copy, _TIGHT) else copy


def _substituted(node: exp.Expr, found: Mapping[int, exp.Expr]) -> exp.Expr:
    """A copy of `node` with the nodes in `found` (by identity) replaced, and without positions or comments."""
    if id(node) in found:
        return found[id(node)].copy()
    arguments = {key: _mapped(value, lambda each: _substituted(each, found)) for key, value in node.args.items()}
    return node.__class__(**arguments)


def _mapped(value: object, change: Callable[[exp.Expr], exp.Expr]) -> object:
    """An argument of a node, with the nodes in it changed."""
    if isinstance(value, exp.Expr):
        return change(value)
    return [_mapped(each, change) for each in value] if isinstance(value, list) else value


def bare(expression: exp.Expr) -> exp.Expr:
    """Without the brackets around it."""
    return expression.unnest()


def canonical(expression: exp.Expr) -> str:
    """A text that is equal for expressions that Spark takes as equal in GROUP BY: a + b and (b + a)."""
    return _text(_sorted(expression))


def _sorted(node: exp.Expr) -> exp.Expr:
    """A copy without brackets, the operands of commutative operators in order."""
    node = bare(node)
    copy = node.__class__(**{key: _mapped(value, _sorted) for key, value in node.args.items()})
    if isinstance(copy, _COMMUTATIVE):
        first, second = sorted((copy.this, copy.expression), key=_text)
        copy.set("this", first)
        copy.set("expression", second)
    return copy


_COMMUTATIVE = (exp.Add, exp.Mul, exp.And, exp.Or, exp.EQ, exp.NullSafeEQ)


def _text(node: exp.Expr) -> str:
    return node.sql(DIALECT)
