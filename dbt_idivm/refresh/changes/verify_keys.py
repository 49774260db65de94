"""Check keys against a net diff: a change that breaks a declared key is an error, never a wrong view (ADR 0001).

Two post-state rows with one key in the diff itself are found without a query. Whether an inserted row has the key of an existing
row is found by reading the table at its new version, restricted to the inserted keys. Fetched keys of several inputs are looked
up by one statement. None is needed where the rows that changes reach were found, and these keys are among those by which they
were looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.block import hinted, subquery
from dbt_idivm.algebra.expressions import column, conjunction, same
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.types import type_of
from dbt_idivm.cost.sizes import Size
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.changes.feed_proof import Doubt, is_inferred
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.changes.net_diffs import ChangedKeys, ProvenDiff, netted_keys
from dbt_idivm.refresh.checks.keys import INPUT, KeyedInput, broken_inputs, broken_key, example, is_broken, numbered
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.engine.together import MOST_CELLS, grouped
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row
from dbt_idivm.script.key_ranges import MANY_ROWS, Types, add_key_ranges
from dbt_idivm.script.reach import Wanted
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.value_range import Range

SAMPLE = 100  # number of new keys that are looked up under `verify: sample`
_STORED, _NEW = "stored", "new_keys"
# table → what was wanted of it, and the rows of it that changes reach
Reached: TypeAlias = Mapping[str, tuple[Wanted, SourceRows]]


@dataclass(frozen=True)
class Changed:
    """An input that changed, its complete net diff, and the size of its table, if known."""

    keyed: KeyedInput
    read: ProvenDiff
    size: Size | None = None

    @property
    def is_large(self) -> bool:
        return self.size is not None and self.size.rows >= MANY_ROWS


class _New(NamedTuple):
    """What is known of the new keys of a move: the keys (None if unknown), the look-up limit, the ranges of their columns, and
    whether the table is large."""

    rows: tuple[Row, ...] | None
    limit: int | None
    ranges: tuple[Range | None, ...]
    is_large: bool


def has_new_keys(changed: Changed, verify: str) -> bool:
    """Whether a fetched net diff may have new keys that are to be looked up. Raises IDIVM-306 if one occurs twice in it, and
    BrokenKey."""
    found, key, move = changed.keyed.found, changed.keyed.key, changed.read.move
    return key is not None and not key.trusted and _new_keys(found, key, move, changed.read.diff) != () and verify != "none"


def verify_changes(client: Client, inputs: Sequence[Changed], verify: str, reached: Reached) -> Steps[None]:
    """Check the keys of inputs with fetched net diffs. `reached`: the rows of tables that changes reach, where these were found.
    Raises IDIVM-306, and BrokenKey."""
    for each in (each for each in inputs if each.read.move.table in reached):
        fetched = _fetched_keys(each, _limit(verify))
        if fetched is not None and fetched.are_single(*reached[fetched.move.table]):
            client.invocation.remember(fetched.asked, None)
    yield from look_up_together(client, inputs, verify)
    for each in inputs:
        yield from verify_change(client, each, verify)


def verify_change(client: Client, changed: Changed, verify: str, keys: ChangedKeys | None = None) -> Steps[None]:
    """Check an input's key against the net diff of its table. `verify`: the model's setting. `keys`: the changed keys, if they
    were queried. Raises IDIVM-306, and BrokenKey."""
    found, key, move = changed.keyed.found, changed.keyed.key, changed.read.move
    if key is None or key.trusted:
        return
    new = _new_keys(found, key, move, changed.read.diff)
    if verify == "none" or new == () or (keys is not None and not keys.inserted):
        return
    ranges = keys.new if keys is not None else ()
    broken = yield from repeated_new_key(client, found, key, move, new, _limit(verify), ranges, is_large=changed.is_large)
    if broken is not None:
        raise violation(found, key, move.to_version, broken)


def repeated_new_key(
    client: Client,
    found: Input,
    key: Key,
    move: Move,
    new: tuple[Row, ...] | None = None,
    limit: int | None = None,
    ranges: tuple[Range | None, ...] = (),
    *,
    is_large: bool = False,
) -> Steps[tuple[Any, ...] | None]:
    """A key that a move inserted and that occurs more than once in the table afterwards; None if there is none. Looked up once
    per invocation.

    `new`: the inserted keys, if they were fetched. `limit`: maximal number of keys to look up. `ranges`: ranges of the key's
    columns.
    """
    asked = _question(move, key, limit)
    return (yield from client.once(asked, lambda: _repeated(client, found, key, move, _New(new, limit, ranges, is_large))))


def _limit(verify: str) -> int | None:
    return SAMPLE if verify == "sample" else None


def _question(move: Move, key: Key, limit: int | None) -> Hashable:
    return move.question("found key change" if key.found else "key change", key.columns, limit)


def look_up_question(move: Move, key: Key, verify: str) -> Hashable:
    """What an invocation remembers by that the new keys of a move were looked up. `verify`: the model's setting."""
    return _question(move, key, _limit(verify))


