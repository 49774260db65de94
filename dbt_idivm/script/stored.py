"""The stored form of a view. It is fixed before the ways to maintain it are made, and is the same for all of them (ADR 0015)."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_idivm.algebra.operator import Operator


@dataclass(frozen=True)
class ViewColumn:
    """A column of the stored ID-extended view, and the attribute that it stores. Hidden columns are not in the user's SELECT."""

    name: str
    attribute: str
    hidden: bool = False


@dataclass(frozen=True)
class Stored:
    """An ID-extended view and its stored columns.

    `shared`: pairs (ID without a column of its own, attribute with the same value that has a column).
    """

    root: Operator
    columns: tuple[ViewColumn, ...]
    shared: tuple[tuple[str, str], ...]

    @property
    def hidden(self) -> bool:
        """Whether the stored table has columns that the user's relation lacks."""
        return any(column.hidden for column in self.columns)

    def stored(self, attribute: str) -> str:
        """The first stored column that has the value of `attribute`."""
        held = dict(self.shared).get(attribute, attribute)
        return next(column.name for column in self.columns if column.attribute == held)
