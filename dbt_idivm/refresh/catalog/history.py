"""A table's history: its commits, what each did to the rows, and the commit whose rows a refresh reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dbt_idivm.cost.sizes import LARGEST
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import QUIET, CommitProtocol, metrics, moment, moments, pairs
from dbt_idivm.refresh.engine.ledger import Claimed, recorded
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Rows

# After these a name may be that of another column, with other values: two names were exchanged, or a column came back empty.
_RENAMES = frozenset({"DROP COLUMNS", "RENAME COLUMN", "REPLACE COLUMNS"})
# These change no row either, but what a reader sees.
_SCHEMA = _RENAMES | {"CREATE TABLE", "ADD COLUMNS"}
# For these the metrics count the rows that the feed shows: operation → (metric, what was done to the rows).
_COUNTED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "WRITE": (("numOutputRows", "inserted"),),
    "STREAMING UPDATE": (("numOutputRows", "inserted"),),
    "COPY INTO": (("numOutputRows", "inserted"),),
    "CREATE TABLE AS SELECT": (("numOutputRows", "inserted"),),
    "DELETE": (("numDeletedRows", "deleted"),),
    "UPDATE": (("numUpdatedRows", "updated"),),
    "MERGE": (("numTargetRowsInserted", "inserted"), ("numTargetRowsDeleted", "deleted"), ("numTargetRowsUpdated", "updated")),
}
# These leave the partitions as they are, and the names of columns in files.
_IN_PLACE = (QUIET | _SCHEMA | _COUNTED.keys() | {"TRUNCATE"}) - {"CREATE TABLE", "CREATE TABLE AS SELECT"}
# These write the table anew, or empty it: what they take away is not counted.
_ANEW = frozenset(
    {
        "CREATE OR REPLACE TABLE",
        "CREATE OR REPLACE TABLE AS SELECT",
        "REPLACE TABLE",
        "REPLACE TABLE AS SELECT",
        "RESTORE",
        "TRUNCATE",
        "CLONE",
    }
)
_IMAGES: Mapping[str, int] = {"inserted": 1, "deleted": 1, "updated": 2}  # rows of the feed for each


# Writes of these have a parameter that says whether existing rows are kept or replaced; without one they are kept.
_WRITES: Mapping[str, str] = {"WRITE": "mode", "STREAMING UPDATE": "outputMode", "COPY INTO": ""}
_ADDS = frozenset({"Append", "ErrorIfExists"})  # nothing becomes of them
_REPLACES = frozenset({"Overwrite", "Complete"})  # they go, or a part of them
_PARTIAL = ("numOutputRows", "numCopiedRows", "numDeletedRows")  # only REPLACE WHERE counts all of these
# Files that were removed, though no row is counted: rows may have been deleted with them that Delta did not count.
_REMOVED = ("numRemovedFiles", "numTargetFilesRemoved", "numDeletedFiles")


@dataclass(frozen=True)
class Images:
    """How many rows of each kind a change feed shows: inserted ones, deleted ones, updated ones before and after, and others."""

    inserted: int = 0
    deleted: int = 0
    before: int = 0
    after: int = 0
    other: int = 0


@dataclass(frozen=True)
class Commit:
    """One version of a table. `at` is the commit's time as exact text (`moments`): with the version it distinguishes tables.
    `shown` is the time that the history shows, if that is another one. `writer` and `operation` are "" where the commit does not
    say."""

    version: int
    at: str
    operation: str
    modes: frozenset[str]  # of a write; more than one where a text does not say which is meant
    metrics: Mapping[str, Any]
    user_metadata: str | None
    renamed: str | None = None  # where names of columns got another meaning: their letters and digits; "" if nobody says which
    restored: int | None = None  # the version whose rows and columns the table has again; the first one if nobody says which
    claimed: Claimed | None = None  # the newest claim to the table, where a ledger has claims; looked up before its history
    shown: str | None = None
    writer: str = ""

    def is_it(self, version: int, at: str) -> bool:
        """Whether it is the commit that was known so."""
        return self.version == version and at in (self.at, self.shown)

    @property
    def is_quiet(self) -> bool:
        return self.operation in QUIET

    @property
    def changes_no_row(self) -> bool:
        """Whether it is of a kind that changes no row."""
        return self.is_quiet or self.operation in _SCHEMA

    @property
    def keeps_layout(self) -> bool:
        """Whether the table certainly has the partitions, and the files the names of columns, that it had before."""
        return self.operation in _IN_PLACE and not self.replaces

    def may_rename(self, column: str) -> bool:
        """Whether the name of the column may have been that of another one before. A part of another name is enough."""
        return self.renamed is not None and (not self.renamed or _letters(column) in self.renamed)

    @property
    def feed_rows(self) -> int | None:
        """How many rows the change feed shows for this commit, None if unknown or a rewrite of the whole table."""
        if self.changes_no_row:
            return 0
        if self.replaces_some:
            return sum(self.counts.values()) or None
        counted = _COUNTED.get(self.operation)
        if counted is None or self.replaces:
            return None
        found = [(number(self.metrics, metric), _IMAGES[done]) for metric, done in counted]
        if any(value is None for value, _ in found):
            return None
        return sum(value * times for value, times in found if value is not None) or self._none_for_certain()

    def images(self, change: int | None) -> Images | None:
        """How many rows of each kind its metrics count for the feed; None if they do not count all of them. `change`: by how many
        rows it changed the table, if that is known, from which follows how many were deleted where rows were replaced."""
        if self.changes_no_row:
            return Images()
        counted = _COUNTED.get(self.operation, ())
        if not counted or (not self.replaces_some and any(number(self.metrics, metric) is None for metric, _ in counted)):
            return None
        if self.counts_no_row_of_merge and not self._only_copies:
            return None
        inserted, deleted, updated = (self.counts[done] for done in _IMAGES)
        if self.is_write and not self._appends and not self.replaces_some:
            if change is None or not self.replaces:
                return None
            deleted = inserted - change
        return Images(inserted, deleted, updated, updated)

    @property
    def counts_no_row_of_merge(self) -> bool:
        """Whether it is a MERGE that counts no row. Whatever it did to files, Spark's reader shows nothing of it."""
        return self.operation == "MERGE" and all(number(self.metrics, metric) == 0 for metric, _ in _COUNTED["MERGE"])

    # Wrong without it: nothing contradicts a MERGE that changed rows, counts none, and has no feed.
    @property
    def _only_copies(self) -> bool:
        """Whether a MERGE says that all rows that it wrote are copies, or that it wrote no file."""
        written, copied = number(self.metrics, "numOutputRows"), number(self.metrics, "numTargetRowsCopied")
        is_idle = all(number(self.metrics, metric) == 0 for metric in ("numTargetFilesAdded", "numTargetFilesRemoved"))
        return is_idle or (written is not None and written == copied)

    @property
    def is_anew(self) -> bool:
        """Whether it wrote the table anew, or a part of it, so that its feed has the old rows and the new ones."""
        return self.operation in _ANEW or self.replaces

    @property
    def only_adds(self) -> bool:
        """Whether it certainly touched no row that was there before."""
        if self.feed_rows == 0 or self._removes_files:
            return self.feed_rows == 0
        if self.is_write:
            return self._appends
        return self.operation == "MERGE" and self.feed_rows == self.counts["inserted"]

    def _none_for_certain(self) -> int | None:
        """0 if no row went uncounted: what is taken for unchanged is never read, and a count taken for too few costs a read."""
        return 0 if (self._appends or not self.is_write) and not self._removes_files else None

    @property
    def counts(self) -> Mapping[str, int]:
        """The rows `inserted`, `deleted` and `updated`, as far as the metrics count them; 0 where they do not."""
        if self.replaces_some:
            output, copied, deleted = (number(self.metrics, name) or 0 for name in _PARTIAL)
            return {"inserted": max(output - copied, 0), "deleted": deleted, "updated": 0}
        counted = _COUNTED.get(self.operation, ())
        return dict.fromkeys(_IMAGES, 0) | {done: number(self.metrics, metric) or 0 for metric, done in counted}

    @property
    def is_write(self) -> bool:
        """Whether rows were written by INSERT, a data frame or a stream: its metrics count these rows, files and bytes."""
        return self.operation in _WRITES

    @property
    def replaces(self) -> bool:
        """Whether a write replaced the rows of the table, or of some of its partitions."""
        return not _REPLACES.isdisjoint(self.modes) and not self.replaces_some

    @property
    def replaces_some(self) -> bool:
        """Whether it replaced the rows for which a condition holds, REPLACE WHERE, and counts them. As output it counts those
        that it left as they are, too, and files in which it marked rows."""
        return self.is_write and all((number(self.metrics, name) is not None) for name in _PARTIAL)

    @property
    def _appends(self) -> bool:
        return self.is_write and bool(self.modes) and self.modes <= _ADDS

    @property
    def _removes_files(self) -> bool:
        return any(number(self.metrics, metric) or 0 for metric in _REMOVED)

    @property
    def rows_written(self) -> int:
        return number(self.metrics, "numOutputRows") or 0


