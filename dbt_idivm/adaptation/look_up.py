"""look_up: joins that the old view lacks.

    SELECT id, cid, price FROM o        SELECT o.id, o.cid, o.price, c.name FROM o LEFT JOIN c ON c.id = o.cid
                                        π id, cid, price, name (stored ⟕ c.id = cid c)

Sound: the old view has one stored row for each row of its block, copies included, and ⋈, ⟕, ⋉ and ▷ with a relation work row by
row: the partners of a row depend only on the values that the join condition reads, which the stored row has. Conditions over the
left rows may be tested before the look-up: σ_c(L ⟕ R) = σ_c(L) ⟕ R. An inner join may drop rows. The relation is read at the
version in the new state. Not where the condition reads a value that is not stored, nor for joins without an equality, which have
too many pairs.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.algebra.expressions import attributes, conjunction, conjuncts
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.operators import Join


def _adapt(part: Part) -> Part | None:
    difference, rows = part.difference, part.rows
    for relation in difference.joined:
        tests = [each for each in difference.extra if _reads(each, relation) and _has_all(each, part, rows, relation)]
        condition = _condition(part, tests)
        if condition is None:
            return None
        rows = Join(rows, relation, condition)
    for each in difference.looked_up:
        condition = _condition(part, list(conjuncts(each.condition.unnest())))
        if condition is None:
            return None
        rows = each.applied(rows, condition)
    return part.over(rows)


def _reads(condition: exp.Expr, relation: Operator) -> bool:
    return not set(attributes(condition)).isdisjoint(relation.columns)


def _has_all(condition: exp.Expr, part: Part, rows: Operator, relation: Operator) -> bool:
    """Whether the rows already have the attributes of other added relations that the condition reads."""
    have = {*rows.columns, *relation.columns}
    return all(name in have for name in attributes(condition) if name in part.difference.added)


def _condition(part: Part, tests: list[exp.Expr]) -> exp.Expr | None:
    found = [part.derived(each) for each in tests]
    if None in found or not any(isinstance(each.unnest(), exp.EQ | exp.NullSafeEQ) for each in tests):
        return None
    return conjunction(each for each in found if each is not None)


LOOK_UP = Rule("look-up", lambda part: bool(part.difference.joined or part.difference.looked_up), _adapt)
