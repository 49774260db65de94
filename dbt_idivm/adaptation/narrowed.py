"""narrowed: conditions that the old view lacks.

    SELECT id, price FROM o WHERE price > 1     … WHERE price > 1 AND price < 9
                                                σ price < 9 (stored)

Sound: σ_{a ∧ b} = σ_b(σ_a), row by row. Not where a condition reads a value that is not stored, nor where a condition that may
fail precedes one of the old view: the rebuild could then fail for a row that is not stored.
"""

from __future__ import annotations

from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.algebra.expressions import conjunction
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.operators import Select


def _adapt(part: Part) -> Part | None:
    if _may_fail_first(part):
        return None
    found = [part.derived(each) for each in part.difference.extra]
    condition = conjunction(each for each in found if each is not None)
    return None if None in found or condition is None else part.over(Select(part.rows, condition))


# Wrong without it: if `x <> 0` becomes `1 / x > 0 AND x <> 0`, Spark evaluates the first part for x = 0.
def _may_fail_first(part: Part) -> bool:
    difference = part.difference
    seen = False
    for each in difference.new.conditions:
        is_extra = any(each is other for other in difference.extra)
        if seen and not is_extra:
            return True
        seen = seen or (is_extra and may_raise(each, difference.types))
    return False


NARROWED = Rule("condition narrowed", lambda part: bool(part.difference.extra), _adapt)
