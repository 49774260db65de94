"""dbt reads what `idivm advise --write` wrote: the properties are accepted, and in force. dbt only parses, without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_idivm.cli import main

pytestmark = pytest.mark.deep

DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]
SOURCES = """
sources:
  - name: shop
    schema: raw
    tables:
      - name: orders
        columns:
          - {name: id, data_type: bigint, data_tests: [unique, not_null]}
          - {name: cid, data_type: bigint}
          - {name: price, data_type: "decimal(10,2)"}
"""
MODELS = {
    "mid": "select id, cid, price * 2 as p from {{ source('shop', 'orders') }} where price > 1",
    "top": "select cid, sum(p) as s from {{ ref('mid') }} group by cid",
    "seldom": "select price, count(*) as n from {{ source('shop', 'orders') }} group by price",
    "twice": "with t as (select cid, sum(price) as s from {{ source('shop', 'orders') }} group by cid) "
    "select s, count(*) as n from t group by s",
}
GIVEN = (
    "--rows",
    "orders=200_000_000",
    "--rate",
    "orders=0.0024%/day",
    "--reads",
    "top=1000",
    "--reads",
    "twice=1000",
    "--reads",
    "seldom=0.1",
)


def parsed(folder: Path) -> dict[str, Any]:
    """Model → its config, as dbt reads the project."""
    environment = {**os.environ, "NO_COLOR": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    done = subprocess.run(
        [*DBT, "parse", "--no-partial-parse", "--warn-error"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout
    nodes = json.loads((folder / "target" / "manifest.json").read_text(encoding="utf-8"))["nodes"]
    compile_by_hand(folder, nodes)
    return {node["name"]: node["config"] for node in nodes.values() if node["resource_type"] == "model"}


def compile_by_hand(folder: Path, nodes: dict[str, Any]) -> None:
    """The SQL of the models, as `dbt run` leaves it in its results: `dbt compile` would start Spark."""
    results = [
        {
            "unique_id": key,
            "status": "success",
            "adapter_response": {},
            "compiled_code": node["raw_code"]
            .replace("{{ source('shop', 'orders') }}", "raw.orders")
            .replace("{{ ref('mid') }}", "main.mid"),
        }
        for key, node in nodes.items()
    ]
    (folder / "target" / "run_results.json").write_text(json.dumps({"metadata": {}, "results": results}), encoding="utf-8")


def test_dbt_accepts_the_advice(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text(
        "name: shop\nversion: 1.0.0\nprofile: shop\nmodels: {shop: {+materialized: idivm}}\n"
    )
    (tmp_path / "profiles.yml").write_text("shop: {target: dev, outputs: {dev: {type: idivm, schema: main}}}\n")
    (tmp_path / "models" / "sources.yml").write_text(SOURCES)
    for name, sql in MODELS.items():
        (tmp_path / "models" / f"{name}.sql").write_text(sql)
    before = parsed(tmp_path)
    assert {config["materialized"] for config in before.values()} == {"idivm"}
    written = CliRunner().invoke(main, ["advise", "--project", str(tmp_path), *GIVEN, "--write"])
    assert written.exit_code == 0 and "is written" in written.output
    after = parsed(tmp_path)
    assert {name: config["materialized"] for name, config in after.items()} == {
        "mid": "ephemeral",
        "top": "idivm",
        "seldom": "view",
        "twice": "idivm",
    }
    assert after["twice"]["meta"] == {"idivm": {"caches": "all"}}
    again = CliRunner().invoke(main, ["advise", "--project", str(tmp_path), *GIVEN, "--write"])
    assert again.exit_code == 0 and parsed(tmp_path) == after, "advice that is followed is not taken back"
