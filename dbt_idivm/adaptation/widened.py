"""widened: conditions of the old view that the new one lacks.

    SELECT id, price FROM o WHERE status = 'open'       … WHERE status IN ('open', 'new')
    stored ⊎ π σ status IN ('open', 'new') ∧ ¬(status = 'open') (o)

Sound: the new block consists of rows that satisfy the lost conditions L, like the stored ones, and rows that do not: σ_N(B) =
σ_N(σ_L(B)) ⊎ σ_{N ∧ L is not true}(B). NULL counts as not true. Only the second part reads the sources, at the versions in the
old state. New conditions are tested for stored rows as well, unless a lost condition implies them. A lost condition that is
implied by a new one does not count as lost, unless a condition that may fail then comes before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.adaptation.derive import name_of_old, of_old, translated, was
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.adaptation.part import Part
from dbt_idivm.algebra.expression_text import text_of
from dbt_idivm.algebra.expressions import column, conjunction
from dbt_idivm.algebra.implication import implies
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.operators import Join, Scan, Select

NAME = "condition widened"


def rest_of(difference: Difference) -> Part | None:
    """The rows of the new block that are not stored, before new look-ups and new conditions; None if a lost condition reads an
    attribute that the new sources do not have."""
    sources = tuple(_with_columns(*pair) for pair in difference.pairs)
    old = dict(_as_new(difference, sources))
    lost = [translated(each, old) for each in difference.lost]
    was_true = conjunction(each for each in lost if each is not None)
    if None in lost or was_true is None or not sources:
        return None
    rows: Operator = sources[0]
    for source in sources[1:]:
        rows = Join(rows, source, exp.true())
    test = exp.Not(this=exp.Coalesce(this=exp.Paren(this=was_true), expressions=[exp.false()]))
    condition = conjunction((*(each.copy() for each in difference.shared), test))
    assert condition is not None
    return Part(Select(rows, condition), difference, None)


def without_followed(difference: Difference) -> Difference:
    """Remove lost conditions that new ones imply, such as `price > 1` if `price > 6` is new: no rows have to be added for
    them."""
    types = _old_types(difference)
    lost = tuple(
        each for each in difference.lost if not any(implies(found, each, types) for found in _tested_instead(difference, each))
    )
    return replace(difference, lost=lost)


# Wrong without it: if `x > 1` becomes `1 / y > 0 AND x > 6`, a rebuild evaluates the first part for rows that are not stored.
def _tested_instead(difference: Difference, lost: exp.Expr) -> Iterator[exp.Expr]:
    """New conditions over old attributes, up to the first one that may fail and was not tested before the lost condition."""
    texts = [text_of(of_old(each)) for each in difference.old.conditions]
    before = texts[: texts.index(text_of(lost))]
    for each in difference.new.conditions:
        found = translated(each, difference.known)
        if may_raise(each, difference.types) and (found is None or text_of(found) not in before):
            return
        if found is not None and any(each is extra for extra in difference.extra):
            yield found


def without_implied(difference: Difference) -> Difference:
    """Remove new conditions that are implied by lost ones, which are true for stored rows."""
    known, types = difference.known, _old_types(difference)
    kept = []
    for each in difference.extra:
        found = translated(each, known)
        if found is None or not any(implies(lost, found, types) for lost in difference.lost):
            kept.append(each)
    return replace(difference, extra=tuple(kept))


def _old_types(difference: Difference) -> dict[str, exp.DataType]:
    return {was(name).name: kind for _, old in difference.pairs for name, kind in old.types.items()}


def _with_columns(new: Operator, old: Operator) -> Operator:
    """A scan with the columns that the old view reads in addition."""
    if not isinstance(new, Scan) or not isinstance(old, Scan) or new.used is None:
        return new
    mine = {each.name: each for each in new.attributes}
    more = [each.name for each in old.base_columns if mine.get(each.name) == each]
    names = [each.name for each in new.attributes if each.name in {*new.used, *more}]
    return replace(new, used=tuple(names))


def _as_new(difference: Difference, sources: tuple[Operator, ...]) -> Iterator[tuple[str, exp.Expr]]:
    """Old attributes → attributes of the new sources."""
    for name, each in difference.known.items():
        other = name_of_old(each)
        if other is not None:
            yield was(other).name, column(name)
    for source, (_, old) in zip(sources, difference.pairs, strict=True):
        if isinstance(source, Scan) and isinstance(old, Scan):
            have: Mapping[str, str] = {each.name: source.attribute(each.name) for each in source.base_columns}
            for attribute in old.base_columns:
                if attribute.name in have:
                    yield was(old.attribute(attribute.name)).name, column(have[attribute.name])
