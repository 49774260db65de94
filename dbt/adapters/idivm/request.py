"""The request to the planner, made from what dbt knows about a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import CompilationError

from dbt_idivm.relation_name import name_parts
from dbt_idivm.settings import given_config

if TYPE_CHECKING:
    from dbt_idivm.declared_keys import KeyIndex
    from dbt_idivm.definition.request import ModelRequest


def model_request(context: Mapping[str, Any], keys: KeyIndex, config: Any) -> ModelRequest:
    """The request for one model.

    `context` is passed by the materialization: model, sql, relation, existing, run_id, full_refresh, restricted, graph, and
    the neighbours in the schema. `config` is dbt's.
    """
    from dbt_idivm.artifacts import dbt_config
    from dbt_idivm.definition.request import ModelRequest

    model, relation, existing = context["model"], context["relation"], context["existing"]
    return ModelRequest(
        name=model["name"],
        schema=relation.schema,
        identifier=relation.identifier,
        owner=model["unique_id"],
        database=relation.database or "",
        sql=context["sql"],
        config={"idivm": given_config(model), "dbt": dbt_config(model["config"])},
        keys=keys.keys(model),
        input_names=keys.input_names(model),
        relations=keys.relations,
        existing=None if existing is None else ("view" if existing.is_view else "table"),
        neighbours=context["neighbours"],
        project=config.project_name,
        full_refresh=bool(context["full_refresh"]),
        restricted=bool(context["restricted"]),
        run_id=context["run_id"],
        session={"ansi": "true", "time_zone": config.credentials.time_zone},
        checks=contract_checks(model) if (model["config"].get("contract") or {}).get("enforced") else {},
    )


def contract_checks(model: Mapping[str, Any]) -> dict[str, str]:
    """Name → expression of the CHECK and NOT NULL constraints of a dbt node. Keys are left out."""
    from dbt_idivm.refresh.upkeep.constraints import declared
    from dbt_idivm.script.dialect import DELTA

    return declared(DELTA, (model.get("columns") or {}).values(), model.get("constraints") or ())


def database_under_test(model: Any) -> str:
    """The catalog of the relation under test; "" if names have none."""
    if getattr(model, "identifier", None):
        return str(getattr(model, "database", None) or "")
    *catalog, _, _ = name_parts(str(model).strip())
    return "".join(catalog)


def relation_under_test(model: Any) -> tuple[str, str] | None:
    """(schema, name) of the relation that a generic test is about; None under --empty.

    dbt passes a relation, or text if the test has a `where`.
    """
    if getattr(model, "limit", None) == 0:
        return None
    if getattr(model, "identifier", None):
        return model.schema, model.identifier
    text = str(model).strip()
    if not text.startswith("("):
        *_, schema, identifier = name_parts(text)
        return schema, identifier
    if re.search(r"where false limit 0", text):
        return None
    raise CompilationError(f"idivm_equivalent compares whole relations and takes no `where`: {text}")
