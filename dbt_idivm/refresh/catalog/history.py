"""A table's history: its commits, what each did to the rows, and the commit that a refresh reads."""

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

# After these operations a name may refer to another column: two names were swapped, or a column was dropped and added again.
_RENAMES = frozenset({"DROP COLUMNS", "RENAME COLUMN", "REPLACE COLUMNS"})
# These change no row either, but they change the schema that a reader sees.
_SCHEMA = _RENAMES | {"CREATE TABLE", "ADD COLUMNS"}
# For these operations the metrics count the rows in the feed: operation → (metric, what was done to the rows).
_COUNTED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "WRITE": (("numOutputRows", "inserted"),),
    "STREAMING UPDATE": (("numOutputRows", "inserted"),),
    "COPY INTO": (("numOutputRows", "inserted"),),
    "CREATE TABLE AS SELECT": (("numOutputRows", "inserted"),),
    "DELETE": (("numDeletedRows", "deleted"),),
    "UPDATE": (("numUpdatedRows", "updated"),),
    "MERGE": (("numTargetRowsInserted", "inserted"), ("numTargetRowsDeleted", "deleted"), ("numTargetRowsUpdated", "updated")),
}
# These keep the partitions, and the column names in files.
_IN_PLACE = (QUIET | _SCHEMA | _COUNTED.keys() | {"TRUNCATE"}) - {"CREATE TABLE", "CREATE TABLE AS SELECT"}
# These write the whole table again or empty it; their metrics do not count the removed rows.
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
_IMAGES: Mapping[str, int] = {"inserted": 1, "deleted": 1, "updated": 2}  # rows in the feed for each changed row


# Writes with a parameter that says whether existing rows are kept or replaced; with "" they are always kept.
_WRITES: Mapping[str, str] = {"WRITE": "mode", "STREAMING UPDATE": "outputMode", "COPY INTO": ""}
_ADDS = frozenset({"Append", "ErrorIfExists"})  # existing rows are kept
_REPLACES = frozenset({"Overwrite", "Complete"})  # existing rows are removed, all or some of them
_PARTIAL = ("numOutputRows", "numCopiedRows", "numDeletedRows")  # only REPLACE WHERE has all of these metrics
# Counts of removed files: if not 0, rows may have been deleted with them that Delta did not count.
_REMOVED = ("numRemovedFiles", "numTargetFilesRemoved", "numDeletedFiles")


@dataclass(frozen=True)
class Images:
    """Numbers of rows in a change feed by kind: inserted, deleted, updated (before and after), and others."""

    inserted: int = 0
    deleted: int = 0
    before: int = 0
    after: int = 0
    other: int = 0


