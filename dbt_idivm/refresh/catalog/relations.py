"""Relations of the catalog: columns, properties and other facts from one DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import takewhile
from typing import Any

from sqlglot.errors import TokenError

from dbt_idivm.digests import digest
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
SHOWN = "idivm.shown"  # on a model's view: digest of the definition whose rows it shows, see `State.shown`
TEXT = "idivm.text"  # on a model's view: digest that identifies its query
DEFINITION = "idivm.definition"  # the user's compiled SQL
COMPLETED = "idivm.completed"  # the SELECT with completed orders, if it has several right results
IDS = "idivm.ids"  # stored columns that identify a row; empty if rows are not unique
KEYS = "idivm.keys"  # input → the columns of the key that the plan relies on
INPUTS = "idivm.inputs"  # input → the columns that are used, with their types
LOG = "idivm.log"  # on a plain view of `output: diffs`: the log of its changes
LOGGED = "idivm.logged"  # on a log: the names and types of the user's columns
BUILD = "idivm.build"  # hash over everything that the table was created from

_DETAILS = "# Detailed Table Information"
_PARTITIONS = "# Partition Information"
# Properties are in one line, separated by commas; those of a view have a space after the comma.
_OURS = re.compile(r"(?:(?<=[\[,])|(?<=, ))(idivm\.\w+)=([0-9a-f]+)(?=[,\]])")
_MAPPING = re.compile(r"(?<=[\[,])delta\.columnMapping\.mode=(\w+)(?=[,\]])", re.IGNORECASE)
_RETENTION = re.compile(r"(?<=[\[,])(delta\.\w+RetentionDuration)=([^,\]]*)(?=[,\]])", re.IGNORECASE)
_CONSTRAINT = re.compile(r"(?<=[\[,])delta\.constraints\.")
_WIDENS = re.compile(r"(?<=[\[,])delta\.enableTypeWidening=true(?=[,\]])", re.IGNORECASE)
_FEED_ON = re.compile(r"(?<=[\[,])delta\.enableChangeDataFeed=true(?=[,\]])", re.IGNORECASE)
MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTAMISSING_DELTA_TABLE")
_LOST = ("DELTA_PATH_DOES_NOT_EXIST",)  # a DROP or RENAME was interrupted between the files and the catalog


@dataclass(frozen=True)
class Described:
    """A table or view. `text`: the SQL of a plain view; `namespace`: where its names are resolved.

    `schema` and `namespace` are the parts of a name before the last one. A `lost` table has an entry in the catalog, but no
    files.
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
    selected: tuple[str, ...] | None = None  # plain view: its columns' names in the text; None if the columns follow the text
    partitions: tuple[str, ...] = ()  # the columns that it is partitioned by
    kept: timedelta | None = None  # how long its changes can be read, if known
    mapping: str = "none"  # column mapping of its files: by name, by id, or none
    is_constrained: bool = False  # it has CHECK constraints
    widens: bool = False  # the type of a column may change in place

    @property
    def is_partitioned(self) -> bool:
        return bool(self.partitions)

    @property
    def layout(self) -> str:
        """How the files store the columns. A change data feed reads all of them with the latest layout of the table."""
        return " ".join((self.mapping, *self.partitions))

    @property
    def is_plain_view(self) -> bool:
        return self.kind == "view" and self.maintained is None and bool(self.text)

    @property
    def is_model_view(self) -> bool:
        """Whether it is a view of ours over a maintained table."""
        return self.kind == "view" and self.maintained is not None

    @property
    def is_delta(self) -> bool:
        return self.kind == "table" and self.provider == "delta"

    @property
    def maintained(self) -> str | None:
        """The maintained table: the one behind a view of ours, or the table itself."""
        found = self.properties.get(VIEW)
        return str(found) if found is not None else None


def describe(client: Client, relation: str) -> Steps[Described | None]:
    """Describe a relation by name; None if it does not exist."""
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
    """Hash that identifies the query of a view."""
    try:
        return digest(code_of(sql))
    except TokenError:
        return ""


# Wrong without it: ALTER VIEW gives a view another query, but keeps our properties.
def _is_altered(text: str, properties: Mapping[str, Any]) -> bool:
    """Whether a view of ours has another query than the one we created it with."""
    return bool(text) and TEXT in properties and known_text(text) != properties[TEXT]


def own_properties(text: str) -> dict[str, Any]:
    """Our properties in the text that the engine shows for a relation."""
    return {key: state.decode(value) for key, value in _OURS.findall(text)}


def _place(details: Mapping[str, str]) -> tuple[str, ...]:
    """Catalog and schema of a table: parts of its name, or separate rows on Databricks."""
    if "Name" in details:
        return name_parts(details["Name"])[:-1]
    return tuple(details[each] for each in ("Catalog", "Database") if each in details)


def described(rows: Rows, engine: Engine) -> Described:
    """Parse the reply to DESCRIBE TABLE EXTENDED."""
    lines = [(str(row[0] or ""), str(row[1] or "")) for row in rows.rows]
    columns = []
    for name, kind in lines:
        if not kind:  # a heading; a column may have the same name
            break
        columns.append(Attribute(name, kind))
    at = next((i for i, line in enumerate(lines) if line == (_DETAILS, "")), len(lines))
    details = dict(reversed(lines[at:]))  # the first of equal names wins: names given by users come later
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
    """The columns in the partition section, which has a header line of its own."""
    rest = lines[lines.index((_PARTITIONS, "")) + 2 :] if (_PARTITIONS, "") in lines else []
    return tuple(name for name, _ in takewhile(lambda line: line[0], rest))