def number(facts: Mapping[str, Any], name: str) -> int | None:
    """A count of the log, however the driver returns it; None if it is none."""
    try:
        found = int(facts.get(name))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if 0 <= found <= LARGEST else None


_PAGE = 10  # commits; one takes as long as twenty


def commits(rows: Rows, protocol: CommitProtocol) -> tuple[Commit, ...]:
    """DESCRIBE HISTORY as commits, newest first."""
    found = sorted((_commit(row, protocol) for row in rows.dicts()), key=lambda commit: -commit.version)
    times = moments([each.at for each in found])
    return tuple(each if each.at == at else replace(each, at=at, shown=each.at) for each, at in zip(found, times, strict=True))


def newest(client: Client, table: str, limit: int) -> Steps[tuple[Commit, ...]]:
    """The newest commits of a table, `limit` at most, newest first."""
    ledger = client.engine.ledger
    # first: a claim that was finished later than the history was read would be taken for one of a former write
    known, claimed = (yield from recorded(client, ledger, table)) if ledger is not None else ({}, None)
    found = commits((yield from client.ask(client.commands.history(table, limit))), client.engine.commits)
    if ledger is None:
        return found
    return tuple(replace(each, user_metadata=_recorded(known, each), claimed=claimed) for each in found)


def _recorded(known: Mapping[tuple[int, str], str], commit: Commit) -> str | None:
    times = (commit.at, *([commit.shown] if commit.shown is not None else []))
    return next((known[commit.version, at] for at in times if (commit.version, at) in known), commit.user_metadata)