@dataclass(frozen=True)
class Commit:
    """One version of a table. `at`: the commit's time as exact text (`moments`); version and time together identify a commit
    across tables of the same name. `shown`: the time in the history, if it differs. `writer` and `operation` are "" if
    unknown."""

    version: int
    at: str
    operation: str
    modes: frozenset[str]  # of a write; more than one if the text is ambiguous
    metrics: Mapping[str, Any]
    user_metadata: str | None
    renamed: str | None = None  # names that may have got another meaning, letters and digits only; "": any; None: none
    restored: int | None = None  # RESTORE: the version that was restored; 0 if unknown
    claimed: Claimed | None = None  # the newest claim on the table, for ledgers with claims; looked up before the history
    shown: str | None = None
    writer: str = ""

    def is_it(self, version: int, at: str) -> bool:
        """Whether this is the commit with that version and time."""
        return self.version == version and at in (self.at, self.shown)

    @property
    def is_quiet(self) -> bool:
        return self.operation in QUIET

    @property
    def changes_no_row(self) -> bool:
        """Whether an operation of this kind never changes rows."""
        return self.is_quiet or self.operation in _SCHEMA

    @property
    def keeps_layout(self) -> bool:
        """Whether the commit certainly kept the partitions of the table, and the column names in its files."""
        return self.operation in _IN_PLACE and not self.replaces

    def may_rename(self, column: str) -> bool:
        """Whether the column's name may have referred to another column before. A substring match of names is enough."""
        return self.renamed is not None and (not self.renamed or _letters(column) in self.renamed)

    @property
    def feed_rows(self) -> int | None:
        """Number of rows that the change feed has for this commit; None if unknown, or if the whole table was rewritten."""
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
        """Expected numbers of feed rows by kind, from the metrics; None if the metrics do not count all of them. `change`: by how
        many rows the table grew, if known; it gives the number of rows deleted by an overwrite."""
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
        """Whether it is a MERGE with only zero counts. Spark's feed reader shows nothing for it, whatever happened to the
        files."""
        return self.operation == "MERGE" and all(number(self.metrics, metric) == 0 for metric, _ in _COUNTED["MERGE"])

    # Wrong without it: nothing contradicts a MERGE that changed rows, counts none, and has no feed.
    @property
    def _only_copies(self) -> bool:
        """Whether a MERGE reports that it only copied rows, or wrote no file."""
        written, copied = number(self.metrics, "numOutputRows"), number(self.metrics, "numTargetRowsCopied")
        is_idle = all(number(self.metrics, metric) == 0 for metric in ("numTargetFilesAdded", "numTargetFilesRemoved"))
        return is_idle or (written is not None and written == copied)

    @property
    def is_anew(self) -> bool:
        """Whether it rewrote the table or a part of it, so that its feed has the old rows and the new rows."""
        return self.operation in _ANEW or self.replaces

    @property
    def only_adds(self) -> bool:
        """Whether it certainly did not touch any existing row."""
        if self.feed_rows == 0 or self._removes_files:
            return self.feed_rows == 0
        if self.is_write:
            return self._appends
        return self.operation == "MERGE" and self.feed_rows == self.counts["inserted"]

    def _none_for_certain(self) -> int | None:
        """0 if certainly no row went uncounted, else None. A wrong 0 would lose changes; a wrong None only costs a read."""
        return 0 if (self._appends or not self.is_write) and not self._removes_files else None

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of rows `inserted`, `deleted` and `updated` according to the metrics; 0 where these do not say."""
        if self.replaces_some:
            output, copied, deleted = (number(self.metrics, name) or 0 for name in _PARTIAL)
            return {"inserted": max(output - copied, 0), "deleted": deleted, "updated": 0}
        counted = _COUNTED.get(self.operation, ())
        return dict.fromkeys(_IMAGES, 0) | {done: number(self.metrics, metric) or 0 for metric, done in counted}

    @property
    def is_write(self) -> bool:
        """Whether rows were written by INSERT, a data frame or a stream. The metrics then count these rows, files and bytes."""
        return self.operation in _WRITES

    @property
    def replaces(self) -> bool:
        """Whether a write replaced all rows of the table, or of some partitions."""
        return not _REPLACES.isdisjoint(self.modes) and not self.replaces_some

    @property
    def replaces_some(self) -> bool:
        """Whether it was a REPLACE WHERE with counts. Its number of output rows includes rows that were kept, and files with
        marked rows."""
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
    """A count from the log, in whatever type the driver returns it; None if it is missing or not a valid count."""
    try:
        found = int(facts.get(name))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if 0 <= found <= LARGEST else None


_PAGE = 10  # commits; looking up one takes as long as looking up twenty


def commits(rows: Rows, protocol: CommitProtocol) -> tuple[Commit, ...]:
    """The rows of DESCRIBE HISTORY as commits, newest first."""
    found = sorted((_commit(row, protocol) for row in rows.dicts()), key=lambda commit: -commit.version)
    times = moments([each.at for each in found])
    return tuple(each if each.at == at else replace(each, at=at, shown=each.at) for each, at in zip(found, times, strict=True))


def newest(client: Client, table: str, limit: int) -> Steps[tuple[Commit, ...]]:
    """The newest commits of a table, at most `limit`, newest first."""
    ledger = client.engine.ledger
    # look up claims first: a claim that finished after the history was read would be attributed to an earlier write
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
    """The commits from `version` on (if it still exists), newest first. `known` is a version that exists."""
    limit = max(known - version, 0) + 1
    while True:
        found = yield from newest(client, table, limit)
        # others may commit meanwhile, so that the page does not reach far enough
        if len(found) < limit or found[-1].version <= version:
            return tuple(commit for commit in found if commit.version >= version)
        limit += found[-1].version - version


def pinned(client: Client, table: str) -> Steps[Commit]:
    """The commit of `table` that all models of this invocation read: the newest one when it was first asked for."""
    return (yield from page(client, table))[0]


def pin(client: Client, table: str, commit: Commit) -> None:
    """Pin `commit`, which is known to be the newest one: a refreshed view's own."""
    client.invocation.remember(("pin", table), (commit,))


