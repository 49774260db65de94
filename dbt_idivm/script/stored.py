"""The stored form of a view. It is fixed before the ways to maintain it are made, and is the same for all of them (ADR 0015)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.written_time import WrittenTime


@dataclass(frozen=True)
class ViewColumn:
    """A column of the stored ID-extended view, and the attribute that it stores. Hidden columns are not in the user's SELECT."""

    name: str
    attribute: str
    hidden: bool = False


@dataclass(frozen=True)
class Stored:
    """An ID-extended view and its stored columns.

    `shared`: pairs (ID without a column of its own, attribute with the same value that has a column). `times`: stored columns
    that are not attributes; whatever writes a row writes them as well (`script/times.py`).
    """

    root: Operator
    columns: tuple[ViewColumn, ...]
    shared: tuple[tuple[str, str], ...]
    times: tuple[WrittenTime, ...] = field(default=(), kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all stored columns, in the order of the table."""
        return self._with_times(each.name for each in self.columns)

    @property
    def visible(self) -> tuple[str, ...]:
        """The names of the user's columns, in the order of the SELECT."""
        return self._with_times(each.name for each in self.columns if not each.hidden)

    def _with_times(self, names: Iterable[str]) -> tuple[str, ...]:
        found = list(names)  # those of the SELECT come first
        for each in self.times:
            found.insert(each.place, each.name)
        return tuple(found)

    @property
    def hidden(self) -> bool:
        """Whether the stored table has columns that the user's relation lacks."""
        return any(column.hidden for column in self.columns)

    def stored(self, attribute: str) -> str:
        """The first stored column that has the value of `attribute`."""
        held = dict(self.shared).get(attribute, attribute)
        return next(column.name for column in self.columns if column.attribute == held)
