"""What is known of the relations that a model reads, before it is planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.context import PlainView
from dbt_idivm.errors import Finding
from dbt_idivm.operators.scan import Attribute


@dataclass(frozen=True)
class Table:
    """One table that a model reads under `name`. `table`: the one with its rows; for the view of an upstream model this is the
    ID-extended table, of which `visible` columns are shown (None: all).

    `ids`: for a maintained table, the columns that identify its rows; empty if rows are not unique. `is_ours`: its newest rows
    are those of a refresh that read all of its inputs. `has_unique_ids`: its IDs are unique by construction.
    """

    name: str
    table: str
    columns: tuple[Attribute, ...]
    visible: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()
    is_ours: bool = False
    has_unique_ids: bool = False

    @property
    def in_order(self) -> tuple[Attribute, ...]:
        """The columns: first the visible ones in the order in which the relation shows them, then the hidden ones."""
        places = {name.lower(): place for place, name in enumerate(self.visible or ())}
        return tuple(sorted(self.columns, key=lambda each: places.get(each.name.lower(), len(places))))


@dataclass(frozen=True)
class SqlFunction:
    """The definition of a SQL function. `body` is an expression; "" if it is a query."""

    body: str
    parameters: str
    returns: str
    is_table: bool
    is_deterministic: bool


@dataclass(frozen=True)
class DescribedFunction:
    """A user's function. `name`: as in its calls; `digest`: hash that identifies it; `sql`: None if its body cannot be seen.

    `problem`: why its value may depend on more than its arguments; "" if nothing is known against it.
    """

    name: str
    digest: str
    sql: SqlFunction | None = None
    problem: str = ""


@dataclass(frozen=True)
class Facts:
    """Everything that a model reads, by the names in its SQL. `views`: plain views, with qualified names in their texts.

    `obstacles`: why parts of it can only be read as a whole, in a rebuild. `unread`: why the SQL could not be analysed.
    `functions`: the user's functions that the SQL calls and the config lists; None: not described.
    """

    tables: Mapping[str, Table]
    views: Mapping[str, PlainView]
    obstacles: tuple[Finding, ...] = ()
    unread: Finding | None = None
    functions: Mapping[str, DescribedFunction | None] = field(default_factory=dict)
