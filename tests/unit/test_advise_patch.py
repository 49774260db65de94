"""`idivm advise --write`: the advice as a file of properties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from dbt_idivm.cli import main
from tests.unit.test_advise import BY_NAME, NAMED, project, run
from tests.unit.test_advise_more import grouped_twice
from tests.unit.test_project import CUSTOMERS, ORDERS, Node, manifest, model, source

# read so seldom that a view is best
SELDOM = (*NAMED, "--rate", "orders=1%", "--reads", "by_name=0.1")
OFTEN = ("--rows", "orders=200_000_000", "--rate", "orders=0.0001%", "--reads", "twice=1000")
FILE = Path("models", "_idivm_advice.yml")


def with_models(folder: Path, *models: Node) -> Path:
    made = project(folder, *models)
    (made / "models").mkdir()
    return made


def written(folder: Path, file: Path = FILE) -> Any:
    found = yaml.safe_load((folder / file).read_text(encoding="utf-8"))
    assert found["version"] == 2
    return {each["name"]: each["config"] for each in found["models"]}


def recompiled(folder: Path, *models: Node) -> None:
    """As dbt would read the project again."""
    (folder / "target" / "manifest.json").write_text(json.dumps(manifest(*models)), encoding="utf-8")


def test_kinds_are_written(tmp_path: Path) -> None:
    folder = with_models(tmp_path, BY_NAME)
    result = run(folder, *SELDOM, "--write")
    assert result.exit_code == 0 and f"{folder / FILE} is written" in result.output
    assert written(folder) == {"by_name": {"materialized": "view"}}
    assert [each.name for each in (folder / "models").iterdir()] == [FILE.name], "no draft is left"


def test_what_was_written_before_stays(tmp_path: Path) -> None:
    """It is in force: without it the model would be maintained again."""
    folder = with_models(tmp_path, BY_NAME)
    run(folder, *SELDOM, "--write")
    recompiled(folder, {**BY_NAME, "config": {"materialized": "view"}, "patch_path": f"p://{FILE}"}, grouped_twice())
    assert run(folder, *SELDOM, *OFTEN, "--write").exit_code == 0
    found = written(folder)
    assert found.keys() == {"by_name", "twice"}
    assert found["by_name"] == {"materialized": "view"} and found["twice"]["meta"]["idivm"]["caches"] in ("all", ["t"])


def test_a_model_gets_more_config(tmp_path: Path) -> None:
    folder = with_models(tmp_path, grouped_twice())
    run(folder, *OFTEN, "--write")
    recompiled(folder, {**grouped_twice(caches="all"), "patch_path": f"p://{FILE}"})
    run(folder, *NAMED, "--rate", "orders=1%", "--reads", "twice=0.1", "--write")
    assert written(folder)["twice"] == {"materialized": "view", "meta": {"idivm": {"caches": "all"}}}


def test_a_model_that_is_gone_is_left_out(tmp_path: Path) -> None:
    folder = with_models(tmp_path, BY_NAME)
    run(folder, *SELDOM, "--write")
    recompiled(folder, grouped_twice())
    run(folder, *OFTEN, "--write")
    assert written(folder).keys() == {"twice"}


def test_our_config_keeps_what_it_has(tmp_path: Path) -> None:
    """All of it is written where the user has it: in `meta` or beside it."""
    folder = with_models(tmp_path, grouped_twice(verify="sample"))
    run(folder, *OFTEN, "--write")
    assert written(folder)["twice"]["meta"]["idivm"] == {"verify": "sample", "caches": "all"}
    beside = {**grouped_twice(), "config": {"materialized": "idivm", "idivm": {"verify": "none"}}}
    recompiled(folder, beside)
    (folder / FILE).unlink()
    run(folder, *OFTEN, "--write")
    assert written(folder)["twice"] == {"idivm": {"verify": "none", "caches": "all"}}
    own = {"verify": "none"}  # as dbt leaves it in both places, of which the user wrote one
    for place, wanted in (("idivm", {"idivm": {"verify": "none", "caches": "all"}}), ("meta", None)):
        (folder / FILE).unlink()
        both = {"materialized": "idivm", "idivm": own, "meta": {"idivm": own}}
        recompiled(folder, {**grouped_twice(), "config": both, "unrendered_config": {place: {}}})
        run(folder, *OFTEN, "--write")
        assert written(folder)["twice"] == (wanted or {"meta": {"idivm": {"verify": "none", "caches": "all"}}})


def test_keys_that_the_user_is_sure_of(tmp_path: Path) -> None:
    looked_up = model(
        "looked_up",
        "select o.id, (select c.name from raw.customers c where c.id = o.cid) as n from raw.orders o",
        ORDERS,
        CUSTOMERS,
    )
    folder = with_models(tmp_path, looked_up)
    sources = (source("orders", "id", "cid", "price"), {**source("customers", "id", "name"), "constraints": []})
    (folder / "target" / "manifest.json").write_text(json.dumps(manifest(looked_up, sources=sources)), encoding="utf-8")
    assert "nothing to write" in run(folder, *NAMED, "--write").output, "the key is only a guess"
    run(folder, *NAMED, "--key", "customers=id", "--write")
    assert written(folder) == {"looked_up": {"meta": {"idivm": {"keys": {"shop.customers": ["id"]}}}}}


@pytest.mark.parametrize(
    "node, file, why",
    [
        ({"patch_path": "p://models/schema.yml"}, "models/schema.yml", "in one file only"),
        (
            {"raw_code": "{{ config(materialized='idivm') }}\nselect 1", "original_file_path": "models/by_name.sql"},
            "models/by_name.sql",
            "its `config()` is stronger",
        ),
        (
            {"raw_code": "{{- config(\n  tags=['x'],\n  materialized = 'idivm') -}}", "original_file_path": "models/by_name.sql"},
            "models/by_name.sql",
            "its `config()` is stronger",
        ),
        ({"package_name": "other"}, "dbt_project.yml", "it is a model of the package other"),
    ],
)
def test_what_belongs_into_another_file_is_printed(tmp_path: Path, node: Node, file: str, why: str) -> None:
    folder = with_models(tmp_path, {"package_name": "p", **BY_NAME, **node})
    made = json.loads((folder / "target" / "manifest.json").read_text(encoding="utf-8"))
    (folder / "target" / "manifest.json").write_text(json.dumps({**made, "metadata": {"project_name": "p"}}), encoding="utf-8")
    result = run(folder, *SELDOM, "--write")
    assert result.exit_code == 0 and not (folder / FILE).exists()
    said = " ".join(result.output.split())
    assert f"IDIVM-121 the advice on `by_name` belongs in {file}" in said and why in said
    assert "- name: by_name config: materialized: view" in said


def test_a_config_in_sql_of_something_else_is_no_conflict(tmp_path: Path) -> None:
    folder = with_models(tmp_path, {**BY_NAME, "raw_code": "{{ config(tags=['materialized']) }} select 1"})
    run(folder, *SELDOM, "--write")
    assert written(folder) == {"by_name": {"materialized": "view"}}


def test_printed(tmp_path: Path) -> None:
    folder = project(tmp_path, BY_NAME)
    result = CliRunner().invoke(main, ["advise", "--project", str(folder), *SELDOM, "--write", "-"])
    assert yaml.safe_load(result.stdout)["models"] == [{"name": "by_name", "config": {"materialized": "view"}}]
    assert not (folder / "models").exists() and not Path("-").exists()


@pytest.mark.parametrize("content", ["version: 2\nmodels: []\n", "", "# Written by `idivm advise`, which"])
def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path, content: str) -> None:
    folder = with_models(tmp_path, BY_NAME)
    (folder / FILE).write_text(content, encoding="utf-8")
    result = run(folder, *SELDOM, "--write")
    assert result.exit_code == 1 and "IDIVM-120" in result.output and "did not write" in result.output
    assert (folder / FILE).read_text(encoding="utf-8") == content


def test_a_file_of_ours_that_cannot_be_read(tmp_path: Path) -> None:
    folder = with_models(tmp_path, BY_NAME)
    run(folder, *SELDOM, "--write")
    for more in ("- {", "- 7\n"):
        text = (folder / FILE).read_text(encoding="utf-8") + more
        (folder / FILE).write_text(text, encoding="utf-8")
        result = run(folder, *SELDOM, "--write")
        assert result.exit_code == 1 and "IDIVM-120" in result.output and (folder / FILE).read_text(encoding="utf-8") == text


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    folder = project(tmp_path, BY_NAME)
    result = run(folder, *SELDOM, "--write", "no/such.yml")
    assert result.exit_code == 1 and "IDIVM-120" in result.output and "cannot be written" in result.output


def test_nothing_to_write(tmp_path: Path) -> None:
    folder = with_models(tmp_path, BY_NAME)
    result = run(folder, *NAMED, "--reads", "by_name=1000", "--write", "models/other.yml")
    assert result.exit_code == 0 and "nothing to write" in result.output and not (folder / "models" / "other.yml").exists()