def latest(client: Client, table: str) -> Steps[Commit]:
    """The newest commit of a table."""
    return (yield from newest(client, table, 1))[0]


def since(client: Client, table: str, version: int, known: int) -> Steps[tuple[Commit, ...]]:
    """The commits from `version` (if it is still there) on, newest first. `known` is a version that exists."""
    limit = max(known - version, 0) + 1
    while True:
        found = yield from newest(client, table, limit)
        # others may commit meanwhile, so that the page ends too early
        if len(found) < limit or found[-1].version <= version:
            return tuple(commit for commit in found if commit.version >= version)
        limit += found[-1].version - version


def pinned(client: Client, table: str) -> Steps[Commit]:
    """The commit of `table` that every model of this invocation reads: the newest one at the first question."""
    return (yield from page(client, table))[0]


def pin(client: Client, table: str, commit: Commit) -> None:
    """A commit of `table` that is known to be the newest: a refreshed view's own."""
    client.invocation.remember(("pin", table), (commit,))


def since_known(client: Client, table: str, version: int, known: int) -> Steps[tuple[Commit, ...]]:
    """As `since`, of what was looked up for `pinned` if that reaches from `version` to `known`; else asked once."""
    found = yield from page(client, table)
    if found[-1].version <= version and max(version, known) <= found[0].version:
        return tuple(commit for commit in found if commit.version >= version)
    return (yield from client.once(("since", table, version), lambda: since(client, table, version, known)))


