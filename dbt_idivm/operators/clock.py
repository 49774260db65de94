"""What another time changes: for σ and π over R ⋈ clock, the rows of R for which a condition or a value differs.

The clock is a `Scan` of one row. Its key is empty, and its attributes are the values of the constant expressions of the clock in
the view, such as CURRENT_DATE() - INTERVAL 30 DAYS (`frontend/clock_input.py`). The operator that reads such a value is σ or π
over R ⋈ clock, on TRUE. If the time moved from c⁻ to c⁺, the UPD((); c) of the clock names every row. So σ and π do not pass it
on. They compare the condition or the value at both times, for the rows of R⁺:

    σ d ≥ c      rows of R⁺ with d ≥ c⁺ and not d ≥ c⁻, and the other way round
    π f(Y, c)    rows of R⁺ with f(Y, c⁺) ≠ f(Y, c⁻)

R⁺ suffices: a row of R that was inserted, deleted or updated is covered by its own i-diff, which is evaluated at c⁺. What may
fail is not evaluated at the old time, because the query does not do that. Then the rules for any other UPD apply. The signed rows
are found in the same way. Nothing above σ reads the same clock, so a row for which σ is true at both times does not change.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_idivm.algebra.core import Compute, Filter, Pair, project
from dbt_idivm.algebra.expressions import attributes, column, conjunction, conjuncts, operand, same, substitute
from dbt_idivm.algebra.operator import SIGN, Operator, with_sign
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import distinguishable, infer_type, is_comparable
from dbt_idivm.idiff.idiff import UPD, IDiff
from dbt_idivm.operators.join import Join
from dbt_idivm.operators.scan import DiffRows, Scan

Values = Mapping[str, exp.Expr]


def clock_below(child: Operator, *read: exp.Expr) -> Scan | None:
    """The clock, if `child` is R ⋈ clock, and the expressions over it cannot fail."""
    if not isinstance(child, Join) or not isinstance(child.right, Scan) or not child.right.is_clock:
        return None
    return None if any(may_raise(each, child.types) for each in read) else child.right


def moved_clock(child: Operator, diff: IDiff, *read: exp.Expr) -> Scan | None:
    """The same, if an i-diff says that its time moved."""
    clock = clock_below(child, *read)
    is_moved = diff.kind is UPD and clock is not None and {each.occurrence for each in diff.origins} == {clock.occurrence}
    return clock if is_moved else None


def changed_before(child: Operator, clock: Scan) -> Relation:
    """ΔR ⋈ clock⁻, the signed rows of R ⋈ clock but for those that the time changes."""
    (rows, _) = child.inputs
    return project(Pair(rows.signed(), clock.in_state("pre"), exp.true()), (*child.columns, SIGN))


def came(rows: Operator, condition: exp.Expr, clock: Scan) -> Relation:
    """The rows for which the condition is true now, and was not before."""
    return Filter(_at_both_times(rows, clock), exp.and_(condition, _is_not_true(_before(_read(condition, clock), clock))))


def gone(rows: Operator, condition: exp.Expr, clock: Scan) -> Relation:
    """The rows for which the condition was true before, and is not now."""
    return Filter(_at_both_times(rows, clock), exp.and_(_before(condition, clock), _is_not_true(_read(condition, clock))))


def signed_values(rows: Operator, definitions: Values, changed: Values, clock: Scan) -> tuple[Relation, ...]:
    """The signed rows of π over the rows for which one of the values `changed` differs."""
    found = with_other_values(rows, changed, clock)
    old = {name: _before(value, clock) for name, value in definitions.items()}
    return tuple(with_sign(Compute(found, tuple(each.items())), sign) for each, sign in ((definitions, 1), (old, -1)))


def with_other_values(rows: Operator, values: Values, clock: Scan) -> Relation:
    """The rows for which one of the values differs. They can be compared (`are_comparable`)."""
    tests = []
    for value in values.values():
        kind = infer_type(value, rows.types)
        sides = (operand(distinguishable(each, kind)) for each in (value, _before(value, clock)))
        tests.append(exp.Not(this=same(*sides)))
    return Filter(_at_both_times(rows, clock), exp.paren(exp.or_(*tests, copy=False)))


def are_comparable(values: Values, types: Mapping[str, exp.DataType]) -> bool:
    return all(is_comparable(infer_type(value, types)) for value in values.values())


def _at_both_times(rows: Operator, clock: Scan) -> Relation:
    """R⁺ ⋈ clock⁺ ⋈ clock⁻. No rows if the time did not move."""
    old = DiffRows(clock, "minus", clock.columns)
    return Pair(rows, Compute(old, tuple((_old(name), column(name)) for name in clock.columns)), exp.true())


def _before(expression: exp.Expr, clock: Scan) -> exp.Expr:
    """The expression at the time before."""
    names = attributes(expression)
    return substitute(expression, {name: column(_old(name) if name in clock.columns else name) for name in names})


def _old(name: str) -> str:
    return f"{name}__before"


def _read(condition: exp.Expr, clock: Scan) -> exp.Expr:
    """The parts of a condition that read the clock."""
    parts = [each for each in conjuncts(condition) if not set(clock.columns).isdisjoint(attributes(each))]
    return conjunction(parts) or exp.true()


def _is_not_true(condition: exp.Expr) -> exp.Expr:
    """NOT φ OR φ IS NULL: both are conditions by which files can be skipped."""
    whole = exp.paren(condition)
    return exp.paren(exp.or_(exp.Not(this=whole), exp.Is(this=whole.copy(), expression=exp.null()), copy=False))
