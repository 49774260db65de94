"""What is written about keys without effect, as `idivm doctor` says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.idivm.dropped_constraints import dropped
from dbt_idivm.definition.request import Ignored, KeyCandidate
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.upkeep.examine import Check, examine_input, examine_keys, found_keys
from tests.unit.fake_engine import FakeEngine, Table, drive, model

IGNORED = Ignored("test t", "its `where` leaves rows out", "state it of all rows, as an error")
PRIMARY = "primary key constraint"


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine({"main.o": Table({"id": "int", "Name": "string"})})


def checks(
    engine: FakeEngine, *keys: tuple[str, ...], ignored: tuple[Ignored, ...] = (), of: str = "main.o"
) -> tuple[Check, ...]:
    candidates = [KeyCandidate(columns, PRIMARY) for columns in keys]
    found: tuple[Check, ...] = drive(engine, examine_keys(Client(engine.kind), of, "shop.orders", candidates, ignored))
    return found


def test_keys_of_columns_that_there_are(engine: FakeEngine) -> None:
    assert checks(engine, ("ID",), ("id", "name")) == ()


def test_a_key_of_a_column_that_does_not_exist(engine: FakeEngine) -> None:
    (found,) = checks(engine, ("id", "nmae"))
    assert (found.what, found.state) == ("key of shop.orders", "warning")
    assert f"{PRIMARY}: there is no column `nmae`" in found.found and "`Name`" in found.way_out


def test_it_is_a_warning_where_no_other_key_counts(engine: FakeEngine) -> None:
    assert [each.state for each in checks(engine, ignored=(IGNORED,))] == ["warning"]
    assert [each.state for each in checks(engine, ("nope",), ignored=(IGNORED,))] == ["warning", "warning"]
    (found,) = checks(engine, ("id",), ignored=(IGNORED,))
    assert found.state == "ok" and found.found == "test t is ignored: its `where` leaves rows out" and found.way_out == IGNORED.do


def test_keys_of_a_view_are_ignored(engine: FakeEngine) -> None:
    engine.tables["main.w"] = Table({"id": "int"}, kind="VIEW", text="SELECT id FROM main.o")
    (found,) = checks(engine, ("id",), of="main.w")
    assert found.state == "ok" and "read through" in found.found
    assert checks(engine, of="main.w") == ()


def test_a_relation_that_does_not_exist_has_unknown_columns(engine: FakeEngine) -> None:
    assert checks(engine, ("id",), of="main.none") == ()


PROPERTIES = """
sources:
  - name: shop
    tables:
      - name: orders
        constraints: [{type: primary_key, columns: [id, line]}, {type: check, expression: "id > 0"}]
      - name: lines
        constraints: [{type: unique, columns: [id]}]
seeds:
  - {name: codes, constraints: [{type: unique}]}
models:
  - {name: orders, constraints: [{type: primary_key, columns: [id]}]}
"""


def told(folder: Path, text: str, **node: Any) -> list[str]:
    (folder / "p.yml").write_text(text, encoding="utf-8")
    return [each.what for each in dropped(node, folder)]


def test_constraints_that_dbt_drops(tmp_path: Path) -> None:
    source = {
        "resource_type": "source",
        "source_name": "shop",
        "name": "orders",
        "original_file_path": "p.yml",
        "patch_path": None,
    }
    assert told(tmp_path, PROPERTIES, **source) == ["constraint primary_key (id, line)"]
    assert told(tmp_path, PROPERTIES, **{**source, "source_name": "other"}) == []
    seed = {"resource_type": "seed", "name": "codes", "original_file_path": "codes.csv", "patch_path": "shop://p.yml"}
    assert told(tmp_path, PROPERTIES, **seed) == ["constraint unique ()"]
    model = {"resource_type": "model", "name": "orders", "original_file_path": "o.sql", "patch_path": "shop://p.yml"}
    assert told(tmp_path, PROPERTIES, **model) == []  # those of models are in the manifest


@pytest.mark.parametrize("text", ["", "sources: 3", "sources: [x]", "- a", "a: [", "sources: [{name: shop, tables: {a: b}}]"])
def test_files_that_say_nothing(text: str, tmp_path: Path) -> None:
    source = {"resource_type": "source", "source_name": "shop", "name": "orders", "original_file_path": "p.yml"}
    assert told(tmp_path, text, **source) == []
    assert list(dropped({**source, "original_file_path": "none.yml"}, tmp_path)) == []


@pytest.mark.parametrize("sql", ["select name from main.o", "select name, id from main.o"])
def test_a_key_that_was_found_in_the_data(sql: str) -> None:
    engine = FakeEngine()
    engine.source("o", id="int", name="string")
    engine.drive(model(sql, keys="auto"))
    found = drive(engine, found_keys(Client(engine.kind), "main.v"))
    assert found == {"main.o": ("id",)}
    check = drive(engine, examine_input(Client(engine.kind), "main.o", "shop.orders", (), None, found["main.o"]))
    assert check.state == "ok" and "(id) was found in its data" in check.found
    assert check.way_out == "add the tests `unique` and `not_null` to the column id of shop.orders"
    declared = drive(engine, examine_input(Client(engine.kind), "main.o", "shop.orders", ("name",), None, found["main.o"]))
    assert declared.found == "key: name"
    assert (
        drive(engine, found_keys(Client(engine.kind), "main.o")) == drive(engine, found_keys(Client(engine.kind), "main.x")) == {}
    )
