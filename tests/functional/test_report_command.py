"""`idivm report`: the page of a project that was refreshed twice, and what is said where there is nothing to show."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt.adapters.idivm.report_command import report_command
from dbt_idivm.tools.report.text import seconds
from tests.functional.project import Project
from tests.functional.sources import ORDERS_CUST_LOG

pytestmark = pytest.mark.deep

MODELS = {
    "joined.sql": "select o.id, o.amount, c.name from {{ source('s', 'orders') }} o join {{ source('s', 'cust') }} c "
    "on c.id = o.cust_id",
    "per_name.sql": "select name, sum(amount) as amount from {{ ref('joined') }} group by name",
    "drawn.sql": "select id, rand() as r, '<script>' as text from {{ source('s', 'orders') }}",
}
MODELS = {name: "{{ config(materialized='idivm') }}\n" + sql for name, sql in MODELS.items()}


def report(project: Any, *args: str) -> Result:
    return CliRunner().invoke(report_command, [*args, "--project-dir", str(project.root)])


def page(project: Any, model: str = "") -> str:
    """The text of the page, or of the part about a model."""
    whole = (project.root / "target" / "idivm" / "report.html").read_text(encoding="utf-8")
    part = whole.partition(f'<article class="model" id="model-{model}">')[2].partition("</article>")[0] if model else whole
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", part, flags=re.DOTALL)).split())


@pytest.fixture
def sources(project: Project) -> Project:
    return with_sources(project)


def with_sources(project: Project) -> Project:
    """The models and the tables that they read; no model is built."""
    for name, text in MODELS.items():
        project.write(f"models/{name}", text)
    project.write("models/sources.yml", ORDERS_CUST_LOG)
    feed = "using delta tblproperties (delta.enableChangeDataFeed = true)"
    project.sql(
        f"create table $.orders (id int, cust_id int, amount int) {feed}",
        f"create table $.cust (id int, name string) {feed}",
        "insert into $.orders values (1, 1, 5), (2, 2, 7)",
        "insert into $.cust values (1, 'a'), (2, 'b')",
    )
    return project


def test_the_page_of_a_project(sources: Any) -> None:
    """Types of columns are asked from the engine, sizes and refreshes read from the logs."""
    sources.dbt("run")
    for change in ("insert into $.orders values (3, 1, 1), (4, 2, 1)", "update $.cust set name = 'c' where id = 2"):
        sources.sql(change)
        sources.dbt("run")
    sources.dbt("compile")
    found = report(sources)
    assert found.exit_code == 0 and "2 maintained incrementally, 1 rebuilt on every run." in found.output, found.output
    whole = page(sources)
    assert "2 of 3 models are maintained incrementally (67 %)" in whole and "Without a connection" not in whole
    assert "What is rebuilt, and why model because what to do drawn IDIVM-204" in whole
    joined, summed, drawn = (page(sources, name) for name in ("joined", "per_name", "drawn"))
    assert "refreshes 3 " in joined and " 4 rows · " in joined and "2 rows a refresh" in joined, joined
    assert re.search(r" 2 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d incremental \+0 ~2 −0 .* cust 1 → 2", joined), joined
    assert re.search(r" 1 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d incremental \+2 ~0 −0 .* orders 1 → 2", joined), joined
    assert "created 2 written CREATE TABLE AS SELECT" in joined
    assert "by adding (additive)" in summed and "γ joined__name" in summed and "rows are in" in summed
    assert drawn.partition("History")[2].count("IDIVM-408 no incremental rules: IDIVM-204 rand()") == 3, "each commit says why"
    assert "rebuilt IDIVM-204" in drawn and "4 written WRITE" in drawn and "'<script>' as text" in drawn
    drawing = whole.split("All models")[1]
    assert "4 rows · " in drawing.partition("joined by i-diffs")[2] and f"{sources.schema}.orders orders" in drawing, drawing
    offline = report(sources, "--offline")
    assert offline.exit_code == 0 and "--offline is given" in offline.output
    assert "Without a connection: --offline is given" in page(sources) and "History" not in page(sources)
    before = page(sources)
    assert report(sources, "--offline").exit_code == 0 and without_time(page(sources)) == without_time(before)


def test_earlier_refreshes_have_their_reason_and_estimate(sources: Any) -> None:
    """Of a run that dbt's artifacts no longer know."""
    for name in MODELS:
        (sources.root / "models" / name).unlink()
    config = "{{ config(materialized='idivm', meta={'idivm': {'strategy': 'auto'}}) }}"
    sources.write("models/cheap.sql", config + " select id, amount from {{ source('s', 'orders') }}")
    sources.dbt("run")
    done = []
    for number in (3, 4, 5):
        sources.sql(f"insert into $.orders values ({number}, 1, 1)")
        done.append(sources.results("run")["cheap"].adapter_response)
    sources.dbt("run", "--full-refresh")
    sources.dbt("compile")
    assert report(sources).exit_code == 0
    found = page(sources, "cheap").partition("History")[2]
    for version, each in enumerate(done, 1):
        row = found.partition(f" {version} 20")[2].partition(f" {version - 1} 20")[0]
        assert f" {seconds(each['cost']['estimate'])} WRITE orders {version} → {version + 1}" in row, row
        assert (each["reason"] or "orders")[:199] in row
    assert "IDIVM-401 a full refresh was requested" in found


def without_time(text: str) -> str:
    return re.sub(r"Made \S+ \S+\.", "", text)


def test_tables_that_are_not_there_yet(sources: Any) -> None:
    sources.dbt("compile")
    found = report(sources, "--output", str(sources.root / "new" / "page.html"))
    assert found.exit_code == 0, found.output
    assert "It has no Delta table yet" in (sources.root / "new" / "page.html").read_text()
    assert not sources.sql("show tables in $ like 'joined*'")


def test_what_goes_wrong_is_a_sentence(sources: Any) -> None:
    missing = report(sources)
    assert missing.exit_code == 1 and "run `dbt compile` first" in missing.output and "Traceback" not in missing.output
    sources.dbt("compile")
    folder = report(sources, "--offline", "--output", str(sources.root / "dbt_project.yml" / "page.html"))
    assert folder.exit_code == 1 and "the page cannot be written to" in folder.output
    other = report(sources, "--target", "other")
    assert other.exit_code == 1 and "does not have a target named 'other'" in other.output
    sources.profile(method="thrift", host="127.0.0.1", port=1, connect_retries=0)
    unreachable = report(sources)
    assert unreachable.exit_code == 0 and "Without a connection, so without sizes and histories:" in unreachable.output
    assert "Without a connection:" in page(sources)
