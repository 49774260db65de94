"""Who can read the tables of views, with deletion vectors, hidden columns and column mapping: the page is what is tested."""

from __future__ import annotations

from typing import Any

import pytest
from deltalake.exceptions import DeltaProtocolError

from tests.functional.project import project_in
from tests.functional.readers import READERS, READS, TABLES

pytestmark = pytest.mark.deep

KEYS = {"orders": ["id"]}
# The rows of the table's first columns; without a column that says which row is which it has hidden ones.
MODELS = {"plain": "select id, price from $.orders where price > 0", "hidden": "select price from $.orders where price > 0"}


@pytest.mark.parametrize("table", TABLES)
def test_other_engines_read_a_view(table: str, spark: Any) -> None:
    with project_in(spark, "readers") as project:
        project.table("orders", "id int, price int", *(f"({number}, {number})" for number in range(1, 30)))
        models = [project.model(name, sql, KEYS, dbt={"tblproperties": TABLES[table]}) for name, sql in MODELS.items()]
        for model in models:
            assert project.refresh(model).mode == "create"
        project.sql("update $.orders set price = price + 100 where id in (2, 3)", "delete from $.orders where id = 5")
        for model in models:
            assert project.refresh(model).mode == "incremental"
            name = model.identifier if project.existing(model.identifier) == "table" else f"{model.identifier}__idivm"
            stored = tuple(project.spark.table(f"readers.{name}").columns), project.rows(f"select * from $.{name}")
            assert name.endswith("__idivm") is (model.identifier == "hidden")
            for reader, read in READERS.items():
                if READS[table, reader] == "reads":
                    assert read(project.location(name)) == stored, reader
                elif READS[table, reader] == "**reads NULLs**":
                    found = read(project.location(name))[1]  # in pandas NULL is NaN
                    assert {value for row in found for value in row if value == value} <= {None}, reader
                    assert found.total() == stored[1].total()
                else:
                    with pytest.raises(DeltaProtocolError, match="deletionVectors"):
                        read(project.location(name))