def page(client: Client, table: str) -> Steps[tuple[Commit, ...]]:
    """The pinned commit and some before it: they cost nothing, and who has read one of them asks for those since."""
    return (yield from client.once(("pin", table), lambda: newest(client, table, _PAGE)))


# Wrong without it: columns that were renamed or dropped before the view was built are there again under these names, and the feed
# shows nothing of it.
def with_undone(client: Client, table: str, restore: Commit) -> Steps[Commit]:
    """A RESTORE that renames what the commits have renamed that it undoes: those since the version that it restores, and what a
    RESTORE among them has undone in turn."""
    assert restore.restored is not None
    first, least = restore.version, restore.restored
    undone: tuple[Commit, ...] = ()
    while least < first:
        first = least
        found = yield from since_known(client, table, first, restore.version)
        undone = tuple(each for each in found if first < each.version < restore.version)
        least = min((each.restored for each in undone if each.restored is not None), default=first)
    renamed = [each.renamed for each in undone if each.renamed is not None]
    is_known = len(undone) == restore.version - first - 1 and all(
        each.keeps_layout or each.restored is not None for each in undone
    )  # what replaced the table may have renamed anything
    return replace(restore, renamed=" ".join(renamed) or None if is_known and "" not in renamed else "")


def has(client: Client, table: str, version: int, at: str) -> Steps[bool]:
    """Whether the table has that commit now. Of a table that was just written the newest commit is known then."""
    is_written = not client.invocation.knows(("pin", table))
    found = yield from (page(client, table) if is_written else newest(client, table, 1))
    if not is_written and not found[0].is_it(version, at):
        found = yield from newest(client, table, _PAGE)
    if found[-1].version > version:
        found = yield from since(client, table, version, found[0].version)
    return any(each.is_it(version, at) for each in found)


def _commit(row: Mapping[str, Any], protocol: CommitProtocol) -> Commit:
    return Commit(
        int(row["version"]),
        moment(row["timestamp"]),
        row["operation"] or "",
        _modes(row["operation"], row.get("operationParameters")),
        metrics(row.get("operationMetrics")),
        protocol.metadata(row),
        _renamed(row["operation"], row.get("operationParameters")),
        _restored(row["operation"], row.get("operationParameters")),
        writer=row.get("engineInfo") or "",
    )


def _renamed(operation: str, parameters: Any) -> str | None:
    """What the parameters of a commit name after which names of columns may have another meaning; None for any other commit."""
    if operation not in _RENAMES:
        return None
    values = parameters.values() if isinstance(parameters, Mapping) else [parameters or ""]
    return " ".join(_letters(str(each)) for each in values).strip()


def _restored(operation: str, parameters: Any) -> int | None:
    """The version that the parameters of a RESTORE name, 0 if they name a time instead; None for any other commit."""
    if operation != "RESTORE":
        return None
    if isinstance(parameters, str):  # a map through Thrift
        named = re.search(r'"version":\s*"?(\d+)', parameters)
        return int(named[1]) if named is not None else 0
    return number(pairs(parameters), "version") or 0


def _letters(text: str) -> str:
    """Without case, and without what is quoted and escaped in one place and not in another."""
    return re.sub(r"\W", "", text).lower()


def _modes(operation: str, parameters: Any) -> frozenset[str]:
    """What a write says of the rows that were there. Text that only looks so costs a read, no row."""
    key = _WRITES.get(operation)
    if not key:
        return frozenset() if key is None else frozenset({"Append"})
    if isinstance(parameters, str):
        # a map through Thrift is text that looks like JSON, but quotes in its values are not escaped
        return frozenset(re.findall(rf'"{key}":\s*"+(\w+)', parameters))
    return frozenset({str(pairs(parameters).get(key, "")).strip('"')})
