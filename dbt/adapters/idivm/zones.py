"""The time zone of a session, in which its timestamps are shown."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_zone(session: SparkSession) -> ZoneInfo:
    return ZoneInfo(str(session.conf.get("spark.sql.session.timeZone")))


def in_zone(value: dt.datetime | None, zone: ZoneInfo) -> dt.datetime | None:
    """The same instant as a naive time in `zone`. A naive `value` is in the time zone of this machine."""
    return None if value is None else value.astimezone(zone).replace(tzinfo=None)
