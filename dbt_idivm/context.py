"""What the planner is told about the world: tables with their columns and keys, and how the user wants the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_idivm.operators.scan import Attribute


@dataclass(frozen=True)
class TableInfo:
    """One input relation: its columns in order and the key that identifies its rows, if one is known.

    `name` is the relation's name (`relation_name.py`); `reads` is the table whose
    rows are meant, when that is another one (the ID-extended table behind an upstream model's view).
    """

    name: str
    columns: tuple[Attribute, ...]
    key: tuple[str, ...] | None = None
    key_source: str = ""
    reads: str | None = None
    visible: tuple[str, ...] | None = None  # the columns that the user may name; None: all

    @property
    def table(self) -> str:
        return self.reads or self.name


@dataclass(frozen=True)
class Catalog:
    """Relation name → facts. `views` holds the definitions of plain SQL views among the inputs; they are expanded."""

    tables: Mapping[str, TableInfo] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
