"""Each dbt command and flag does for a maintained model what a dbt user expects, and no run that saw less than the whole
data leads its state on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_idivm.cli import main

MODELS = {
    # a table of its own
    "cheap": "select id, cust, price from {{ ref('orders') }} where price < 100",
    # a view over a table with hidden columns
    "totals": "select cust, sum(price) as total from {{ ref('cheap') }} group by cust",
}
PROPERTIES = """
    seeds:
      - name: orders
        config: {event_time: at}
        columns: [{name: id, data_tests: [unique, not_null]}]
    models:
      - name: totals
        data_tests: [idivm_equivalent]
"""


def idivm(sql: str, **config: Any) -> str:
    given = "".join(f", {key}={value!r}" for key, value in config.items())
    return f"{{{{ config(materialized='idivm'{given}) }}}}\n{sql}\n"


def fill(project: Any) -> Any:
    project.write("seeds/orders.csv", "id,cust,price,at\n1,1,10,2020-01-01\n2,1,20,2020-01-02\n3,2,30,2020-01-03\n")
    for name, sql in MODELS.items():
        project.write(f"models/{name}.sql", idivm(sql))
    project.write("models/m.yml", PROPERTIES)
    project.dbt("build")
    return project


@pytest.fixture(scope="module")
def shop(new_project: Callable[[], Any]) -> Any:
    return fill(new_project())


@pytest.fixture
def own(project: Any) -> Any:
    """A project of the test's own, where it leaves something behind."""
    return fill(project)


def totals(project: Any, schema: str | None = None) -> list[Any]:
    return project.sql(f"select cust, total from {schema or '$'}.totals order by cust")


def modes(results: dict[str, Any]) -> dict[str, str]:
    return {name: results[name].adapter_response["mode"] for name in MODELS if name in results}


@pytest.mark.deep
def test_full_refresh_and_its_refusal(shop: Any) -> None:
    assert modes(shop.results("run")) == {"cheap": "noop", "totals": "noop"}
    shop.write("models/totals.sql", idivm(MODELS["totals"], full_refresh=False))
    assert modes(shop.results("run", "--full-refresh")) == {"cheap": "full", "totals": "noop"}
    shop.write("models/totals.sql", idivm(MODELS["totals"], full_refresh=True))
    assert modes(shop.results("run", "--select", "totals")) == {"totals": "full"}
    shop.write("models/totals.sql", idivm(MODELS["totals"]))
    assert modes(shop.results("run")) == {"cheap": "noop", "totals": "noop"}


@pytest.mark.deep
@pytest.mark.parametrize(
    "flags, partial",
    [
        pytest.param(["--empty"], [], marks=pytest.mark.long),
        # of the seed: the rows of one day
        (["--sample", "{'start': '2020-01-02', 'end': '2020-01-03'}"], [(1, 20)]),
    ],
)
def test_a_run_over_a_part_of_the_data_is_not_built_upon(shop: Any, flags: list[str], partial: list[Any]) -> None:
    shop.dbt("run", *flags)
    assert totals(shop) == partial
    results = shop.results("run")
    assert modes(results) == {"cheap": "full", "totals": "full"} and "IDIVM-410" in results["totals"].message
    assert totals(shop) == [(1, 30), (2, 30)]
    assert modes(shop.results("run")) == {"cheap": "noop", "totals": "noop"}


def test_build_runs_a_model_and_its_test(own: Any) -> None:
    own.sql("update $.orders set price = 11 where id = 1")
    results = own.results("build", "--exclude", "orders")
    assert modes(results) == {"cheap": "incremental", "totals": "incremental"}
    assert results["idivm_equivalent_totals_"].status == "pass" and totals(own) == [(1, 31), (2, 30)]


