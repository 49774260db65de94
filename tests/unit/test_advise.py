"""`idivm advise`: how models are best maintained at given rates, what they should share, and how bad input is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_idivm.cli import main
from dbt_idivm.project import Project
from dbt_idivm.tools.advice.advise import Advice, Subject, subject
from dbt_idivm.tools.advice.advise import advise as advise_on
from dbt_idivm.tools.advice.estimates import base_tables
from dbt_idivm.tools.advice.options import read_rates, read_rows
from dbt_idivm.tools.advice.setting import Setting
from dbt_idivm.tools.dag.costs import Rate
from tests.unit.test_project import CUSTOMERS, ORDERS, Node, manifest, model

BY_NAME = model(
    "by_name",
    "select c.name, sum(o.price) as s from raw.orders o join raw.customers c on o.cid = c.id group by c.name",
    ORDERS,
    CUSTOMERS,
)
BY_ORDER = model(
    "by_order",
    "select o.id, o.price * 2 as p, c.name from raw.customers c join raw.orders o on c.id = o.cid where o.price > 0",
    ORDERS,
    CUSTOMERS,
)
OF_SEVEN = model(
    "of_seven",
    "select c.name, sum(o.price) as s from raw.orders o join raw.customers c on o.cid = c.id where o.price = 7 group by c.name",
    ORDERS,
    CUSTOMERS,
)
COPIES = model(
    "copies",
    "select x.price, sum(x.price) as s from (select c.name, o.price from raw.customers c, raw.orders o "
    "where 7 = o.price and c.id = o.cid) x group by x.price",
    ORDERS,
    CUSTOMERS,
)
TOTAL = model("total", "select sum(s) as s from main.by_name", "model.p.by_name")
ROWS = {"raw.orders": 50_000_000.0, "raw.customers": 5_000_000.0}
NAMED = ("--rows", "orders=50_000_000", "--rows", "raw.customers=5000000")


def project(folder: Path, *models: Node, catalog: Node | None = None) -> Path:
    target = folder / "target"
    target.mkdir(parents=True)
    (target / "manifest.json").write_text(json.dumps(manifest(*models)), encoding="utf-8")
    if catalog is not None:
        (target / "catalog.json").write_text(json.dumps({"metadata": {}, **catalog}), encoding="utf-8")
    return folder


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["advise", "--project", str(folder), *options], terminal_width=200, env={"COLUMNS": "200"})


def found(folder: Path, *options: str) -> Any:
    result = run(folder, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def planned(*models: Node) -> Subject:
    return subject(Project(manifest(*models)), ROWS.get)


def advise(about: Subject, rows: dict[str, float], rates: dict[str, Rate], **more: Any) -> Advice:
    return advise_on(about, Setting(rows, rates, **more))


def test_what_reads_the_clock_is_neither_shared_nor_moved() -> None:
    select = "select o.id, c.name from raw.orders o join raw.customers c on o.cid = c.id where o.price > year(current_date())"
    models = planned(*(model(name, select, ORDERS, CUSTOMERS) for name in ("one", "other")))
    found = advise(models, ROWS, {"raw.orders": Rate(inserted=1e-6)})
    assert not found.shared
    assert {each.model: each.is_maintained for each in found.upkeep} == {"one": True, "other": True}


def test_few_changes_are_maintained_and_many_rebuild() -> None:
    models = planned(BY_NAME, BY_ORDER)
    few = advise(models, ROWS, {"raw.orders": Rate(inserted=1e-6)})
    assert {each.model: each.is_maintained for each in few.upkeep} == {"by_name": True, "by_order": True}
    assert {each.model: each.way for each in few.upkeep} == {"by_name": "additive", "by_order": "id"}
    many = advise(models, ROWS, {table: Rate(inserted=0.5, updated=0.5) for table in ROWS})
    assert not any(each.is_maintained for each in many.upkeep)
    assert few.seconds < 0.5 * many.seconds
    nothing = advise(models, ROWS, {})
    assert {each.way for each in nothing.upkeep} == {None} and nothing.seconds == 0


def test_a_subview_is_shared_however_it_is_spelled() -> None:
    models = planned(OF_SEVEN, COPIES)
    both = ("copies", "of_seven")
    many = advise(models, ROWS, dict.fromkeys(ROWS, Rate(updated=0.5)))
    assert [(each.models, each.kept) for each in many.shared] == [(both, False)], "the join, for the time of a run"
    assert many.shared[0].subview.startswith("⋈")
    few = advise(models, ROWS, dict.fromkeys(ROWS, Rate(updated=1e-3)))
    assert few.shared[0].subview.startswith("σ") and few.shared[0].models == both and few.shared[0].kept
    assert advise(models, ROWS, dict.fromkeys(ROWS, Rate(updated=1e-3)), space=0).shared == ()


def test_a_model_is_read_with_the_tables_below_it() -> None:
    models = planned(BY_NAME, TOTAL)
    assert base_tables(models.user.planned()) == ("raw.customers", "raw.orders")
    advice = advise(models, ROWS, {"raw.orders": Rate(inserted=1e-6)})
    by_name, total = advice.upkeep
    assert (by_name.model, by_name.way, total.model) == ("by_name", "additive", "total")
    assert total.rebuilt < 0.1 * by_name.rebuilt, "from the rows of by_name"
    assert total.way is not None and advise(models, ROWS, {}).upkeep[1].way is None


@pytest.mark.parametrize("rows", [0.0, 1.0, 1e18])
def test_absurd_sizes(rows: float) -> None:
    models = planned(OF_SEVEN, COPIES)
    advice = advise(models, dict.fromkeys(ROWS, rows), {"raw.orders": Rate(inserted=1e9, deleted=7.0)})
    assert 0 <= advice.seconds < float("inf") and all(each.saves > 0 for each in advice.shared)


def test_the_table(tmp_path: Path) -> None:
    folder = project(tmp_path, OF_SEVEN, COPIES, model("refused", "select rand() as r from raw.orders", ORDERS))
    result = run(folder, *NAMED, "--rate", "orders=0.01%/day", "--rate", "customers=0.001:updated")
    assert result.exit_code == 0
    assert "of_seven" in result.output and "IDIVM-204" in result.output
    assert "copies, of_seven" in result.output, "what they should share"
    assert "A refresh of all 2 models, each as is quicker, is estimated at " in " ".join(result.output.split())
    assert "as no refresh has been measured" in result.output


def test_json(tmp_path: Path) -> None:
    advice = found(project(tmp_path, OF_SEVEN, COPIES), *NAMED, "--rate", "orders=0.5:updated", "--rate", "customers=50%:updated")
    assert {each["model"] for each in advice["upkeep"]} == {"of_seven", "copies"}
    (shared,) = advice["shared"]
    assert shared["models"] == ["copies", "of_seven"] and shared["saves"] > 0


def test_sizes_from_the_catalog(tmp_path: Path) -> None:
    statistics = {"stats": {"statistics": {"value": "1234 bytes, 5000000 rows"}}}
    counted = {"stats": {"rows": {"value": 50_000_000}}}
    sources = {CUSTOMERS: {"columns": {}, **statistics}, ORDERS: {"columns": {}, **counted}}
    folder = project(tmp_path, BY_NAME, catalog={"sources": sources})
    assert run(folder, "--rate", "orders=0.01").exit_code == 0
    assert run(folder, "--rows", "orders=7").exit_code == 0


@pytest.mark.parametrize(
    "options, message",
    [
        ((), "IDIVM-116 config: the number of rows is not known for `raw.customers`, `raw.orders`"),
        (("--rows", "orders"), "IDIVM-115 config: --rows orders: it is not TABLE=N"),
        (("--rows", "orders=-7"), "IDIVM-115 config: --rows orders=-7: it is not TABLE=N"),
        ((*NAMED, "--rate", "orders=often"), "IDIVM-115 config: --rate orders=often: it is not TABLE=PART[/day]"),
        ((*NAMED, "--rate", "ordres=0.1"), "IDIVM-115 config: --rate ordres=0.1: there is no model that reads a table ordres"),
        ((*NAMED, "--reads", "by_nam=1"), "do name one of `by_name`"),
        ((*NAMED, "--reads", "by_name=all"), "it is not MODEL=N/day"),
        (("--rows", "orders=_"), "it is not TABLE=N"),
        ((*NAMED, "--rate", "orders=1__0e999"), "IDIVM-115 config: --rate orders=1__0e999: the number is too large"),
        ((*NAMED, "--reads", "by_name=1e99"), "the number is too large"),
        ((*NAMED, "--rate", "`=1"), "there is no model that reads a table"),
        ((*NAMED, "--key", "orders"), "it is not TABLE=COLUMN,…"),
        ((*NAMED, "--key", "ordres=id"), "there is no model that reads a table ordres"),
        ((*NAMED, "--key", "orders=idd"), "IDIVM-304 key: key column idd is not in raw.orders"),
        ((*NAMED, "--refreshes", "0"), "--refreshes"),
    ],
)
def test_bad_input(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    result = run(project(tmp_path, BY_NAME), *options)
    assert result.exit_code != 0 and message in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    "break_it, message",
    [
        (lambda target: None, "there is no"),
        (lambda target: (target / "manifest.json").write_text("{", encoding="utf-8"), "is not JSON"),
        (lambda target: (target / "manifest.json").write_text("{}", encoding="utf-8"), "is not an artifact of dbt"),
        (
            lambda target: (target / "manifest.json").write_text(json.dumps(manifest(model("m", None, ORDERS)))),
            "1 of its models are not compiled, such as `m`",
        ),
    ],
)
def test_a_project_that_is_not_compiled(tmp_path: Path, break_it: Callable[[Path], object], message: str) -> None:
    (tmp_path / "target").mkdir()
    break_it(tmp_path / "target")
    result = run(tmp_path)
    assert result.exit_code == 1 and "IDIVM-114" in result.output and message in result.output
    assert "run `dbt compile`" in result.output


def test_rates() -> None:
    tables = ("raw.orders", "raw.customers")
    assert read_rates(["orders=0.24/day", "ORDERS=1%:deleted", "raw.customers=.5:updated"], tables, 24) == {
        "raw.orders": Rate(inserted=0.01, deleted=0.01),
        "raw.customers": Rate(updated=0.5),
    }
    assert read_rows(["Raw.Orders=1_000"]) == {"raw.orders": 1000.0}
