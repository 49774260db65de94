"""How every model of a dbt project is maintained, from dbt's artifacts alone: without Spark, and without a connection.

`dbt compile` writes `target/manifest.json`, with the SQL and the declared keys of all models. The columns of an input come, in
this order, from `target/catalog.json` (`dbt docs generate`); from the SELECT of a model or snapshot, maintained or not, or the
header of a seed; from what the last run saw (`seen_columns.py`, which says what counts where several of them differ); from
properties files. A type that is not inferred is the one that the run saw, the `data_type` there, or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.artifacts import Node, artifacts, dbt_config
from dbt_idivm.cached import cached_property
from dbt_idivm.context import Catalog, PlainView, TableInfo, UserFunction
from dbt_idivm.declared_keys import KeyIndex, relation_names, written_name
from dbt_idivm.deep import deep_recursion
from dbt_idivm.definition.compiling import Compiled
from dbt_idivm.definition.config import model_config
from dbt_idivm.definition.define import Definition, catalog_of, define
from dbt_idivm.definition.facts import Facts, Table
from dbt_idivm.definition.fingerprint import fingerprint
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.explain import maintained, recomputes
from dbt_idivm.frontend.columns import columns_of_query
from dbt_idivm.frontend.lower import lower
from dbt_idivm.known_columns import UNKNOWN, declared, of_seed, of_snapshot, with_declared_types
from dbt_idivm.macro_sources import with_sources
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.pipeline import Request, show_output
from dbt_idivm.relation_name import HIDDEN_SUFFIX, with_suffix
from dbt_idivm.schema_file import SchemaFileError
from dbt_idivm.script.plan import Plan, columns_of_plan
from dbt_idivm.seen_columns import MARK, Counts, columns_of, combined, notes, with_seen
from dbt_idivm.seen_files import found_keys_in
from dbt_idivm.settings import given_config

_GIVE_TYPES = "give each one's `data_type` in a properties file, or run `dbt docs generate`, or the models that read it"


class UnknownColumns(SchemaFileError):
    """The columns of a table are not known. `cause`: which table, and why; `remedy`: what the user can do."""

    def __init__(self, cause: str, remedy: str = _GIVE_TYPES) -> None:
        super().__init__(f"{cause}: {remedy}")
        self.cause, self.remedy = cause, remedy


@dataclass(frozen=True)
class Model:
    """A model that has a plan. `tables`: the names by which others read it: its own name, and the name of the table behind it."""

    name: str
    unique_id: str
    tables: tuple[str, ...]
    plan: Plan


@dataclass(frozen=True)
class Explained:
    """One model: how changes reach it, or why it is rebuilt on every run, or why this is unknown. `is_error`: whether the run
    fails because of the refusal instead of rebuilding (`on_unsupported: error`, `volatile: error`)."""

    model: str
    how: str | None = None
    refusal: Finding | None = None
    problem: str | None = None
    is_error: bool = False

    @property
    def why(self) -> str:
        """Why it is not maintained, or why that is unknown; "" if it is maintained."""
        return self.problem or (self.refusal.summary if self.refusal else "")

    def fails(self, fail_on: str | None) -> bool:
        """Whether it counts as a failure. `full`: if it is rebuilt on each run; `recompute`: also if rows or groups are
        recomputed."""
        recomputed = self.how is not None and recomputes(self.how)
        return (fail_on is not None and self.refusal is not None) or (fail_on == "recompute" and recomputed)


@dataclass
class Project:
    """The artifacts of a dbt project: `manifest`, and `catalog` if it exists."""

    manifest: Node
    catalog: Node = field(default_factory=dict)
    # unique_id → the definition, or why it is not known
    definitions: dict[str, Definition | IdivmError | SchemaFileError] = field(default_factory=dict)
    columns: dict[str, tuple[Attribute, ...] | UnknownColumns] = field(default_factory=dict)  # unique_id → stored columns
    problems: tuple[Finding, ...] = ()  # with files about the last run
    counts: dict[str, Counts] = field(default_factory=dict)  # written name → why its columns are those of the run, or are not
    found_keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # relation → key that the run found in its data

    @cached_property
    def keys(self) -> KeyIndex:
        return KeyIndex(self.manifest)

    @property
    def _name(self) -> str:
        return str(self.manifest["metadata"].get("project_name") or "")

    @property
    def untyped(self) -> tuple[str, ...]:
        """Columns of unknown type, as `table.column`, in the inputs of the models that were planned so far."""
        return tuple(
            f"{written_name(self.keys.nodes[unique_id])}.{column.name}"
            for unique_id, columns in sorted(self.columns.items())
            for column in (columns if isinstance(columns, tuple) else ())
            if column.type == UNKNOWN
        )

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Whose columns count where the last run saw some, of the inputs of the models that were planned so far."""
        return (*self.problems, *notes(self.counts))

    @property
    def read(self) -> frozenset[str]:
        """All tables that a model reads, of those that were planned so far, including models without a plan."""
        known = (each for each in self.definitions.values() if isinstance(each, Definition))
        return frozenset(found.table for each in known for found in each.facts.tables.values())

    def explained(self) -> Iterator[Explained]:
        """The models with `materialized='idivm'`, by name."""
        yield from map(self.explanation, self.nodes_of_models())

    def planned(self) -> Iterator[Model]:
        """Those of these models that have a plan."""
        for node in self.nodes_of_models():
            with suppress(IdivmError, SchemaFileError):
                names = tuple(relation_names(node))
                hidden = tuple(with_suffix(each, HIDDEN_SUFFIX) for each in names)
                yield Model(label(node), str(node["unique_id"]), (*names, *hidden), self.plan(node))

    def tree(self, model: Model) -> Operator:
        """The model's SELECT over base tables, with upstream models expanded; if that cannot be planned, over their tables."""
        return self._tree(self.keys.nodes[model.unique_id], model.plan)

    def nodes_of_models(self) -> list[Node]:
        """The nodes with `materialized='idivm'`, by name."""
        return [
            node
            for node in sorted(self.keys.nodes.values(), key=lambda node: str(node["name"]))
            if node.get("resource_type") == "model" and node["config"].get("materialized") == "idivm"
        ]

    def explanation(self, node: Node) -> Explained:
        """How a model is maintained, or why it is not."""
        name = str(node["name"])
        try:
            config = model_config(_config(node))
        except IdivmError as error:
            return Explained(name, problem=error.findings[0].summary)
        try:
            if config.strategy == "full":
                return Explained(name, refusal=finding(407))
            return Explained(name, maintained(self.plan(node)))
        except IdivmError as error:
            error = with_sources(error, node, self.manifest.get("macros") or {}, self._name)
            blamed = next((each for each in error.findings if not each.is_refusal), None)
            forbidden = config.forbids(error)
            return (
                Explained(name, refusal=(*forbidden, *error.findings)[0], is_error=bool(forbidden))
                if blamed is None
                else Explained(name, problem=blamed.summary + (f"; {blamed.source}" if blamed.source else ""))
            )
        except SchemaFileError as error:
            return Explained(name, problem=str(error))

    def plan(self, node: Node) -> Plan:
        """The plan of a model. Raises IdivmError if there is none, and SchemaFileError if something it depends on is unknown."""
        found = self.definition(node).found
        if isinstance(found, IdivmError):
            raise found
        return found.plan

    @deep_recursion()  # it follows a chain of models
    def definition(self, node: Node) -> Definition:
        """What a model is. Raises IdivmError for its config and keys, and SchemaFileError if its inputs are unknown."""
        known = self.definitions.get(node["unique_id"])
        if known is None:
            try:
                request, config = self._request(node), model_config(_config(node))
                known = without_engine(define(request, config, self._facts(node), found_keys=self.found_keys))
            except (IdivmError, SchemaFileError) as error:
                known = error
            self.definitions[node["unique_id"]] = known
        if not isinstance(known, Definition):
            raise known
        return known

    def subviews(self, node: Node) -> tuple[str, ...]:
        """The CTEs and derived tables in the SELECT of a model that has a plan."""
        found = self.definition(node).found
        names = (each.name for each in found.lowered.subviews) if isinstance(found, Compiled) else ()
        return tuple(dict.fromkeys(names))

    def _tree(self, node: Node, plan: Plan) -> Operator:
        views: dict[str, PlainView] = {}
        tables: dict[str, TableInfo] = {}
        self._expand(node, tables, views)
        functions = dict.fromkeys(model_config(_config(node)).deterministic_functions, UserFunction())
        try:
            lowered = lower(node["compiled_code"], Catalog(tables, views, functions=functions))
            root, output = lowered.root, tuple(attribute for _, attribute in lowered.output)
        except IdivmError:
            root, output = plan.passes[0].root, tuple(each.attribute for each in plan.columns if not each.hidden)
        # keep all attributes: a model has the same tree alone, and where only some of its columns are read
        return show_output(root, Request(tuple(dict.fromkeys(output)), operator_caches=False))

    def _expand(self, node: Node, tables: dict[str, TableInfo], views: dict[str, PlainView]) -> None:
        """Add the tables that a model reads, and the SELECTs of the models in between."""
        for name, read in self.keys.inputs(node).items():
            kind, known = read["config"].get("materialized"), self.definitions.get(read["unique_id"])
            if kind == "view" or (kind == "idivm" and isinstance(known, Definition) and known.plan is not None):
                views[name] = PlainView(read["compiled_code"])
                self._expand(read, tables, views)
        known = self.definitions.get(node["unique_id"])
        if isinstance(known, Definition):
            read_tables = catalog_of(known.facts, known.keys).tables
            tables.update({name: info for name, info in read_tables.items() if name not in views})

    def fingerprint(self, node: Node) -> dict[str, str]:
        """The fingerprint of a stored view of the model, as far as artifacts show it; if two of them differ, the view is rebuilt.
        Raises IdivmError and SchemaFileError if its inputs are unknown."""
        config = model_config(_config(node))
        if config.strategy == "full":
            return fingerprint(self._request(node), config, self._facts(node), {}, None)
        return self.definition(node).fingerprint

    def _request(self, node: Node) -> ModelRequest:
        """What a refresh would be asked with. Raises SchemaFileError."""
        sql = _compiled_sql(node)
        if not node.get("schema") or not node.get("relation_name"):
            raise SchemaFileError("the manifest does not name its relation")
        return ModelRequest(
            node["name"],
            node["schema"],
            node.get("alias") or node["name"],
            sql,
            keys=self.keys.keys(node),
            input_names=self.keys.input_names(node),
            relations=self.keys.relations,
            project=self._name,
        )

    def _facts(self, node: Node) -> Facts:
        """The inputs of a model, with views expanded."""
        tables: dict[str, Table] = {}
        views: dict[str, PlainView] = {}
        for name, read in self.keys.inputs(node).items():
            kind = read["config"].get("materialized")
            if kind == "view" and read.get("compiled_code"):
                views[name] = PlainView(read["compiled_code"])
            elif kind != "ephemeral":
                tables[name] = self._table(name, read)
        return Facts(tables, views)

    def _table(self, name: str, node: Node) -> Table:
        """One input table. Raises SchemaFileError if its columns are unknown."""
        if node["config"].get("materialized") == "idivm":
            with suppress(IdivmError, SchemaFileError):
                return _maintained_table(name, self.plan(node))
        return Table(name, name, self._columns(node))

    def columns_of(self, node: Node) -> tuple[str, ...]:
        """The names of a table's columns, where known."""
        try:
            return tuple(each.name for each in self._columns(node))
        except SchemaFileError:
            return tuple(node.get("columns") or {})

    def _columns(self, node: Node) -> tuple[Attribute, ...]:
        """The columns that are stored for a node. Raises UnknownColumns."""
        found = self.columns.get(node["unique_id"])
        if found is None:
            found = self.columns[node["unique_id"]] = self._found_columns(node)
        if isinstance(found, UnknownColumns):
            raise found
        return found

    def _found_columns(self, node: Node) -> tuple[Attribute, ...] | UnknownColumns:
        """The columns in the catalog; else those that follow from its SELECT or file, with types that the last run saw, or that
        are declared, or unknown; else those that it saw; else the declared ones."""
        made: tuple[Attribute, ...] = ()
        cause, remedy = "", _GIVE_TYPES
        listed, mark = self._listed(node)
        if listed and mark not in ("only", "newer"):
            if mark:
                self.counts[written_name(node)] = mark
            return listed
        try:
            made = self._made(node)
        except UnknownColumns as error:
            cause, remedy = error.cause, error.remedy
        except IdivmError as error:
            cause = f"its SELECT does not tell them: {error.findings[0].summary}"
        except SchemaFileError as error:
            cause = str(error)
        if listed and mark:
            found = combined(made, listed)
            if found is None:
                self.counts[written_name(node)] = "changed"
            elif found != made:
                self.counts[written_name(node)] = mark
            made = made if found is None else found
        unknown = f"the columns of `{written_name(node)}` are not known" + (f", because {cause}" if cause else "")
        return with_declared_types(made, node) or declared(node) or UnknownColumns(unknown, remedy)

    @deep_recursion()  # it follows a chain of models
    def _made(self, node: Node) -> tuple[Attribute, ...]:
        """The columns that follow from what dbt builds the node from; empty if that is neither SQL nor a file. Raises IdivmError
        and SchemaFileError for a SELECT whose columns cannot be determined."""
        kind = node.get("resource_type")
        if kind == "seed":
            return of_seed(node)
        if kind not in ("model", "snapshot") or node.get("language", "sql") != "sql":
            return ()
        with suppress(IdivmError, SchemaFileError):
            if kind == "model":
                return columns_of_plan(self.plan(node))
        selected = columns_of_query(_compiled_sql(node), catalog_of(self._facts(node), {}))
        return of_snapshot(node, selected) if kind == "snapshot" else selected

    def _listed(self, node: Node) -> tuple[tuple[Attribute, ...], Counts | None]:
        """The columns in the catalog, or that the last run saw, and the mark of the latter; empty if neither has the node."""
        found = {**self.catalog.get("nodes", {}), **self.catalog.get("sources", {})}.get(node["unique_id"], {})
        return columns_of(found), found.get(MARK)


