"""`idivm adopt`: what becomes of the settings of a model, and what is in the way."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.tools.adopt.adopt import adoption
from dbt_idivm.tools.adopt.template import TemplateError
from tests.unit.adopted_models import CUSTOMERS, ORDERS, READS, Node, adopted, macro, manifest, model

SELECT = "select id, total from {{ source('raw', 'orders') }}\n"


def becomes(text: str, **config: Any) -> dict[str, str]:
    return {each.name: each.becomes for each in adopted(text, **config).settings}


def test_settings_over_several_lines() -> None:
    found = adopted(
        "{{\n"
        "    config(\n"
        '        materialized = "incremental",\n'
        "        incremental_strategy = 'merge',\n"
        "        unique_key = ['id', 'line'],\n"
        "        merge_update_columns = ['total'],\n"
        "        partition_by = ['day'],\n"
        "        tags = ['nightly'],\n"
        "        on_schema_change = 'sync_all_columns'\n"
        "    )\n"
        "}}\n\n" + SELECT,
        incremental_strategy="merge",
        unique_key=["id", "line"],
        merge_update_columns=["total"],
        partition_by=["day"],
    )
    assert found.is_complete
    assert found.after == (
        "{{\n"
        "    config(\n"
        '        materialized = "idivm",\n'
        "        unique_key = ['id', 'line'],\n"
        "        partition_by = ['day'],\n"
        "        tags = ['nightly']\n"
        "    )\n"
        "}}\n\n" + SELECT
    )
    assert {each.name: each.becomes for each in found.settings} == {
        "incremental_strategy": "removed",
        "unique_key": "kept",
        "merge_update_columns": "removed",
        "on_schema_change": "removed",
    }
    assert all(each.why for each in found.settings)


@pytest.mark.parametrize(
    "before, after",
    [
        ("{{ config(materialized='incremental') }}", "{{ config(materialized='idivm') }}"),
        (
            "{{- config(materialized='incremental', incremental_strategy='append', alias='s') -}}",
            "{{- config(materialized='idivm', alias='s') -}}",
        ),
        ("{{ config(lookback=3, materialized='incremental') }}", "{{ config(materialized='idivm') }}"),
        ("{{ config(begin='2024-01-01', batch_size='day', materialized='table',) }}", "{{ config(materialized='idivm',) }}"),
        (
            "{{ config(\n    materialized='incremental'\n  , lookback=2\n  , schema='x'\n  , begin='2024-01-01'\n) }}",
            "{{ config(\n    materialized='idivm'\n  , schema='x'\n) }}",
        ),
        ("{{ config(tags=['a']) }}", "{{ config(materialized='idivm', tags=['a']) }}"),
        ("{{ config(\n    tags=['a']\n) }}", "{{ config(\n    materialized='idivm',\n    tags=['a']\n) }}"),
        ("{{ config() }}", "{{ config(materialized='idivm') }}"),
        ("{{ config(lookback=2) }}", "{{ config(materialized='idivm') }}"),
        (
            "{{ config(materialized='view') }}\n{{ config(event_time='t', post_hook=\"optimize {{ this }}\") }}",
            "{{ config(materialized='idivm') }}\n{{ config(post_hook=\"optimize {{ this }}\") }}",
        ),
        ("-- sales", "{{ config(materialized='idivm') }}\n\n-- sales"),
        ("\ufeff-- sales", "\ufeff{{ config(materialized='idivm') }}\n\n-- sales"),
    ],
)
def test_forms_of_config(before: str, after: str) -> None:
    found = adopted(f"{before}\n{SELECT}")
    assert (found.after, found.obstacles) == (f"{after}\n{SELECT}", ())


@pytest.mark.parametrize(
    "call, config, kept",
    [
        ("unique_key='id', incremental_strategy='merge'", {"incremental_strategy": "merge"}, "kept"),
        ("unique_key='id', incremental_strategy='delete+insert'", {"incremental_strategy": "delete+insert"}, "removed"),
        ("unique_key='id', incremental_strategy='append'", {"incremental_strategy": "append"}, "removed"),
        ("unique_key='id'", {}, "removed"),  # dbt-spark appends by default
        ("unique_key=\"id || '-' || line\", incremental_strategy='merge'", {"incremental_strategy": "merge"}, "removed"),
        ("unique_key=var('key'), incremental_strategy='merge'", {"incremental_strategy": "merge"}, "kept"),
    ],
)
def test_a_key_stays_where_it_was_one(call: str, config: dict[str, Any], kept: str) -> None:
    assert becomes(f"{{{{ config(materialized='incremental', {call}) }}}}\n{SELECT}", **config)["unique_key"] == kept


def test_a_key_that_is_tested_stays() -> None:
    tests = [
        {
            "unique_id": f"test.shop.{name}",
            "resource_type": "test",
            "name": f"{name}_id",
            "test_metadata": {"name": name, "kwargs": {"column_name": "id"}},
            "attached_node": "model.shop.sales",
            "config": {},
        }
        for name in ("unique", "not_null")
    ]
    text = "{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='id') }}\n" + SELECT
    (key,) = (each for each in adopted(text, *tests, incremental_strategy="delete+insert").settings if each.name == "unique_key")
    assert key.becomes == "kept"


def test_a_merge_says_that_several_rows_of_a_key_are_no_longer_made_one() -> None:
    call = "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}\n"
    numbered = "select * from (select *, row_number() over (partition by id order by at desc) as n from {{ source('raw', 'orders') }}) where n = 1\n"
    config = {"incremental_strategy": "merge", "unique_key": "id"}
    assert any("came last" in each for each in adopted(call + SELECT, **config).notes)
    assert not any("came last" in each for each in adopted(call + numbered, **config).notes)


def test_fail_and_event_time_that_is_read_stay() -> None:
    text = "{{ config(materialized='incremental', event_time='at', on_schema_change='fail') }}\n" + SELECT
    reader = model("daily", "model.shop.sales", config={"incremental_strategy": "microbatch"})
    assert becomes(text) == {"event_time": "removed"}
    assert adopted(text, reader).settings == ()


def test_a_kind_given_in_a_properties_file() -> None:
    properties = {"name": "sales", "config": {"materialized": "incremental", "incremental_strategy": "append", "tags": ["x"]}}
    text = SELECT + "{% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}\n"
    found = adoption(
        model("sales", *READS, patch_path="shop://models/_sales.yml"), "sales", text, manifest(ORDERS, CUSTOMERS), properties
    )
    assert found.after == SELECT and not found.is_complete
    (obstacle,) = found.obstacles
    assert obstacle.problem == "its materialization is given in models/_sales.yml"
    assert "write `materialized: idivm` instead of `materialized: incremental`, remove `incremental_strategy`" in obstacle.do
    here = "{{ config(materialized='incremental') }}\n" + SELECT
    assert adopted(here, properties=properties).is_complete  # config() wins


@pytest.mark.parametrize(
    "head, problem",
    [
        ("{{ config(materialized=var('kind', 'incremental')) }}", "is not one of incremental, table, view"),
        ("{{ config({'materialized': 'incremental'}) }}", "has something else than `name=value`"),
        ("{{ config(**settings) }}", "has something else than `name=value`"),
        (
            "{% if target.name == 'dev' %}{{ config(materialized='view') }}{% else %}{{ config(materialized='incremental') }}{% endif %}",
            "inside of a condition",
        ),
    ],
)
def test_config_that_is_not_plain(head: str, problem: str) -> None:
    found = adopted(f"{head}\n{SELECT}")
    assert not found.is_complete and problem in found.obstacles[0].problem and found.obstacles[0].line == 1


FILTER = "{% macro newer(column) %}{% if is_incremental() %}where {{ column }} > (select max({{ column }}) from {{ this }}){% endif %}{% endmacro %}"
OWN = "{% macro newer(column) %}where {{ column }} > (select max({{ column }}) from {{ this }}){% endmacro %}"


def with_macro(*macros: Node, call: str = "{{ newer('at') }}\n") -> Any:
    node = model("sales", *READS, macros=[macros[0]["unique_id"]])
    return adoption(node, "sales", SELECT + call, manifest(node, ORDERS, CUSTOMERS, macros=macros))


def test_macros_that_hide_it() -> None:
    harmless = with_macro(macro("newer", FILTER))
    assert harmless.is_complete and any("`newer` (macros/newer.sql)" in each for each in harmless.notes)
    assert not harmless.is_same_select
    own = with_macro(macro("newer", OWN))
    assert not own.is_complete and "`newer` (macros/newer.sql)" in own.obstacles[0].problem
    deeper = with_macro(
        macro("newer", "{% macro newer(c) %}{{ bound(c) }}{% endmacro %}", "macro.shop.bound"), macro("bound", OWN)
    )
    assert not deeper.is_complete and "`bound`" in deeper.obstacles[0].problem
    assert with_macro(macro("newer", OWN, package="dbt")).is_complete  # dbt's own
    other = with_macro(
        macro("is_incremental", "{% macro is_incremental() %}{{ return(true) }}{% endmacro %}"), call="{{ f(is_incremental()) }}"
    )
    assert "the project's own `is_incremental`" in " ".join(each.problem for each in other.obstacles)


def test_a_macro_that_is_called_in_what_is_removed_does_not_matter() -> None:
    found = with_macro(macro("newer", OWN), call="{% if is_incremental() %}{{ newer('at') }}{% endif %}\n")
    assert found.is_complete and found.notes == ()


@pytest.mark.parametrize(
    "hook, writes",
    [
        ("delete from {{ this }} where is_deleted", True),
        ("insert into {{this}} select 1", True),
        ("optimize {{ this }}", False),
        ("insert into {{ ref('log') }} select count(*) from {{ this }}", False),
    ],
)
def test_hooks_that_write(hook: str, writes: bool) -> None:
    found = adopted(SELECT, **{"post-hook": [{"sql": hook, "transaction": True}]})
    assert found.is_complete is not writes
    assert not writes or "post-hook writes to the model's table" in found.obstacles[0].problem


def test_settings_of_other_places_are_noted() -> None:
    found = adopted(SELECT, incremental_strategy="append", unique_key="id", full_refresh=False)
    assert [each.partition("`")[2].partition("`")[0] for each in found.notes] == [
        "incremental_strategy",
        "unique_key",
        "full_refresh: false",
    ]


def test_line_ends_stay() -> None:
    text = "{{ config(\r\n  materialized='incremental'\r\n) }}\r\nselect 1\r\n{% if is_incremental() %}\r\nwhere x\r\n{% endif %}\r\n"
    found = adopted(text)
    assert found.after == "{{ config(\r\n  materialized='idivm'\r\n) }}\r\nselect 1\r\n"
    assert "\r" not in found.diff
    with pytest.raises(TemplateError, match="mixes the ends of its lines"):
        adopted(text.replace("\r\n", "\n", 1))


def test_the_diff_is_one_for_git() -> None:
    found = adopted("{{ config(materialized='table') }}\nselect 1", materialized="table")
    assert found.diff == (
        "--- a/models/sales.sql\n+++ b/models/sales.sql\n@@ -1,2 +1,2 @@\n-{{ config(materialized='table') }}\n"
        "+{{ config(materialized='idivm') }}\n select 1\n\\ No newline at end of file\n"
    )
    assert found.is_same_select and found.missed == ()


def test_a_default_of_dbt_is_no_setting() -> None:
    """The manifest has `lookback: 1` of each model."""
    text = "{{ config(materialized='incremental') }} select * from {{ source('raw', 'orders') }}"
    assert adopted(text).notes == ()
    assert any(note.startswith("lookback of") or note.startswith("`lookback` of") for note in adopted(text, lookback=3).notes)