class _Fetched(NamedTuple):
    """Fetched new keys of a move that are to be looked up."""

    found: Input
    key: Key
    move: Move
    new: _New

    @property
    def asked(self) -> Hashable:
        return _question(self.move, self.key, self.new.limit)

    @property
    def types(self) -> tuple[str, ...]:
        known = {each.name: each.type for each in self.found.facts.columns}
        return tuple(known[name] for name in self.key.columns)

    def are_single(self, wanted: Wanted, rows: SourceRows) -> bool:
        """Whether each new key occurs once among the rows of the table, of which all those with new keys were found."""
        new = frozenset(self.new.rows or ())
        if not wanted.has_new(self.key.columns) or any(None in each for each in new):
            return False
        places = [rows.names.index(name) for name in self.key.columns]
        counts = Counter(key for row in rows.rows if (key := tuple(row[place] for place in places)) in new)
        return all(counts[each] == 1 for each in new)

    @property
    def cells(self) -> int:
        assert self.new.rows is not None
        return len(self.new.rows[: self.new.limit]) * len(self.key.columns)


def look_up_together(client: Client, inputs: Iterable[Changed], verify: str) -> Steps[None]:
    """Look up the fetched new keys of these inputs, groups of them by one statement, and remember which hold.

    Keys of one statement have the same types. `verify_change` looks up the others alone: those that are broken, all if the
    statement fails, and those that are in no group.
    """
    found: dict[tuple[object, ...], dict[Hashable, _Fetched]] = {}
    for changed in inputs if verify != "none" else ():
        fetched = _fetched_keys(changed, _limit(verify))
        if fetched is not None and not client.invocation.knows(fetched.asked):
            found.setdefault((fetched.key.found, *fetched.types), {})[fetched.asked] = fetched
    for alike in found.values():
        for group in grouped(sorted(alike.values(), key=lambda each: each.cells), _fit):
            parts = [_of_input(client, number, *each) for number, each in enumerate(group)]
            label = f"check new keys of {len(group)} tables, {group[0].found.table} to {group[-1].found.table}"
            names = numbered("k", group[0].key.columns)
            broken = yield from broken_inputs(client, parts, names, label, found=group[0].key.found)
            for number, each in enumerate(group):
                if broken is not None and number not in broken:
                    client.invocation.remember(each.asked, None)


def _fit(group: Sequence[_Fetched]) -> bool:
    return sum(each.cells for each in group) <= MOST_CELLS


def _fetched_keys(changed: Changed, limit: int | None) -> _Fetched | None:
    """The new keys of an input, if there are any and they were fetched."""
    (found, key), (diff, move) = (changed.keyed.found, changed.keyed.key), (changed.read.diff, changed.read.move)
    if key is None or key.trusted:
        return None
    try:
        rows = _new_keys(found, key, move, diff)
    except IdivmError:  # which `verify_change` raises
        return None
    return _Fetched(found, key, move, _New(rows, limit, (), changed.is_large)) if rows else None


def _of_input(client: Client, number: int, found: Input, key: Key, move: Move, new: _New) -> exp.Query:
    """The stored rows with new keys, as the number of the input and the values of the key."""
    names = zip(numbered("k", key.columns), key.columns, strict=True)
    shown = [exp.alias_(column(name, _STORED), shown_as) for shown_as, name in names]
    query = _stored_rows(client, found, key, move, new, [exp.alias_(exp.Literal.number(number), INPUT), *shown])
    return _in_ranges(query, found, key, new)


def violation(found: Input, key: Key, version: int, values: tuple[Any, ...]) -> IdivmError:
    """IDIVM-306; BrokenKey for a key that nobody declared."""
    if key.found:
        return broken_key(found.name, key, version, values)
    return IdivmError(
        finding(
            306,
            source=found.name,
            key=", ".join(key.columns),
            declared=key.declared,
            version=version,
            example=example(key, values),
        )
    )