@pytest.mark.long
def test_retry_goes_on_where_a_run_failed(own: Any) -> None:
    def write(divisor: str) -> None:
        own.write("models/totals.sql", idivm(MODELS["totals"].replace("sum(price)", f"sum(100 div ({divisor}))")))

    write("price - 9")
    own.dbt("run")
    built = totals(own)
    own.sql("insert into $.orders values (4, 2, 9, null)")
    results = own.results("run", fails=True)
    assert results["cheap"].adapter_response["mode"] == "incremental" and "DIVIDE_BY_ZERO" in results["totals"].message
    assert totals(own) == built == [(1, 109), (2, 4)], "at its last commit"
    assert set(own.results("retry", fails=True)) == {"totals"}
    write("price - 8")
    results = own.results("retry")
    assert modes(results) == {"totals": "full"} and totals(own) == [(1, 58), (2, 104)]


@pytest.mark.deep
def test_explain_a_project_before_its_first_run(project: Any) -> None:
    """`dbt compile` compiles tests of models that are not built, too. Types come from properties, here of a seed."""
    project.write("seeds/orders.csv", "id,cust,price\n1,1,10\n")
    typed = "config: {column_types: {id: bigint, cust: bigint, price: bigint}}"
    for name, sql in MODELS.items():
        project.write(f"models/{name}.sql", idivm(sql))
    project.write("models/m.yml", PROPERTIES.replace("config: {event_time: at}", typed))
    project.dbt("compile")
    result = CliRunner().invoke(main, ["explain", "--project", str(project.root)])
    assert result.exit_code == 0 and "2 of 2 models are maintained incrementally (100%)" in result.output


