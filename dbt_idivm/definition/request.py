"""What dbt knows about one model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dbt_idivm.relation_name import relation_name


@dataclass(frozen=True)
class KeyCandidate:
    """A key declared for a relation, and its source (config, constraint, dbt test)."""

    columns: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Ignored:
    """A declaration about keys that has no effect: what, why, and what to do."""

    what: str
    why: str
    do: str


@dataclass(frozen=True)
class ModelRequest:
    """Everything that dbt knows about one model when it is refreshed.

    `sql`: the compiled SELECT. `owner`: dbt's unique_id of the model.
    `keys`: relation in `sql` (`relation_name.py`) → keys declared for it. `input_names`: the same relation → the user's name in
    `ref` or `source`. `relations`: names of all relations of the project (`names_of`); configured `keys` of one that is no input
    are meant for other models. `existing`: kind of the relation that has the model's name now.
    `restricted`: the inputs are incomplete (`--empty`, `--sample`), so the state of the view must not be trusted later.
    `project`: models of one dbt project share caches. `neighbours`: relations in the model's schema: its own auxiliary tables
    (`auxiliary_tables.py`), and readers of the same caches.
    `checks`: name → expression of the constraints in the model's contract, if it is enforced (`constraints.py`).
    """

    name: str
    schema: str
    identifier: str
    sql: str
    config: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[KeyCandidate, ...]] = field(default_factory=dict)
    input_names: Mapping[str, str] = field(default_factory=dict)
    relations: Collection[str] = ()
    existing: Literal["table", "view"] | None = None
    full_refresh: bool = False
    restricted: bool = False
    run_id: str = ""
    session: Mapping[str, str] = field(default_factory=dict)  # "ansi", "time_zone": part of the fingerprint
    owner: str = ""
    database: str = ""  # where relations have a catalog
    project: str = ""
    neighbours: Mapping[str, Literal["table", "view"]] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)

    @property
    def relation(self) -> str:
        """The model's relation, named like its inputs."""
        return self.relation_beside(self.identifier)

    def relation_beside(self, identifier: str) -> str:
        """The relation called `identifier` in the model's schema."""
        return relation_name(*(part for part in (self.database, self.schema, identifier) if part))
