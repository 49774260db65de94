"""Derive expressions of the new view from what is available of the old one (Goldstein and Larson 2001, §3.1.3).

In such an expression an attribute of the old definition is called `was <name>`, because both definitions use the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import attributes, column, is_collated, substitute
from dbt_idivm.passes.query_graph import Definitions

_WAS = "was "


def was(name: str) -> exp.Column:
    """A reference to an attribute of the old definition."""
    return column(_WAS + name)


def name_of_old(expression: exp.Expr) -> str | None:
    """The name, if the expression is an attribute of the old definition; None otherwise."""
    is_old = isinstance(expression, exp.Column) and expression.name.startswith(_WAS)
    return expression.name.removeprefix(_WAS) if is_old else None


def of_old(expression: exp.Expr) -> exp.Expr:
    """Mark all attributes of an expression as attributes of the old definition."""
    return expression.transform(lambda node: was(node.name) if isinstance(node, exp.Column) else node)


def translated(expression: exp.Expr, known: Definitions) -> exp.Expr | None:
    """The expression with its attributes replaced by their known values; None if one is unknown."""
    return substitute(expression, known) if known.keys() >= {*attributes(expression)} else None


class Held:
    """What is available: expressions, by their texts, with the attributes that have their values.

    Constants are not looked up: as part of an expression a constant may have another type than as a column, such as 3 beside a
    DECIMAL.
    """

    def __init__(self, found: Iterable[tuple[exp.Expr, exp.Expr]], padded: frozenset[str] = frozenset()) -> None:
        """`padded`: attributes of type CHAR, which the old definition compares as if they were padded with blanks."""
        self._whole: dict[str, exp.Expr] = {}
        self._parts: dict[str, exp.Expr] = {}
        for definition, value in found:
            if not attributes(definition):
                continue
            text = text_of(definition)
            self._whole.setdefault(text, value)
            # Wrong without it: a COLLATE b = 'x' compares under b, whereas a stored column may have another collation. And c =
            # 'x' is true for the CHAR(5) value 'x    ', but not for the stored text.
            if padded.isdisjoint(attributes(definition)) and not is_collated(definition):
                self._parts.setdefault(text, value)

    def beside(self, names: Iterable[str]) -> Held:
        """A copy with additional attributes, available under their own names."""
        more = {text_of(column(name)): column(name) for name in names}
        found = Held(())
        found._whole, found._parts = {**self._whole, **more}, {**self._parts, **more}
        return found

    def whole(self, expression: exp.Expr) -> exp.Expr | None:
        """The attribute that has the value of the expression; None if there is none."""
        found = self._whole.get(text_of(expression))
        return None if found is None else found.copy()

    def derived(self, expression: exp.Expr) -> exp.Expr | None:
        """The expression composed of available values, using the largest available parts; None if a part is not available."""
        found = self.whole(expression)
        return found if found is not None else self._part(expression)

    def _part(self, expression: exp.Expr) -> exp.Expr | None:
        if not attributes(expression):
            return expression.copy()
        found = self._parts.get(text_of(expression))
        if found is not None:
            return found.copy()
        if isinstance(expression, exp.Column):
            return None
        copy = expression.copy()
        for child in [each for each in copy.iter_expressions() if attributes(each)]:
            part = self._part(child)
            if part is None:
                return None
            child.replace(part)
        return copy


def mapped(names: Definitions, known: Definitions) -> Mapping[str, exp.Expr]:
    """Those of the definitions that can be translated."""
    found = ((name, translated(each, known)) for name, each in names.items())
    return {name: each for name, each in found if each is not None}
