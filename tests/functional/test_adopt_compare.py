"""`idivm adopt --compare`: the rows in which the table of an incremental model differs from the SELECT that would be maintained."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.idivm.adopt_command import adopt_command

SOURCES = """
    sources:
      - name: raw
        schema: "{{ target.schema }}"
        tables: [{name: orders}, {name: customers}]
    """
SALES = """
    {{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', file_format='delta') }}
    select o.id, o.updated_at, c.name, current_timestamp() as loaded_at
    from {{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on o.cid = c.id
    {% if is_incremental() %}
    where o.updated_at > (select coalesce(max(updated_at), 0) from {{ this }})
    {% endif %}
    """


def adopt(project: Any, *args: str) -> Result:
    folders = ["--project-dir", str(project.root), "--profiles-dir", str(project.root)]
    found = CliRunner().invoke(adopt_command, ["sales", *args, *folders], env={"COLUMNS": "120"})
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found


def rows_of(output: str) -> list[list[str]]:
    """The rows of the printed table: id, time, name, how many more the table has."""
    cells = [[each.strip() for each in line.split("│")] for line in output.splitlines() if "│" in line]
    return sorted([row[0], row[2], row[-1]] for row in cells if row[0].isdigit())


@pytest.fixture
def shop(project: Any) -> Any:
    """An incremental model that was run once."""
    project.table("orders", "id int, cid int, updated_at int", "(1, 1, 10)", "(2, 2, 20)")
    project.table("customers", "id int, name string", "(1, 'Ann')", "(2, 'Bob')")
    project.write("models/raw.yml", SOURCES)
    project.write("models/sales.sql", SALES)
    project.dbt("run")
    return project


def test_a_table_that_has_missed_changes(shop: Any) -> None:
    same = adopt(shop, "--compare")
    assert same.exit_code == 0, same.output
    assert "sales: the table has the rows of the new SELECT." in same.output
    assert "Not compared, because it is the time at which a row was written: `loaded_at`." in same.output
    shop.sql("update $.customers set name = 'Anne' where id = 1")  # restates a row that was loaded before
    shop.sql("insert into $.orders values (3, 2, 15)")  # late
    shop.sql("delete from $.orders where id = 2")
    shop.dbt("run")
    found = adopt(shop, "--compare")
    assert found.exit_code == 1, found.output
    assert rows_of(found.output) == [["1", "Ann", "1"], ["1", "Anne", "-1"], ["2", "Bob", "1"], ["3", "Bob", "-1"]]
    assert "first 1 rows; --limit shows more" in adopt(shop, "--compare", "--limit", "1").output


def test_the_way_in_and_the_way_back(shop: Any) -> None:
    """The first run of the adopted model rebuilds its table, and the next one maintains it. The former model goes on from there."""
    before = (shop.root / "models/sales.sql").read_text()
    written = adopt(shop, "--write", "--force")
    assert written.exit_code == 0, written.output
    assert shop.results("run")["sales"].adapter_response["mode"] == "full"
    shop.sql("insert into $.orders values (3, 1, 5)")
    assert shop.results("run")["sales"].adapter_response["mode"] == "incremental"
    assert sorted(shop.sql("select id from $.sales")) == [(1,), (2,), (3,)]
    (shop.root / "models/sales.sql").write_text(before)
    shop.sql("insert into $.orders values (4, 1, 30)")
    shop.dbt("run", "--full-refresh")
    shop.sql("insert into $.orders values (5, 1, 40)")
    shop.dbt("run")
    assert sorted(shop.sql("select id from $.sales")) == [(1,), (2,), (3,), (4,), (5,)]
