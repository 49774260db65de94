"""Estimated durations of refreshing each model in two states of a project, using the estimates of `idivm advise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dbt_idivm.project import Model, Project
from dbt_idivm.settings import own_config
from dbt_idivm.tools.advice.advise import Subject
from dbt_idivm.tools.advice.estimates import Estimates, Upkeep
from dbt_idivm.tools.advice.known import Given, Known, known
from dbt_idivm.tools.advice.options import read_rows, statistics
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.advice.storing import EPHEMERAL, TABLE, VIEW
from dbt_idivm.tools.advice.variants import materialized, ordered
from dbt_idivm.tools.pull_request.migrations import Estimated, Migrations

Seconds = Mapping[str, float]  # unique ID → estimated seconds of a refresh, where known


@dataclass(frozen=True)
class Costs:
    """`is_asked`: whether rates of change are given; without them a refresh would have nothing to do. `before`, `after`: seconds
    in each state. `unknown`: tables of unknown size. `engine`: the engine whose prices are used, None for those of a small
    machine. `migrations`: need only sizes."""

    is_asked: bool = False
    before: Seconds = field(default_factory=dict)
    after: Seconds = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    refreshes: float = 24.0
    engine: str | None = None
    notes: tuple[str, ...] = ()
    migrations: Migrations = field(default_factory=Migrations)


def costs(before: Project, after: Project, folder: Path, given: Given) -> Costs:
    """Estimate both states in one setting; durations of earlier refreshes are read from `folder`. Raises IDIVM-115 for an invalid
    option."""
    if not given.rates and not read_rows(given.rows) and not any(statistics(each)[0] for each in (before, after)):
        return Costs()
    found = known((before, after), folder, given)
    there, here = found.about
    was, now = _estimated(there, here, found, given), _estimated(here, there, found, given)
    migrations = Migrations(was, now, found)
    if not given.rates:
        return Costs(engine=found.learned.engine, migrations=migrations)
    unknown = tuple(table for table in found.tables if found.rows(table) is None)
    notes = tuple(f"{each.summary}: {each.do}." for each in (*found.lies, *found.learned.notes))
    return Costs(
        True, _seconds(there, was), _seconds(here, now), unknown, given.refreshes, found.learned.engine, notes, migrations
    )


def _estimated(about: Subject, other: Subject, found: Known, given: Given) -> Estimated:
    models = _estimable(about.maintained, found)
    rows = {table: count for table in found.tables if (count := found.rows(table)) is not None}
    return Estimated(
        models,
        Estimates(
            models.values(), Setting(rows, found.rates, _stored(models, other, found), given.refreshes, found.learned.experience)
        ),
    )


def _seconds(about: Subject, known: Estimated) -> Seconds:
    seconds = {
        unique_id: _of_a_refresh(about.user, unique_id, known.estimates.of(each.name)) for unique_id, each in known.models.items()
    }
    nothing = {
        unique_id: 0.0
        for unique_id, node in about.user.keys.nodes.items()
        if node.get("resource_type") == "model" and materialized(node) in (VIEW, EPHEMERAL)
    }
    return {**seconds, **nothing}


def _estimable(project: Project, found: Known) -> dict[str, Model]:
    """Unique ID → model, for the models that depend only on tables of known size."""
    planned = {each.unique_id: each for each in project.planned()}
    made = {table: each.unique_id for each in planned.values() for table in each.tables}
    models: dict[str, Model] = {}
    for unique_id in ordered(project):
        model = planned.get(unique_id)
        if model is not None and all(
            made[scan.table] in models if scan.table in made else found.rows(scan.table) is not None
            for scan in model.plan.base_scans
        ):
            models[unique_id] = model
    return models


def _stored(models: Mapping[str, Model], other: Subject, found: Known) -> dict[str, float]:
    """Table → number of rows of models according to statistics, if they have the same plan in the other state."""
    digests = {each.unique_id: each.plan.digest for each in other.maintained.planned()}
    return {
        table: count
        for each in models.values()
        if digests.get(each.unique_id) == each.plan.digest
        for table in each.tables
        if (count := found.rows(table)) is not None
    }


def _of_a_refresh(project: Project, unique_id: str, upkeep: Upkeep) -> float:
    """Seconds of a refresh as the model is configured: tables, and models configured to be rebuilt, are rebuilt."""
    node = project.keys.nodes[unique_id]
    is_full = str(own_config(node).get("strategy")).lower() == "full"
    return upkeep.rebuilt if is_full or materialized(node) == TABLE else upkeep.refresh
