"""Texts that a change data feed cannot show: no view can be refreshed incrementally from them.

Delta's feed returns rows as Java objects, and a Java string cannot hold bytes that are not UTF-8: each of them becomes U+FFFD.
Two different values then look alike, and an update from one to the other looks like no change. Genuine U+FFFD also occur, where a
text was damaged before it was stored; these are shown correctly.
"""

from __future__ import annotations

from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.dialect import may_hold_text
from dbt_idivm.script.diff import FeedDiff
from dbt_idivm.script.plan import Plan

_NO_FUNCTION = ("UNRESOLVED_ROUTINE",)  # Spark 3.5 cannot ask whether a text is UTF-8


def unreadable_text(client: Client, plan: Plan, feed: FeedDiff) -> Steps[Finding | None]:
    """The reason to rebuild if the feed alters a text that the plan reads; else None."""
    texts = tuple(
        sorted(
            {
                a.name
                for scan in plan.scans
                if scan.table == feed.table
                for a in scan.base_columns
                if a.definition is None and may_hold_text(a.type)
            }
        )
    )
    return finding(416, source=feed.table) if (yield from has_unreadable_text(client, feed, texts)) else None


def has_unreadable_text(client: Client, feed: FeedDiff, texts: tuple[str, ...]) -> Steps[bool]:
    """Whether the feed alters a text in these columns."""
    if not texts:
        return False
    question = ("unreadable text", feed.table, feed.from_version, feed.to_version, texts, feed.columns)
    return (yield from client.once(question, lambda: _look(client, feed, texts)))


def _look(client: Client, feed: FeedDiff, texts: tuple[str, ...]) -> Steps[bool]:
    """Look for U+FFFD in the feed; if there is one, look for invalid UTF-8 in the table at its old and its new version.

    Rows that were inserted and deleted in between cancel, however they are shown.
    """
    shown = client.dialect.replaced_in_feed(feed, texts)
    if not (yield from client.read(shown, f"U+FFFD in the change feed of {feed.table}")).rows:
        return False
    for version in (feed.to_version, feed.from_version):
        label = f"texts of {feed.table} at version {version} that are not UTF-8"
        try:
            if (yield from client.read(client.dialect.invalid_in_table(feed.table, version, texts), label)).rows:
                return True
        except EngineFailure as failure:
            if not failure.is_any(_NO_FUNCTION):
                raise
            return True  # this engine cannot tell them apart
    return False
