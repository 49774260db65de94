"""The statements that dbt's test classes run by themselves, in Spark's SQL."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbt_idivm.frontend.text import statements

REPLACED = (
    # a Spark catalog has schemas and no databases above them
    (r"\{database\}\.|\{\{ *target\.database *\}\}\.", ""),
    (r"\btext\b", "string"),
    (r"\btimestamp without time zone\b", "timestamp"),
    (r"(\w+)::(\w+)", r"cast(\1 as \2)"),  # Spark 3.5 has no `::`
    (r'"', "`"),
)


def spark_sql(sql: str) -> str:
    for pattern, replacement in REPLACED:
        sql = re.sub(pattern, replacement, sql, flags=re.IGNORECASE)
    return sql


class SparkSql:
    """Mixed in before one of dbt's test classes that runs SQL by itself: types, quotes, one statement at a time, and
    tables that can be updated."""

    @pytest.fixture(scope="class")
    def spark_settings(self) -> dict[str, str]:
        # their INSERTs give times as strings, which ANSI does not store
        return {"spark.sql.sources.default": "delta", "spark.sql.storeAssignmentPolicy": "legacy"}

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        run_sql = project.run_sql

        def run_all(sql: str, fetch: str | None = None) -> Any:
            results = [run_sql(statement, fetch) for statement in statements(spark_sql(sql))]
            return results[-1] if results else None

        project.run_sql = run_all
        return project
