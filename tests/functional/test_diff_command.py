"""`idivm diff` says what the next run does: each edit is told first, then done, and both are compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_idivm.cli import main
from tests.functional.project import Project

ORDERS, CUST = "{{ source('s', 'orders') }}", "{{ source('s', 'cust') }}"
PLAIN = f"select id, cust_id, amount from {ORDERS}"
SUMMED = f"select cust_id, sum(amount) as s from {ORDERS} group by cust_id"
JOINED = f"select o.id, o.amount, c.name from {ORDERS} o join {CUST} c on c.id = o.cust_id"
NAMED = (
    f"with t as (select cust_id, sum(amount) as s from {ORDERS} group by cust_id) "
    f"select t.s, c.name from t join {CUST} c on c.id = t.cust_id"
)
UNNAMED = JOINED.replace(", c.name", "")
LEFT = f"select o.id, o.cust_id, o.amount, c.name from {ORDERS} o left join {CUST} c on c.id = o.cust_id"
UNITED = f"{PLAIN} union all select id, x, 0 from {{{{ source('s', 'log') }}}}"
# name → the SELECT before and after: what is stored is joined with a source, or a branch of it comes or goes
LOOKED_UP = {
    "looked_up": (UNNAMED, JOINED),
    "looked_up_condition": (UNNAMED, f"{UNNAMED} where c.name > 'a'"),
    "joined": (PLAIN, LEFT),
    "branch": (PLAIN, UNITED),
    "branch_gone": (UNITED, PLAIN),
}
KEY = ", columns: [{name: id, data_tests: [unique, not_null]}]"
SOURCES = "sources:\n  - {name: s, schema: '{{ target.schema }}', tables: [{name: orders%s}, {name: cust%s}, {name: log%s}]}\n"


def model(sql: str, settings: str = "", materialized: str = "idivm", **idivm: Any) -> str:
    meta = f", meta={{'idivm': {json.dumps({'strategy': 'id', **idivm})}}}" if materialized == "idivm" else ""
    return f"{{{{ config(materialized='{materialized}'{meta}{settings}) }}}}\n{sql}"


def over(name: str) -> tuple[str, str]:
    """A model that is the same in both states."""
    text = model(f"select cust_id, count(*) as n from {{{{ ref('{name}') }}}} group by cust_id")
    return text, text


# name → its file in the base and in the pull request; None where there is none
MODELS: dict[str, tuple[str | None, str | None]] = {
    "layout": (model(SUMMED), model(SUMMED.replace("select ", "select -- hm\n  "))),
    "wider": (model(SUMMED), model(SUMMED.replace("as s", "as s, count(*) as n"))),
    "renamed_column": (model(PLAIN), model(PLAIN.replace("amount", "amount as a"))),
    "narrowed": (model(JOINED), model(f"{JOINED} where o.amount > 5")),
    "refused": (model(PLAIN), model(f"select id, rand() as r from {ORDERS}")),
    "supported": (model(f"select id, rand() as r from {ORDERS}"), model(PLAIN)),
    "to_full": (model(SUMMED), model(SUMMED, strategy="full")),
    "from_full": (model(PLAIN, strategy="full"), model(PLAIN)),
    "to_recompute": (model(SUMMED), model(SUMMED, strategy="recompute")),
    "clustered": (model(PLAIN), model(PLAIN, cluster_by=["id"])),
    "layout_kept": (model(PLAIN), model(PLAIN, ", on_configuration_change='continue'", cluster_by=["id"])),
    "layout_fails": (model(PLAIN), model(PLAIN, ", on_configuration_change='fail'", cluster_by=["id"])),
    "columns_fail": (model(PLAIN), model(PLAIN.replace("select", "select 1 as one,"), ", on_schema_change='fail'")),
    "unsupported_fails": (model(PLAIN), model(f"select id, rand() as r from {ORDERS}", on_unsupported="error")),
    "time_fails": (model(PLAIN), model(f"select id from {ORDERS} where id < unix_timestamp()")),
    "from_table": (model(SUMMED, materialized="table"), model(SUMMED)),
    "from_view": (model(SUMMED, materialized="view"), model(SUMMED)),
    "to_view": (model(SUMMED), model(SUMMED, materialized="view")),
    "diffs_to_view": (model(PLAIN, output="diffs"), model(PLAIN)),
    "view_to_diffs": (model(PLAIN), model(PLAIN, output="diffs")),
    "both_to_view": (model(PLAIN, output="both"), model(PLAIN)),
    "cached": (model(NAMED, caches="none"), model(NAMED, caches=["t"])),
    "no_longer_cached": (model(NAMED, caches=["t"]), model(NAMED, caches="none")),
    "narrowed_above_cache": (model(NAMED, caches=["t"]), model(f"{NAMED} where t.s > 5", caches=["t"])),
    "renamed_with_log": (model(PLAIN, output="both"), model(PLAIN.replace("amount", "amount as a"), output="both")),
    "narrowed_log": (model(PLAIN, output="diffs"), model(f"{PLAIN} where amount > 5", output="diffs")),
    "unchecked": (model(JOINED, verify="none"), model(JOINED)),
    "no_longer_checked": (model(JOINED), model(JOINED, verify="none")),
    "another_name": (model(PLAIN), model(PLAIN, ", alias='other_name'")),
    "old_file": (model(PLAIN, ", alias='kept_name'"), None),
    "new_file": (None, model(PLAIN, ", alias='kept_name'")),
    "gone": (model(PLAIN), None),
    "new": (None, model(PLAIN)),
    "from_macro": (model(f"select id, {{{{ twice('amount') }}}} as a from {ORDERS}"),) * 2,
    "of_log": (model("select id, x from {{ source('s', 'log') }}"),) * 2,
    "stage_view": (model(PLAIN, materialized="view"), model(f"{PLAIN} where amount > 0", materialized="view")),
    "over_view": over("stage_view"),
    "stage_table": (model(PLAIN, materialized="table"), model(PLAIN.replace("select", "select 1 as one,"), materialized="table")),
    "over_table": over("stage_table"),
    "stage_text": (model(PLAIN, materialized="ephemeral"), model(f"{PLAIN} where amount > 0", materialized="ephemeral")),
    "over_text": over("stage_text"),
    "stage": (model(PLAIN), model(f"{PLAIN} where amount > 5")),
    "over_stage": over("stage"),
    "stage_hides": (model(PLAIN), model(f"select cust_id, amount from {ORDERS}")),
    "over_stage_hides": over("stage_hides"),
    "stage_to_table": (model(PLAIN), model(PLAIN, materialized="table")),
    "over_stage_to_table": over("stage_to_table"),
    "stage_to_view": (model(PLAIN), model(PLAIN, materialized="view")),
    "over_stage_to_view": over("stage_to_view"),
    **{name: (model(before), model(after)) for name, (before, after) in LOOKED_UP.items()},
    **{
        f"auto_{name}": (model(before, strategy="auto"), model(after, strategy="auto"))
        for name, (before, after) in {
            **LOOKED_UP,
            "narrowed": (JOINED, f"{JOINED} where o.amount > 5"),
            "wider": (SUMMED, SUMMED.replace("as s", "as s, count(*) as n")),
        }.items()
    },
}
FAILS = {"layout_fails", "columns_fail", "unsupported_fails", "time_fails"}


def write(project: Project, at: int) -> None:
    shutil.rmtree(project.root / "models", ignore_errors=True)
    for name, states in MODELS.items():
        if (text := states[at]) is not None:
            project.write(f"models/{name}.sql", text)
    project.write("models/sources.yml", SOURCES % (KEY, KEY, KEY if at else ""))
    project.write("macros/twice.sql", f"{{% macro twice(x) %}}{'2 * {{ x }}' if at else '{{ x }} + {{ x }}'}{{% endmacro %}}")


@pytest.fixture
def project_in_base(project: Project) -> Project:
    feed = "using delta tblproperties (delta.enableChangeDataFeed = true)"
    project.sql(
        f"create table $.orders (id int, cust_id int, amount int) {feed}",
        f"create table $.cust (id int, name string) {feed}",
        f"create table $.log (id int, x int) {feed}",
        "insert into $.orders values (1, 1, 5), (2, 2, 7)",
        "insert into $.cust values (1, 'a'), (2, 'b')",
        "insert into $.log values (1, 1), (2, 1)",
    )
    write(project, 0)
    project.dbt("run")
    project.sql("insert into $.orders values (3, 1, 9)")
    project.dbt("run")
    project.dbt("docs", "generate")
    return project


def told(project: Project, state: Path) -> dict[str, Any]:
    """Name of a model → what the comment says of the next run."""
    result = CliRunner().invoke(main, ["diff", "--state", str(state), "--project-dir", str(project.root), "--json"])
    assert result.exit_code == 0, result.output
    return {each["model"]: each["next_run"] for each in json.loads(result.output)["models"]}


@pytest.mark.long
def test_the_next_run_does_what_was_said(project_in_base: Project, tmp_path: Path) -> None:
    project = project_in_base
    state = tmp_path / "state"
    shutil.copytree(project.root / "target", state)
    (project.root / "target" / "catalog.json").unlink()
    write(project, 1)
    project.dbt("compile")
    said = told(project, state)
    project.sql("insert into $.orders values (4, 2, 9)", "insert into $.log values (3, 1)")
    done = {
        name: each.adapter_response.get("mode") if str(each.status) == "success" else "error"
        for name, each in project.results("run", fails=True).items()
    }
    assert {name for name, mode in done.items() if mode == "error"} == FAILS
    maintained = {name for name, mode in done.items() if mode is not None} - FAILS
    # such small tables are rebuilt where estimates decide; the comment cannot know how large they are
    chosen = {name for name in maintained if name.startswith("auto_")}
    assert {done[name] for name in chosen} == {"full"} and len(chosen) == 7
    assert all(said[name]["migrates"] and said[name]["rebuilds"] is None for name in chosen)
    maintained -= chosen
    rebuilt = {name for name in maintained if done[name] in ("full", "create")}
    assert rebuilt > {"from_macro", "over_view", "diffs_to_view", "unchecked", "another_name", "over_stage_hides"}
    assert {name for name in maintained if said.get(name, {}).get("rebuilds")} == rebuilt - {"unchecked"}
    migrated = {name for name in maintained if done[name] == "migrated"}
    assert migrated > {"wider", "renamed_column", "of_log", "stage", "narrowed_above_cache", "renamed_with_log", *LOOKED_UP}
    assert {name for name in maintained if said.get(name, {}).get("migrates")} == migrated
    assert said["unchecked"]["rebuilds"] is None and said["unchecked"]["why"].startswith("rebuilds it if a refresh")
    for name in FAILS:
        assert said[name]["rebuilds"] is False and said[name]["why"].startswith(
            ("the run fails", "the other layout is an error", "the other columns are an error")
        )
    assert {"over_stage", "over_table"}.isdisjoint(said), "their inputs have other rows, and nothing else"
