"""Commands that sqlglot has no trees for: look-ups, settings and clean-up. Names and values are quoted by sqlglot."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.dialect import DELTA

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
TXN_APP = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"


def name_sql(table: str) -> str:
    """A relation's name as SQL, its parts quoted where they must be."""
    return DELTA.table(table, None).sql(DELTA.name)


def string_sql(text: str) -> str:
    return exp.Literal.string(text).sql(DELTA.name)


def history(table: str, limit: int) -> Statement:
    return Statement(f"DESCRIBE HISTORY {name_sql(table)} LIMIT {limit}", "metadata", f"history of {table}")


def describe(table: str) -> Statement:
    return Statement(f"DESCRIBE TABLE EXTENDED {name_sql(table)}", "metadata", f"columns of {table}")


def set_option(key: str, value: str) -> Statement:
    """SET in its quoted form: the plain one refuses semicolons and would swallow a comment that dbt appends."""
    quoted = exp.to_identifier(value, quoted=True).sql(DELTA.name)
    return Statement(f"SET `{key}`={quoted}", "setting", f"set {key}", fetch=False)


def reset_option(key: str) -> Statement:
    return Statement(f"RESET {key}", "setting", f"reset {key}", fetch=False)


def drop(kind: str, table: str) -> Statement:
    """DROP TABLE or DROP VIEW, if it is there."""
    return Statement(f"DROP {kind.upper()} IF EXISTS {name_sql(table)}", "metadata", f"drop {kind} {table}",
                     fetch=False)
