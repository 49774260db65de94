"""How our settings of a model merge: those of dbt_project.yml, of its folders, of a properties file, and of `config()`.

    models:
      shop:
        +meta: {idivm: {strategy: incremental, keys: {shop.orders: id}}}
        marts:
          +idivm: {verify: sample, keys: {shop.lines: id}}

A model in `marts` has `{strategy: incremental, verify: sample, keys: {shop.lines: id, shop.orders: id}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEYS = "keys"


def merged(broad: Any, narrow: Any) -> Any:
    """What holds where `broad` is given for more models, and `narrow` for fewer: the narrower wins setting by setting, and of
    `keys` input by input. Lists are replaced. What is no mapping replaces, and is replaced; None says nothing."""
    if broad is None or narrow is None:
        return broad if narrow is None else narrow
    if not isinstance(broad, Mapping) or not isinstance(narrow, Mapping):
        return narrow
    found = {**broad, **narrow}
    few, many = narrow.get(KEYS), broad.get(KEYS)
    if isinstance(few, Mapping) and isinstance(many, Mapping):
        # the narrower first: an input has several names, and the first that means it counts
        found[KEYS] = {**few, **{name: columns for name, columns in many.items() if name not in few}}
    return found
