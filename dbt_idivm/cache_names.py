"""Names of the tables of intermediate caches."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_idivm.relation_name import name_parts, relation_name

CACHE = "idivm_cache_"  # prefix of all of them
_HEAD = re.compile(rf"{CACHE}[0-9a-f]+_")
_OTHER = re.compile(r"[^a-z0-9_]+")
_LONGEST = 128  # the limit of a metastore


def cache_table(model: str, digest: str, tables: Iterable[str]) -> str:
    """`idivm_cache_<digest>_<tables>` in the model's schema, the tables cut where the name would be too long.

    >>> cache_table("main.costs", "3f2a", ["shop.parts", "shop.`Device Parts`"])
    'main.idivm_cache_3f2a_parts_device_parts'
    """
    words = "_".join(_OTHER.sub("_", name_parts(table)[-1].lower()).strip("_") for table in tables)
    *schema, _ = name_parts(model)
    return relation_name(*schema, f"{CACHE}{digest}_{words}"[:_LONGEST].rstrip("_"))


def owner_of_caches(project: str) -> str:
    """The owner of a project's caches, in the form of dbt's unique_id."""
    return f"cache.{project}.shared"


def is_cache(name: str) -> bool:
    """Whether a table called `name` is an intermediate cache."""
    return name.lower().startswith(CACHE)


def without_digest(name: str) -> str:
    """The name of a cache without its prefix and digest, for people; any other name unchanged.

    >>> without_digest("idivm_cache_3f2a_parts_devices")
    'parts_devices'
    """
    return _HEAD.sub("", name, count=1) if is_cache(name) else name
