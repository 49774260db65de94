"""Facts that `dbt docs generate` shows about a maintained model: how it is maintained, and what its last refresh did.

dbt's catalog has statistics of a relation, which an adapter may add. Facts that do not depend on refreshes are also put into
`meta` of models and columns; dbt writes the manifest after the catalog. This is a mixin, like `maintenance.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import AdapterMeta
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.utils.executor import executor

from dbt.adapters.idivm.maintenance import MaintenanceMixin

if TYPE_CHECKING:
    import agate

    from dbt_idivm.project import Project
    from dbt_idivm.tools.report.facts import Model, Stored
    from dbt_idivm.tools.report.for_catalog import Fact

logger = AdapterLogger("Idivm")
COMMITS = 20  # maximal number of commits read per table: for the last refresh, and for how much changes
MATERIALIZED = "idivm"

Columns = Mapping[str, Mapping[str, Any]]  # column → {name, type, index}, as in catalog.json


@dataclass
class Facts:
    """`of_relations`: relation → facts. `of_plans`: unique ID of a model with a known plan → (facts, its ID columns)."""

    of_relations: dict[str, list[Fact]] = field(default_factory=dict)
    of_plans: dict[str, tuple[tuple[Fact, ...], tuple[str, ...]]] = field(default_factory=dict)


class DocsMixin(MaintenanceMixin, metaclass=AdapterMeta):
    execute_macro: Callable[..., Any]
    get_catalog: Callable[[Iterable[Any], frozenset[tuple[str, str]]], tuple[agate.Table, list[Exception]]]

    def get_filtered_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]], relations: set[Any] | None = None
    ) -> tuple[agate.Table, list[Exception]]:
        """The catalog, with facts about maintained models. If they cannot be determined, it
        is dbt-spark's catalog without an error.
        """
        configs = tuple(relation_configs)
        whole, problems = self.get_catalog(configs, used_schemas)
        wanted = set(map(self._idivm_name, relations or ()))
        shown = whole.where(lambda row: _relation(row) in wanted) if wanted else whole
        try:
            if any(_is_ours(each) for each in configs):
                facts = self._facts(configs, _columns(whole), set(map(_relation, shown.rows)))
                shown = with_statistics(shown, facts.of_relations)
                for config in configs:
                    _describe(config, facts)
        except Exception as error:
            logger.debug(f"dbt docs has no facts about maintained models: {error!r}")
        return shown, problems

    def _facts(self, configs: Sequence[Any], columns: Mapping[str, Columns], shown: set[str]) -> Facts:
        from dbt_idivm.tools.report.for_catalog import hidden_tables, ids_of, is_known, of_hidden, of_plan, of_table
        from dbt_idivm.tools.report.of_project import outlined

        project = self._project(configs, columns)
        nodes = {str(node["unique_id"]): node for node in project.nodes_of_models()}
        models = {unique_id: outlined(node, project.explanation(node)) for unique_id, node in nodes.items()}
        models = {unique_id: model for unique_id, model in models.items() if model.relation in shown}
        stored = self._stored(models, columns)
        found = Facts()
        owners: dict[tuple[str, str], list[str]] = {}
        for unique_id, model in models.items():
            known = replace(model, stored=stored.get(unique_id))
            hidden = hidden_tables(known, columns)
            for entry in hidden.items():
                owners.setdefault(entry, []).append(model.name)
            if is_known(project, unique_id):
                plan = project.plan(nodes[unique_id]) if model.how is not None else None
                found.of_plans[unique_id] = tuple(of_plan(known, plan)), ids_of(plan) if plan is not None else ()
            found.of_relations[model.relation] = [*found.of_plans.get(unique_id, ((), ()))[0], *of_table(known, hidden)]
        for (table, what), names in owners.items():
            found.of_relations[table] = [of_hidden(what, names)]
        return found

    def _project(self, configs: Sequence[Any], columns: Mapping[str, Columns]) -> Project:
        """dbt's graph as the artifacts of a project, with the SQL that is compiled by now and the catalog's columns."""
        from dbt_idivm.declared_keys import relation_names
        from dbt_idivm.project import Project

        graph = self.execute_macro("idivm_graph")
        compiled = {each.unique_id: each.compiled_code for each in configs if getattr(each, "compiled_code", None)}
        nodes = {key: {**node, "compiled_code": compiled.get(key)} for key, node in graph["nodes"].items()}
        listed = {
            key: {"columns": columns[name]}
            for key, node in {**nodes, **graph["sources"]}.items()
            for name in relation_names(node)
            if name in columns
        }
        return Project(
            {"metadata": {"project_name": self.config.project_name}, "nodes": nodes, "sources": graph["sources"]},
            {"nodes": listed},
        )

    def _stored(self, models: Mapping[str, Model], columns: Mapping[str, Columns]) -> dict[str, Stored]:
        """Unique ID → facts from the engine about the model's table, queried on as many connections as dbt has threads."""
        wanted = {key: table for key, model in models.items() if (table := self._table(model)) is not None}
        parts = [dict(list(wanted.items())[at :: self.config.threads]) for at in range(self.config.threads)]
        with executor(self.config) as pool:
            asked = [
                pool.submit_connected(self, f"facts_{at}", self._stored_of, part, columns)
                for at, part in enumerate(parts)
                if part
            ]
            return {key: stored for each in asked for key, stored in each.result().items()}

    def _table(self, model: Model) -> str | None:
        """The table with a model's rows, found by dbt's cached relations without another statement; None if there is none."""
        from dbt_idivm.refresh.catalog.relations import Described, own_properties
        from dbt_idivm.relation_name import name_parts
        from dbt_idivm.tools.report.stored import table_of

        *_, schema, identifier = name_parts(model.relation)
        relation = self.get_relation(None, schema, identifier)
        if relation is None:
            return None
        kind, provider = ("view", "") if relation.is_view else ("table", "delta" if relation.is_delta else "")
        return table_of(model.relation, Described((), kind, provider, properties=own_properties(relation.information or "")))

    def _stored_of(self, tables: Mapping[str, str], columns: Mapping[str, Columns]) -> dict[str, Stored]:
        from dbt_idivm.tools.report.stored import in_table

        found = {}
        for key, table in tables.items():
            types = tuple(str(each["type"]) for each in columns.get(table, {}).values())
            try:
                steps = in_table(self._idivm_client(), table, types, self.config.credentials.time_zone, COMMITS)
                found[key], _ = self._idivm_drive(steps)
            except DbtRuntimeError as error:
                logger.debug(f"dbt docs has nothing about the refreshes of {table}: {error}")
        return found


