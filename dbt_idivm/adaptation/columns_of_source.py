"""columns_of_source: columns of a table that the old view reads, and has not stored.

    SELECT o.id, c.name FROM o JOIN c ON c.id = o.cust      SELECT o.id, c.name, c.region FROM o JOIN c ON c.id = o.cust
                                                            π id, name, region (stored ⋈ c.id <=> "c.id" c)

Sound: each stored row comes of one row of c, and has all columns of c's key of it: exactly one row of c is equal to it in these,
NULL-safely, at the version that the old state names, and has the columns. A value of the key is stored as it is, or the old
block's conditions say that it is equal to a stored one. On the padded side of an outer join c is looked up by ⟕: a padded row has
NULLs for the key and finds nothing, if one of the key's columns is not NULL in the rows of c that are joined. Conditions over c
alone that the old block has are tested before the look-up: they may guard new ones. Columns and conditions are then those over
the rows with what was looked up.

Not where c has no key, as a bag, or is a cache, of whose tables keys may still have to be looked up; nor for keys of which equal
values may differ, as floats, or are compared otherwise than they are stored, as CHAR; nor where all tables of the block would be
read, as a rebuild reads them: all looked up, or for rows that come for want of a condition.
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
    """A scan, what of it is wanted (attribute of the block's sources → the scan's), and what its key is in stored rows."""

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
    """The attributes that stored rows do not have, of expressions that cannot be had of what they have."""
    difference = part.difference
    groups = (column(name) for node, _ in difference.missing_calls for name in node.groups)
    needed = (*difference.extra, *difference.new.names.values(), *(each.condition for each in difference.looked_up), *groups)
    for each in needed:
        if part.derived(each) is None:
            yield from (name for name in attributes(each) if part.derived(column(name)) is None)


def _key(part: Part, source: Carried) -> Mapping[str, exp.Expr] | None:
    """Attribute of the scan's key → its value in stored rows; None where they have not all of it."""
    ids, types = source.new.ids, source.new.types
    is_cache, is_present = bool(source.new.names), not source.padded or not source.present.isdisjoint(ids)
    if source.new.key is None or is_cache or not is_present:
        return None
    if not all(own in types and has_exact_order(types[own]) for own in ids):
        return None
    found = {own: value for own in ids if (value := _stored(part, source, own)) is not None}
    return found if len(found) == len(ids) else None


def _stored(part: Part, source: Carried, own: str) -> exp.Expr | None:
    """What stored rows have that is equal to the attribute of the scan: that, or what the old block's conditions say is equal."""
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
    for each in reached:  # grows
        found = part.held.whole(was(each))
        if found is not None:
            return found
        reached += [
            two for one, other in equal for here, two in ((one, other), (other, one)) if here == each and two not in reached
        ]
    return None


# Without it the stored rows are read for nothing.
def _saves(difference: Difference, found: list[_Found]) -> bool:
    """Whether some table of the old block need not be read."""
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
