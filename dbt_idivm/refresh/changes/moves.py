"""Moves: how far each input advanced since the view's state, as versions and the commits between."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.file_actions import FileActions, file_actions
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import Input, Inputs, types_at
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.diff import FeedDiff, VersionedColumn

BROADCAST_ROWS = 1_000_000


@dataclass(frozen=True)
class Move:
    """The advance of an input table from the version that the view was built from to the pinned one.

    `commits`: those in between. `actions`: version → file actions, where the log can be read. `doubt`: why the change data feed
    is not used; the change is then the difference of the two versions, over `columns`. `is_usual`: the user need not be told.
    """

    table: str
    consumed: Consumed
    to_version: int
    to_at: str
    commits: tuple[Commit, ...] = ()
    actions: Mapping[int, FileActions] = field(default_factory=dict)
    doubt: Finding | None = None
    is_usual: bool = False
    columns: tuple[VersionedColumn, ...] = ()

    @property
    def moved(self) -> bool:
        return self.to_version != self.consumed.version

    @property
    def feed_rows(self) -> int | None:
        """Approximate number of rows in the feed; None if a commit does not say."""
        counts = [commit.feed_rows for commit in self.commits]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def feed(self) -> FeedDiff:
        """The changes as a feed in the engine. It is broadcast only if it is known to be small, because the driver has to hold
        it."""
        is_small = self.doubt is None and self.feed_rows is not None and self.feed_rows <= BROADCAST_ROWS
        return FeedDiff(self.table, self.consumed.version, self.to_version, is_small, self.only_adds, columns=self.columns)

    def question(self, what: str, *more: Hashable) -> tuple[Hashable, ...]:
        """Key under which an invocation remembers what it has read of the move."""
        return what, self.table, self.consumed.version, self.to_version, self.doubt is not None, *more

    @property
    def changes_no_row(self) -> bool:
        """Whether the commits certainly changed no row, so that nothing has to be read."""
        return all(
            self.actions[each.version].changes_no_row if each.version in self.actions else each.changes_no_row
            for each in self.commits
        )

    @property
    def only_adds(self) -> bool:
        """Whether the commits certainly touched no existing row, provided that the feed has the counted number of rows."""
        return self.doubt is None and all(
            each.only_adds and (each.version not in self.actions or not self.actions[each.version].removed_files)
            for each in self.commits
        )


def moves(
    client: Client, state: State, written: Commit, inputs: Inputs, used: Mapping[str, Iterable[str]]
) -> Steps[dict[str, Move] | Finding]:
    """Table → move; or the reason why the view cannot be refreshed incrementally. `written`: the commit with the view's state.
    `used`: input → columns."""
    found: dict[str, Move] = {}
    for name, each in inputs.tables.items():
        consumed = state.inputs.get(name)
        if consumed is None or consumed.table != each.table:
            return finding(404, source=name)
        if each.table not in found:
            move = yield from _move(client, consumed, each)
            if move is None:
                return (yield from _lost(client, name, consumed, each.commit))
            found[each.table] = move
        renamed = yield from _renamed(client, name, each, found[each.table], used.get(name, ()))
        if renamed is not None:
            return renamed
        if each.facts.widens and any(commit.at <= written.at for commit in found[each.table].commits):
            other_types = yield from _other_types(client, name, found[each.table], used.get(name, ()))
            if other_types is not None:
                return other_types
        before, now = state.layouts.get(each.table, ""), each.facts.layout
        if (other := _other_layout(before, now, found[each.table], written)) is not None:
            return finding(424, source=name, before=other or "not known", now=now)
    return found


def _other_layout(before: str, now: str, move: Move, written: Commit) -> str | None:
    """The layout at the consumed version if it may differ from `now`, "" if it is unknown; None if it is certainly the same.

    Layouts are looked up after versions, so a commit that replaced the table before the state was written may lie in between.
    """
    replaced = [commit for commit in move.commits if not commit.keeps_layout]
    if not replaced:
        return None
    if min(commit.at for commit in replaced) <= written.at:
        return ""
    return None if before == now else before


# Wrong without it: rows are read with the types at the version that an earlier model of the run has pinned. But the state has the
# types to which columns were widened before this model looked them up. No later comparison shows a difference.
def _other_types(client: Client, source: str, move: Move, used: Iterable[str]) -> Steps[Finding | None]:
    """A finding if rows computed from these columns may have other types than the state says, whose types are the current
    ones."""
    columns = tuple(used)
    if not columns:
        return None
    before = yield from types_at(client, move.table, move.consumed.version, columns)
    now = yield from types_at(client, move.table, move.to_version, columns)
    return None if before == now else finding(412, source=source, before=before, now=now)


def _renamed(client: Client, source: str, read: Input, move: Move, used: Iterable[str]) -> Steps[Finding | None]:
    """A finding if these column names meant other columns when the stored rows were computed."""
    columns = tuple(used)
    for commit in move.commits:
        if commit.restored is not None and read.facts.mapping != "none":  # without column mapping no column can be renamed
            commit = yield from history.with_undone(client, move.table, commit)
        if changed := [name for name in columns if commit.may_rename(name)]:
            return finding(423, source=source, operation=commit.operation, version=commit.version, columns=", ".join(changed))
    return None


def _move(client: Client, consumed: Consumed, found: Input) -> Steps[Move | None]:
    """The move of an input; None if the table was replaced by another one since it was consumed."""
    pinned = found.commit
    assert pinned is not None
    commits = yield from commits_since(client, consumed, pinned)
    if commits is None:
        return None
    if pinned.version <= consumed.version:
        # lower: another run refreshed the view from a newer version than this invocation pinned; nothing to do for this input
        return Move(found.table, consumed, consumed.version, consumed.at)
    return (yield from move_over(client, consumed, pinned.version, pinned.at, commits))


def move_over(client: Client, consumed: Consumed, version: int, at: str, commits: Iterable[Commit]) -> Steps[Move]:
    """The move of a table from the consumed version to `version`. `commits` contains at least the commits in between."""
    between = tuple(commit for commit in commits if consumed.version < commit.version <= version)
    actions = (yield from file_actions(client, consumed.table, consumed.version + 1, version)) if between else {}
    return Move(consumed.table, consumed, version, at, between, actions)


def _lost(client: Client, source: str, consumed: Consumed, pinned: Commit | None) -> Steps[Finding]:
    """Why the table lacks the consumed commit: another commit has its version, or the log was cleaned up."""
    assert pinned is not None
    if pinned.version > consumed.version:
        commits = yield from history.since_known(client, consumed.table, consumed.version, pinned.version)
        if all(commit.version > consumed.version for commit in commits):
            return finding(
                403,
                source=source,
                from_version=consumed.version,
                to_version=pinned.version,
                message="the table's log no longer shows the version that was read last",
            )
    return finding(404, source=source)


def commits_since(client: Client, consumed: Consumed, pinned: Commit) -> Steps[tuple[Commit, ...] | None]:
    """The commits of a table from the consumed one on; None if that one is missing, because it is another table or its history is
    gone (ADR 0002)."""
    if pinned.version == consumed.version:
        commits: tuple[Commit, ...] = (pinned,)
    else:
        commits = yield from history.since_known(client, consumed.table, consumed.version, pinned.version)
    return commits if any(commit.is_it(consumed.version, consumed.at) for commit in commits) else None
