"""Files about a model for people to read, such as its Δ-script. The texts are rendered only if somebody reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from dbt_idivm.algebra.types import is_known, type_of
from dbt_idivm.definition.facts import Table
from dbt_idivm.definition.keys import Key
from dbt_idivm.digests import digest
from dbt_idivm.explain import delta_script, explain
from dbt_idivm.refresh.checks.plan_proof import planner_version
from dbt_idivm.refresh.decide.difference import request_digest
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.protocol import Artifacts
from dbt_idivm.script.change_log import Entry
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.logged_tuples import LoggingTuples
from dbt_idivm.script.plan import columns_of_plan
from dbt_idivm.script.ways import STRATEGIES, WayName
from dbt_idivm.seen import Relation, as_json

_ANY_ENTRY = Entry(1, "{}")  # placeholder for the refresh number and the versions in a script
MEANING = "meaning"  # section of a plan that says how its meaning was judged


def artifacts(job: Job, planned: Planned) -> Artifacts:
    """The plan and its Δ-script. They are deterministic, so that a pull request can show how they change."""
    proof = planned.proof
    judged = (proof.how, proof.evidence) if proof is not None else None
    tables = [planned.table, *(found.table for found in planned.inputs.tables.values())]
    made_from = digest(
        planner_version(), request_digest(job), dict(planned.fingerprint), tables, str(planned.why_no_plan), judged
    )
    # of all ways, from which each refresh chooses, the script shows the preferred ones
    shown = STRATEGIES["id"] if job.config.chooses else job.config.ways
    return Artifacts(made_from, partial(_texts, job.dialect, planned, shown), _seen(job, planned))


def _seen(job: Job, planned: Planned) -> str:
    """All columns of the inputs, as their readers see them, and those of the model."""
    inputs = {name: _relation(each.for_definition, planned.keys.get(name)) for name, each in planned.own_inputs.items()}
    columns = () if planned.plan is None else columns_of_plan(planned.plan)
    are_known = all(is_known(type_of(each.type)) for each in columns)  # else the types are seen by what reads the model
    return as_json(
        job.request.relation, columns if are_known else (), {name: each for name, each in inputs.items() if each.columns}
    )


def _relation(table: Table, key: Key | None) -> Relation:
    shown = [each for each in table.in_order if table.visible is None or each.name in table.visible]
    return Relation(tuple(shown), key.columns if key else (), key.declared if key else "")


def _texts(dialect: Dialect, planned: Planned, shown: tuple[WayName, ...]) -> Mapping[str, str]:
    """File name → text. `shown`: the ways in the Δ-script."""
    proof = planned.proof
    evidence = {"proof.txt": proof.evidence} if proof is not None and proof.evidence else {}
    if planned.plan is None:
        reason = planned.why_no_plan
        return {"plan.txt": f"full refresh each time\n{reason}\n" if reason else "", **evidence}
    plan = planned.plan
    if not planned.keeps_view:
        plan = replace(plan, ways=(LoggingTuples("tuple", plan.root, _ANY_ENTRY),))
    text = explain(plan) + (f"\n{MEANING}\n  {proof.sentence}\n" if proof is not None else "")
    return {"plan.txt": text, "delta_script.sql": delta_script(plan, planned.table, shown, dialect=dialect), **evidence}
