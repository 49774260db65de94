"""The project in integration_tests/ as the planner sees it, without dbt and Spark: its models, rendered and planned.

The types of tables are those that the project declares: sources and models with their columns, seeds in dbt_project.yml.
Others are inferred.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import yaml
from sqlglot import exp, parse_one

from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.schema_file import catalog_of
from dbt_idivm.script.plan import Plan

PROJECT = Path(__file__).resolve().parents[2] / "integration_tests"
RUN = dt.datetime(2024, 6, 21, 2, tzinfo=dt.UTC)
OF_SNAPSHOTS = (
    ("dbt_scd_id", "string"),
    ("dbt_updated_at", "timestamp"),
    ("dbt_valid_from", "timestamp"),
    ("dbt_valid_to", "timestamp"),
)


@dataclass(frozen=True)
class Model:
    """A model: its text, its SELECT over `source.table` and names of models, and what its config says."""

    path: Path
    sql: str
    config: Mapping[str, Any]
    refs: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def folder(self) -> str:
        return self.path.parent.name

    @property
    def materialized(self) -> str:
        return str(self.config.get("materialized", "idivm"))

    @property
    def keys(self) -> Mapping[str, list[str]]:
        found: Mapping[str, list[str]] = self.config.get("meta", {}).get("idivm", {}).get("keys", {})
        return found


@dataclass
class Project:
    """The project's models, rendered and planned on demand."""

    root: Path = PROJECT
    planned: dict[str, tuple[Lowered, Plan]] = field(default_factory=dict)

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        return _yaml(self.root / "dbt_project.yml")

    @cached_property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        """What the properties files say about models, seeds and snapshots, by name."""
        folders = (self.root / name for name in ("models", "seeds", "snapshots"))
        documents = [_yaml(path) for folder in folders for path in sorted(folder.rglob("*.yml"))]
        return {
            item["name"]: item for part in ("models", "seeds", "snapshots") for each in documents for item in each.get(part) or ()
        }

    @cached_property
    def sources(self) -> Catalog:
        return catalog_of(_yaml(self.root / "models" / "staging" / "_sources.yml"))

    @cached_property
    def models(self) -> Mapping[str, Model]:
        paths = sorted((self.root / "models").rglob("*.sql"))
        return {path.stem: self._rendered(path) for path in paths}

    @property
    def maintained(self) -> list[Model]:
        """The models that are to be maintained."""
        return [model for model in self.models.values() if model.materialized == "idivm"]

    def plan(self, name: str) -> Plan:
        return self._planned(name)[1]

    def tree(self, name: str) -> exp.Expr:
        """The model's own SELECT, without those of what it reads."""
        return parse_one(self.models[name].sql, read="spark")

    def _rendered(self, path: Path) -> Model:
        config: dict[str, Any] = {}
        refs: list[str] = []

        def configure(**given: Any) -> str:
            config.update(given)
            return ""

        def ref(name: str) -> str:
            refs.append(name)
            return name

        macros = "".join(each.read_text(encoding="utf-8") for each in sorted((self.root / "macros").glob("*.sql")))
        text = (
            jinja2.Environment()
            .from_string(macros + path.read_text(encoding="utf-8"))
            .render(
                config=configure,
                ref=ref,
                source=lambda source, table: f"{source}.{table}",
                var=self.settings["vars"].__getitem__,
                is_incremental=lambda: False,
                run_started_at=RUN,
                dbt={"current_timestamp": lambda: "current_timestamp()"},
            )
        )
        return Model(path, text.strip(), config, tuple(dict.fromkeys(refs)))

    def _planned(self, name: str) -> tuple[Lowered, Plan]:
        if name not in self.planned:
            model = self.models[name]
            lowered = lower(self._with_ephemeral(model), self._catalog(model))
            self.planned[name] = (lowered, compile_plan(lowered.root, lowered.output))
        return self.planned[name]

    def _with_ephemeral(self, model: Model) -> str:
        """The model's SELECT with ephemeral models as CTEs before its own."""
        read = [self.models[name] for name in model.refs if name in self.models]
        inner = [each for each in read if each.materialized == "ephemeral"]
        if not inner:
            return model.sql
        clauses = ", ".join(f"{each.name} as ({self._with_ephemeral(each)})" for each in inner)
        own = model.sql.removeprefix("with ")
        return f"with {clauses}, {own}" if own != model.sql else f"with {clauses} {own}"

    def _catalog(self, model: Model) -> Catalog:
        """What the model reads, ephemeral models and views followed."""
        tables: dict[str, TableInfo] = {}
        views: dict[str, PlainView] = {}
        self._add_inputs(model, tables, views)
        tables |= {name: replace(table, key=tuple(model.keys[name])) for name, table in tables.items() if name in model.keys}
        return Catalog({**self.sources.tables, **tables}, views, clock_is_input=True)

    def _add_inputs(self, model: Model, tables: dict[str, TableInfo], views: dict[str, PlainView]) -> None:
        tables |= {name: replace(self.sources.tables[name], key=tuple(key)) for name, key in model.keys.items()}
        for name in model.refs:
            found = self.models.get(name)
            if found is None or found.materialized in ("idivm", "incremental"):
                tables[name] = self._table(name)
                continue
            if found.materialized == "view":
                views[name] = PlainView(self._with_ephemeral(found))
            self._add_inputs(found, tables, views)

    def _table(self, name: str) -> TableInfo:
        """A model, seed or snapshot as an input."""
        key = self._declared_key(name)
        if name not in self.models:
            columns = self._snapshot_columns(name) if name in self._snapshots else self._seed_columns(name)
            return TableInfo(name, columns, key, "properties file" if key else "")
        model = self.models[name]
        try:
            plan = self.plan(name)
        except IdivmError as error:
            raise AssertionError(f"{name}, which other models read, has no plan: {error}") from error
        types, declared = plan.root.types, self.declared_types(name)
        columns = tuple(
            Attribute(each.name, declared.get(each.name) or name_of_type(types[each.attribute])) for each in plan.columns
        )
        shown = tuple(each.name for each in plan.columns if not each.hidden)
        if model.materialized == "incremental":
            return TableInfo(name, tuple(each for each in columns if each.name in shown), key, "properties file" if key else "")
        return TableInfo(name, columns, key or plan.key or None, "the IDs of an upstream view", visible=shown)

    def _declared_key(self, name: str) -> tuple[str, ...] | None:
        columns = self.properties.get(name, {}).get("columns") or ()
        return next(((each["name"],) for each in columns if {"unique", "not_null"} <= set(each.get("data_tests") or ())), None)

    def declared_types(self, name: str) -> Mapping[str, str]:
        columns = self.properties.get(name, {}).get("columns") or ()
        return {each["name"]: each["data_type"] for each in columns if "data_type" in each}

    @cached_property
    def _snapshots(self) -> Mapping[str, str]:
        """Snapshot → the source that it is one of."""
        documents = [_yaml(path) for path in sorted((self.root / "snapshots").glob("*.yml"))]
        return {each["name"]: each["relation"].split("'")[3] for document in documents for each in document["snapshots"]}

    def _snapshot_columns(self, name: str) -> tuple[Attribute, ...]:
        table = self.sources.tables[f"retail.{self._snapshots[name]}"]
        return (*table.columns, *(Attribute(*each) for each in OF_SNAPSHOTS))

    def _seed_columns(self, name: str) -> tuple[Attribute, ...]:
        types = self.settings["seeds"]["retail"][name]["+column_types"]
        return tuple(Attribute(column, kind) for column, kind in types.items())


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
