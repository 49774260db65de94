"""Numbers, sizes and times for people."""

from __future__ import annotations

import datetime as dt

from dbt_idivm.tools.report.facts import Refresh, Size
from dbt_idivm.tools.report.rate import Rate

_UNITS = ("B", "kB", "MB", "GB", "TB")


def count(value: float) -> str:
    """A number of rows, or of other things.

    >>> count(0), count(1234567), count(3.26), count(0.02)
    ('0', '1,234,567', '3.3', '0.02')
    """
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def size(value: float) -> str:
    """A number of bytes.

    >>> size(0), size(999), size(1_500), size(34_100_000)
    ('0 B', '999 B', '1.5 kB', '34.1 MB')
    """
    unit = 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{value:.0f} B"


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0.04), seconds(7.25), seconds(754), seconds(36_001)
    ('0.04 s', '7.2 s', '13 min', '10 h')
    """
    if value < 1:
        return f"{value:.2g} s"
    return f"{value:.1f} s" if value < 600 else f"{value / 60:.0f} min" if value < 36_000 else f"{value / 3600:.0f} h"


def when(value: dt.datetime) -> str:
    """A time, to the second.

    >>> when(dt.datetime(2026, 1, 2, 3, 4, 5, 678))
    '2026-01-02 03:04:05'
    """
    return value.replace(microsecond=0, tzinfo=None).isoformat(" ")


def changes(refresh: Refresh) -> str:
    """The rows of a refresh.

    >>> changes(Refresh("incremental", inserted=1200, updated=0, deleted=3)), changes(Refresh("rebuilt", inserted=5))
    ('+1,200 ~0 −3', '5 written')
    """
    if refresh.rows is None:
        return ""
    if refresh.is_build:
        return f"{count(refresh.inserted or 0)} written"
    return f"+{count(refresh.inserted or 0)} ~{count(refresh.updated or 0)} −{count(refresh.deleted or 0)}"


def stored(found: Size) -> str:
    """Rows and bytes, as far as they are known.

    >>> stored(Size(1200, 34_000)), stored(Size(1)), stored(Size())
    ('1,200 rows · 34.0 kB', '1 row', '')
    """
    rows = "" if found.rows is None else f"{count(found.rows)} row{'' if found.rows == 1 else 's'}"
    return " · ".join(part for part in (rows, "" if found.bytes is None else size(found.bytes)) if part)


def rate(found: Rate | None) -> str:
    """
    >>> rate(Rate(12.5, 4, 0.003)), rate(Rate(1, 1, a_day=24.0)), rate(None)
    ('12.5 rows a refresh (0.3 %)', '1 row a refresh, 24 a day', '')
    """
    if found is None:
        return ""
    share = "" if found.share is None else f" ({percent(found.share)})"
    a_day = "" if found.a_day is None else f", {count(found.a_day)} a day"
    return f"{count(found.rows)} row{'' if found.rows == 1 else 's'} a refresh{share}{a_day}"


def percent(share: float) -> str:
    """
    >>> percent(0.94), percent(0.0000123), percent(0), percent(1.7), percent(0.00000003)
    ('94 %', '0.0012 %', '0 %', '170 %', '< 0.0001 %')
    """
    found = share * 100
    if 0 < found < 0.0001:
        return "< 0.0001 %"
    return f"{found:.0f} %" if found >= 10 or not found else f"{found:.2g} %"
