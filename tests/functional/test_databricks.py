"""dbt projects of type `idivm_databricks`, on a stand-in for a cluster and for a SQL warehouse (`tests/databricks_endpoint.py`).

dbt-databricks and its connector are real, up to the client that would talk to a server. They need other versions than dbt-idivm
is developed with, so these tests have an environment of their own: `make databricks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("dbt.adapters.databricks", reason="dbt-databricks is not installed: `make databricks` runs these tests")

from dbt.adapters.idivm import doctor
from tests.databricks_connector import profile, standing_in
from tests.databricks_endpoint import CATALOG, CLUSTER, WAREHOUSE, Endpoint, Kind
from tests.functional.project import Project

JOIN = "select o.id, o.note, c.name from {{ source('shop', 'orders') }} o join {{ source('shop', 'cust') }} c on o.cust = c.id"
GROUPS = "select cust, sum(price) as total, count(*) as orders from {{ source('shop', 'orders') }} group by cust"
MODELS = {"lines": JOIN, "totals": GROUPS, "above": "select name, count(*) as lines from {{ ref('lines') }} group by name"}


class Shop(Project):
    """A project of three maintained models over two sources."""

    made: list[Endpoint]

    def begin(self, kind: Kind, made: list[Endpoint]) -> Shop:
        self.made = made
        self.profile(**profile(kind, self.schema))
        feed = "using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as select * from values"
        self.sql(
            f"create table $.orders {feed} (1, 1, 5, 'a'), (2, 1, 7, 'b'), (3, 2, 1, 'c') t(id, cust, price, note)",
            f"create table $.cust {feed} (1, 'ann'), (2, 'bob') t(id, name)",
        )
        key = "columns: [{name: id, tests: [unique, not_null]}]"
        self.write(
            "models/sources.yml",
            f"sources: [{{name: shop, database: {CATALOG}, schema: {self.schema}, "
            f"tables: [{{name: orders, {key}}}, {{name: cust, {key}}}]}}]",
        )
        for name, sql in MODELS.items():
            self.write(f"models/{name}.sql", "{{ config(materialized='idivm') }}\n" + sql)
        return self

    def are_exact(self) -> None:
        """Each model has the rows of its query."""
        for name, sql in MODELS.items():
            text = sql.replace("{{ source('shop', '", "$.").replace("{{ ref('", "$.").replace("') }}", "")
            assert self.is_same(self.within(f"select * from $.{name}"), self.within(text)), name

    def modes(self, *more: str) -> dict[str, str]:
        return {name: result.adapter_response["mode"] for name, result in self.results("run", *more).items()}


@pytest.fixture(params=[CLUSTER, WAREHOUSE], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def shop(kind: Kind, spark: Any, new_project: Callable[[], Project]) -> Iterator[Shop]:
    plain = new_project()
    with standing_in(spark.newSession, kind) as made:
        yield Shop(plain.spark, plain.schema, folder=plain.folder).begin(kind, made)


def test_models_are_built_and_maintained(shop: Shop, kind: Kind) -> None:
    assert set(shop.modes().values()) == {"create"}
    shop.are_exact()
    shop.sql(
        "insert into $.orders values (4, 2, 9, 'd')",
        "update $.orders set price = 8 where id = 2",
        "delete from $.orders where id = 1",
        "update $.cust set name = 'ben' where id = 2",
    )
    assert set(shop.modes().values()) == {"incremental"}
    shop.are_exact()
    assert set(shop.modes().values()) == {"noop"}
    shop.sql("insert into $.orders select id, id % 3, 2, 'm' from range(100, 2600)")  # stays in the engine
    assert set(shop.modes().values()) == {"incremental"}
    shop.are_exact()
    assert set(shop.modes("--full-refresh").values()) == {"full"}
    shop.are_exact()
    sent = [text.split("*/", 1)[-1].split()[0].upper() for endpoint in shop.made for text in endpoint.executed]
    assert ("CACHE" in sent) is (kind is CLUSTER) and "MERGE" in sent
    left = set(shop.relations()) - ({"idivm__state"} if kind is WAREHOUSE else set())
    assert left == {"orders", "cust", "lines", "lines__idivm", "totals", "totals__idivm", "above"}, "staged rows are dropped"


def test_tables_are_made_as_the_workspace_makes_them(shop: Shop) -> None:
    shop.dbt("run", "--select", "totals")
    properties = shop.properties("totals__idivm")
    for name in ("delta.enableDeletionVectors", "delta.enableRowTracking", "delta.enableChangeDataFeed"):
        assert properties[name] == "true", name


def test_build_with_tests_descriptions_and_what_reads_a_model(shop: Shop, kind: Kind) -> None:
    shop.write(
        "models/schema.yml",
        """
        models:
          - name: totals
            description: what each customer pays
            columns: [{name: total, description: the sum}]
            config: {persist_docs: {relation: true, columns: true}}
            tests: [idivm_equivalent]
          - name: lines
            tests: [idivm_equivalent]
    """,
    )
    shop.write("models/copied.sql", "{{ config(materialized='table') }} select * from {{ ref('totals') }}")
    shop.write("models/shown.sql", "{{ config(materialized='view') }} select * from {{ ref('totals') }}")
    others = ["copied", "shown"]
    if kind.temporary_views:  # dbt-databricks' own incremental models need them
        others.append("grown")
        shop.write(
            "models/grown.sql", "{{ config(materialized='incremental', unique_key='cust') }} select * from {{ ref('totals') }}"
        )
    shop.write("seeds/rates.csv", "id,rate\n1,2.5\n2,3\n")
    shop.dbt("build")
    shop.sql("insert into $.orders values (5, 1, 4, 'e')")
    shop.dbt("build")
    shop.are_exact()
    total = shop.sql("select * from $.totals")
    for name in others:
        assert Counter(shop.sql(f"select * from $.{name}")) == Counter(total), name
    described = {row[0]: row for row in reversed(shop.sql("describe table extended $.totals"))}
    assert described["Comment"][1] == "what each customer pays" and described["total"][2] == "the sum"


def test_a_name_changes_hands(shop: Shop) -> None:
    """With what is behind a view of ours."""
    hides = "select o.note, c.name from {{ source('shop', 'orders') }} o join {{ source('shop', 'cust') }} c on o.cust = c.id"
    shop.write("models/lines.sql", "{{ config(materialized='idivm') }} " + hides)
    shop.dbt("run", "--select", "lines")
    assert "lines__idivm" in shop.relations()
    for materialized in ("table", "idivm", "view", "idivm"):
        shop.write("models/lines.sql", f"{{{{ config(materialized='{materialized}') }}}} " + hides)
        shop.dbt("run", "--select", "lines")
        assert len(shop.sql("select * from $.lines")) == 3
        assert ("lines__idivm" in shop.relations()) is (materialized == "idivm")


def test_what_deleted_models_leave_behind(shop: Shop) -> None:
    shop.dbt("run")
    (shop.root / "models" / "above.sql").unlink()
    shop.dbt("run-operation", "idivm_orphans", "--args", "{drop: true}")
    assert "above" not in shop.relations()


def test_what_doctor_finds(shop: Shop, kind: Kind) -> None:
    """Each thing that refreshes take for granted is there, tried by what relies on it; and what is not there is said."""
    found = _doctor(shop)
    assert set(found) >= {
        "meaning of text and numbers",
        "errors of expressions",
        "descriptions of tables",
        "state of a commit",
        "change feed and versions",
        "staged rows",
    }
    assert {name for name, (state, _) in found.items() if state == "fails"} == set(), found
    assert "deletionVectors" in found["descriptions of tables"][1] and "rowTracking" in found["descriptions of tables"][1]
    where = f"in {CATALOG}.{shop.schema}.idivm__state" if kind is WAREHOUSE else "is executed once"
    assert where in found["state of a commit"][1]
    assert not [name for name in shop.relations() if name.startswith("idivm_doctor")]


def test_what_doctor_says_of_an_endpoint_that_answers_otherwise(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Endpoint.sql

    def otherwise(self: Endpoint, text: str) -> Any:
        return plain(self, text.replace("typeof(1 / 2) = 'double'", "false").replace("CAST('a' AS INT)", "NULL"))

    monkeypatch.setattr(Endpoint, "sql", otherwise)
    found = _doctor(shop)
    assert found["meaning of text and numbers"] == ("fails", "not so there: the quotient of integers is a DOUBLE")
    assert found["errors of expressions"][0] == "fails" and "ANSI mode is off" in found["errors of expressions"][1]


def _doctor(shop: Shop) -> dict[str, tuple[str, str]]:
    """What was looked at → state, what was found."""
    checks = doctor._checks(shop.root, shop.root, None, None)
    return {check.what: (check.state, check.found) for check in checks}
