"""Columns that may be the key of a table of which nobody declared one: by their names and types (ADR 0063).

Whether they are a key is looked up in the data when a view is built (`refresh/checks/found_keys.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_idivm.algebra.types import type_of
from dbt_idivm.definition.facts import Table
from dbt_idivm.relation_name import name_parts

FOUND = "found in the data"
MOST_CANDIDATES = 3  # of one table: looking at each reads its column once
_ENDS = ("id", "key", "sk", "pk", "uuid", "number", "code")
_ALONE = ("pk", "sk", "uuid", "guid", "key", "code")
_LAYERS = ("stg_", "src_", "raw_", "base_", "int_", "dim_", "fct_", "fact_", "mart_")
_KINDS = frozenset({*exp.DataType.INTEGER_TYPES, *exp.DataType.TEXT_TYPES, exp.DataType.Type.DECIMAL})


def candidates(table: Table) -> tuple[tuple[str, ...], ...]:
    """The keys that the table may have, the most likely first."""
    columns = {each.name.lower(): each for each in table.columns}
    named = (columns[name] for name in key_names(name_parts(table.name)[-1]) if name in columns)
    return tuple((each.name,) for each in named if may_identify(each.type))[:MOST_CANDIDATES]


def key_names(table: str) -> tuple[str, ...]:
    """What the key of a table of this name may be called, in lower case, the most likely first.

    >>> key_names("dim_countries")[:4]
    ('id', 'country_id', 'countries_id', 'dim_countries_id')
    """
    things = tuple(dict.fromkeys(_things(table.lower())))
    of_thing = (f"{thing}_{end}" for end in _ENDS for thing in things)
    joined = (f"{thing}id" for thing in things)
    return tuple(dict.fromkeys(("id", *of_thing, *joined, *_ALONE)))


def may_identify(kind: str) -> bool:
    """Whether a key that is found may have a column of this type: equal values of it are the same value."""
    return type_of(kind).this in _KINDS and "collate" not in kind.lower()  # parsing loses the collation


def tests_to_add(columns: tuple[str, ...], name: str) -> str:
    """What declares a key of the relation `name`.

    >>> tests_to_add(("id",), "shop.orders")
    'add the tests `unique` and `not_null` to the column id of shop.orders'
    """
    if len(columns) == 1:
        return f"add the tests `unique` and `not_null` to the column {columns[0]} of {name}"
    return f"add `primary_key` constraints to the columns {', '.join(columns)} of {name}"


def _things(table: str) -> Iterator[str]:
    """What a row of the table is called: the singular and the plural, without the layer; and the table's own name."""
    layer = next((each for each in _LAYERS if table.startswith(each)), "")
    bare = table.removeprefix(layer)
    yield _singular(bare)
    yield bare
    yield table


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name
