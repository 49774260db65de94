"""columns_of_source: columns of a table that the old view reads, but has not stored.

    SELECT o.id, c.name FROM o JOIN c ON c.id = o.cust      SELECT o.id, c.name, c.region FROM o JOIN c ON c.id = o.cust
                                                            π id, name, region (stored ⋈ c.id <=> "c.id" c)

Sound: each stored row results from one row of c and has all columns of c's key. Exactly one row of c equals it in these,
NULL-safely, at the version in the old state, and that row has the missing columns. The value of the key is stored unchanged, or
the old block's conditions imply that it equals a stored value. On the padded side of an outer join c is looked up by ⟕: a padded
row has NULLs for the key and finds nothing, provided that one of the key's columns is not NULL in the joined rows of c.
Conditions of the old block over c alone are tested before the look-up, because they may guard new ones. Columns and conditions
are then evaluated over the rows with the columns that were looked up.

Not where c has no key (a bag) or is a cache, for whose tables keys may still have to be verified. Not for keys whose equal values
may differ (floats) or that are compared otherwise than they are stored (CHAR). Nor if all tables of the block would be read, as
in a rebuild: because all are looked up, or because rows have to be added after a condition was dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.carried import Carried, carried
from dbt_idivm.adaptation.derive import was
from dbt_idivm.adaptation.difference import Difference
from dbt_idivm.adaptation.part import Part, Rule
from dbt_idivm.adaptation.same_rows import types_of
from dbt_idivm.algebra.expressions import attributes, column, conjunction, same, substitute
from dbt_idivm.algebra.inference import equal_attributes
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import has_exact_order
from dbt_idivm.operators import Join, OuterJoin, Scan, Select
from dbt_idivm.operators.scan import scans


@dataclass(frozen=True)
class _Found:
    """A scan, its wanted columns (attribute of the block's sources → attribute of the scan), and its key's values in stored
    rows."""

    source: Carried
    wanted: Mapping[str, str]
    key: Mapping[str, exp.Expr]


def _adapt(part: Part) -> Part | None:
    missing, found = set(_missing(part)), []
    for each in (each for pair in part.difference.pairs for each in carried(*pair)):
        wanted = {name: own for name, own in each.shown.items() if name in missing}
        if not wanted:
            continue
        key = _key(part, each)
        if key is None:
            return None
        missing -= wanted.keys()
        found.append(_Found(each, wanted, key))
    if missing or not _saves(part.difference, found):
        return None
    rows = part.rows
    for one in found:
        rows = _joined(rows, one, part.difference)
    return part.with_fetched(rows, {name: column(own) for one in found for name, own in one.wanted.items()})


def _missing(part: Part) -> Iterator[str]:
    """The attributes that stored rows lack, in expressions that cannot be derived from what they have."""
    difference = part.difference
    groups = (column(name) for node, _ in difference.missing_calls for name in node.groups)
    needed = (*difference.extra, *difference.new.names.values(), *(each.condition for each in difference.looked_up), *groups)
    for each in needed:
        if part.derived(each) is None:
            yield from (name for name in attributes(each) if part.derived(column(name)) is None)


def _key(part: Part, source: Carried) -> Mapping[str, exp.Expr] | None:
    """Attribute of the scan's key → its value in stored rows; None if part of the key is missing."""
    ids, types = source.new.ids, source.new.types
    is_cache, is_present = bool(source.new.names), not source.padded or not source.present.isdisjoint(ids)
    if source.new.key is None or is_cache or not is_present:
        return None
    if not all(own in types and has_exact_order(types[own]) for own in ids):
        return None
    found = {own: value for own in ids if (value := _stored(part, source, own)) is not None}
    return found if len(found) == len(ids) else None


def _stored(part: Part, source: Carried, own: str) -> exp.Expr | None:
    """A value in stored rows that equals the attribute of the scan: the attribute itself, or one that is equal by the old block's
    conditions; None if there is none."""
    assert part.held is not None
    name = next(each.name for each in source.new.base_columns if source.new.attribute(each.name) == own)
    if name not in {each.name for each in source.old.base_columns}:
        return None
    theirs = source.old.attribute(name)
    types = types_of(part.difference.old.sources)
    equal = [
        pair
        for each in part.difference.old.conditions
        for pair in equal_attributes(each)
        if pair[0] in types and pair[1] in types and types[pair[0]] == types[pair[1]]
    ]
    reached = [each for each, shown in source.was_shown.items() if shown == theirs]
    for each in reached:  # the list grows
        found = part.held.whole(was(each))
        if found is not None:
            return found
        reached += [
            two for one, other in equal for here, two in ((one, other), (other, one)) if here == each and two not in reached
        ]
    return None


# Without it the stored rows would be read for nothing.
def _saves(difference: Difference, found: list[_Found]) -> bool:
    """Whether at least one table of the old block need not be read."""
    read = {each.occurrence for new, _ in difference.pairs for each in scans(new)}
    return bool(read - {each.source.new.occurrence for each in found})


def _joined(rows: Operator, found: _Found, difference: Difference) -> Operator:
    source = found.source
    shown = {name: column(own) for name, own in source.shown.items()}
    types = source.new.types
    tests = [substitute(each, shown) for each in difference.shared if attributes(each) and shown.keys() >= {*attributes(each)}]
    tests = [each for each in tests if not may_raise(each, types)]
    read = {*found.key, *found.wanted.values(), *(name for each in tests for name in attributes(each))}
    scan = _reading(source.new, read)
    test = conjunction(tests)
    table = scan if test is None else Select(scan, test)
    on = conjunction(
        exp.EQ(this=value, expression=column(own)) if own in source.present and source.padded else same(value, column(own))
        for own, value in found.key.items()
    )
    assert on is not None
    return OuterJoin(rows, table, on, scan.occurrence) if source.padded else Join(rows, table, on)


def _reading(scan: Scan, names: set[str]) -> Scan:
    return replace(scan, used=tuple(each.name for each in scan.base_columns if scan.attribute(each.name) in names))


COLUMNS_OF_SOURCE = Rule("columns looked up", lambda part: part.held is not None and any(True for _ in _missing(part)), _adapt)