@pytest.mark.deep
def test_show_compile_ls_and_docs(shop: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = shop.sql("describe history $.cheap")
    shown = shop.dbt("show", "--select", "totals").results[0].agate_table
    assert sorted(tuple(row.values()) for row in shown.rows) == [(1, 30), (2, 30)]
    assert f"{shop.schema}.cheap" in shop.dbt("compile", "--select", "totals").results[0].node.compiled_code
    assert "functional.totals" in shop.dbt("ls", "--select", "config.materialized:idivm")
    shop.dbt("docs", "generate")
    catalog = json.loads((shop.root / "target" / "catalog.json").read_text())["nodes"]
    assert list(catalog["model.functional.totals"]["columns"]) == ["cust", "total"], "the user's columns"
    assert catalog["model.functional.cheap"]["metadata"]["type"] == "table"
    assert shop.sql("describe history $.cheap") == before


@pytest.mark.deep
def test_unit_tests_of_a_model(shop: Any) -> None:
    shop.write(
        "models/unit.yml",
        """
        unit_tests:
          - name: adds_up
            model: totals
            given: [{input: ref('cheap'), rows: [{cust: 7, price: 1}, {cust: 7, price: 2}]}]
            expect: {rows: [{cust: 7, total: 3}]}
          - name: does_not
            model: totals
            given: [{input: ref('cheap'), rows: [{cust: 7, price: 1}]}]
            expect: {rows: [{cust: 7, total: 3}]}
        """,
    )
    results = shop.results("test", "--select", "test_type:unit", fails=True)
    assert {name: result.status for name, result in results.items()} == {"adds_up": "pass", "does_not": "fail"}
    (shop.root / "models/unit.yml").unlink()
    assert modes(shop.results("run")) == {"cheap": "noop", "totals": "noop"}


def production(own: Any, new_project: Callable[[], Any], **more: Any) -> tuple[Any, Path]:
    """Another target of the same project, and the artifacts of the first one's run."""
    state = own.root / "state"
    own.dbt("compile", "--target-path", str(state))
    other = new_project()
    own.write(
        "profiles.yml",
        json.dumps(
            {
                "functional": {
                    "target": "dev",
                    "outputs": {
                        name: {
                            "type": "idivm",
                            "schema": project.schema,
                            "catalog": "in-memory",
                            "driver_memory": "2g",
                            "threads": 2,
                            **more,
                        }
                        for name, project in (("prod", own), ("dev", other))
                    },
                }
            }
        ),
    )
    return other, state


@pytest.mark.long
def test_defer_builds_over_the_other_target_s_inputs(own: Any, new_project: Callable[[], Any]) -> None:
    other, state = production(own, new_project)
    defer = ("--defer", "--state", str(state), "--select", "totals")
    assert modes(own.results("run", *defer)) == {"totals": "create"}
    assert totals(own, other.schema) == [(1, 30), (2, 30)]
    own.sql("insert into $.cheap values (9, 9, 9)")
    assert modes(own.results("run", *defer)) == {"totals": "incremental"}, "the same inputs again: incremental"
    assert (9, 9) in totals(own, other.schema)
    own.dbt("seed")
    assert modes(own.results("run")) == {"cheap": "create", "totals": "full"}, "other inputs: another definition"
    assert totals(own, other.schema) == [(1, 30), (2, 30)]
    results = own.results("run", *defer, "--favor-state")
    assert modes(results) == {"totals": "full"} and "IDIVM-402" in results["totals"].message


@pytest.mark.long
def test_clones_have_no_state_and_are_rebuilt_at_their_first_refresh(own: Any, new_project: Callable[[], Any]) -> None:
    other, state = production(own, new_project)
    own.dbt("clone", "--state", str(state))
    assert totals(own, other.schema) == [(1, 30), (2, 30)]
    kinds = other.relations()
    assert (kinds["cheap"], kinds["totals"]) == ("table", "view")
    own.sql(f"update {other.schema}.orders set price = 40 where id = 3")
    assert modes(own.results("run")) == {"cheap": "full", "totals": "full"}
    assert totals(own, other.schema) == [(1, 30), (2, 40)] and totals(own) == [(1, 30), (2, 30)]
    assert modes(own.results("run")) == {"cheap": "noop", "totals": "noop"}


@pytest.mark.long
def test_state_modified_sees_a_model_s_own_config(shop: Any) -> None:
    state = shop.root / "state"
    shop.dbt("compile", "--target-path", str(state))
    modified = ("ls", "--resource-type", "model", "--select", "state:modified", "--state", str(state))
    assert shop.dbt(*modified) == []
    shop.write("models/totals.sql", idivm(MODELS["totals"], meta={"idivm": {"strategy": "recompute"}}))
    assert shop.dbt(*modified) == ["functional.totals"]
    shop.write("models/totals.sql", idivm(MODELS["totals"].replace("sum", "max")))
    assert shop.dbt(*modified) == ["functional.totals"]
    shop.write("models/totals.sql", idivm(MODELS["totals"]))
    assert shop.dbt(*modified) == []


@pytest.mark.long
def test_query_comments_and_hooks_are_sent_with_a_refresh(own: Any) -> None:
    config = (own.root / "dbt_project.yml").read_text()
    own.write("dbt_project.yml", config + """query-comment: {comment: "by {{ node.name }}; 'quoted'", append: true}\n""")
    own.write(
        "models/totals.sql",
        idivm(
            MODELS["totals"],
            pre_hook=["insert into {{ ref('orders') }} values (8, 8, 8, null)"],
            post_hook=[{"sql": "create table {{ this.schema }}.hooked as select * from {{ this }}", "transaction": False}],
        ),
    )
    own.sql("insert into $.orders values (7, 7, 7, null)")
    assert modes(own.results("run")) == {"cheap": "incremental", "totals": "incremental"}
    assert own.sql("select total from $.hooked where cust = 7") == [(7,)]
    own.write("models/totals.sql", idivm(MODELS["totals"]))
    assert modes(own.results("run")) == {"cheap": "incremental", "totals": "incremental"}
    assert (8, 8) in totals(own) and own.results("test")["idivm_equivalent_totals_"].status == "pass"


def plan(project: Any, *args: str) -> Any:
    return CliRunner().invoke(
        main,
        ["plan", "--project-dir", str(project.root), "--profiles-dir", str(project.root), *args],
        env={"COLUMNS": "160"},
        catch_exceptions=False,
    )


def test_plan_says_what_a_run_would_do(own: Any) -> None:
    nothing = plan(own)
    assert nothing.exit_code == 0 and nothing.output.count("noop") == 2, nothing.output
    own.sql("update $.orders set price = 11 where id = 1", "update $.orders set price = 12 where id = 2")
    before = own.sql("describe history $.cheap")
    assert "MERGE INTO" not in plan(own, "--select", "cheap").output
    found = plan(own, "--sql", "--select", "cheap").output
    assert "incremental, " in found and "4 changes" in found
    assert found.count("MERGE INTO") == 1 and "totals" not in found
    assert "IDIVM-401" in plan(own, "--full-refresh").output
    assert own.sql("describe history $.cheap") == before, "nothing was written"
    own.dbt("compile")
    artifacts = {path: path.read_bytes() for path in (own.root / "target").glob("[mr]*.json")}
    assert "cheap" in plan(own, "--select", "cheap").output
    assert {path: path.read_bytes() for path in artifacts} == artifacts, "nor an artifact of dbt"
    own.dbt("run-operation", "idivm_plan")
    own.write("models/cheap.sql", idivm("select id, cust, price from {{ ref('orders') }} where prise < 100"))
    failing = plan(own).output
    assert "fails" in failing and "IDIVM-221" in failing and "did you mean" in failing


@pytest.mark.long
def test_plan_of_what_differs_from_a_state(own: Any) -> None:
    """An edited model and what reads it, with what taking its rows over is estimated to take; all of it is then done."""
    by_cost = {"idivm": {"strategy": "auto"}}
    own.write("models/beside.sql", idivm("select id, at from {{ ref('orders') }}"))
    own.write("models/cheap.sql", idivm(MODELS["cheap"], meta=by_cost))
    own.dbt("run")
    state = own.root / "base"
    own.dbt("compile", "--target-path", str(state))
    assert "no idivm model" in plan(own, "--state", str(state)).output
    own.write("models/cheap.sql", idivm(f"{MODELS['cheap']} and cust = 1", meta=by_cost))
    shown = plan(own, "--state", str(state)).output
    assert "migration " in shown and "rebuild " in shown
    found = {each["model"]: each["forecast"] for each in json.loads(plan(own, "--state", str(state), "--json").output)}
    assert {name: each["mode"] for name, each in found.items()} == {"cheap": "migrated", "totals": "noop"}
    assert found["cheap"]["reason"] == "condition narrowed" and found["cheap"]["then"] is None
    assert found["cheap"]["cost"]["alternatives"].keys() == {"migration", "rebuild"}
    selected = json.loads(plan(own, "--state", str(state), "--select", "state:modified", "--json").output)
    assert [each["model"] for each in selected] == ["cheap"]
    assert modes(own.results("run"))["cheap"] == "migrated"


@pytest.mark.deep
def test_explain_knows_what_the_last_run_saw(own: Any) -> None:
    """A seed's file has no types. Without what the run saw, they are not known."""
    for is_known in (True, False):
        told = CliRunner().invoke(main, ["explain", "--project", str(own.root)], terminal_width=200, env={"COLUMNS": "200"})
        said = " ".join(told.output.split())
        assert (
            told.exit_code == 0 and ("IDIVM-125 the columns of `orders` are those that the last run saw" in said) is is_known
        ), said
        assert ("The types of orders.id" in said) is not is_known
        (own.root / "target/idivm/cheap/seen.json").unlink(missing_ok=True)


@pytest.mark.deep
def test_a_model_that_reads_no_table_is_built_once(project: Any) -> None:
    """One row, VALUES, and a model over one of them; the commands that show plans have nothing to compare."""
    project.write("models/one.sql", idivm("select 1 as a, 'x' as b"))
    project.write("models/several.sql", idivm("values (1, 1.5), (2, null), (2, null)"))
    project.write("models/above.sql", idivm("select a, b from {{ ref('one') }} union all select -1, 'unknown'"))
    assert {name: message(result) for name, result in project.results("run").items()} == dict.fromkeys(
        ("one", "several", "above"), "create"
    )
    assert project.sql("select a, b from $.above order by a") == [(-1, "unknown"), (1, "x")]
    assert {message(result) for result in project.results("run").values()} == {"noop"}
    assert "one row" in (project.root / "target/idivm/one/plan.txt").read_text()
    project.write("schema.yml", "models: [{name: x, columns: [{name: id, data_type: int}]}]")
    files = [str(project.root / name) for name in ("models/one.sql", "schema.yml")]
    told = CliRunner().invoke(main, ["explain", files[0], "--schema", files[1]])
    assert told.exit_code == 0 and "no table is read" in told.output, told.output


def message(result: Any) -> str:
    return str(result.message).partition(":")[0]
