"""The materialization's side of the contract with the refresh driver, played by a small driver and a stand-in for Spark."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.progress import Tasks
from dbt_idivm.errors import IdivmError, Place, finding
from dbt_idivm.refresh.protocol import Rows, Statement
from tests.fake_driver import FakeDriver, driver, models
from tests.functional.project import Project
from tests.unit.stub_spark import Frame, StubConnection, StubSpark

__all__ = ["driver", "models"]  # fixtures


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """dbt connects to the same stand-in."""
    spark = StubSpark()
    monkeypatch.setattr("dbt.adapters.idivm.connections.new_session", lambda credentials: spark.newSession())
    monkeypatch.setattr("dbt.adapters.idivm.connections.EmbeddedConnection", StubConnection)
    monkeypatch.setattr("dbt.adapters.idivm.connections.attached", lambda _: None)  # pytest -s may be at a terminal
    return Project.in_folder(tmp_path, spark.newSession(), "played")


def run_response(project: Any, name: str) -> dict[str, Any]:
    results = json.loads((project.root / "target" / "run_results.json").read_text())["results"]
    return next(r["adapter_response"] for r in results if r["unique_id"].endswith(f".{name}"))


def test_response_message_and_artifacts(models: Any, driver: FakeDriver) -> None:
    result = models.results("run")["v"]
    assert result.message == "incremental: +1 ~2 -3"
    response = run_response(models, "v")
    assert response["mode"] == "create" and response["strategy"] == "id" and response["reason"] is None
    assert [response[f"rows_{what}"] for what in ("inserted", "updated", "deleted", "affected")] == [1, 2, 3, 6]
    assert response["inputs"] == {
        "people": {"from": 3, "to": 5, "rows": 2},
        "town": {"from": None, "to": 1, "rows": None},
    }
    folder = models.root / "target" / "idivm" / "v"
    assert (folder / "plan.txt").read_text(encoding="utf-8") == "σ a plan\n"
    assert (folder / "delta_script.sql").exists() and (folder / "seen.json").read_text(encoding="utf-8") == "{}\n"
    assert f"create table {models.schema}.v" in (models.root / "target/run/functional/models/v.sql").read_text()


def test_request_says_what_dbt_knows(models: Any, driver: FakeDriver) -> None:
    models.write(
        "models/v.sql",
        """
        {{ config(materialized='idivm', unique_key='id', meta={'idivm': {'strategy': 'id'}}) }}
        select id, name from {{ ref('people') }}
        """,
    )
    models.write("models/m.yml", "models: [{name: people, columns: [{name: id, data_tests: [unique, not_null]}]}]")
    models.dbt("run")
    models.dbt("run", "--full-refresh", "--select", "v")
    models.dbt("run", "--empty", "--select", "v")
    first, full, empty = driver.requests
    assert (first.name, first.schema, first.identifier, first.existing) == ("v", models.schema, "v", None)
    assert first.config["idivm"] == {"strategy": "id", "keys": "declared"} and first.config["dbt"]["unique_key"] == "id"
    relation = f"{models.schema}.people"
    assert relation in first.sql
    assert [key.columns for key in first.keys[relation]] == [("id",)]
    assert first.input_names == {relation: "people"}
    assert first.session == {"ansi": "true", "time_zone": "UTC"}
    assert (first.full_refresh, full.full_refresh, full.existing) == (False, True, "table")
    assert (full.restricted, empty.restricted) == (False, True)
    assert first.run_id and first.run_id != full.run_id


def test_one_memory_per_invocation(models: Any, driver: FakeDriver) -> None:
    models.write("models/w.sql", "{{ config(materialized='idivm') }} select id from {{ ref('people') }}")
    models.dbt("run")
    models.dbt("run", "--select", "v")
    assert driver.invocations[0] is driver.invocations[1]
    assert driver.invocations[0] is not driver.invocations[2]


def test_planner_s_error_is_shown_whole(models: Any, driver: FakeDriver) -> None:
    class Coded(IdivmError):
        def __init__(self) -> None:
            self.findings = ()
            Exception.__init__(self, "IDIVM-999 unsupported: a thing\n  why  because")

        def __str__(self) -> str:
            return str(self.args[0])

    driver.error = Coded()
    message = models.results("run", fails=True)["v"].message
    assert "IDIVM-999 unsupported: a thing" in message and "why  because" in message
    assert not (models.root / "target" / "idivm" / "v").exists()


def test_warnings_are_dbt_s(models: Any, driver: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    driver.change = lambda outcome: replace(outcome, warnings=("the feed has a gap",))
    models.dbt("run")
    assert "the feed has a gap" in capsys.readouterr().out
    models.dbt("--warn-error", "run", fails=True)


def test_hooks_run_in_and_outside_transactions(models: Any, driver: FakeDriver) -> None:
    models.write(
        "models/v.sql",
        models.within("""
        {{ config(materialized='idivm',
             pre_hook=[{'sql': 'create table $.hooks using delta as select 1 as n', 'transaction': false}],
             post_hook=['insert into $.hooks select count(*) + 10 from {{ this }}']) }}
        select id, name from {{ ref('people') }}
        """),
    )
    models.dbt("run")
    assert models.sql("select n from $.hooks order by n") == [(1,), (11,)]


@pytest.mark.parametrize(
    ("setting", "value"), [("spark.sql.session.timeZone", "Asia/Tokyo"), ("spark.sql.ansi.enabled", "false")]
)
def test_a_hook_that_changes_what_rows_mean(models: Any, driver: FakeDriver, setting: str, value: str) -> None:
    """The state would say that they have the meaning of the profile."""
    model = "{{{{ config(materialized='idivm', pre_hook='set {} = {}') }}}} select id, name from {{{{ ref('people') }}}}"
    models.write("models/v.sql", model.format(setting, value))
    assert f"IDIVM-126 config: a pre-hook has set {setting} to {value}" in models.results("run", fails=True)["v"].message
    assert driver.requests == []
    models.write("models/v.sql", model.format("spark.sql.session.timeZone", "utc"))
    models.dbt("run")


def test_change_of_type_leaves_the_cache_true(models: Any, driver: FakeDriver) -> None:
    models.dbt("run")
    driver.kind = "view"
    # A later model of the same invocation must see that v has become a view.
    models.write(
        "models/after.sql",
        "-- depends_on: {{ ref('v') }}\nselect '{{ load_cached_relation(ref(\"v\")).type if execute }}' as kind",
    )
    models.dbt("run")
    assert models.sql("select kind from $.after") == [("view",)]
    driver.kind = "table"
    models.dbt("run")
    assert driver.requests[-1].existing == "view"
    assert models.sql("select kind from $.after") == [("table",)]


def test_contract_is_enforced(models: Any, driver: FakeDriver) -> None:
    contract = "models: [{name: v, config: {contract: {enforced: true}}, columns: [{name: id, data_type: %s}, %s]}]"
    name = "{name: name, data_type: string}"
    models.write("models/m.yml", contract % ("string", name))
    failed = models.results("run", fails=True)["v"]
    assert "contract" in failed.message and not driver.requests
    models.write("models/m.yml", contract % ("int", name))
    assert models.results("run")["v"].status == "success"


def test_comments_are_set_once(models: Any, driver: FakeDriver) -> None:
    models.write(
        "models/m.yml",
        """
        models:
          - name: v
            description: "Ann's people"
            config: {persist_docs: {relation: true, columns: true}}
            columns: [{name: id, description: "the key"}]
        """,
    )
    models.dbt("run")
    described = {row[0]: row for row in models.sql("describe extended $.v")}
    assert described["id"][2] == "the key" and described["Comment"][1] == "Ann's people"
    commits = len(models.sql("describe history $.v"))
    models.dbt("run", "--select", "v")
    assert len(models.sql("describe history $.v")) == commits


def test_equivalence_in_a_bare_dbt_test(models: Any, driver: FakeDriver) -> None:
    now = "{idivm_equivalent: {arguments: {as_of: now}}}"
    models.write("models/m.yml", f"models: [{{name: v, data_tests: [idivm_equivalent, {now}]}}]")
    models.dbt("run")
    results = models.results("test", fails=True)
    assert {name: result.failures for name, result in results.items()} == {
        "idivm_equivalent_v_": 0,
        "idivm_equivalent_v_now": 1,
    }
    assert driver.replies[-1] == Rows(("n",), ((1,),))


def test_equivalence_takes_no_filter(models: Any, driver: FakeDriver) -> None:
    models.write("models/m.yml", "models: [{name: v, data_tests: [{idivm_equivalent: {config: {where: id > 1}}}]}]")
    models.dbt("run")
    (result,) = models.results("test", fails=True).values()
    assert "takes no `where`" in result.message


def test_a_package_for_another_warehouse_is_named(models: Any, driver: FakeDriver) -> None:
    """With the macro, its file and the line."""
    package = "dbt_packages/shop_utils"
    models.write("packages.yml", f"packages: [{{local: {package}}}]")
    models.write(f"{package}/dbt_project.yml", "{name: shop_utils, version: 1.0.0, config-version: 2}")
    models.write(
        f"{package}/macros/json.sql",
        """
        {% macro field(column, path) %}{{ return(adapter.dispatch('field', 'shop_utils')(column, path)) }}{% endmacro %}
        {% macro default__field(column, path) %}{{ column }}:{{ path }}{% endmacro %}
        """,
    )
    models.write(
        "models/v.sql",
        "{{ config(materialized='idivm') }}\nselect {{ shop_utils.field('name', 'a') }} as a from {{ ref('people') }}",
    )
    driver.error = IdivmError(finding(220, Place(2, "select name:a as a from t", 11, 12), message="unexpected :"))
    message = models.results("run", fails=True)["v"].message
    assert "line 2 of target/compiled/functional/models/v.sql is written by macro `shop_utils.default__field`" in message
    assert "(macros/json.sql); the model is models/v.sql" in message and "IDIVM-220" in message


def test_a_long_refresh_says_what_it_is_doing(
    models: Any, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At a terminal, with the engine's tasks; nowhere else. Each statement has its time in the log."""
    driver.extra = [Statement("select 1 as slow", "read", "count them")]
    monkeypatch.setattr(StubSpark, "sql", _slowly(StubSpark.sql))
    monkeypatch.setattr(StubConnection, "shown", Tasks(3, 9))
    for name in ("FIRST", "EVERY"):
        monkeypatch.setattr(f"dbt.adapters.idivm.maintenance.{name}", 0.1)
    for is_watched in (True, False):
        monkeypatch.setattr("dbt.adapters.idivm.maintenance.is_watched", lambda is_watched=is_watched: is_watched)
        models.dbt("run")
        said = re.findall(r"v: count them, for \d+ s.*, 3 of 9 tasks", capsys.readouterr().out)
        assert bool(said) is is_watched
    models.dbt("--quiet", "run")
    assert "count them" not in capsys.readouterr().out
    log = (models.root / "logs" / "dbt.log").read_text()
    assert re.search(r"idivm read: count them: \d+\.\d{3} s", log)


def _slowly(plain: Callable[[StubSpark, str], Frame]) -> Callable[[StubSpark, str], Frame]:
    """One of the statements takes its time."""

    def sql(spark: StubSpark, text: str) -> Frame:
        time.sleep(0.3 if "as slow" in text else 0)
        return plain(spark, text)

    return sql
