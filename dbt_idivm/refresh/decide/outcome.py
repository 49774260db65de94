"""What a refresh reports: the record for dbt, and the console line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from dbt_idivm.cost.choice import Choice
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding
from dbt_idivm.refresh.decide.artifacts import artifacts
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.protocol import Artifacts, Cost, InputChange, Mode, Outcome
from dbt_idivm.relation_name import HIDDEN_SUFFIX, LOG_SUFFIX, name_parts

_BY_COST = "IDIVM-411"
Relation = tuple[str, str, Literal["table", "view"]]  # schema, identifier, type


@dataclass(frozen=True)
class Effect:
    """Numbers of view rows that a refresh changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(frozen=True)
class Result:
    """What a refresh did. `hidden`: whether the model is a view over its ID-extended table. `clock`: whether the clock moved."""

    mode: Mode
    hidden: bool
    inputs: Mapping[str, InputChange]
    effect: Effect = Effect()
    strategy: str | None = None
    reason: str | None = None
    caches: tuple[str, ...] = ()  # relations
    clock: bool = False


def outcome(job: Job, result: Result, planned: Planned | None = None) -> Outcome:
    effect = result.effect
    caches = tuple(cache.table for cache in planned.caches) if planned is not None else result.caches
    return Outcome(
        mode=result.mode,
        strategy=result.strategy,
        reason=result.reason,
        rows_inserted=effect.inserted,
        rows_updated=effect.updated,
        rows_deleted=effect.deleted,
        statements=job.client.statements,
        inputs=result.inputs,
        message=message(replace(result, reason=_said(job, result.reason)), job.client.statements),
        relations=relations(job.request, result.hidden, caches, keeps_view=job.config.keeps_view),
        artifacts=artifacts(job, planned) if planned is not None else Artifacts(),
        warnings=tuple(job.warnings),
    )


def _said(job: Job, reason: str | None) -> str | None:
    """The reason on the console. When an incremental refresh would pay is said for the first model of a run only."""
    if reason is None or not reason.startswith(_BY_COST) or job.client.invocation.says_first(_BY_COST):
        return reason
    return reason.partition(";")[0]


def message(result: Result, statements: int) -> str:
    """One line: `incremental: +12 ~200 -3, 2 inputs changed, 1 statement`."""
    effect = result.effect
    parts = []
    if result.mode in ("create", "full"):
        parts.append(_count(effect.inserted, "row"))
    if result.mode == "incremental":
        changed = sum(1 for change in result.inputs.values() if change.rows != 0 and change.from_version != change.to_version)
        moved = " and the clock" if result.clock else ""
        parts += [f"+{effect.inserted} ~{effect.updated} -{effect.deleted}", f"{_count(changed, 'input')}{moved} changed"]
    if result.mode == "noop":
        parts.append("nothing changed")
    if result.reason and result.mode in ("create", "full"):
        parts.append(result.reason)
    parts.append(_count(statements, "statement"))
    return f"{result.mode}: {', '.join(parts)}"


def migrated(job: Job, planned: Planned, done: Outcome, edits: str, taken: Effect) -> Outcome:
    """The outcome of a migration and the refresh that followed it (`done`). `taken`: the rows that the migration wrote,
    updated and deleted."""
    if done.mode not in ("noop", "incremental"):
        return done
    written, updated, deleted, statements = taken.inserted, taken.updated, taken.deleted, job.client.statements
    refresh = f", then +{done.rows_inserted} ~{done.rows_updated} -{done.rows_deleted}" if done.mode == "incremental" else ""
    changed = ((updated, f"{updated} updated"), (deleted, f"{deleted} deleted"))
    parts = [edits, *([f"{_count(written, 'row')} written"] if written else []), *(said for rows, said in changed if rows)]
    return replace(
        done,
        mode="migrated",
        reason=edits,
        rows_inserted=done.rows_inserted + written,
        rows_updated=done.rows_updated + updated,
        rows_deleted=done.rows_deleted + deleted,
        statements=statements,
        artifacts=done.artifacts if done.artifacts.made_from else artifacts(job, planned),
        message=f"migrated: {', '.join(parts)}{refresh}, {_count(statements, 'statement')}",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def relations(request: ModelRequest, hidden: bool, caches: tuple[str, ...], *, keeps_view: bool) -> tuple[Relation, ...]:
    """The model's relation first, then its auxiliary tables: (schema, identifier, type)."""
    schema, name = request.schema, request.identifier
    beside: tuple[Relation, ...] = tuple((schema, name_parts(cache)[-1], "table") for cache in caches)
    if not keeps_view:
        return ((schema, name, "view"), (schema, name + LOG_SUFFIX, "table"), *beside)
    if hidden:
        return ((schema, name, "view"), (schema, name + HIDDEN_SUFFIX, "table"), *beside)
    return ((schema, name, "table"), *beside)


def named(request: ModelRequest, relation: str) -> str:
    """The name of an input as the user wrote it."""
    return request.input_names.get(relation, relation)


def cost_of(choice: Choice, actual: float | None) -> Cost:
    """The chosen alternative and all others, in seconds, rounded to hundredths."""
    return Cost(
        choice.chosen.name,
        round(choice.estimate, 2),
        None if actual is None else round(actual, 2),
        {name: round(seconds, 2) for name, seconds in choice.estimates.items()},
    )


def summary(reason: Finding | None) -> str | None:
    return reason.summary if reason else None
