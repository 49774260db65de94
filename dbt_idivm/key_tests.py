"""What generic tests of any package say about keys: a test is recognised by its name and its arguments.

unique                                       of `struct(a, b)`         a and b are unique together
dbt_utils.unique_combination_of_columns      of [a, b]                 the same
dbt_constraints.primary_key                  of [a, b]                 the same, and neither is NULL
unique                                       of `a || '-' || b`        nothing: rows where it is NULL are not looked at
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

# arguments that may contain several columns; the first one given counts
_SEVERAL = ("combination_of_columns", "column_list", "column_names", "columns")
# name of a test → its arguments that may contain the columns
_UNIQUE: Mapping[str, tuple[str, ...]] = {
    "unique": ("column_name",),
    "unique_combination_of_columns": _SEVERAL,  # dbt_utils, or a project's own
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
# Arguments that leave no row out. `ignore_row_if` leaves out rows where any column, or each of them, is NULL. There is no such
# row where the columns are not NULL, and only then are they a key.
_FOR_ALL_ROWS = {"model", "column_name", "quote_columns", "constraint_name", "ignore_row_if"}
_PROMISING = re.compile(r"(^|_)(unique|primary_key)(_|$)")
# these contain "unique", but are about values within one row, or numbers of values
_NO_KEY = re.compile(r"within_record|value_count|proportion|foreign")
_IDENTIFIER = re.compile(r"(\w+)|`((?:[^`]|``)+)`|\"(\w+)\"")
_OF_ALL_ROWS = "state it of all rows, as an error"
_OF_COLUMNS = "name the columns in a test of several columns, such as `unique_combination_of_columns`, or as `struct(a, b)`"


@dataclass(frozen=True)
class Said:
    """What a test says about columns. `unless`: why it does not hold for all rows, and `do`: what to do then; "" if it does."""

    columns: tuple[str, ...]
    unique: bool = False
    not_null: bool = False
    unless: str = ""
    do: str = _OF_ALL_ROWS


def said(name: str, arguments: Mapping[str, Any]) -> Said | None:
    """What a test called `name` (without its package) says; None if it is not about keys."""
    unique, not_null = _UNIQUE.get(name), _NOT_NULL.get(name)
    where = unique or not_null
    if where is None:
        if not _PROMISING.search(name) or _NO_KEY.search(name):
            return None
        known = ", ".join(f"`{each}`" for each in _UNIQUE)
        return Said((), True, unless=f"a test of this name is not known; {known} are")
    nested = arguments.get("arguments")
    arguments = {**arguments, **(nested if isinstance(nested, Mapping) else {})}
    arguments.pop("arguments", None)
    given = next((arguments[each] for each in where if arguments.get(each)), ())
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    of_tuple = unique is not None and not_null is None  # a tuple is never NULL, whatever its columns are
    quoted = arguments.get("quote_columns") is True and given is not arguments.get("column_name")
    found = [_columns_of(text, of_tuple=of_tuple, quoted=quoted) for text in texts]
    columns = tuple(dict.fromkeys(column for each in found for column in each))
    others = [key for key, value in arguments.items() if value is not None and key not in _FOR_ALL_ROWS and key not in where]
    if not columns or not all(found):
        return Said(columns, unique is not None, not_null is not None, "it names an expression instead of columns", _OF_COLUMNS)
    unless = f"its `{others[0]}` may leave rows out" if others else ""
    return Said(columns, unique is not None, not_null is not None, unless)


def _columns_of(text: Any, *, of_tuple: bool, quoted: bool) -> list[str]:
    """The columns that a test names by this text; none if it is another expression than a column or a tuple of columns.
    `quoted`: the test itself puts the text into quotes."""
    if quoted:
        return [str(text)] if isinstance(text, str) and text and "`" not in text and "{{" not in text else []
    return column_of(text) or (columns_of_tuple(text) if of_tuple else [])


def column_of(text: Any) -> list[str]:
    """The name of a column without quotes, as a list; empty if the text is an expression."""
    found = _IDENTIFIER.fullmatch(str(text or "").strip())
    return [(found[1] or found[2] or found[3]).replace("``", "`")] if found else []


def columns_of_tuple(text: Any) -> list[str]:
    """The columns of a tuple such as `(a, b)` or `struct(a, b)`; empty if the text is anything else.

    Two tuples are equal if and only if all their values are: rows are unique by the tuple as by its columns.
    """
    try:
        found = parse_one(str(text or ""), read="databricks")
    except (SqlglotError, RecursionError):
        return []
    values = _values(found)
    names = [each.name for each in values if isinstance(each, exp.Column) and not each.table and each.name]
    return names if len(names) == len(values) else []


def _values(found: exp.Expr) -> list[exp.Expr]:
    if isinstance(found, exp.Paren):
        return _values(found.this) if isinstance(found.this, exp.Paren | exp.Tuple | exp.Struct) else [found.this]
    if isinstance(found, exp.Tuple | exp.Struct):
        return [each.expression if isinstance(each, exp.PropertyEQ) else each.unalias() for each in found.expressions]
    return []
