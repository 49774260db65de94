"""How our settings of a model merge: from dbt_project.yml, its folders, a properties file, and `config()`.

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
OTHERS = "*"  # in `keys`: the inputs that it does not name
FINDING = ("auto", "declared")  # the words for `keys`: whether keys are found where none is declared


def merged(broad: Any, narrow: Any) -> Any:
    """Merge settings given for more models (`broad`) with those given for fewer (`narrow`). The narrower wins for each setting,
    and within `keys` for each input; a word for `keys` is about the inputs that are not named. Lists are replaced. A value that
    is not a mapping replaces the other, and is replaced; None is ignored."""
    if broad is None or narrow is None:
        return broad if narrow is None else narrow
    if not isinstance(broad, Mapping) or not isinstance(narrow, Mapping):
        return narrow
    found = {**broad, **narrow}
    few, many = narrow.get(KEYS), broad.get(KEYS)
    if isinstance(few, Mapping) or isinstance(many, Mapping):
        few, many = by_input(few), by_input(many)
    if isinstance(few, Mapping) and isinstance(many, Mapping):
        # the narrower first: an input has several names, and the first one that matches counts
        found[KEYS] = {**few, **{name: columns for name, columns in many.items() if name not in few}}
    return found


def by_input(keys: Any) -> Any:
    """A word for `keys` as the mapping that it means; any other value unchanged.

    >>> by_input("declared")
    {'*': 'declared'}
    """
    return {OTHERS: keys} if isinstance(keys, str) and keys.lower() in FINDING else keys


def own_config(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Our config of a model; empty if it is not a mapping, which is an error of its own (`given_config`)."""
    found = given_config(node)
    return found if isinstance(found, Mapping) else {}


def given_config(node: Mapping[str, Any]) -> Any:
    """Our config of a model, in whatever form the user wrote it. `idivm` takes precedence over `meta.idivm`; in the manifest of a
    project with this adapter the two are equal."""
    meta = node["config"].get("meta")
    return merged(meta.get("idivm") if isinstance(meta, Mapping) else None, node["config"].get("idivm")) or {}
