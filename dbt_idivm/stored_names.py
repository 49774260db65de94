"""Names of columns that the planner adds: hidden ones of a view, and those of caches."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.script.stored import ViewColumn

HIDDEN = "idivm__"  # hidden columns of the stored view begin with this
_REFUSED = re.compile(r"[ ,;{}()\n\t=]")  # what Delta takes in a column name only under column mapping


def hidden_columns(shown: Iterable[str], attributes: Iterable[str]) -> tuple[ViewColumn, ...]:
    """The hidden columns that hold `attributes`, under names that the user has not taken."""
    taken = {name.lower() for name in shown}
    return tuple(ViewColumn(_free(HIDDEN + name, taken), name, hidden=True) for name in attributes)


def cache_columns(attributes: Iterable[str]) -> tuple[ViewColumn, ...]:
    """The columns of a cache, called after their attributes."""
    taken: set[str] = set()
    return tuple(ViewColumn(_free(name, taken), name) for name in attributes)


def _free(wanted: str, taken: set[str]) -> str:
    """A name that every Delta table can have and that is not `taken`, whatever its case; it is added to `taken`."""
    name = fresh_name(_REFUSED.sub("_", wanted), lambda tried: tried.lower() in taken)
    taken.add(name.lower())
    return name