def _new_keys(found: Input, key: Key, move: Move, diff: NetDiff) -> tuple[Row, ...] | None:
    """The keys that only post-state rows have; None if they have to be read from the feed. Raises IDIVM-306 if one occurs twice,
    and BrokenKey, also for a NULL in a key that nobody declared."""
    if isinstance(diff, FeedDiff) or not set(key.columns) <= set(diff.columns):
        return None
    plus, minus = _by_key(diff, key, 1), _by_key(diff, key, -1)
    for values, count in plus.items():
        if count > 1 or (key.found and None in values):
            raise violation(found, key, move.to_version, values)
    return tuple(values for values in plus if values not in minus)


def key_twice(read: ProvenDiff, key: Key) -> Doubt | None:
    """The doubt in a net diff with two rows of one key in one version, although its feed has the counted number of rows; None if
    none."""
    diff, written = read.diff, [each for each in read.move.commits if not is_inferred(each, read.move.actions.get(each.version))]
    if read.move.doubt is not None or not written or isinstance(diff, FeedDiff) or not set(key.columns) <= set(diff.columns):
        return None
    is_twice = any(count > 1 for sign in (1, -1) for count in _by_key(diff, key, sign).values())
    return Doubt(written[0], "has rows with the same key in its change feed, or the table has") if is_twice else None


def _by_key(diff: InlineDiff, key: Key, sign: int) -> Counter[Row]:
    places = [diff.columns.index(name) for name in key.columns]
    counts: Counter[Row] = Counter()
    for row, weight in diff.rows:
        if weight * sign > 0:
            counts[tuple(row[place] for place in places)] += abs(weight)
    return counts


def _repeated(client: Client, found: Input, key: Key, move: Move, new: _New) -> Steps[tuple[Any, ...] | None]:
    """A new key that occurs more than once in the table at its new version; None if there is none."""
    names = [column(name, _STORED) for name in key.columns]
    query = (
        _stored_rows(client, found, key, move, new, names)
        .group_by(*(name.copy() for name in names))
        .having(is_broken(name.copy() for name in names if key.found))
        .limit(1)
    )
    label = f"check new keys ({', '.join(key.columns)}) of {move.table}"
    answer = yield from client.read(_in_ranges(query, found, key, new), label)
    return tuple(answer.rows[0]) if answer.rows else None


def _stored_rows(client: Client, found: Input, key: Key, move: Move, new: _New, shown: Sequence[exp.Expr]) -> exp.Select:
    """What is `shown` of the rows of the table at its new version that have new keys."""
    rows, limit, ranges, _ = new
    keys = _feed_keys(client.dialect, key, move) if rows is None else _literal_keys(client.dialect, found, key, rows[:limit])
    if rows is None and limit is not None:
        keys = keys.limit(limit)
    names = [column(name, _STORED) for name in key.columns]
    on = conjunction(same(name, column(alias, _NEW)) for name, alias in zip(names, numbered("k", key.columns), strict=True))
    table = exp.alias_(client.dialect.table(move.table, move.to_version), _STORED, table=True)
    query = exp.Select(expressions=[*shown]).from_(table).join(exp.Join(this=subquery(keys, _NEW), on=on))
    # these conditions let Delta skip files
    known = (each.test(name) for each, name in zip(ranges, names, strict=False) if each is not None and each.family is not None)
    return hinted(query.where(*known), [_NEW] if rows is not None or move.feed.broadcast else [])


def _in_ranges(query: exp.Select, found: Input, key: Key, new: _New) -> exp.Select:
    return add_key_ranges(query, _types(found, key), large=frozenset((found.table,)) if new.is_large else frozenset())


def _types(found: Input, key: Key) -> Types:
    return {(found.table, each.name): type_of(each.type) for each in found.facts.columns if each.name in key.columns}


def _literal_keys(dialect: Dialect, found: Input, key: Key, rows: tuple[Row, ...]) -> exp.Select:
    types = {attribute.name: attribute.type for attribute in found.facts.columns}
    return dialect.rows(tuple(zip(numbered("k", key.columns), (types[name] for name in key.columns), strict=True)), rows, "rows")


def _feed_keys(dialect: Dialect, key: Key, move: Move) -> exp.Select:
    inserted = exp.GT(this=column(SIGN), expression=exp.Literal.number(0))
    return (
        exp.Select(expressions=[column(name) for name in numbered("k", key.columns)])
        .from_(subquery(netted_keys(dialect, move.feed, key.columns), "changes"))
        .where(inserted)
    )
