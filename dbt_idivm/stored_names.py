"""Names of columns that the planner adds: hidden columns of views, and columns of caches."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.script.stored import ViewColumn

HIDDEN = "idivm__"  # prefix of hidden columns in stored views
_REFUSED = re.compile(r"[ ,;{}()\n\t=]")  # Delta accepts these in a column name only under column mapping


def hidden_columns(shown: Iterable[str], attributes: Iterable[str]) -> tuple[ViewColumn, ...]:
    """Hidden columns for `attributes`, with names that the user has not used."""
    taken = {name.lower() for name in shown}
    return tuple(ViewColumn(_free(HIDDEN + name, taken), name, hidden=True) for name in attributes)


def cache_columns(attributes: Iterable[str]) -> tuple[ViewColumn, ...]:
    """The columns of a cache, named after their attributes."""
    taken: set[str] = set()
    return tuple(ViewColumn(_free(name, taken), name) for name in attributes)


def _free(wanted: str, taken: set[str]) -> str:
    """A name that is valid in every Delta table and not yet in `taken`, ignoring case; it is added to `taken`."""
    name = fresh_name(_REFUSED.sub("_", wanted), lambda tried: tried.lower() in taken)
    taken.add(name.lower())
    return name
