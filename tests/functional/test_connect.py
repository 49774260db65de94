"""What goes wrong between dbt and a Spark Connect server: a sentence with a code, and the view stays at its last commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.connect_server import SERVER, TOKEN, ConnectServer, settings
from tests.spark_server import free_port, running_server

pytestmark = pytest.mark.long

MODEL = "{{ config(materialized='idivm') }} select id, n + 1 as m from {{ source('s', 't') }}"
SOURCES = """
sources:
  - {name: s, schema: "{{ target.schema }}", tables: [{name: t, columns: [{name: id, data_tests: [unique, not_null]}]}]}
"""


class Restartable:
    """A server of the test's own, which can be stopped and started again."""

    def __init__(self, folder: Path, **more: str) -> None:
        self.server, self._folder, self._more = ConnectServer(free_port(), folder / "warehouse"), folder, more
        self._running = ExitStack()

    def start(self) -> ConnectServer:
        given = {
            **settings(self.server.port),
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self._folder}/metastore;create=true",
            **self._more,
        }
        self._running.enter_context(running_server(SERVER, self._folder, given, (), lambda: self.server.execute("select 1")))
        return self.server

    def stop(self) -> None:
        self._running.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[..., Restartable]]:
    with ExitStack() as all_of_them:

        def make(**more: str) -> Restartable:
            made = Restartable(tmp_path, **more)
            all_of_them.callback(made.stop)
            return made

        yield make


def opened(profile: dict[str, Any]) -> Any:
    from dbt.adapters.idivm.connect import open_connect
    from dbt.adapters.idivm.credentials import IdivmCredentials

    return open_connect(IdivmCredentials.from_dict({"schema": "main", **profile}))


def test_who_is_let_in(connect_server: ConnectServer) -> None:
    for profile, code, words in (
        ({"port": free_port()}, "IDIVM-501", "Connection refused"),
        ({"host": "no-such-host.invalid"}, "IDIVM-501", "no-such-host.invalid:"),
        ({"token": "another"}, "IDIVM-502", "Invalid authentication token"),
        ({"token": None}, "IDIVM-502", "No authentication token"),
        ({"server_side_parameters": {"spark.executor.memory": "1g"}}, "IDIVM-503", "does not allow spark.executor.memory = 1g"),
    ):
        with pytest.raises(IdivmError) as error:
            opened({**connect_server.profile, **profile})
        assert error.value.codes == (code,) and words in str(error.value), str(error.value)
        assert TOKEN not in str(error.value)


def test_a_session_is_one_of_its_own(connect_server: ConnectServer) -> None:
    one, other = opened(connect_server.profile), opened({**connect_server.profile, "time_zone": "Asia/Tokyo"})
    one.execute("create temporary view only_here as select timestamp'1970-01-01 09:00:00' as t")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        other.execute("select * from only_here")
    other.execute("select timestamp_seconds(0) as t, cast('9' as int) as n")
    assert [str(value) for value in other.fetchall()[0]] == ["1970-01-01 09:00:00", "9"]
    lazy = one.cursor()
    lazy.execute("select raise_error('boom')")
    with pytest.raises(Exception, match="boom"):
        lazy.finish()
    done = one.cursor()
    done.execute("create temporary view v2 as select 1 as n")
    done.finish()
    assert done.fetchall() == [] and one.cursor() is not done
    one.close()
    other.close()


def test_a_server_without_delta(own_server: Callable[..., Restartable]) -> None:
    without = own_server(
        **{"spark.sql.extensions": "", "spark.sql.catalog.spark_catalog": "", "spark.sql.catalogImplementation": "in-memory"}
    )
    with pytest.raises(IdivmError) as error:
        opened(without.start().profile)
    assert error.value.codes == ("IDIVM-504",)


def test_a_server_that_is_started_again(own_server: Callable[..., Restartable], new_project: Callable[[], Any]) -> None:
    """Its sessions are gone: the statement that finds that out fails, and the next model has a new session."""
    from dbt.adapters.idivm.maintenance import MaintenanceMixin

    restartable, project = own_server(), new_project()
    server = restartable.start()
    project.profile(**server.profile, connect_retries=3)
    project.write("models/sources.yml", SOURCES)
    for name in ("a", "b"):
        project.write(f"models/{name}.sql", MODEL)
    for statement in (
        "create schema $",
        "create table $.t (id int, n int) using delta tblproperties (delta.enableChangeDataFeed = true)",
        "insert into $.t values (1, 1)",
    ):
        server.execute(project.within(statement))
    project.dbt("run", "--threads", "1")
    server.execute(f"insert into {project.schema}.t values (2, 2)")
    step, restarts = MaintenanceMixin.idivm_step, []

    def at_the_first_write(self: Any, run: Any) -> None:
        if run.refresh.statement is not None and run.refresh.statement.kind == "write" and not restarts:
            restarts.append(run.name)
            restartable.stop()
            restartable.start()
        step(self, run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MaintenanceMixin, "idivm_step", at_the_first_write)
        results = project.results("run", "--threads", "1", fails=True)
    assert restarts == ["a"] and "IDIVM-505" in results["a"].message and "Run again" in results["a"].message
    assert str(results["b"].status) == "success", results["b"].message
    rows = f"select id, m from {project.schema}.a order by id"
    assert server.execute(rows) == [(1, 2)]
    assert project.results("retry")["a"].adapter_response["mode"] == "incremental"
    assert server.execute(rows) == [(1, 2), (2, 3)]
