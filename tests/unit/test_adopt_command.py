"""The command `idivm adopt`, without Spark: what it prints, what it writes, and what it says of models that it cannot adopt."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt.adapters.idivm.adopt_command import adopt_command
from tests.unit.adopted_models import CUSTOMERS, ORDERS, READS, Node, manifest, model

TABLE = "{{ config(materialized='table') }}\nselect o.id, c.name from {{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on o.cid = c.id\n"
COMPILED = "select o.id, c.name from raw.orders o join raw.customers c on o.cid = c.id"
OWN = "select id from {{ source('raw', 'orders') }} where id > (select max(id) from {{ this }})\n"


def typed(node: Node, **types: str) -> Node:
    columns = {name: {"name": name, "data_type": kind} for name, kind in types.items()}
    return {**node, "columns": columns, "constraints": [{"type": "primary_key", "columns": ["id"]}]}


INPUTS = (typed(ORDERS, id="bigint", cid="bigint"), typed(CUSTOMERS, id="bigint", name="string"))


class Folder:
    """A project with a manifest and files of models, but without dbt."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "dbt_project.yml").write_text("name: shop\n")

    def has(self, *nodes: Node, **other: Any) -> None:
        (self.root / "target").mkdir(exist_ok=True)
        (self.root / "target" / "manifest.json").write_text(json.dumps({**manifest(*nodes, *INPUTS), **other}))

    def file(self, path: str, text: str) -> Path:
        found = self.root / path
        found.parent.mkdir(parents=True, exist_ok=True)
        found.write_bytes(text.encode())
        return found

    def table(self, name: str = "sales", text: str = TABLE, **given: Any) -> Node:
        """A table that joins both inputs, with its file."""
        self.file(f"models/{name}.sql", text)
        given = {"config": {"materialized": "table"}, "raw_code": text.strip(), "compiled_code": COMPILED, **given}
        return model(name, *READS, **given)

    def git(self, *args: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *args], cwd=self.root, check=True, capture_output=True)

    def adopt(self, *args: str) -> Result:
        found = CliRunner().invoke(adopt_command, [*args, "--project-dir", str(self.root)])
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_table(folder: Folder) -> None:
    folder.has(folder.table())
    found = folder.adopt("sales")
    assert found.exit_code == 0, found.output
    assert found.output.startswith("sales (models/sales.sql): table\n\n--- a/models/sales.sql\n+++ b/models/sales.sql\n")
    assert "+{{ config(materialized='idivm') }}" in found.output
    assert "by i-diffs; updates of a condition's columns by recomputing the rows" in found.output
    assert "no estimate: the number of rows of `raw.customers`, `raw.orders` is not known" in found.output
    assert "incremental logic" not in found.output
    assert folder.adopt("models/sales.sql").output == folder.adopt("./models/sales.sql", "sales").output == found.output


def test_what_a_refresh_costs(folder: Folder) -> None:
    folder.has(folder.table())
    found = folder.adopt("sales", "--rows", "orders=5_000_000", "--rows", "customers=100_000")
    assert "estimated on a small machine, if 0.1% of `raw.orders` changes: " in found.output
    assert "if 0.1% of `raw.customers` changes: " in found.output and "no estimate" not in found.output
    found = folder.adopt("sales", "--rows", "orders=5_000_000", "--rows", "customers=100_000", "--rate", "orders=1%")
    assert found.output.count("estimated on a small machine: a refresh takes ") == 1
    assert "IDIVM-115" in folder.adopt("sales", "--rate", "nothing=1%").output
    assert "IDIVM-115" in folder.adopt("sales", "--rows", "orders").output


def test_a_model_that_would_be_rebuilt(folder: Folder) -> None:
    folder.has(folder.table(compiled_code="select uuid() as id from raw.orders"))
    found = folder.adopt("sales")
    assert found.exit_code == 0 and "rebuilt on each run, because of IDIVM-204" in found.output and "do: move it" in found.output


def test_an_obstacle(folder: Folder) -> None:
    text = "{{ config(materialized='incremental') }}\n" + OWN
    folder.has(folder.table(text=text, config={"materialized": "incremental"}))
    found = folder.adopt("sales", "--write")
    assert found.exit_code == 1
    assert "left alone, because\n  line 2: the model reads its own rows" in found.output
    assert "models/sales.sql is left as it is" in found.output
    assert (folder.root / "models/sales.sql").read_text() == text


def test_write_keeps_what_git_does_not_have(folder: Folder) -> None:
    folder.has(folder.table())
    path = folder.root / "models/sales.sql"
    found = folder.adopt("sales", "--write")
    assert found.exit_code == 1 and "it is in no git repository" in found.output and path.read_text() == TABLE
    folder.git("init")
    assert "not committed in git" in folder.adopt("sales", "--write").output
    folder.git("add", ".")
    folder.git("commit", "-m", "all")
    path.chmod(0o640)
    found = folder.adopt("sales", "--write")
    assert found.exit_code == 0 and f"{path} is written" in found.output
    assert path.read_text() == TABLE.replace("'table'", "'idivm'") and path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in path.parent.iterdir()] == ["sales.sql"]


