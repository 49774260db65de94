"""Mixed batches for tables of which only the rows are known: some rows deleted, some updated, some inserted."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

Row = tuple[Any, ...]
ONE_OF = 10  # rows: one is updated, one inserted


def changed(rows: list[Row], random: Random) -> list[Row]:
    """One row is deleted, at least one updated and one inserted. Columns whose values are all different keep them so."""
    if not rows:
        return rows
    rows = sorted(rows, key=repr)
    unique = [place for place in range(len(rows[0])) if is_unique(rows, place)]
    others = [place for place in range(len(rows[0])) if place not in unique]
    kept = list(rows)
    if len(kept) > 3:
        kept.pop(random.randrange(len(kept)))
    some = max(1, len(kept) // ONE_OF)
    if others:
        for at in random.sample(range(len(kept)), some):
            place = random.choice(others)
            kept[at] = replaced(kept[at], place, random.choice(rows)[place])
    for _ in range(some):
        new = random.choice(rows)
        for place in unique:
            new = replaced(new, place, beyond([row[place] for row in kept], random))
        kept.append(new)
    return kept


def is_unique(rows: list[Row], place: int) -> bool:
    values = [row[place] for row in rows]
    return None not in values and len(set(map(repr, values))) == len(values)


def replaced(row: Row, place: int, value: Any) -> Row:
    return (*row[:place], value, *row[place + 1 :])


def beyond(values: list[Any], random: Random) -> Any:
    """A value of the kind of these, and none of them."""
    found = random.choice(values)
    if isinstance(found, bool):
        return found
    if isinstance(found, datetime):
        return max(values) + timedelta(seconds=1)
    if isinstance(found, date):
        return max(values) + timedelta(days=1)
    if isinstance(found, str):
        return text_beyond(values, found, random)
    return max(values) + 1


def text_beyond(values: list[str], found: str, random: Random) -> str:
    """A text that can be cast as `found` can: a package reads times and numbers from the texts of its sources."""
    if day_of(found) is not None:
        last = max(day for day in map(day_of, values) if day is not None)
        return f"{last + timedelta(days=1)}{found[10:]}"
    return f"{found}{random.randrange(10, 99)}" if found[-1:].isdigit() else f"{found} {random.randrange(1000, 9999)}"


def day_of(text: str) -> date | None:
    """The day with which `text` begins, as in 2024-02-29 or 2024-02-29T10:00:00.000Z."""
    try:
        return date.fromisoformat(text[:10]) if text[4:5] == "-" else None
    except ValueError:
        return None
