"""Two trees that differ only in constants, as one tree in which these constants are inputs.

    WHERE status = 'new' AND d >= DATE '2026-01-01'     WHERE status = 'new' AND d >= DATE '2026-02-01'
    WHERE status = 'new' AND d >= c                     c: DATE '2026-01-01' → DATE '2026-02-01'

A constant is a literal, or an expression over literals, whose type is certain. Both trees must have the same operators and, but
for such constants, the same expressions. A constant that decides what its expression means, such as the format of a date, is no
input. Nor is one by which Spark converts what is beside it in another way than a column of its type would: an integer beside a
DECIMAL has the digits that are written, not those of INT.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date, datetime

from sqlglot import exp

from dbt_idivm.algebra.decimals import is_integral, of_alternatives, size_of
from dbt_idivm.algebra.expressions import attributes, column, is_collated, render, substitute
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import Type, alternatives, infer_type, inferred, is_float, name_of_type, type_of
from dbt_idivm.algebra.written_time import clock_calls, constant_input
from dbt_idivm.frontend.clock_types import constant_type, is_constant, is_of_days
from dbt_idivm.operators import Join, OuterJoin, Project, Select, SemiAntiJoin

Types = Mapping[str, exp.DataType]

# With π, the operators for which `ClockInput` has a rule, and the fields that it rewrites.
_TESTING = (Select, Join, OuterJoin, SemiAntiJoin)
_EXPRESSIONS = frozenset({"condition", "definitions"})
_COMPARISONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_SUMS = (exp.Add, exp.Sub, exp.Mul)
_TEXTS = (exp.DPipe, exp.Concat)
_CONNECTORS = (exp.And, exp.Or, exp.Not, exp.Paren, exp.Case, exp.If, exp.Coalesce, exp.In, exp.Neg)
# What Spark never folds before it checks its operands: they need no constants.
_NEEDING_NO_CONSTANTS = (*_COMPARISONS, *_SUMS, *_TEXTS, *_CONNECTORS)
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?\Z", re.ASCII)


@dataclass(frozen=True)
class Constant:
    """A constant that differs: as it was and as it is now written, and the Spark SQL type of both as an input."""

    number: int
    kind: str
    old: exp.Expr
    new: exp.Expr

    @property
    def input(self) -> exp.Expr:
        """Its place in the merged tree."""
        return constant_input(self.number, self.kind)


class NotOfConstants(Exception):
    """The trees differ in something else, or in a constant that is no input."""


@dataclass
class Merging:
    """Merges two trees. `constants`: what they differ in, each once. `names`: attribute of the old tree → of the new one."""

    constants: list[Constant] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def tree(self, old: Operator, new: Operator) -> Operator:
        """The tree that both are but for `constants`, with the names of `new`. Raises NotOfConstants."""
        if type(old) is not type(new) or len(old.inputs) != len(new.inputs):
            raise NotOfConstants
        inputs = [self.tree(*pair) for pair in zip(old.inputs, new.inputs, strict=True)]
        if len(old.columns) != len(new.columns):
            raise NotOfConstants
        self.names.update(zip(old.columns, new.columns, strict=True))
        if not self._has_same_fields(old, new):
            raise NotOfConstants
        merged = new if all(a is b for a, b in zip(inputs, new.inputs, strict=True)) else new.with_inputs(*inputs)
        types = inferred({name: kind for child in new.inputs for name, kind in child.types.items()})
        if isinstance(old, Project) and isinstance(new, Project) and isinstance(merged, Project):
            pairs = zip(old.definitions, new.definitions, strict=True)
            found = tuple((name, self.expression(self._renamed(was), value, types)) for (_, was), (name, value) in pairs)
            return replace(merged, definitions=found)
        if isinstance(old, _TESTING) and isinstance(new, _TESTING) and isinstance(merged, _TESTING):
            condition = self.expression(self._renamed(old.condition), new.condition, types)
            return merged if condition is new.condition else replace(merged, condition=condition)
        return merged

    def _has_same_fields(self, old: Operator, new: Operator) -> bool:
        """Whether two operators of a class have equal parameters, except inputs and the expressions that are merged."""
        assert is_dataclass(new)
        merged = _EXPRESSIONS if isinstance(new, (Project, *_TESTING)) else ()
        for name in (each.name for each in fields(new) if each.name not in merged):
            mine = getattr(new, name)
            is_input = mine is new.inputs or any(mine is child for child in new.inputs)
            if not is_input and not self._is_same(getattr(old, name), mine):
                return False
        return True

    def _is_same(self, old: object, new: object) -> bool:
        """Whether two parameters of operators are equal but for the names of attributes."""
        if isinstance(old, exp.Expr) and isinstance(new, exp.Expr):
            return render(self._renamed(old)) == render(new)
        if isinstance(old, tuple) and isinstance(new, tuple):
            return len(old) == len(new) and all(map(self._is_same, old, new))
        if is_dataclass(old) and type(old) is type(new):
            return all(self._is_same(getattr(old, each.name), getattr(new, each.name)) for each in fields(old))
        return type(old) is type(new) and (old == new or (isinstance(old, str) and self.names.get(old) == new))

    def _renamed(self, expression: exp.Expr) -> exp.Expr:
        """An expression of the old tree over the names of the new one. Only names that contain a constant differ."""
        if all(self.names.get(name, name) == name for name in attributes(expression)):
            return expression
        return substitute(expression, {name: column(self.names.get(name, name)) for name in attributes(expression)})

    def expression(self, old: exp.Expr, new: exp.Expr, types: Types, parent: exp.Expr | None = None) -> exp.Expr:
        """The expression that both are but for constants; `new` itself if they are equal. `parent`: the node of which `new` is a
        part; None for a whole expression."""
        if render(old) == render(new):
            return new
        kinds = constant_kind(old), constant_kind(new)
        if None not in kinds:
            return self._input(old, new, _kind_in_place(old, new, parent, types))
        parts, others = list(new.iter_expressions()), list(old.iter_expressions())
        if type(old) is not type(new) or len(parts) != len(others) or _content(old) != _content(new):
            raise NotOfConstants
        found = new.copy()
        for place, was, part in zip(list(found.iter_expressions()), others, parts, strict=True):
            if (was.arg_key, was.index) != (part.arg_key, part.index):
                raise NotOfConstants
            merged = self.expression(was, part, types, new)
            if merged is part:
                continue
            # Wrong without it: date_format(d, if(1 = 2, 'yyyy', 'MM')) needs a format that is constant.
            if not isinstance(new, _NEEDING_NO_CONSTANTS) and not attributes(part):
                raise NotOfConstants
            place.replace(merged)
        return found

    def _input(self, old: exp.Expr, new: exp.Expr, kind: str) -> exp.Expr:
        wanted = (kind, render(old), render(new))
        known = (each for each in self.constants if (each.kind, render(each.old), render(each.new)) == wanted)
        found = next(known, None)
        if found is None:
            found = Constant(len(self.constants) + 1, kind, old.copy(), new.copy())
            self.constants.append(found)
        return found.input


def _content(node: exp.Expr) -> list[tuple[str, object]]:
    """The arguments of a node that are no expressions."""
    return [
        (key, value)
        for key, value in sorted(node.args.items())
        if value is not None and not isinstance(value, exp.Expr | list) and not key.startswith("_")
    ]


def constant_kind(node: exp.Expr) -> str | None:
    """The Spark SQL type of a constant, at one time; None if it is not certain, or the constant may fail."""
    if clock_calls(node):
        at_one_time = constant_type(node) if is_constant(node) else None
        return None if at_one_time is None else name_of_type(at_one_time)
    if isinstance(node, exp.Paren):
        return constant_kind(node.this)
    if isinstance(node, exp.Neg):
        return constant_kind(node.this) if isinstance(node.this, exp.Literal) and node.this.is_number else None
    if isinstance(node, exp.Literal):
        return "string" if node.is_string else _kind_of_number(node)
    if isinstance(node, exp.Cast):
        kind = name_of_type(node.to)
        return kind if kind in _TIMES and _is_text(node.this) and _TIMES[kind](node.this.name) else None
    if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
        return constant_kind(node.this) if is_of_days(node.expression) and constant_kind(node.this) in _TIMES else None
    return None


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _kind_of_number(number: exp.Expr) -> str | None:
    kind = infer_type(number, {})
    return name_of_type(kind) if _is_number(kind) and size_of(kind) is not None else None


def _is_date(text: str) -> bool:
    return bool(_DATE.match(text)) and _is_read(date.fromisoformat, text)


def _is_timestamp(text: str) -> bool:
    return _is_date(text) or (bool(_TIMESTAMP.match(text)) and _is_read(datetime.fromisoformat, text))


def _is_read(read: object, text: str) -> bool:
    assert callable(read)
    try:
        read(text)
    except ValueError:
        return False
    return True


_TIMES = {"date": _is_date, "timestamp": _is_timestamp}


def _kind_in_place(old: exp.Expr, new: exp.Expr, parent: exp.Expr | None, types: Types) -> str:
    """The type of the input in place of the constants. Raises NotOfConstants if they are no input there."""
    if parent is None:  # a value of π
        return _common_kind(old, new, None)
    tested = isinstance(parent, (*_COMPARISONS, exp.In))
    operands = [each for each in _beside(new, parent) if not isinstance(each.unnest(), exp.Null)]
    kind = _common_kind(old, new, [infer_type(each, types) for each in operands] if tested else None)
    beside = [each for each in operands if constant_kind(each) != kind]
    kinds = [infer_type(each, types) for each in beside]
    if any(is_collated(each) for each in beside):
        raise NotOfConstants
    if kind == "string" and tested and beside:
        for wanted in ("date", "timestamp") if not isinstance(parent, exp.In) else ("date",):
            if all(name_of_type(each) == wanted for each in kinds) and all(_TIMES[wanted](each.name) for each in (old, new)):
                return wanted
    if not all(_is_plain(kind, each, tested) for each in kinds):
        raise NotOfConstants
    return kind


# Wrong with other numbers: beside a FLOAT, Spark compares an INT as FLOAT, and a DECIMAL as DOUBLE.
def _common_kind(old: exp.Expr, new: exp.Expr, compared: list[exp.DataType] | None) -> str:
    """The type of both. Those that are only compared, with integers and DECIMALs, may have different ones. Raises NotOfConstants
    if there is none."""
    mine, theirs = constant_kind(new), constant_kind(old)
    if mine is not None and mine == theirs:
        return mine
    sizes = [size_of(infer_type(each.unnest(), {})) for each in (old, new)]
    found = of_alternatives(sizes)
    if found is None or compared is None or of_alternatives([*sizes, *map(size_of, compared)]) is None:
        raise NotOfConstants
    return name_of_type(type_of(f"decimal({found[0]},{found[1]})"))


def _beside(node: exp.Expr, parent: exp.Expr) -> list[exp.Expr]:
    """The expressions that get one type with `node`. Raises NotOfConstants where a constant is no input."""
    others = [each for each in parent.iter_expressions() if each is not node]
    if isinstance(parent, (*_COMPARISONS, *_SUMS, *_TEXTS, exp.Coalesce)):
        return others
    if isinstance(parent, exp.In) and parent.args.get("query") is None and parent.args.get("unnest") is None:
        return others
    if isinstance(parent, exp.If) and node.arg_key in ("true", "false"):
        whole = parent.parent if isinstance(parent.parent, exp.Case) and parent.arg_key == "ifs" else parent
        return [each for each in alternatives(whole) if each is not node]
    if isinstance(parent, exp.Case) and node.arg_key == "default":
        return [each for each in alternatives(parent) if each is not node]
    raise NotOfConstants


def _is_plain(kind: str, beside: exp.DataType, tested: bool) -> bool:
    """Whether a constant of this type, beside another type, means what a column of this type means there."""
    mine = type_of(kind)
    if name_of_type(beside) == kind or (_is_number(mine) and is_float(beside)):
        return True
    if is_integral(mine) and is_integral(beside):
        return True
    if _is_number(mine) and _is_number(beside):
        fits = of_alternatives([size_of(mine), size_of(beside)]) is not None  # into one type, without rounding
        return fits and (tested or mine.this == beside.this)
    return tested and kind in _TIMES and name_of_type(beside) in _TIMES


def _is_number(kind: exp.DataType) -> bool:
    return is_integral(kind) or kind.this == Type.DECIMAL
