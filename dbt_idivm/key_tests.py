"""What generic tests of any package say about keys: a test is recognised by its name and its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# name of a test → its arguments that may contain the columns; the first one given counts
_UNIQUE: Mapping[str, tuple[str, ...]] = {
    "unique": ("column_name",),
    "unique_combination_of_columns": ("combination_of_columns",),  # dbt_utils
    "expect_column_values_to_be_unique": ("column_name",),  # dbt_expectations, as the next one
    "expect_compound_columns_to_be_unique": ("column_list",),
    "unique_key": ("column_names", "column_name"),  # dbt_constraints
    "primary_key": ("column_names", "column_name"),
}
_NOT_NULL: Mapping[str, tuple[str, ...]] = {
    "not_null": ("column_name",),
    "expect_column_values_to_not_be_null": ("column_name",),
    "primary_key": ("column_names", "column_name"),
}
# arguments that leave no row out; those that skip rows with NULLs do not matter for columns without NULLs
_FOR_ALL_ROWS = {"model", "column_name", "quote_columns", "constraint_name", "ignore_row_if"}
_PROMISING = re.compile(r"(^|_)(unique|primary_key)(_|$)")
# these contain "unique", but are about values within one row, or numbers of values
_NO_KEY = re.compile(r"within_record|value_count|proportion|foreign")
_IDENTIFIER = re.compile(r"(\w+)|`((?:[^`]|``)+)`|\"(\w+)\"")


@dataclass(frozen=True)
class Said:
    """What a test says about columns. `unless`: why it does not hold for all rows; "" if it does."""

    columns: tuple[str, ...]
    unique: bool = False
    not_null: bool = False
    unless: str = ""


def said(name: str, arguments: Mapping[str, Any]) -> Said | None:
    """What a test called `name` (without its package) says; None if it is not about keys."""
    unique, not_null = _UNIQUE.get(name), _NOT_NULL.get(name)
    where = unique or not_null
    if where is None:
        if not _PROMISING.search(name) or _NO_KEY.search(name):
            return None
        known = ", ".join(f"`{each}`" for each in _UNIQUE)
        return Said((), True, unless=f"a test of this name is not known; {known} are")
    given = next((arguments[each] for each in where if arguments.get(each)), ())
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    columns = tuple(column for text in texts for column in column_of(text))
    others = [key for key, value in arguments.items() if value is not None and key not in _FOR_ALL_ROWS and key not in where]
    unless = ""
    if not columns or len(columns) < len(texts):
        unless = "it names an expression instead of columns"
    elif others:
        unless = f"its `{others[0]}` may leave rows out"
    return Said(columns, unique is not None, not_null is not None, unless)


def column_of(text: Any) -> list[str]:
    """The name of a column without quotes, as a list; empty if the text is an expression."""
    found = _IDENTIFIER.fullmatch(str(text or "").strip())
    return [(found[1] or found[2] or found[3]).replace("``", "`")] if found else []
