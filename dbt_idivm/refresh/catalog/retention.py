"""How long the changes of a table can be read, and the age of its commits."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from dbt_idivm.refresh.catalog.history import Commit

_LOG = "delta.logRetentionDuration"
_DEFAULTS: Mapping[str, dt.timedelta] = {_LOG: dt.timedelta(days=30), "delta.deletedFileRetentionDuration": dt.timedelta(days=7)}
NAMES = tuple(_DEFAULTS)  # of the properties
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*(week|day|hour|minute|second)s?", re.IGNORECASE)


def kept_changes(properties: Mapping[str, str]) -> dt.timedelta | None:
    """How long the changes of a table with these properties can be read: as long as both its commits and its data files are kept.
    None if a property has an unknown form."""
    found = [_kept_by(name, properties) for name in NAMES]
    known = [each for each in found if each is not None]
    return min(known) if len(known) == len(found) else None


def kept_commits(properties: Mapping[str, str]) -> dt.timedelta:
    """How long the commits of a table with these properties are kept; Delta's default if the property has an unknown form."""
    return _kept_by(_LOG, properties) or _DEFAULTS[_LOG]


def age(commit: Commit, now: dt.datetime, zone: str) -> dt.timedelta:
    """Time since a commit; zero if its time cannot be parsed. History shows times in the session's time zone, without naming
    it."""
    try:
        at = dt.datetime.fromisoformat(commit.at)
    except ValueError:
        return dt.timedelta(0)
    return now - (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone)))


def in_words(duration: dt.timedelta) -> str:
    """A duration for messages: `36 hours`, `7 days`."""
    hours = duration / dt.timedelta(hours=1)
    return f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:.3g} days"


def _kept_by(name: str, properties: Mapping[str, str]) -> dt.timedelta | None:
    """Value of the property; Delta's default if it is not set. Names of properties are not case-sensitive."""
    text = next((text for given, text in properties.items() if given.lower() == name.lower()), None)
    return _DEFAULTS[name] if text is None else _duration(text)


def _duration(text: str) -> dt.timedelta | None:
    """Parse `interval 30 days`, `7 days` or `1 week 12 hours`; None for anything else."""
    parts = _PARTS.findall(text)
    return sum((dt.timedelta(**{f"{unit.lower()}s": float(number)}) for number, unit in parts), dt.timedelta()) if parts else None