def with_statistics(catalog: agate.Table, facts: Mapping[str, Sequence[Fact]]) -> agate.Table:
    """The catalog with columns for the facts. dbt reads the statistics of a relation from the row of its first column."""
    import agate

    columns = {
        _relation(row): {name: value for fact in facts.get(_relation(row), ()) for name, value in fact.columns.items()}
        for row in catalog.rows
    }
    names = list(dict.fromkeys(name for each in columns.values() for name in each))
    # without casts: a text that looks like a number, a time or "none" stays a text
    types = [agate.Boolean() if name.endswith(":include") else agate.Text(cast_nulls=False) for name in names]
    rows = [(*row, *(columns[_relation(row)].get(name) for name in names)) for row in catalog.rows]
    return agate.Table(rows, [*catalog.column_names, *names], [*catalog.column_types, *types])


def _columns(catalog: agate.Table) -> dict[str, Columns]:
    """Relation → its columns."""
    return {
        relation: {
            str(row["column_name"]): {
                "name": str(row["column_name"]),
                "type": str(row["column_type"]),
                "index": int(row["column_index"]),
            }
            for row in rows
        }
        for relation, rows in groupby(catalog.rows, key=_relation)
    }


def _relation(row: Any) -> str:
    from dbt_idivm.relation_name import relation_name

    return relation_name(str(row["table_schema"]), str(row["table_name"]))


def _is_ours(config: Any) -> bool:
    return getattr(getattr(config, "config", None), "materialized", None) == MATERIALIZED


def _describe(config: Any, facts: Facts) -> None:
    """Add the facts of the plan to `meta` of a model and of its columns.

    `meta` is replaced by a new dict, because `state:modified` compares the `meta` of the config. It contains no times, so that
    the manifest does not depend on refreshes.
    """
    found, ids = facts.of_plans.get(config.unique_id, ((), ()))
    if found:
        config.meta = {**config.meta, **{fact.key: fact.value for fact in found}}
        for name, column in config.columns.items():
            if name.lower() in map(str.lower, ids):
                column.meta = {**column.meta, "idivm_id": _id(ids)}


def _id(ids: Sequence[str]) -> str:
    return "identifies a row" if len(ids) == 1 else f"{', '.join(ids)} identify a row together"
