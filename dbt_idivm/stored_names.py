"""Names of what the planner adds to a schema: hidden columns of a view, columns of caches, the tables of caches."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.fresh_name import fresh_name
from dbt_idivm.relation_name import name_parts, relation_name
from dbt_idivm.script.stored import ViewColumn

HIDDEN = "idivm__"  # hidden columns of the stored view begin with this
_REFUSED = re.compile(r"[ ,;{}()\n\t=]")  # what Delta takes in a column name only under column mapping
_OTHER = re.compile(r"[^a-z0-9_]+")
CACHE = "idivm_cache_"  # intermediate caches begin with this
_LONGEST = 128  # what a metastore takes


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


def cache_table(model: str, digest: str, tables: Iterable[str]) -> str:
    """`idivm_cache_<digest>_<tables>` in the model's schema, the tables cut where the name would be too long.

    >>> cache_table("main.costs", "3f2a", ["shop.parts", "shop.`Device Parts`"])
    'main.idivm_cache_3f2a_parts_device_parts'
    """
    words = "_".join(_OTHER.sub("_", name_parts(table)[-1].lower()).strip("_") for table in tables)
    *schema, _ = name_parts(model)
    return relation_name(*schema, f"{CACHE}{digest}_{words}"[:_LONGEST].rstrip("_"))


def owner_of_caches(project: str) -> str:
    """Whose the caches of a project are, in the form of dbt's unique_id of a node."""
    return f"cache.{project}.shared"


def is_cache(name: str) -> bool:
    """Whether a table `name` is called as intermediate caches are."""
    return name.lower().startswith(CACHE)