def label(node: Node) -> str:
    """The name of a model, with its version if it has one: `sales.v2`."""
    return f"{node['name']}.v{node['version']}" if node.get("version") is not None else str(node["name"])


def uncompiled(project: Project) -> tuple[str, ...]:
    """The names of models with `materialized='idivm'` whose compiled SQL is not in the artifacts, sorted."""
    return tuple(str(node["name"]) for node in project.nodes_of_models() if not node.get("compiled_code"))


def project_of(target: Path, *, found_keys: bool = False) -> Project:
    """The project whose artifacts are in the folder. `found_keys`: whether models have the keys that the last run found in the
    data; not where two folders are compared, of which one may know nothing of it. Raises SchemaFileError if there are none."""
    manifest, catalog = artifacts(target)
    catalog, problems = with_seen(manifest, catalog, target)
    return Project(manifest, catalog, problems=problems, found_keys=found_keys_in(target) if found_keys else {})


def _compiled_sql(node: Node) -> str:
    """The compiled SQL of a node. Raises UnknownColumns if there is none."""
    sql = node.get("compiled_code")
    if not sql:
        raise UnknownColumns("it is not compiled", "run `dbt compile` first")
    return str(sql)


def _config(node: Node) -> dict[str, Any]:
    return {"idivm": given_config(node), "dbt": dbt_config(node["config"])}


def _maintained_table(name: str, plan: Plan) -> Table:
    """A maintained model as an input: if it has hidden columns, the table behind it with all columns."""
    table = with_suffix(name, HIDDEN_SUFFIX) if plan.hidden else name
    visible = plan.visible if plan.hidden else None
    return Table(name, table, columns_of_plan(plan, hidden=True), visible, plan.key)
