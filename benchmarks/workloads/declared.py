"""Tables that are declared by a text: columns with their types, and the key."""

from __future__ import annotations

from typing import NamedTuple


class Declared(NamedTuple):
    """A table: its columns with their types, and its key."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


def declared(text: str, money: str) -> Declared:
    """`t(k int, x money; k)`: the table with its key behind the semicolon. `money`: the type that is meant by this word."""
    name, _, inside = text.removesuffix(")").partition("(")
    columns, _, key = inside.partition(";")
    pairs = (column.split() for column in columns.split(","))
    return Declared(
        name,
        tuple((column, kind.replace("money", money)) for column, kind in pairs),
        tuple(key.replace(",", " ").split()),
    )
