"""What a relation of the catalog is: its columns and properties, from one DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import takewhile
from typing import Any

from sqlglot.errors import TokenError

from dbt_idivm.frontend.dialect import code_of
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.retention import kept_changes
from dbt_idivm.refresh.catalog.view_settings import described_as_json, selected_columns, stored_settings
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows
from dbt_idivm.relation_name import name_parts

# Properties of ours, each a hex-encoded JSON value.
VIEW = "idivm.view"  # on the user's relation: the table that is maintained for it
OWNER = "idivm.owner"  # the model that made it
SHOWN = "idivm.shown"  # on a model's view: what it shows the rows of, see `State.shown`
TEXT = "idivm.text"  # on a model's view: by which its query is known again
DEFINITION = "idivm.definition"  # the user's compiled SQL
IDS = "idivm.ids"  # stored columns that identify a row; empty if rows are not unique
KEYS = "idivm.keys"  # input → the columns of the key that the plan relies on
INPUTS = "idivm.inputs"  # input → the columns that are used of it, with their types
LOG = "idivm.log"  # on a plain view of `output: diffs`: the log of its changes
LOGGED = "idivm.logged"  # on a log: the names and types of the user's columns
BUILD = "idivm.build"  # hash over all that the table was created by
FEED = "delta.enableChangeDataFeed"

_DETAILS = "# Detailed Table Information"
_PARTITIONS = "# Partition Information"
# Properties are in one line, after a comma, and those of a view after a space, too.
_OURS = re.compile(r"(?:(?<=[\[,])|(?<=, ))(idivm\.\w+)=([0-9a-f]+)(?=[,\]])")
_MAPPING = re.compile(r"(?<=[\[,])delta\.columnMapping\.mode=(\w+)(?=[,\]])", re.IGNORECASE)
_RETENTION = re.compile(r"(?<=[\[,])(delta\.\w+RetentionDuration)=([^,\]]*)(?=[,\]])", re.IGNORECASE)
_CONSTRAINT = re.compile(r"(?<=[\[,])delta\.constraints\.")
_WIDENS = re.compile(r"(?<=[\[,])delta\.enableTypeWidening=true(?=[,\]])", re.IGNORECASE)
_FEED_ON = re.compile(r"(?<=[\[,])delta\.enableChangeDataFeed=true(?=[,\]])", re.IGNORECASE)
MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTAMISSING_DELTA_TABLE")
_LOST = ("DELTA_PATH_DOES_NOT_EXIST",)  # a DROP or a RENAME broke off between the files and the catalog


@dataclass(frozen=True)
class Described:
    """A table or view. `text` is the SQL of a plain view, `namespace` what its names are resolved in.

    `schema` and `namespace` are the parts of a name before the last one. A `lost` table is an entry of the catalog
    whose files are not there.
    """

    columns: tuple[Attribute, ...]
    kind: str  # table, view, or "" for a temporary view
    provider: str
    has_feed: bool = False
    text: str | None = None
    namespace: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    lost: bool = False
    settings: Mapping[str, str] | None = None  # of a plain view, see `view_settings.py`
    selected: tuple[str, ...] | None = None  # of a plain view: what its columns are called in its text; None if they follow it
    partitions: tuple[str, ...] = ()  # the columns that it is partitioned by
    kept: timedelta | None = None  # how long its changes can be read, if that is known
    mapping: str = "none"  # how files refer to columns: by name, by id, or as they are called
    is_constrained: bool = False  # it has CHECK constraints
    widens: bool = False  # the type of a column may change in place

    @property
    def is_partitioned(self) -> bool:
        return bool(self.partitions)

    @property
    def layout(self) -> str:
        """How its files hold the columns. A change feed reads them all as the table is laid out at the end."""
        return " ".join((self.mapping, *self.partitions))

    @property
    def is_plain_view(self) -> bool:
        return self.kind == "view" and self.maintained is None and bool(self.text)

    @property
    def is_model_view(self) -> bool:
        """It is a view of ours over the table that is maintained for it."""
        return self.kind == "view" and self.maintained is not None

    @property
    def is_delta(self) -> bool:
        return self.kind == "table" and self.provider == "delta"

    @property
    def maintained(self) -> str | None:
        """The table behind a view of ours; the table itself if it is one."""
        found = self.properties.get(VIEW)
        return str(found) if found is not None else None


def describe(client: Client, relation: str) -> Steps[Described | None]:
    """The relation of that name; None if there is none."""
    try:
        rows = yield from client.ask(client.commands.describe(relation))
    except EngineFailure as failure:
        if failure.is_any(MISSING):
            return None
        if failure.is_any(_LOST):
            return Described((), "table", "delta", lost=True)
        raise
    facts = described(rows, client.engine)
    if not facts.is_plain_view:
        return facts
    shown = yield from described_as_json(client, relation)
    return replace(facts, settings=stored_settings(shown), selected=selected_columns(shown, len(facts.columns)))


def known_text(sql: str) -> str:
    """By which the query of a view is known again."""
    try:
        return state.digest(code_of(sql))
    except TokenError:
        return ""


# Wrong without it: ALTER VIEW gives a view another query, and leaves it our properties.
def _is_altered(text: str, properties: Mapping[str, Any]) -> bool:
    """Whether a view of ours has another query than we gave it."""
    return bool(text) and TEXT in properties and known_text(text) != properties[TEXT]


def own_properties(text: str) -> dict[str, Any]:
    """Our properties in a text that an engine shows of a relation."""
    return {key: state.decode(value) for key, value in _OURS.findall(text)}


def _place(details: Mapping[str, str]) -> tuple[str, ...]:
    """The catalog and schema of a table: before its name, or on Databricks in rows of their own."""
    if "Name" in details:
        return name_parts(details["Name"])[:-1]
    return tuple(details[each] for each in ("Catalog", "Database") if each in details)


def described(rows: Rows, engine: Engine) -> Described:
    """The relation that a DESCRIBE TABLE EXTENDED of this engine shows."""
    lines = [(str(row[0] or ""), str(row[1] or "")) for row in rows.rows]
    columns = []
    for name, kind in lines:
        if not kind:  # a heading; a column may be called like one
            break
        columns.append(Attribute(name, kind))
    at = next((i for i, line in enumerate(lines) if line == (_DETAILS, "")), len(lines))
    details = dict(reversed(lines[at:]))  # the first one counts: names that users gave come after it
    kind = details.get("Type", "").lower()
    text = details.get("Table Properties", "")
    found = own_properties(text)
    if _is_altered(details.get("View Text", ""), found):
        found.pop(SHOWN, None)
    mapping = _MAPPING.search(text)
    return Described(
        tuple(columns),
        "view" if "view" in kind else "table" if kind else "",
        details.get("Provider", "").lower(),
        bool(_FEED_ON.search(text)),
        details.get("View Text"),
        engine.namespace(name_parts(details.get("View Catalog and Namespace", ""))),
        engine.namespace(_place(details)),
        found,
        partitions=_partitions(lines),
        kept=kept_changes(dict(_RETENTION.findall(text))),
        mapping=mapping[1].lower() if mapping else "none",
        is_constrained=bool(_CONSTRAINT.search(text)),
        widens=bool(_WIDENS.search(text)),
    )


def _partitions(lines: list[tuple[str, str]]) -> tuple[str, ...]:
    """The columns under the heading of partitions, behind a line of headings of their own."""
    rest = lines[lines.index((_PARTITIONS, "")) + 2 :] if (_PARTITIONS, "") in lines else []
    return tuple(name for name, _ in takewhile(lambda line: line[0], rest))
