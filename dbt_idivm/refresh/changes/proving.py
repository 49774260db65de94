"""Prove that the change data feed of a move is complete, counting its rows where necessary (ADR 0051). If that fails, the changes
are the difference of the two versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.types import cannot_be_carried, type_of
from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.catalog.history import Images
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.changes.feed_proof import Doubt, doubt, is_counted
from dbt_idivm.refresh.changes.moves import Move
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.script.diff import VersionedColumn

# The feed between two versions cannot be read: it was switched off in between, is past its retention, was cleaned up, or its
# columns changed.
GAP = (
    "DELTA_MISSING_CHANGE_DATA",
    "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_*",
    "DELTA_CDC_START_VERSION_AFTER_LATEST",
    "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
    "DELTA_VERSION_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_LOG_FILE_NOT_FOUND*",
    "DELTA_VERSIONS_NOT_CONTIGUOUS",
    "FAILED_READ_FILE",
    "DELTA_CHANGE_TABLE_FEED_DISABLED",
    "DELTA_FILE_NOT_FOUND*",
)
COUNTS = "feed counts"  # key under which an invocation remembers the counts of a move
KINDS = 4  # kinds of changes in a feed


def proved(client: Client, found: Input, move: Move) -> Steps[Move]:
    """The move itself if its feed is certainly complete; else the move by the difference of its versions. Raises Unproven if that
    is impossible."""
    why = (yield from doubted(client, move)) if move.doubt is None else None
    return move if why is None else (yield from by_difference(client, found, move, why))


def doubted(client: Client, move: Move) -> Steps[Doubt | None]:
    """Why the feed of a move is not certainly complete; None if it is. Its rows are counted if necessary, once per invocation."""
    if (why := doubt(move.commits, move.actions)) is not None:
        return why
    shown: Mapping[int, Images] = {}
    if is_counted(move.commits, move.actions):
        shown = yield from client.once(move.question(COUNTS), lambda: _counted(client, move))
    return doubt(move.commits, move.actions, shown)


# Wrong without it: a model that lacks the key by which another model found the feed to be wrong would read that feed.
def known_move(client: Client, found: Input, move: Move) -> Move:
    """The move by the difference of its versions, if this invocation has found its feed unusable; else the move itself."""
    known: Move | None = client.invocation.known(_difference_of(found, move))
    return move if known is None else known


def _difference_of(found: Input, move: Move) -> tuple[Hashable, ...]:
    return move.question("by difference", tuple(each.name for each in found.facts.columns))


class Unproven(Exception):
    """Neither the change data feed of a move nor the difference of its versions can be used."""

    def __init__(self, reason: Finding) -> None:
        super().__init__(reason.summary)
        self.reason = reason


def by_difference(client: Client, found: Input, move: Move, why: Doubt) -> Steps[Move]:
    """The move whose changes are the difference of its versions. Raises Unproven."""
    return (yield from client.once(_difference_of(found, move), lambda: _by_difference(client, found, move, why)))


def reason_of(why: Doubt, source: str, move: Move) -> Finding:
    """The doubt about a feed as a finding for the user. `source`: the user's name of the input."""
    commit = why.commit
    return finding(
        427,
        source=source,
        version=commit.version,
        operation=commit.operation or "an unknown operation",
        writer=commit.writer or "a writer that does not name itself",
        why=why.why,
        from_version=move.consumed.version,
        to_version=move.to_version,
    )


def _by_difference(client: Client, found: Input, move: Move, why: Doubt) -> Steps[Move]:
    reason, before = reason_of(why, found.name, move), move.consumed.version
    query = client.dialect.sql(exp.select(exp.Star()).from_(client.dialect.table(move.table, before)))
    types = dict((yield from or_unproven(reason, client.columns(query, f"{move.table} at version {before}"))))
    # no plan has columns that cannot be compared, and rows that differ only in those are equal for every plan
    now = [
        VersionedColumn(each.name, each.type, each.name in types)
        for each in found.facts.columns
        if not cannot_be_carried(type_of(each.type))
    ]
    if not now or any(each.is_old and types[each.name] != each.type for each in now):
        raise Unproven(reason)
    return replace(move, doubt=reason, is_usual=why.is_usual, columns=tuple(now))


def or_unproven(reason: Finding, steps: Steps[T]) -> Steps[T]:
    try:
        return (yield from steps)
    except EngineFailure as failure:
        if failure.is_any(GAP):
            raise Unproven(reason) from failure
        raise


_IMAGE = {"insert": "inserted", "delete": "deleted", "update_preimage": "before", "update_postimage": "after"}


def _counted(client: Client, move: Move) -> Steps[Mapping[int, Images]]:
    feed = move.feed
    answer = yield from client.read(client.dialect.counts_of_feed(feed), f"rows in the change feed of {feed.table}")
    return images(answer.rows)


def images(counts: Iterable[tuple[Any, ...]]) -> Mapping[int, Images]:
    """Version → numbers of rows in its feed, from rows (version, kind of change, number of rows)."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for version, change, rows in counts:
        found[int(version)][_IMAGE.get(change, "other")] += int(rows)
    return {version: Images(**each) for version, each in found.items()}
