"""Name resolution at one place of a query: the columns in scope, and the attribute of the plan for each.

Spark's rules: case does not matter. A qualifier is an alias, or the last parts of a table's name. `a.b` may be a column or a
field of a struct. Columns joined by USING come first and appear once; the right one is only visible with its own qualifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Entry:
    """One column in scope. `qualifier`: the parts of the relation's name, lower case."""

    qualifier: tuple[str, ...]
    name: str
    attribute: str
    hidden: bool = False  # the right column of USING: only found with its qualifier
    named: bool = True  # False for a computed column without an alias

    def answers(self, qualifier: tuple[str, ...]) -> bool:
        """Whether a reference with this qualifier may refer to this column."""
        if not qualifier:
            return not self.hidden
        return self.qualifier[-len(qualifier) :] == qualifier

    def __str__(self) -> str:
        return ".".join((*self.qualifier, self.name))


class Unknown(LookupError):
    """There is no column of that name."""


class Ambiguous(LookupError):
    """There are several columns of that name."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        super().__init__(", ".join(map(str, self.entries)))


@dataclass(frozen=True)
class Scope:
    """The columns that expressions can refer to, in the order of `*`."""

    entries: tuple[Entry, ...] = ()

    @property
    def visible(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if not entry.hidden)

    def find(self, name: str, qualifier: tuple[str, ...] = ()) -> Entry:
        """The one column that `qualifier.name` refers to. Raises Unknown or Ambiguous."""
        wanted, parts = name.lower(), tuple(part.lower() for part in qualifier)
        found = [e for e in self.entries if e.name.lower() == wanted and e.answers(parts)]
        if not found:
            raise Unknown(name)
        if len({entry.attribute for entry in found}) > 1:
            raise Ambiguous(found)
        return found[0]

    def resolve(self, parts: tuple[str, ...]) -> tuple[Entry, tuple[str, ...]]:
        """(column that a dotted name refers to, the struct fields after it). Longer qualifiers are
        tried first. Raises Unknown or Ambiguous.
        """
        for length in range(len(parts) - 1, -1, -1):
            try:
                return self.find(parts[length], parts[:length]), parts[length + 1 :]
            except Unknown:
                continue
        raise Unknown(".".join(parts))

    def star(self, qualifier: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        """The columns of `*` or `qualifier.*`. Raises Unknown if no relation has that name."""
        if not qualifier:
            return self.visible
        parts = tuple(part.lower() for part in qualifier)
        found = [entry for entry in self.entries if entry.answers(parts)]
        if not found:
            raise Unknown(".".join(qualifier))
        return tuple(sorted(found, key=lambda entry: not entry.hidden))

    def aliased(self, alias: str, names: tuple[str, ...] = ()) -> Scope:
        """The visible columns under a relation alias, renamed to `names` if given."""
        columns = self.visible
        renamed = names or tuple(entry.name for entry in columns)
        pairs = zip(columns, renamed, strict=True)
        return Scope(
            tuple(Entry((alias.lower(),), name, entry.attribute, named=entry.named or bool(names)) for entry, name in pairs)
        )

    def selected(self, names: tuple[str, ...]) -> tuple[Scope, tuple[str, ...]]:
        """(visible columns with these names in this order, the names that do not match exactly one column).

        Duplicate names are allowed if `names` are exactly the names of all visible columns in order.
        """
        columns, wanted = self.visible, [name.lower() for name in names]
        if wanted == [entry.name.lower() for entry in columns]:
            return Scope(columns), ()
        found = [[entry for entry in columns if entry.name.lower() == name] for name in wanted]
        missing = tuple(name for name, entries in zip(names, found, strict=True) if len(entries) != 1)
        return Scope(tuple(entry for entries in found for entry in entries)), missing

    def plus(self, other: Scope) -> Scope:
        return Scope(self.entries + other.entries)

    def first(self, name: str) -> Entry:
        """The column that USING means by this name: the first one. Raises Unknown."""
        found = next((entry for entry in self.visible if entry.name.lower() == name.lower()), None)
        if found is None:
            raise Unknown(name)
        return found

    def shared_with(self, other: Scope) -> tuple[str, ...]:
        """The columns that NATURAL JOIN joins. Here case matters, unlike everywhere else: `Id` and `id` are two names."""
        left = Counter(entry.name for entry in other.visible)
        shared = []
        for name in (entry.name for entry in self.visible):
            if left[name]:
                shared.append(name)
                left[name] -= 1
        return tuple(shared)

    def using(self, other: Scope, names: tuple[str, ...]) -> tuple[Scope, tuple[tuple[Entry, Entry], ...]]:
        """(scope of `self JOIN other USING (names)`, pairs of joined columns)."""
        pairs = tuple((self.first(name), other.first(name)) for name in names)
        lefts, rights = {left for left, _ in pairs}, {right for _, right in pairs}
        first = tuple(left for left, _ in pairs)
        rest = tuple(entry for entry in self.entries if entry not in lefts)
        last = tuple(replace(e, hidden=True) if e in rights else e for e in other.entries)
        return Scope(first + rest + last), pairs

    def shown(self, others: Mapping[Entry, Entry]) -> Scope:
        """The scope with the columns in `others` (old → new) replaced. The old ones become
        hidden; the new ones may have been hidden.
        """
        moved = {replace(each, hidden=True) for each in others.values()}
        kept = tuple(others.get(entry, entry) for entry in self.entries if entry not in moved)
        return Scope(kept + tuple(replace(each, hidden=True) for each in others))
