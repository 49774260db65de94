"""The net diff of an input between two versions. A small one is fetched once for all models, a large one stays in the engine.

Small ones of several inputs are fetched by one statement, and remembered until `net_diff` asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.types import type_of
from dbt_idivm.definition.keys import Key
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.changes.feed_proof import doubt, is_counted
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.changes.proving import COUNTS, KINDS, images, known_move, or_unproven, proved
from dbt_idivm.refresh.checks.keys import numbered
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.engine.together import MOST_CELLS, grouped, read_together
from dbt_idivm.script.dialect import Dialect, is_inlinable
from dbt_idivm.script.diff import (
    INLINE_ROWS,
    FeedDiff,
    InlineDiff,
    NetDiff,
    Row,
    are_inlined,
    fetched_row,
)
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.value_range import TEXT, Range, Ranges, between, has_range

_MOST_COLUMNS = 20  # for which ranges are queried
_MOST_ROWS = 10_000  # that are fetched by one statement
_FETCHED = "fetched"  # key under which an invocation remembers what was fetched of a move together with others

Columns = tuple[tuple[str, str], ...]  # names and types


@dataclass(frozen=True)
class ProvenDiff:
    """A complete net diff and its move; the move has a doubt if the feed was not used."""

    diff: NetDiff
    move: Move


def net_diff(client: Client, found: Input, move: Move) -> Steps[ProvenDiff]:
    """The net diff of a move over all columns that can be inlined; a feed in the engine if it is too large."""
    move = known_move(client, found, move)
    return (yield from client.once(move.question("diff"), lambda: _read(client, found, move)))


def _read(client: Client, found: Input, move: Move) -> Steps[ProvenDiff]:
    columns = _inlined(found)
    if move.changes_no_row:
        return ProvenDiff(InlineDiff(tuple(name for name, _ in columns), ()), move)
    # a rewrite of the whole table does not say how little it changed, so it is worth a look
    is_fetched, fetched = bool(columns) and (move.feed_rows or 0) <= INLINE_ROWS, None
    if move.doubt is not None:
        fetched = (yield from or_unproven(move.doubt, _fetched(client, found, move))) if is_fetched else None
        if not move.is_usual:
            between = f"versions {move.consumed.version} and {move.to_version}"
            client.warnings.append(f"{move.doubt.summary}; its changes are the difference of {between}")
        return ProvenDiff(fetched if fetched is not None else move.feed, move)
    if is_fetched and doubt(move.commits, move.actions) is None:
        fetched = yield from _fetched(client, found, move)
    proven = yield from proved(client, found, move)
    if proven.doubt is not None:
        return (yield from client.once(proven.question("diff"), lambda: _read(client, found, proven)))
    return ProvenDiff(fetched if fetched is not None else move.feed, move)


def _inlined(found: Input) -> Columns:
    return tuple((a.name, a.type) for a in found.facts.columns if is_inlinable(a.type))


def _fetched(client: Client, found: Input, move: Move) -> Steps[InlineDiff | None]:
    """The net diff of a move; None if it has too many rows. The feed counts for its proof are fetched with it and remembered."""
    if client.invocation.knows(move.question(_FETCHED)):
        together: InlineDiff | None = client.invocation.known(move.question(_FETCHED))
        return together
    columns, counted = _inlined(found), _is_counted(move)
    limit = INLINE_ROWS + 1 + (KINDS * len(move.commits) if counted else 0)
    rows = (yield from client.read(client.dialect.encoded_feed(move.feed, columns, limit, counted=counted), move.feed.label)).rows
    if counted:
        rows = _without_counts(client, move, rows)
    return _inline(columns, rows)


def _is_counted(move: Move) -> bool:
    return move.doubt is None and is_counted(move.commits, move.actions)


def _without_counts(client: Client, move: Move, rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    """The rows of the net diff itself, after the counts among the rows were remembered."""
    found = tuple(rows)
    client.invocation.remember(move.question(COUNTS), images(row[-3:] for row in found if row[-3] is not None))
    return tuple((*row[:-3], row[-1]) for row in found if row[-3] is None)


def _inline(columns: Columns, rows: Iterable[tuple[Any, ...]]) -> InlineDiff | None:
    """The net diff of fetched rows, which end with their weights; None if these are too many to be inlined."""
    kinds = [kind for _, kind in columns]
    netted: tuple[tuple[Row, int], ...] = tuple((fetched_row(kinds, row[:-1]), int(row[-1])) for row in rows)
    # copies of a row are inlined one by one; texts that the feed may show altered are examined as in any feed
    if sum(abs(weight) for _, weight in netted) > INLINE_ROWS or not are_inlined([row for row, _ in netted]):
        return None
    return InlineDiff(tuple(name for name, _ in columns), tuple(sorted(netted, key=repr)))


class _Small(NamedTuple):
    """A move of which commits report few rows, and the columns to fetch."""

    move: Move
    rows: int
    columns: Columns


def fetch_together(client: Client, inputs: Iterable[tuple[Input, Move]]) -> Steps[None]:
    """Fetch the net diffs of these inputs that `net_diff` would fetch, groups of them by one statement, and remember them for it.

    Each is fetched alone if the statement fails, if its move has a doubt or rewrote its table, or if there is no other one.
    """
    asked = {each.move.question(_FETCHED): each for each in (_small(client, *each) for each in inputs) if each is not None}
    # tables of similar widths next to each other need few NULLs
    for group in grouped(sorted(asked.values(), key=lambda each: len(each.columns)), _fit):
        yield from _fetch_group(client, group)


def _small(client: Client, found: Input, move: Move) -> _Small | None:
    columns, rows = _inlined(found), move.feed_rows
    # a net diff of the whole table, as after a rewrite, has a limit of its own
    if not move.moved or move.changes_no_row or not columns or rows is None or rows > INLINE_ROWS:
        return None
    is_known = any(client.invocation.knows(move.question(what)) for what in ("diff", _FETCHED))
    if is_known or known_move(client, found, move).doubt is not None or doubt(move.commits, move.actions) is not None:
        return None
    return _Small(move, rows, columns)


def _fit(group: Sequence[_Small]) -> bool:
    width = max(len(each.columns) for each in group)
    return width * len(group) <= MOST_CELLS and sum(each.rows for each in group) <= _MOST_ROWS


def _fetch_group(client: Client, group: Sequence[_Small]) -> Steps[None]:
    counted = any(_is_counted(each.move) for each in group)
    # more rows than all commits report
    limit = 1 + sum(each.rows + (KINDS * len(each.move.commits) if counted else 0) for each in group)
    query = client.dialect.encoded_feeds([(each.move.feed, each.columns) for each in group], limit, counted=counted)
    label = f"net diffs of {len(group)} tables, {group[0].move.table} to {group[-1].move.table}"
    answer = yield from read_together(client, query, label)
    # Wrong without the second condition: a commit may report less rows than its feed has, and then the LIMIT may have cut the
    # rows of any input.
    if answer is None or len(answer.rows) >= limit:
        return
    rows: dict[int, list[tuple[Any, ...]]] = {number: [] for number in range(len(group))}
    for number, *cells in answer.rows:
        rows[int(number)].append(tuple(cells))
    for number, (move, _, columns) in enumerate(group):
        after = 3 if counted else 1  # version and kind of change, weight
        own: Sequence[tuple[Any, ...]] = [(*row[: len(columns)], *row[-after:]) for row in rows[number]]
        if counted:
            own = _without_counts(client, move, own)
        client.invocation.remember(move.question(_FETCHED), _inline(columns, own))


@dataclass(frozen=True)
class ChangedKeys:
    """What is known of the keys in a feed: whether there are keys in the new version only, in the old one only, and in both; the
    range of each key column over the keys in the new version only; the ranges of columns over the whole feed. A range is None if
    unknown."""

    inserted: bool
    deleted: bool
    kept: bool
    new: tuple[Range | None, ...]
    columns: Ranges

    def classes_of(self, diff: FeedDiff, key: Key) -> FeedDiff:
        """Mark the classes of the diff that have no rows, so that the statement leaves out what would be evaluated for them. The
        key has to hold."""
        return diff.with_keys(key.columns, inserted=self.inserted, deleted=self.deleted, kept=self.kept)


def has_classes(diff: FeedDiff) -> bool:
    """Whether it is worth asking which classes have rows: the feed is short and does not consist of insertions only."""
    return diff.broadcast and not diff.appended


def changed_keys(client: Client, found: Input, key: Key, move: Move) -> Steps[ChangedKeys]:
    """The keys in the feed of a move. Queried once per invocation."""
    return (yield from client.once(move.question("changed keys", key.columns), lambda: _changed_keys(client, found, key, move)))


def _changed_keys(client: Client, found: Input, key: Key, move: Move) -> Steps[ChangedKeys]:
    feed, types = move.feed, {each.name: type_of(each.type) for each in found.facts.columns}
    new = tuple(name for name in key.columns if has_range(types[name]) or types[name].this in TEXT)
    columns = tuple(name for name, kind in types.items() if has_range(kind))[:_MOST_COLUMNS]
    label = f"changed keys of {move.table} from version {feed.from_version} to {feed.to_version}"
    answer = yield from client.read(changed_keys_query(client.dialect, feed, key.columns, new, columns), label)
    inserted, deleted, kept, *bounds = answer.rows[0]
    cells = zip((*new, *columns), bounds[::3], bounds[1::3], bounds[2::3], strict=True)
    ranges = [(name, between(types[name], low, high, has_null=bool(nulls))) for name, low, high, nulls in cells]
    of_new, of_all = dict(ranges[: len(new)]), dict(ranges[len(new) :])
    return ChangedKeys(
        bool(inserted),
        bool(deleted),
        bool(kept),
        tuple(map(of_new.get, key.columns)),
        {name: each for name, each in of_all.items() if each is not None and each.family is not None},
    )


def changed_keys_query(
    dialect: Dialect, diff: FeedDiff, key: tuple[str, ...], new: tuple[str, ...] = (), columns: tuple[str, ...] = ()
) -> exp.Select:
    """Query of one row: the numbers of keys in the new version only, in the old one only, and in both. Then least and greatest
    value (as text) and the number of NULLs, for each key column in `new` over the keys in the new version only, and for each of
    `columns` over all rows."""
    zero = exp.Literal.number(0)
    # inserted minus deleted copies: 1, -1, or 0 if both versions have the key
    inserted, deleted, kept = (kind(this=column(SIGN), expression=zero) for kind in (exp.GT, exp.LT, exp.EQ))
    cells: list[exp.Expr] = [exp.CountIf(this=each) for each in (inserted, deleted, kept)]
    for name in (name for name, of_key in zip(numbered("k", key), key, strict=True) if of_key in new):
        value = exp.Case(ifs=[exp.If(this=inserted.copy(), true=column(name))])
        is_null = exp.Is(this=column(name), expression=exp.Null())
        cells += [
            *_as_text(exp.Min(this=value.copy()), exp.Max(this=value.copy())),
            exp.CountIf(this=exp.And(this=inserted.copy(), expression=is_null)),
        ]
    for low, high, nulls in zip(*(numbered(kind, columns) for kind in _BOUNDS), strict=True):
        cells += [*_as_text(exp.Min(this=column(low)), exp.Max(this=column(high))), exp.Sum(this=column(nulls))]
    return exp.Select(expressions=cells).from_(subquery(netted_keys(dialect, diff, key, columns), "sums"))


def netted_keys(dialect: Dialect, diff: FeedDiff, key: tuple[str, ...], columns: tuple[str, ...] = ()) -> exp.Select:
    """The distinct keys in the feed as k1, k2, …, with the number of inserted minus deleted rows as SIGN. For each of
    `columns` also the least value, the greatest value and the number of NULLs as l1, h1, n1, …."""
    keys, values = numbered("k", key), numbered("c", columns)
    signed = dialect.signed_feed(diff, (*zip(key, keys, strict=True), *zip(columns, values, strict=True)), SIGN)
    found = [exp.alias_(exp.Sum(this=column(SIGN)), SIGN)]
    for value, *names in zip(values, *(numbered(kind, columns) for kind in _BOUNDS), strict=True):
        is_null = exp.Is(this=column(value), expression=exp.Null())
        bounds = (exp.Min(this=column(value)), exp.Max(this=column(value)), exp.CountIf(this=is_null))
        found += [exp.alias_(bound, name) for bound, name in zip(bounds, names, strict=True)]
    return exp.Select(expressions=[*map(column, keys), *found]).from_(subquery(signed, "changes")).group_by(*map(column, keys))


_BOUNDS = ("l", "h", "n")


def _as_text(*values: exp.Expr) -> list[exp.Expr]:
    return [exp.Cast(this=value, to=exp.DataType.build("string")) for value in values]


def for_plan(plan: Plan, diffs: Mapping[str, NetDiff], changed: Mapping[str, Move]) -> dict[str, NetDiff]:
    """The non-empty diffs in the form that this plan needs.

    If a used column cannot be inlined, or is computed, the diff of its table becomes a feed.
    """
    found: dict[str, NetDiff] = {}
    for table, diff in diffs.items():
        if isinstance(diff, InlineDiff):
            if not diff.rows and changed[table].changes_no_row:
                continue
            scans = [scan for scan in plan.scans if scan.table == table]
            if any(a.definition is not None or not is_inlinable(a.type) for scan in scans for a in scan.base_columns):
                diff = changed[table].feed
            elif not diff.rows:
                continue
        found[table] = diff
    return found
