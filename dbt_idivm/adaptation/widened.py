"""widened: conditions of the old view that the new one does not have.

    SELECT id, price FROM o WHERE status = 'open'       … WHERE status IN ('open', 'new')
    stored ⊎ π σ status IN ('open', 'new') ∧ ¬(status = 'open') (o)

Sound: the rows of the new block are those for which the lost conditions L are true, as they are for the stored ones, and those
for which they are not: σ_N(B) = σ_N(σ_L(B)) ⊎ σ_{N ∧ L is not true}(B). NULL counts as not true. Only the second part reads the
sources, at the versions that the old state names. New conditions are tested for stored rows, too, unless they follow from a lost
one; a lost one that follows from a new one is as if it were not lost, unless something that may fail comes to stand before that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_idivm.adaptation.derive import name_of_old, of_old, text_of, translated, was
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.adaptation.implied import implies
from dbt_idivm.adaptation.part import Part
from dbt_idivm.algebra.expressions import column, conjunction
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.operators import Join, Scan, Select

NAME = "condition widened"


def rest_of(difference: Difference) -> Part | None:
    """The rows of the new block that are not stored, before look-ups and conditions that are new; None where a lost condition
    reads what the new sources do not have."""
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
    """Without lost conditions that follow from new ones: `price > 1` of `price > 6`. No row comes for want of them."""
    types = _old_types(difference)
    lost = tuple(
        each for each in difference.lost if not any(implies(found, each, types) for found in _tested_instead(difference, each))
    )
    return replace(difference, lost=lost)


# Wrong without it: of `1 / y > 0 AND x > 6`, after `x > 1`, a rebuild evaluates the first part for rows that are not stored.
def _tested_instead(difference: Difference, lost: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that are new, over old attributes, up to one that may fail and was not tested before the lost one."""
    texts = [text_of(of_old(each)) for each in difference.old.conditions]
    before = texts[: texts.index(text_of(lost))]
    for each in difference.new.conditions:
        found = translated(each, difference.known)
        if may_raise(each, difference.types) and (found is None or text_of(found) not in before):
            return
        if found is not None and any(each is extra for extra in difference.extra):
            yield found


def without_implied(difference: Difference) -> Difference:
    """For stored rows, of which some conditions are known to be true."""
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
    """A table with the columns that the old view reads, too."""
    if not isinstance(new, Scan) or not isinstance(old, Scan) or new.used is None:
        return new
    mine = {each.name: each for each in new.attributes}
    more = [each.name for each in old.base_columns if mine.get(each.name) == each]
    names = [each.name for each in new.attributes if each.name in {*new.used, *more}]
    return replace(new, used=tuple(names))


def _as_new(difference: Difference, sources: tuple[Operator, ...]) -> Iterator[tuple[str, exp.Expr]]:
    """Old attributes as attributes of the new sources."""
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
