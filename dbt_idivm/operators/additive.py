"""Additive rules of γ: how sums, counts and averages are maintained by signed rows and operator caches (idIVM Tables 9, 11, 12).

| rule                 | call     | when                    | operator caches  | Δ, added to it | new value
|----------------------|----------|-------------------------|------------------|----------------|------------------------------
| additive_rows        | count(*) |                         | itself           | Σ ±1           | c + Δ
| additive_count       | count(x) | not DISTINCT            | itself           | Σ ±1, x known  | c + Δ
| additive_sum         | sum(x)   | not DISTINCT, up to INT | itself, count(x) | Σ ±x, wider    | c + Δ, NULL if count(x) = 0
| additive_sum_bigint  | sum(x)   | not DISTINCT, BIGINT    | itself, count(x) | Σ ±x, wider    | the same, cast back
| additive_sum_decimal | sum(x)   | not DISTINCT, DECIMAL   | itself, count(x) | Σ ±x           | c + Δ, NULL if count(x) = 0
| additive_sum_wide    | sum(x)   | 28 digits and more      | itself, count(x) | Σ ±x           | the same in 37 digits, or error
| additive_sizes       | see below| up to 11 digits         | itself, count(x) | Σ ±abs(x)      | c + Δ in 15 digits, or error
| additive_avg         | avg(x)   | not DISTINCT, up to INT | sum(x), count(x) |                | sum / count, NULL if count = 0
| additive_avg_narrow  | avg(x)   | up to 11 digits         | and sum(abs(x))  |                | the same, as DOUBLEs
| additive_avg_decimal | avg(x)   | 12 digits and more      | sum(x), count(x) |                | the same, rounded once
| additive_min         | min(x)   | exact order             | itself           | least new x    | the least of m and Δ; see below
| additive_max         | max(x)   | exact order             | itself           | greatest new x | the greatest of m and Δ
| additive_bool_and    | bool_and | not DISTINCT            | itself           | as min         | as min: FALSE is less than TRUE
| additive_bool_or     | bool_or  | not DISTINCT            | itself           | as max         | as max

A signed row is an inserted (+) or deleted (-) row of γ's input. An updated row gives one of each, so ∆u adds x_post - x_pre. The
paper takes them from i-diffs, we take them from the net diffs, because an i-diff may name rows that do not change: recomputing
such a row is harmless, adding it again is wrong.

"Itself" is a column of the view if the select list has the call. If the call only occurs inside an expression, such as
`round(sum(x), 2)`, it is a hidden column, and the expression is computed from the new values of its calls.

count(*) is a cache of every additive γ: a group whose count reaches 0 is deleted, a case that the paper excludes ("do not handle
group creation/deletion"). Only exact types qualify: a sum of floats depends on the row order, so its groups are recomputed.

Every integer type has a minimum whose negation overflows: -(-128) as TINYINT is an error, and without ANSI mode -128. So a value
is cast to a wider type before it is negated. Intermediate sums of BIGINTs may exceed a BIGINT although the result does not;
without ANSI mode, the cast back keeps the low 64 bits, as Spark's own sum does.

The type of a sum of decimals with 28 digits or more always has 38 digits: `sum(price * (1 - discount))` over DECIMAL(15, 2) is an
example. Adding two of these would need one digit more, so Spark would reduce the scale. Therefore they are added as numbers of 37
digits. If a stored sum or a Δ needs more, the statement fails, and the view is rebuilt (docs/adr/0043).

Spark computes an average of decimals with up to 11 digits in DOUBLE: it averages the unscaled values, divides by 10^s and rounds.
Above 2^53 a sum of DOUBLEs depends on the row order. No partial sum exceeds sum(abs(x)), so this is stored next to the average.
If it needs more than 15 digits, the statement fails, and the view is rebuilt.

An average of decimals with 12 to 24 digits is the exact sum divided by the count, rounded once (HALF_UP) to the scale of the
average. `/` rounds to the scale of its result type, so the operands are cast to types for which the two scales are the same
(docs/adr/0004).

Deletions cannot be subtracted from a minimum m. It stays m if no row with m is deleted, and becomes Δ if Δ <= m; otherwise it can
only be found in the rows of the group. Such a group has lost its extreme and is recomputed (`script/extremes.py`,
docs/adr/0031). Only types whose equal values are identical qualify: of 0.0 and -0.0 either may be the minimum.

Example, γ_{cid; sum(price)}(orders): the price of order 7 of customer 1 changes from 5 to 8. The signed rows are (1, 5, -) and
(1, 8, +), Δ is 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.decimals import (
    average_type,
    dividend_type,
    exact_in_doubles,
    has_average_of_doubles,
    has_exact_average,
    is_integral,
    is_summable,
    is_widely_summable,
    size_of,
    sum_type,
    summand_type,
)
from dbt_idivm.algebra.expressions import DIALECT, operand
from dbt_idivm.algebra.types import has_exact_order, is_small_integer
from dbt_idivm.operators.aggregate import SUM_OF_SIZES, Aggregate, Call

# (defining expression of the argument, sign, type of the argument, None for count(*)) → aggregate over the signed rows of a group
Delta = Callable[[exp.Expr | None, exp.Expr, exp.DataType | None], exp.Expr]
Caches = Mapping[str, exp.Expr]  # function → new value of the cache over the same argument
# (stored value, None for a new group; Δ; caches; type of the argument, None for count(*)) → new value
Value = Callable[[exp.Expr | None, exp.Expr, Caches, exp.DataType | None], exp.Expr]


@dataclass(frozen=True)
class Extreme:
    """MIN or MAX over signed rows. If `new reaches old` is true, `new` replaces the stored extreme `old` or equals it."""

    function: type[exp.AggFunc]
    of_both: type[exp.Func]
    reaches: type[exp.Predicate]

    def added(self, argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None = None) -> exp.Expr:
        """The extreme of the inserted rows."""
        return self._among(exp.GT, argument, sign)

    def removed(self, argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None = None) -> exp.Expr:
        """The extreme of the deleted rows."""
        return self._among(exp.LT, argument, sign)

    def _among(self, test: type[exp.Binary], argument: exp.Expr | None, sign: exp.Expr) -> exp.Expr:
        assert argument is not None
        rows = test(this=sign.copy(), expression=exp.Literal.number(0))
        return self.function(this=exp.Case(ifs=[exp.If(this=rows, true=argument.copy())]))

    def value(self, old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
        """The extreme of the old value and Δ; NULLs are ignored."""
        return delta if old is None else self.of_both(this=old, expressions=[delta], ignore_nulls=True)

    def is_lost(self, old: exp.Expr, added: exp.Expr, removed: exp.Expr) -> exp.Expr:
        """Whether a row with the stored value may have been deleted and no inserted row replaces it. Never NULL."""
        gone = exp.Coalesce(
            this=self.reaches(this=removed.copy(), expression=old.copy()),
            expressions=[exp.Not(this=exp.Is(this=removed, expression=exp.null()))],
        )
        replaced = exp.Coalesce(this=self.reaches(this=added, expression=old), expressions=[exp.false()])
        return exp.and_(gone, exp.Not(this=replaced))


MINIMUM, MAXIMUM = Extreme(exp.Min, exp.Least, exp.LTE), Extreme(exp.Max, exp.Greatest, exp.GTE)


@dataclass(frozen=True)
class AdditiveRule:
    """How calls of one function are maintained by adding. Without `delta`, the value is computed from the caches alone.

    With `extreme`, Δ is the extreme of the inserted values, and a group may lose its extreme.
    """

    name: str
    function: str
    when: Callable[[Aggregate, Call], bool]
    caches: tuple[str, ...]  # functions over the same argument whose results must be stored
    delta: Delta | None
    value: Value
    emits: str  # the new value, for display
    paper: str
    extreme: Extreme | None = None


def additive_rule(aggregate: Aggregate, call: Call) -> AdditiveRule | None:
    """The rule for the call; None if its groups have to be recomputed."""
    return next((rule for rule in ADDITIVE if rule.function == call.function and rule.when(aggregate, call)), None)


def additive_calls(aggregate: Aggregate) -> tuple[tuple[AdditiveRule, Call], ...]:
    """The calls that have a rule, with it, in an order in which the caches of a call come before the call."""
    return tuple((rule, call) for rule in ADDITIVE for call in aggregate.calls if additive_rule(aggregate, call) is rule)


def counts_rows(node: Aggregate, call: Call) -> bool:
    return call.argument is None


def counts_values(node: Aggregate, call: Call) -> bool:
    return call.argument is not None and not call.distinct


def sums_small_integers(node: Aggregate, call: Call) -> bool:
    return not call.distinct and is_small_integer(node.child.types[call.argument or ""])


def sums_bigints(node: Aggregate, call: Call) -> bool:
    kind = node.child.types[call.argument or ""]
    return not call.distinct and is_integral(kind) and not is_small_integer(kind)


def sums_decimals(node: Aggregate, call: Call) -> bool:
    kind = node.child.types[call.argument or ""]
    return not call.distinct and is_summable(kind) and not is_integral(kind)


def sums_wide_decimals(node: Aggregate, call: Call) -> bool:
    return not call.distinct and is_widely_summable(node.child.types[call.argument or ""])


# Up to INT: Spark sums and divides DOUBLEs, exact below 2^53.
def averages_integers(node: Aggregate, call: Call) -> bool:
    return not call.distinct and is_small_integer(node.child.types[call.argument or ""])


def sums_sizes(node: Aggregate, call: Call) -> bool:
    return has_average_of_doubles(node.child.types[call.argument or ""])


def averages_narrow_decimals(node: Aggregate, call: Call) -> bool:
    return not call.distinct and has_average_of_doubles(node.child.types[call.argument or ""])


# Up to 11 digits Spark divides DOUBLEs; above 24 digits a quotient would be rounded twice.
def averages_decimals(node: Aggregate, call: Call) -> bool:
    return not call.distinct and has_exact_average(node.child.types[call.argument or ""])


def orders_exactly(node: Aggregate, call: Call) -> bool:
    return not call.distinct and call.argument is not None and has_exact_order(node.child.types[call.argument])


def rows_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    return exp.Sum(this=sign.copy())


def count_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    assert argument is not None
    absent = exp.Is(this=operand(argument), expression=exp.null())
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=absent, true=exp.Literal.number(0))], default=sign.copy()))


def sum_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    """Σ ±x without a product, because multiplying would change the scale of a wide decimal."""
    assert argument is not None
    return _signed_sum(argument, exp.Neg(this=operand(argument)), sign)


# Wrong without the cast: deleting -128 as TINYINT would add -128 instead of 128, or fail.
def small_sum_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    return sum_delta(_cast(argument, "bigint"), sign, kind)


# Wrong without the cast: deleting -2^63 would add -2^63; and inserting 2^63 - 1 and 1 while deleting the same values would
# overflow on the way to the sum 0.
def bigint_sum_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    return sum_delta(_cast(argument, "decimal(20, 0)"), sign, kind)


# Wrong with -x, which Spark rounds to 34 digits, and without the cast: 0 - x of a decimal(38, 10) is a decimal(38, 9).
def wide_sum_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    assert argument is not None and kind is not None
    negated = exp.Sub(this=exp.Literal.number(0), expression=_cast(argument, summand_type(kind)))
    return _signed_sum(argument, negated, sign)


def sizes_delta(argument: exp.Expr | None, sign: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
    assert argument is not None
    return sum_delta(exp.Abs(this=argument.copy()), sign, kind)


def _signed_sum(argument: exp.Expr, negated: exp.Expr, sign: exp.Expr) -> exp.Expr:
    positive = exp.GT(this=sign.copy(), expression=exp.Literal.number(0))
    signed = exp.Case(ifs=[exp.If(this=positive, true=argument.copy())], default=negated)
    return exp.Coalesce(this=exp.Sum(this=signed), expressions=[exp.Literal.number(0)])


def _cast(value: exp.Expr | None, kind: str) -> exp.Expr:
    assert value is not None
    return exp.Cast(this=value.copy(), to=exp.DataType.build(kind, dialect=DIALECT))


def added(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    return delta if old is None else exp.Add(this=old, expression=delta)


def summed(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    return _null_if_empty(caches["count"], _sum(old, delta))


def summed_bigints(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    return _null_if_empty(caches["count"], _cast(_sum(old, delta), "bigint"))


# The cast restores the type: the sum of two decimals has one digit more, and averages depend on the type of the dividend.
def summed_decimals(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    assert kind is not None
    return _cast(_null_if_empty(caches["count"], _sum(old, delta)), sum_type(kind))


def summed_sizes(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    assert kind is not None
    return _cast(_null_if_empty(caches["count"], _sum(old, delta)), exact_in_doubles(kind))


# Wrong without the casts: adding two decimal(38, 10) gives decimal(38, 9), which rounds the fraction.
def summed_wide_decimals(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    assert kind is not None
    kept, change = (None if each is None else _cast(each, summand_type(kind)) for each in (old, delta))
    assert change is not None
    return summed_decimals(kept, change, caches, kind)


def _sum(old: exp.Expr | None, delta: exp.Expr) -> exp.Expr:
    return delta if old is None else exp.Add(this=exp.Coalesce(this=old, expressions=[exp.Literal.number(0)]), expression=delta)


def divided(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    dividend = _cast(caches["sum"], "double")
    return _null_if_empty(caches["count"], exp.Div(this=dividend, expression=exp.paren(caches["count"].copy())))


# As Spark computes it: the average of the unscaled values first, then the scale. A single division by count * 10^s may give
# another DOUBLE.
def divided_doubles(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    assert kind is not None
    _, scale = size_of(kind) or (0, 0)
    dividend = _cast(_times(exp.paren(caches["sum"].copy()), 10**scale), "double")
    quotient = exp.Div(this=dividend, expression=exp.paren(caches["count"].copy()))
    pointed = quotient if scale == 0 else exp.Div(this=quotient, expression=_cast(exp.Literal.number(10**scale), "double"))
    return _null_if_empty(caches["count"], _cast(pointed, average_type(kind)))


# Wrong without the dividend's type: the average of 85000001 values of DECIMAL(22, 2) with the sum 42.50 would be 0.000001 instead
# of 0.000000. Wrong without the factor: the average of 20001 values of DECIMAL(12, 0) with the sum 1 would be 0.0001 instead of
# 0.0000.
def divided_decimals(old: exp.Expr | None, delta: exp.Expr, caches: Caches, kind: exp.DataType | None) -> exp.Expr:
    assert kind is not None
    dividend, factor = dividend_type(kind)
    divisor = _times(_cast(caches["count"], "decimal(20, 0)"), factor)
    quotient = exp.Div(this=_cast(caches["sum"], dividend), expression=divisor if factor == 1 else exp.paren(divisor))
    return _null_if_empty(caches["count"], _cast(_times(quotient, factor), average_type(kind)))


def _times(value: exp.Expr, factor: int) -> exp.Expr:
    return value if factor == 1 else exp.Mul(this=value, expression=exp.Literal.number(factor))


def _null_if_empty(count: exp.Expr, value: exp.Expr) -> exp.Expr:
    empty = exp.EQ(this=exp.paren(count.copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=empty, true=exp.null())], default=value.copy())


# The caches of a rule come before the rule itself.
ADDITIVE = (
    AdditiveRule("additive_rows", "count", counts_rows, (), rows_delta, added, "c + Σ ±1", "Table 11"),
    AdditiveRule("additive_count", "count", counts_values, (), count_delta, added, "c + Σ ±1", "Table 11"),
    AdditiveRule("additive_sum", "sum", sums_small_integers, ("count",), small_sum_delta, summed, "c + Σ ±x", "Table 9"),
    AdditiveRule("additive_sum_bigint", "sum", sums_bigints, ("count",), bigint_sum_delta, summed_bigints, "c + Σ ±x", "Table 9"),
    AdditiveRule("additive_sum_decimal", "sum", sums_decimals, ("count",), sum_delta, summed_decimals, "c + Σ ±x", "Table 9"),
    AdditiveRule(
        "additive_sum_wide", "sum", sums_wide_decimals, ("count",), wide_sum_delta, summed_wide_decimals, "c + Σ ±x", "Table 9"
    ),
    AdditiveRule("additive_avg", "avg", averages_integers, ("sum", "count"), None, divided, "sum / count", "Table 12"),
    AdditiveRule(
        "additive_sizes", SUM_OF_SIZES, sums_sizes, ("count",), sizes_delta, summed_sizes, "c + Σ ±abs(x), below 2^53", "ours"
    ),
    AdditiveRule(
        "additive_avg_narrow",
        "avg",
        averages_narrow_decimals,
        ("sum", "count", SUM_OF_SIZES),
        None,
        divided_doubles,
        "sum / count, rounded",
        "Table 12",
    ),
    AdditiveRule(
        "additive_avg_decimal",
        "avg",
        averages_decimals,
        ("sum", "count"),
        None,
        divided_decimals,
        "sum / count, rounded",
        "Table 12",
    ),
    *(
        AdditiveRule(
            f"additive_{function}",
            function,
            orders_exactly,
            (),
            extreme.added,
            extreme.value,
            f"the {word} of m and Δ; recomputed where m is lost",
            "ours",
            extreme,
        )
        for function, word, extreme in (
            ("min", "least", MINIMUM),
            ("max", "greatest", MAXIMUM),
            ("bool_and", "least", MINIMUM),
            ("bool_or", "greatest", MAXIMUM),
        )
    ),
)
