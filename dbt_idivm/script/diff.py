"""Net diffs: what changed in one table between two versions, as signed rows in which equal rows cancel out.

A small net diff is fetched and inlined into the Δ-script (`InlineDiff`); a larger one stays a query over the table's change feed
(`FeedDiff`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dbt_idivm.operators.scan import DiffClass, DiffRows, Scan

# int and bool are unchanged; anything else is text that CAST converts back to the column's type
Value = int | bool | str | None
Row = tuple[Value, ...]
INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})  # names of types
# Up to this size inlining is faster: on a 10M-row view 200 changed rows took 2.1 s inlined with key ranges, 3.2 s as a broadcast
# feed. Beyond it the statement gets too long to parse.
INLINE_ROWS = 1000
INLINE_CHARACTERS = 1_000_000
REPLACEMENT = "\ufffd"  # Java and Python show it instead of bytes that are not UTF-8


def fetched_row(kinds: Sequence[str], cells: tuple[Any, ...]) -> Row:
    """Convert fetched cells, encoded by `dialect.encode`, to what `decode` accepts. `kinds` are their Spark SQL types.

    Some connections return booleans as text.
    """
    return tuple(_fetched(kind.lower(), cell) for kind, cell in zip(kinds, cells, strict=True))


def _fetched(kind: str, cell: Any) -> Value:
    if cell is None:
        return None
    if kind == "boolean":
        return cell if isinstance(cell, bool) else str(cell).lower() == "true"
    return int(cell) if kind in INTEGERS or kind == "timestamp" else str(cell)


def are_inlined(rows: Sequence[Row]) -> bool:
    """Whether fetched rows can be inlined: they are not too long, and no text contains
    U+FFFD, which may stand for invalid UTF-8.
    """
    size = sum(len(cell) if isinstance(cell, str) else 8 for row in rows for cell in row)
    return size <= INLINE_CHARACTERS and not any(isinstance(cell, str) and REPLACEMENT in cell for row in rows for cell in row)


class KeyViolation(Exception):
    """Two rows of a table, in the post-state, have the same value of a declared key."""

    def __init__(self, table: str, key: tuple[str, ...], value: Row) -> None:
        super().__init__(f"{table}: {dict(zip(key, value, strict=True))} occurs more than once")
        self.table, self.key, self.value = table, key, value


@dataclass(frozen=True)
class InlineDiff:
    """The rows of a net diff with their weights: the number of inserted copies, negative for deleted ones."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Row, int], ...]

    def projected(self, columns: tuple[str, ...]) -> InlineDiff:
        """The net diff of the table reduced to `columns`. Rows that differ only in other columns cancel out."""
        places = [self.columns.index(name) for name in columns]
        netted: Counter[Row] = Counter()
        for row, weight in self.rows:
            netted[tuple(row[place] for place in places)] += weight
        return InlineDiff(columns, tuple((row, weight) for row, weight in netted.items() if weight))


# The classes that have no rows if rows were only added. Without a key, added rows are in the class rec.
_NOT_ADDED: frozenset[DiffClass] = frozenset({"minus", "del", "upd", "rec"})


@dataclass(frozen=True)
class VersionedColumn:
    """A column of a table at a version, with its Spark SQL type. `is_old`: whether an
    earlier version of the table has it as well.
    """

    name: str
    type: str
    is_old: bool = True


@dataclass(frozen=True)
class FeedDiff:
    """A net diff too large to inline: the table's change feed after `from_version` up to and including `to_version`.

    With `columns`, all columns of the table, the two versions are compared instead of reading the feed. `broadcast`: whether
    it is small enough to be broadcast. `appended`: rows were added and no others touched. `empty`: the classes that have no
    rows if rows are identified by `key`.
    """

    table: str
    from_version: int
    to_version: int
    broadcast: bool = True
    appended: bool = False
    key: tuple[str, ...] = ()
    empty: frozenset[DiffClass] = frozenset()
    columns: tuple[VersionedColumn, ...] = ()

    @property
    def label(self) -> str:
        what = "difference" if self.columns else "net diff"
        return f"{what} of {self.table} from version {self.from_version} to {self.to_version}"

    def with_keys(self, key: tuple[str, ...], *, inserted: bool, deleted: bool, kept: bool) -> FeedDiff:
        """The diff with the classes that are empty, given whether key values are only in the new
        version, only in the old one, or in both.
        """
        some: dict[DiffClass, bool] = {
            "ins": inserted,
            "del": deleted,
            "upd": kept,
            "rec": kept,
            "plus": inserted or kept,
            "minus": deleted or kept,
        }
        return replace(self, key=key, empty=frozenset(name for name, has_rows in some.items() if not has_rows))

    def has_none(self, scan: Scan, diff_class: DiffClass) -> bool:
        """Whether a class of an occurrence certainly has no rows."""
        if self.appended and diff_class in (_NOT_ADDED if scan.unique else {"minus"}):
            return True
        return scan.unique and scan.key == self.key and diff_class in self.empty