def test_write_with_force(folder: Folder) -> None:
    text = TABLE.replace("\n", "\r\n")
    folder.has(folder.table(text=text))
    assert folder.adopt("sales", "--write", "--force").exit_code == 0
    assert (folder.root / "models/sales.sql").read_bytes() == text.replace("'table'", "'idivm'").encode()
    assert folder.adopt("sales", "--force").exit_code == 2


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("sale", {}, "there is no model `sale`; the nearest: `sales`"),
        ("raw", {}, "there is no model `raw`"),
        ("orders", {}, "`orders` is a source, not a model"),
        ("gone", {}, "the model `gone` is disabled"),
        ("sales", {"package_name": "other"}, "`sales` is a model of the package `other`"),
        ("sales", {"language": "python"}, "`sales` is a model in Python: only a SELECT can be maintained"),
        ("sales", {"config": {"materialized": "ephemeral"}}, "`sales` is ephemeral, so it has no table"),
        ("sales", {"config": {"materialized": "idivm"}}, "`sales` is a model of type idivm already"),
        ("sales", {"config": {"materialized": "materialized_view"}}, "only incremental, table, view can be adopted"),
        ("sales", {"resource_type": "snapshot"}, "`sales` is a snapshot, not a model"),
        ("sales", {"raw_code": "select 2"}, "models/sales.sql has changed since the manifest was made"),
        ("sales", {"original_file_path": "models/other.sql"}, "models/other.sql cannot be read"),
    ],
)
def test_what_cannot_be_adopted(folder: Folder, name: str, given: dict[str, Any], expected: str) -> None:
    others = (model("another", config={"materialized": "table"}),)
    folder.has(folder.table(**given), *others, disabled={"model.shop.gone": [{"name": "gone"}]})
    found = folder.adopt(name)
    assert found.exit_code == 1 and found.output.startswith("Error: ") and expected in found.output
    assert found.output.count("\n") == 1


def test_projects_without_models_or_manifest(folder: Folder) -> None:
    assert "manifest.json: run `dbt compile` first" in folder.adopt("sales").output
    folder.has()
    assert folder.adopt("sales").output == "Error: the project has no models\n"
    assert folder.adopt().exit_code == 2


@pytest.mark.parametrize(
    "text, expected",
    [
        ("select 1\r\nfrom x\n", "models/sales.sql: line 1: the file mixes the ends of its lines"),
        ("select 1\n{% if is_incremental() %}\n", "models/sales.sql: line 2: `if` has no end"),
    ],
)
def test_a_file_that_is_no_template(folder: Folder, text: str, expected: str) -> None:
    folder.has(folder.table(text=text))
    found = folder.adopt("sales")
    assert found.exit_code == 1 and expected in found.output and found.output.count("\n") == 1


def test_versions(folder: Folder) -> None:
    nodes = [
        folder.table(f"sales_v{number}", version=number, latest_version=2, unique_id=f"model.shop.sales.v{number}")
        for number in (1, 2)
    ]
    folder.has(*({**each, "name": "sales"} for each in nodes))
    assert folder.adopt("sales").output.startswith("sales.v2 (models/sales_v2.sql)")
    assert folder.adopt("sales.v1").output.startswith("sales.v1 (models/sales_v1.sql)")


INCREMENTAL = """{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}

{%- set names = ['small', 'large'] %}

with orders as (
    select * from {{ source('raw', 'orders') }}
    {% if is_incremental() %}
    where updated_at > (select coalesce(max(updated_at), '1900-01-01') from {{ this }})
    {% endif %}
)

select
    o.id,
    {% for name in names -%}
    o.{{ name }} * 2 as {{ name }},
    {% endfor -%}
    {{ doubled('c.rank') }} as doubled,
    current_timestamp() as loaded_at
from orders o
join {{ ref('ranks') }} c on o.id = c.id
"""


@pytest.mark.deep
def test_dbt_compiles_the_new_text(folder: Folder) -> None:
    """Without a connection: the profile names a server that there is not."""
    from dbt.cli.main import dbtRunner

    folder.file("dbt_project.yml", yaml.safe_dump({"name": "shop", "version": "1.0.0", "profile": "p", "config-version": 2}))
    target = {"type": "idivm", "schema": "main", "method": "thrift", "host": "nowhere.invalid", "port": 1, "threads": 1}
    folder.file("profiles.yml", json.dumps({"p": {"target": "dev", "outputs": {"dev": target}}}))
    columns = [{"name": name, "data_type": "bigint"} for name in ("id", "small", "large")]
    columns.append({"name": "updated_at", "data_type": "timestamp"})
    columns[0]["data_tests"] = ["unique", "not_null"]  # type: ignore[assignment]
    folder.file(
        "models/raw.yml", yaml.safe_dump({"sources": [{"name": "raw", "tables": [{"name": "orders", "columns": columns}]}]})
    )
    folder.file(
        "models/ranks.sql", "{{ config(materialized='view') }}\nselect id, large as rank from {{ source('raw', 'orders') }}\n"
    )
    folder.file("models/sales.sql", INCREMENTAL)
    folder.file("macros/doubled.sql", "{% macro doubled(x) %}{{ x }} * 2{% endmacro %}")
    given = ["--project-dir", str(folder.root), "--profiles-dir", str(folder.root), "--quiet"]
    assert dbtRunner().invoke(["compile", "--exclude", "sales", *given, "--no-populate-cache", "--no-introspect"]).success
    before = (folder.root / "target/manifest.json").read_bytes()
    found = folder.adopt("sales", "--profiles-dir", str(folder.root))
    assert found.exit_code == 0, found.output
    assert "maintained\n  by i-diffs" in found.output
    assert "`loaded_at`: the time at which a refresh wrote the row" in found.output
    assert "When a row of `ranks` changes" in found.output
    assert (folder.root / "target/manifest.json").read_bytes() == before
    broken = folder.file("models/sales.sql", INCREMENTAL.replace("doubled(", "unknown_macro("))
    node = json.loads(before)
    node["nodes"]["model.shop.sales"]["raw_code"] = broken.read_text()
    folder.file("target/manifest.json", json.dumps(node))
    found = folder.adopt("sales", "--profiles-dir", str(folder.root))
    assert found.exit_code == 0 and "not known: dbt does not compile the new text: " in found.output
    assert "unknown_macro" in found.output
