"""How a commit carries metadata together with rows, and how the metadata is read back from a table's history."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dbt_idivm.refresh.engine.commands import Commands
from dbt_idivm.refresh.protocol import Statement

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
TXN_APP = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"

# Another transaction was committed since this one started, and Delta rejects this one.
CONCURRENT = ("DELTA_CONCURRENT_*", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")

# Operations that change no row: the feed shows nothing for them.
QUIET = frozenset(
    {
        "OPTIMIZE",
        "VACUUM START",
        "VACUUM END",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "CHANGE COLUMN",
        "CHANGE COLUMNS",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "CLUSTER BY",
        "UPGRADE PROTOCOL",
        "COMPUTE STATS",
        "REORG",
        "ROW TRACKING BACKFILL",
        "ADD DELETION VECTORS TOMBSTONES",
        "DOMAIN METADATA CLEANUP",
        "DROP FEATURE",
        "ADD FEATURE",
        "UPDATE FIELD METADATA",
        "UPDATE TABLE METADATA",
    }
)


@dataclass(frozen=True)
class Guard:
    """Protection against a statement that is sent twice: a write with a (application, number) that was used before is skipped.

    The number is the version of the view that the refresh started from, so it grows with every commit. Where commits carry no
    metadata, `claimed` is the number of the newest claim (`claims.py`) seen with it; None if it was not looked up.
    """

    application: str
    number: int
    claimed: int | None = None

    @classmethod
    def of(cls, table: str, version: int, claimed: int | None = None) -> Guard:
        """The guard of a write to the table that starts from `version`."""
        return cls(f"idivm:{table}", version, claimed)


class CommitProtocol(Protocol):
    """The statements around a write whose commit should carry metadata, and how to find the metadata in the history."""

    def before(self, metadata: str, guard: Guard | None) -> tuple[Statement, ...]: ...

    def after(self, guard: Guard | None) -> tuple[Statement, ...]:
        """These statements run whether the write succeeds or fails."""
        ...

    def metadata(self, commit: Mapping[str, Any]) -> str | None:
        """The metadata in a row of the table's history."""
        ...


@dataclass(frozen=True)
class UserMetadata:
    """Delta's way: session settings from which the next commit takes its `userMetadata` and its transaction number."""

    commands: Commands

    def before(self, metadata: str, guard: Guard | None) -> tuple[Statement, ...]:
        settings = {USER_METADATA: metadata}
        if guard is not None:
            settings |= {TXN_APP: guard.application, TXN_VERSION: str(guard.number)}
        return tuple(self.commands.set_option(key, value) for key, value in settings.items())

    def after(self, guard: Guard | None) -> tuple[Statement, ...]:
        keys = (USER_METADATA,) if guard is None else (USER_METADATA, TXN_APP, TXN_VERSION)
        return tuple(self.commands.reset_option(key) for key in keys)

    def metadata(self, commit: Mapping[str, Any]) -> str | None:
        found = commit.get("userMetadata")
        return None if found is None else str(found)


@dataclass(frozen=True)
class NoMetadata(UserMetadata):
    """A session without such settings. Metadata in commits was written by other sessions; its own is in a ledger
    (`ledger.py`)."""

    def before(self, metadata: str, guard: Guard | None) -> tuple[Statement, ...]:
        return ()

    def after(self, guard: Guard | None) -> tuple[Statement, ...]:
        return ()


def moment(value: Any) -> str:
    """The time of a commit as exact text."""
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)


_SHIFT = dt.timedelta(milliseconds=1)


# Wrong without it: the time of a commit would depend on how many other commits are looked up with it.
def moments(shown: Sequence[str]) -> list[str]:
    """The true times of consecutive commits, newest first, without the shifts that Delta adds.

    Delta shows the modification time of a commit's file, or one millisecond after the previous commit if that is later. On object
    stores with times in whole seconds this affects all commits of a second except the first one that is looked up.
    """
    found: list[str] = []
    for place in reversed(range(len(shown))):
        before = place + 1
        found.append(found[-1] if before < len(shown) and _is_shifted(shown[before], shown[place]) else shown[place])
    return found[::-1]


def _is_shifted(before: str, at: str) -> bool:
    try:
        return dt.datetime.fromisoformat(at) - dt.datetime.fromisoformat(before) == _SHIFT
    except ValueError:
        return False


_OTHER_NAMES = {"numAddedRows": "numOutputRows", "numRemovedFile": "numRemovedFiles"}
_WORD = re.compile(r"_([a-z])")


def metrics(value: Any) -> Mapping[str, Any]:
    """A map of metrics, whatever the driver returns (Thrift: text), under Spark's names: some writers use `num_added_rows` for
    `numOutputRows`."""
    found = pairs(json.loads(value) if isinstance(value, str) else value)
    named = {_WORD.sub(lambda word: word[1].upper(), name): number for name, number in found.items()}
    return {_OTHER_NAMES.get(name, name): number for name, number in named.items()}


def pairs(value: Any) -> Mapping[str, Any]:
    """A map as a driver returns it: a dict, or Arrow pairs (databricks-sql-connector)."""
    return value if isinstance(value, Mapping) else dict(value if value is not None else ())