NetDiff = InlineDiff | FeedDiff


@dataclass(frozen=True)
class NetChanges:
    """The net diffs of one refresh.

    `diffs`: table that changed → net diff. `classes`: (occurrence, attributes whose change makes an update a REC) → class →
    rows, for inlined net diffs.
    """

    diffs: Mapping[str, NetDiff] = field(default_factory=dict)
    classes: Mapping[tuple[str, frozenset[str]], Mapping[DiffClass, tuple[Row, ...]]] = field(default_factory=dict)

    def rows(self, leaf: DiffRows) -> tuple[Row, ...] | None:
        """The rows of a base i-diff, over the columns of its scan; None if they are not known before the statement runs."""
        diff = self.diffs.get(leaf.scan.table)
        if diff is None:
            return ()
        if isinstance(diff, FeedDiff):
            return () if diff.has_none(leaf.scan, leaf.diff_class) else None
        return self.classes[leaf.scan.occurrence, leaf.split][leaf.diff_class]

    def is_known(self, leaf: DiffRows) -> bool:
        """Whether the rows of a base i-diff are known before the statement runs."""
        return self.rows(leaf) is not None

    def is_empty(self, leaf: DiffRows) -> bool:
        """Whether a base i-diff certainly has no rows."""
        return self.rows(leaf) == ()


def classify(
    scan: Scan, diff: InlineDiff, split: frozenset[str], is_ignorable: Callable[[Row], bool] = lambda row: False
) -> Mapping[DiffClass, tuple[Row, ...]]:
    """Class → its rows for one occurrence, over its columns. The classes are those of `operators/scan.py`.

    `rec` contains both images. Rows of `signed` end with their sign, one row per copy. A key is left out if all its images are
    ignorable: a row that enters or leaves the view has an image that is not. Raises KeyViolation.
    """
    netted = diff.projected(tuple(a.name for a in scan.base_columns)).rows
    if scan.key is not None:
        key_of = _key_of(scan)
        new, old = _by_key(scan, netted, 1), _by_key(scan, netted, -1)
        ignored = {key for key in {**new, **old} if all(is_ignorable(found[key]) for found in (new, old) if key in found)}
        new, old = ({key: row for key, row in found.items() if key not in ignored} for found in (new, old))
        netted = tuple((row, weight) for row, weight in netted if key_of(row) not in ignored)
    else:
        netted = tuple((row, weight) for row, weight in netted if not is_ignorable(row))
    plus = tuple(row for row, weight in netted if weight > 0)
    minus = tuple(row for row, weight in netted if weight < 0)
    signed = tuple((*row, 1 if weight > 0 else -1) for row, weight in netted for _ in range(abs(weight)))
    found: dict[DiffClass, tuple[Row, ...]] = {"plus": plus, "minus": minus, "signed": signed}
    if scan.key is None:
        return {**found, "rec": plus + minus, "ins": (), "del": (), "upd": ()}
    places = [i for i, name in enumerate(scan.columns) if name in split and name not in scan.ids]
    both = [(old[key], new[key]) for key in new if key in old]
    moved = [pair for pair in both if any(pair[0][i] != pair[1][i] for i in places)]
    stayed = [pair for pair in both if all(pair[0][i] == pair[1][i] for i in places)]
    return {
        **found,
        "ins": tuple(row for key, row in new.items() if key not in old),
        "del": tuple(row for key, row in old.items() if key not in new),
        "upd": tuple(after for _, after in stayed),
        "rec": tuple(image for pair in moved for image in pair),
    }


def _by_key(scan: Scan, netted: tuple[tuple[Row, int], ...], sign: int) -> dict[Row, Row]:
    assert scan.key is not None
    key_of = _key_of(scan)
    found: dict[Row, Row] = {}
    for row, weight in netted:
        if weight * sign > 0:
            key = key_of(row)
            if key in found or abs(weight) > 1:
                raise KeyViolation(scan.table, scan.key, key)
            found[key] = row
    return found


def _key_of(scan: Scan) -> Callable[[Row], Row]:
    places = tuple(scan.columns.index(name) for name in scan.ids)
    return lambda row: tuple(row[place] for place in places)
