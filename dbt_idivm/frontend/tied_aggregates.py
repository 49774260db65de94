"""Aggregates whose result depends on the order of the rows of a group, in an order that stays (ADR 0060).

    max_by(x, y)                            max_by(x, CASE WHEN NOT y IS NULL THEN struct(y, id) END)
    first(x)                                min_by(x, struct(id))
    last(x) IGNORE NULLS                    max_by(x, CASE WHEN NOT x IS NULL THEN struct(id) END)
    collect_list(x)                         transform(array_sort(collect_list(struct(id, x)) …), r -> r.x)
    listagg(x) WITHIN GROUP (ORDER BY y)    listagg(x) WITHIN GROUP (ORDER BY y, id)
    collect_set(x)                          array_sort(collect_set(x))

The result is one that Spark may give for the aggregate as it is written. max_by(x, y) may take any of the rows with the greatest
y; first(x) any row, and NULL if its x is NULL; a list may have its values in any order. All first(x), last(x) and lists of a
SELECT take the rows of a group in the same order, as Spark does: users combine their results.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_idivm.algebra.aggregates import (
    ANY,
    BY,
    condition_of,
    function_of,
    is_collection,
    value_of,
)
from dbt_idivm.algebra.expressions import DIALECT, attributes, column
from dbt_idivm.algebra.inference import certain_type
from dbt_idivm.algebra.types import equal_is_identical, infer_type, is_incomparable, is_text
from dbt_idivm.frontend.ties import CannotBreak, Computed, broken_by
from dbt_idivm.frontend.unsettled import parts_of_order
from dbt_idivm.operators.aggregate import Call, TiedCall
from dbt_idivm.passes.annotate import Facts

_LAST = (exp.ArgMax, exp.Last, exp.LastValue)
_ROW, _VALUE = "r", "v"  # a lambda variable, and the field of a struct


def in_order(user: exp.Expr, written: exp.Expr, groups: frozenset[str], facts: Facts, computed: Computed) -> Call:
    """The aggregate, unnamed, in an order that determines its result. Raises CannotBreak.

    `user` reads the rows, and `written` is the same aggregate over attributes below γ. `facts`: of the ID-extended rows.
    """
    function = function_of(user)
    assert function is not None
    if _is_distinct(function):
        return _of_values(user, written, facts)
    known = groups
    if isinstance(function, BY):
        if function.expression is None:  # Spark refuses it
            raise CannotBreak("it has no second argument")
        known |= parts_of_order(function.expression)
    elif isinstance(user, exp.WithinGroup):
        known |= {each.this.name for each in user.expression.expressions if isinstance(each.this, exp.Column)}
    names = broken_by(known, facts, computed)
    if not names:  # a group has one row, or copies of one row
        return Call("", written)
    if is_collection(function):
        _refuse_incomparable(value_of(function), facts)
    return TiedCall("", _completed(written, names), written, names)


def _is_distinct(function: exp.Expr) -> bool:
    """Whether the aggregate reads each value once, so that only their own order is left to determine."""
    if not is_collection(function) and not isinstance(function, exp.AnonymousAggFunc):
        return False
    return isinstance(function, exp.ArrayUniqueAgg) or function.find(exp.Distinct) is not None


# Wrong without it: of 0.0 and -0.0 a set has the one that is read first.
def _of_values(user: exp.Expr, written: exp.Expr, facts: Facts) -> Call:
    """A set in the order of its values. Raises CannotBreak."""
    value = value_of(function_of(user) or user)
    kind = certain_type(value, facts.node.certain_types)
    has_parts = kind is not None and bool(kind.args.get("nested"))
    if kind is None or not equal_is_identical(kind) or has_parts or not isinstance(written, exp.AggFunc):
        raise CannotBreak("of equal values it takes any, and they are identical only in certain types without floats and parts")
    attribute = value_of(written)
    names = attributes(attribute)
    if is_collection(written):
        return TiedCall("", _sorted(written.copy()), written, names)
    if not is_text(kind):
        raise CannotBreak("its values are no texts (CAST them)")
    return TiedCall("", _within(written, [attribute]), written, names)


# Wrong without it: array_sort accepts no struct with a MAP, so Spark would refuse the planned query.
def _refuse_incomparable(value: exp.Expr, facts: Facts) -> None:
    """Raise CannotBreak if values of a list have no order."""
    kind = infer_type(value, facts.node.types)
    if is_incomparable(kind):
        raise CannotBreak(f"its values have the type {kind.sql(DIALECT)}, which has no order")


def _completed(written: exp.Expr, names: Sequence[str]) -> exp.Expr:
    function = function_of(written)
    assert function is not None
    if isinstance(function, BY + ANY):
        return _by(written, function, names)
    if not is_collection(function):
        return _within(written, [*map(column, names)])
    return written.transform(lambda node: _listed(node, names) if is_collection(node) else node)


# Wrong without the tests: max_by(x, y) leaves out rows without y, and a struct of NULLs is not NULL.
def _by(written: exp.Expr, function: exp.AggFunc, names: Sequence[str]) -> exp.Expr:
    """max_by(x, y), min_by(x, y), first(x) and the like: the value of the row that is last or first by y and then by `names`."""
    value, fields = value_of(function), [*map(column, names)]
    tests = [condition] if (condition := condition_of(written)) is not None else []
    if isinstance(function, BY):
        fields.insert(0, function.expression)
        tests.append(_is_set(function.expression))
    elif isinstance(written, exp.IgnoreNulls):
        tests.append(_is_set(value))
    order: exp.Expr = _struct([(f"_{number}", each) for number, each in enumerate(fields)])
    if tests:
        order = exp.Case(ifs=[exp.If(this=exp.and_(*(each.copy() for each in tests)), true=order)])
    kind = exp.ArgMax if isinstance(function, _LAST) else exp.ArgMin
    return kind(this=value.copy(), expression=order)


def _listed(function: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """collect_list(x) with the values in the order of their rows."""
    value = value_of(function)
    struct = _struct([*((f"_{number}", column(name)) for number, name in enumerate(names)), (_VALUE, value)])
    rows = exp.Filter(this=exp.ArrayAgg(this=struct, nulls_excluded=True), expression=exp.Where(this=_is_set(value)))
    field = exp.Dot(this=exp.to_identifier(_ROW), expression=exp.to_identifier(_VALUE))
    return exp.Transform(this=_sorted(rows), expression=exp.Lambda(this=field, expressions=[exp.to_identifier(_ROW)]))


def _within(written: exp.Expr, more: Sequence[exp.Expr]) -> exp.Expr:
    """listagg(x) with an order that ends with `more`."""
    given = written.expression.expressions if isinstance(written, exp.WithinGroup) else []
    function = written.this if isinstance(written, exp.WithinGroup) else written
    order = [*(each.copy() for each in given), *(exp.Ordered(this=each.copy(), desc=False, nulls_first=True) for each in more)]
    return exp.WithinGroup(this=function.copy(), expression=exp.Order(expressions=order))


def _sorted(rows: exp.Expr) -> exp.Expr:
    return exp.ArraySort(this=rows, nulls_first=exp.false())


def _is_set(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))


def _struct(fields: Sequence[tuple[str, exp.Expr]]) -> exp.Struct:
    return exp.Struct(
        expressions=[exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy()) for name, value in fields]
    )
