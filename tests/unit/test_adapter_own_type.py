"""Packages take this adapter for the one that it extends, and dbt for itself."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.idivm.own_type import LikeDatabricks, LikeSpark


def test_it_equals_both() -> None:
    own = LikeSpark("idivm")
    assert own == "spark" and own == "idivm" and own != "databricks" and (own != "spark") is False
    assert own in ("spark", "databricks") and own in ["idivm"] and own not in ("bigquery", "snowflake")
    assert {"idivm": 1}[own] == 1 and "spark" not in {own: 1}
    assert f"{own}__hash" == "idivm__hash" and json.dumps(own) == '"idivm"'
    assert LikeDatabricks("idivm_databricks") == "databricks" != own


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda own: pickle.loads(pickle.dumps(own))])
def test_a_copy_does_too(copied: object) -> None:
    assert callable(copied)
    own = copied(LikeSpark("idivm"))
    assert own == "spark" and own == "idivm"


def test_packages_that_ask_for_the_type(tmp_path: Path) -> None:
    """A source without `database`, a model and a macro for Spark, as in packages; dispatch and manifest have our own name."""
    project = {"name": "asking", "version": "1.0.0", "profile": "asking", "config-version": 2, "macro-paths": ["macros"]}
    project["models"] = {"asking": {"elsewhere": {"+enabled": "{{ target.type not in ('spark', 'databricks') }}"}}}
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump(project))
    target = {"type": "idivm", "schema": "s", "threads": 1}
    (tmp_path / "profiles.yml").write_text(json.dumps({"asking": {"target": "dev", "outputs": {"dev": target}}}))
    database = "{% if target.type != 'spark' %}{{ var('asking_database', target.database) }}{% endif %}"
    source = {"name": "raw", "database": database, "schema": "raw", "tables": [{"name": "t"}]}
    files = {
        "models/sources.yml": yaml.safe_dump({"sources": [source]}),
        "models/here.sql": "select {{ array() }} as x, '{{ adapter.type() == \"spark\" }}' as y, '{{ target.type }}' as z "
        "from {{ source('raw', 't') }}",
        "models/elsewhere/there.sql": "select 1 as x",
        "macros/array.sql": "{% macro array() %}{{ adapter.dispatch('array', 'asking')() }}{% endmacro %}"
        "{% macro default__array() %}array_agg(1){% endmacro %}{% macro spark__array() %}array(1){% endmacro %}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    given = ["--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path), "--no-populate-cache", "--no-introspect"]
    for _ in range(2):  # the second time what is parsed is read from a file
        outcome = dbtRunner().invoke(["compile", *given])
        assert outcome.success, outcome.exception
    manifest = json.loads((tmp_path / "target/manifest.json").read_text())
    assert manifest["metadata"]["adapter_type"] == "idivm"
    assert [name for name in manifest["nodes"]] == ["model.asking.here"]
    compiled = manifest["nodes"]["model.asking.here"]["compiled_code"]
    assert compiled == "select array(1) as x, 'True' as y, 'idivm' as z from raw.t"