def since_known(client: Client, table: str, version: int, known: int) -> Steps[tuple[Commit, ...]]:
    """As `since`, but from the page of `pinned` if it covers `version` to `known`; otherwise looked up once."""
    found = yield from page(client, table)
    if found[-1].version <= version and max(version, known) <= found[0].version:
        return tuple(commit for commit in found if commit.version >= version)
    return (yield from client.once(("since", table, version), lambda: since(client, table, version, known)))


def page(client: Client, table: str) -> Steps[tuple[Commit, ...]]:
    """The pinned commit and some before it. The older ones cost nothing extra, and callers often need them next."""
    return (yield from client.once(("pin", table), lambda: newest(client, table, _PAGE)))


# Wrong without it: columns that were renamed or dropped before the view was built have their former names again, and the feed
# shows nothing of it.
def with_undone(client: Client, table: str, restore: Commit) -> Steps[Commit]:
    """Extend a RESTORE by the renames of the commits that it undoes: those since the restored version, including what an earlier
    RESTORE among them has undone."""
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
    )  # an operation that replaced the table may have renamed anything
    return replace(restore, renamed=" ".join(renamed) or None if is_known and "" not in renamed else "")


def has(client: Client, table: str, version: int, at: str) -> Steps[bool]:
    """Whether the table has that commit now. For a table that was just written, this also pins the newest commit."""
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
    """Column names in the parameters of a commit that may change the meaning of names (letters and digits only); None for other
    commits."""
    if operation not in _RENAMES:
        return None
    values = parameters.values() if isinstance(parameters, Mapping) else [parameters or ""]
    return " ".join(_letters(str(each)) for each in values).strip()


def _restored(operation: str, parameters: Any) -> int | None:
    """The version in the parameters of a RESTORE, 0 if it names a time instead; None for other commits."""
    if operation != "RESTORE":
        return None
    if isinstance(parameters, str):  # a map through Thrift
        named = re.search(r'"version":\s*"?(\d+)', parameters)
        return int(named[1]) if named is not None else 0
    return number(pairs(parameters), "version") or 0


def _letters(text: str) -> str:
    """The letters and digits of a text in lower case: quoting and escaping differ from place to place."""
    return re.sub(r"\W", "", text).lower()


def _modes(operation: str, parameters: Any) -> frozenset[str]:
    """The modes of a write: what happened to existing rows. A text that merely resembles a mode costs a read, but loses no
    row."""
    key = _WRITES.get(operation)
    if not key:
        return frozenset() if key is None else frozenset({"Append"})
    if isinstance(parameters, str):
        # a map through Thrift is text that looks like JSON, but quotes in its values are not escaped
        return frozenset(re.findall(rf'"{key}":\s*"+(\w+)', parameters))
    return frozenset({str(pairs(parameters).get(key, "")).strip('"')})
