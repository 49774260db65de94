"""What dbt's own macros write is maintained by increments: one model for each of the macros that are installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.functional.macros import BATCHES, COLUMNS, HELPERS, MODELS, OF_THE_CLOCK, ROWS, models
from tests.functional.project import Project

SOURCES = """
    sources:
    - name: raw
      schema: SCHEMA
      tables:
      - name: events
        columns:
        - {name: id, data_tests: [unique, not_null]}
"""
# They read no table, or only what did not change.
UNTOUCHED = frozenset({"date_spine", "generate_series"})

pytestmark = pytest.mark.deep


@pytest.fixture
def events(project: Project) -> Project:
    """A project with the table that the macros read, and without models."""
    project.table("events", COLUMNS, *ROWS)
    project.write("models/sources.yml", SOURCES.replace("SCHEMA", project.schema))
    return project


@pytest.fixture
def macros(events: Project) -> Project:
    """A project with a model for each macro."""
    for name, select in models():
        events.write(f"models/{name}.sql", f"{{{{ config(materialized='idivm') }}}}\n{select}\n")
    return events


def written(parsed: Any) -> set[str]:
    """The macros of dbt that write SQL for models, from the packages that are installed."""
    return {
        macro.name
        for macro in parsed.macros.values()
        if macro.package_name in ("dbt", "dbt_spark")
        and macro.original_file_path.startswith(("macros/utils/", "macros/adapters/timestamps"))
        and not macro.name.startswith("_")
        and "__" not in macro.name
    }


@pytest.mark.parametrize(
    "batches", [pytest.param((sum(BATCHES, ()),), id="together"), pytest.param(BATCHES, id="in turn", marks=pytest.mark.long)]
)
def test_macros_of_dbt(macros: Project, batches: Sequence[tuple[str, ...]]) -> None:
    """Every macro has a model, each model is maintained incrementally, and equals its SELECT after each refresh."""
    assert written(macros.dbt("parse")) == MODELS.keys() | HELPERS | OF_THE_CLOCK
    created = macros.results("run")
    assert {name for name, found in created.items() if found.adapter_response["mode"] != "create"} == set()
    for number, batch in enumerate(batches):
        macros.sql(*batch)
        found = macros.results("run")
        modes = {name: result.adapter_response["mode"] for name, result in found.items()}
        assert modes == {name: "noop" if name in UNTOUCHED else "incremental" for name, _ in models()}, (number, modes)
        wrong = [name for name, result in found.items() if not is_exact(macros, name, result.node.compiled_code)]
        assert wrong == [], (number, wrong)


def is_exact(project: Project, name: str, select: str) -> bool:
    return project.is_same(f"select * from {project.schema}.{name}", select)


def test_an_assertion_that_fails(events: Project) -> None:
    """An error of a row is one of the refresh, and the view stays as it was."""
    select = "select id, assert_true(amount is null or amount > -100) as fine, amount from {{ source('raw', 'events') }}"
    events.write(
        "models/checked.sql", f"{{{{ config(materialized='idivm') }}}}\nselect id, coalesce(fine, amount) as x from ({select})"
    )
    events.dbt("run")
    before = events.rows("select * from $.checked")
    events.sql("update $.events set amount = -500 where id = 1", "update $.events set amount = 4 where id = 2")
    failed = events.results("run", fails=True)["checked"]
    assert "is not true" in failed.message, failed.message
    assert events.rows("select * from $.checked") == before
    events.sql("update $.events set amount = 50 where id = 1")
    assert events.results("run")["checked"].adapter_response["mode"] == "incremental"
    assert events.rows("select * from $.checked") == events.rows("select id, amount from $.events")


PIVOT = """{{ config(materialized='idivm') }}
{% set customers = run_query('select distinct customer from SCHEMA.events where customer is not null order by 1') if execute else [] %}
select paid, count(*) as n
  {%- for row in customers %}, sum(case when customer = {{ row[0] }} then amount end) as of_{{ row[0] }}{% endfor %}
from {{ source('raw', 'events') }} group by paid
"""


def test_a_macro_that_reads_the_data_while_it_compiles(events: Project) -> None:
    """A value that is new in the list is an edit of the model, and is said once; changes without one are maintained."""
    events.write("models/pivot.sql", PIVOT.replace("SCHEMA", events.schema))
    events.dbt("run")
    modes, reasons = [], []
    for batch in (
        "update $.events set amount = amount + 1 where id in (1, 3)",
        "update $.events set customer = 9 where id = 5",  # the only row of its customer: one value goes, one comes
        "update $.events set amount = amount + 1 where id in (1, 5)",
    ):
        events.sql(batch)
        found = events.results("run")["pivot"]
        modes.append(found.adapter_response["mode"])
        reasons.append(found.adapter_response["reason"])
        assert is_exact(events, "pivot", found.node.compiled_code), (modes, found.message)
    assert modes == ["incremental", "full", "incremental"]  # no stored row has the sums of the new column
    assert reasons[0] is None and reasons[1].startswith("IDIVM-402") and reasons[2] is None
