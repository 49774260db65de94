"""Commands that sqlglot has no trees for: look-ups, settings and clean-up. Names and values are quoted by sqlglot."""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.expressions import identifier
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


def describe_as_json(relation: str) -> Statement:
    return Statement(f"DESCRIBE TABLE EXTENDED {name_sql(relation)} AS JSON", "metadata", f"settings of {relation}")


def describe_query(sql: str, what: str = "the model's SELECT") -> Statement:
    """The columns of a SELECT, with their types, without running it."""
    return Statement(f"DESCRIBE QUERY {sql.strip().rstrip(';')}", "metadata", f"columns of {what}")


def explain_query(sql: str, what: str) -> Statement:
    """The plans of a SELECT, without running it."""
    return Statement(f"EXPLAIN EXTENDED {sql.strip().rstrip(';')}", "metadata", f"plan of {what}")


def detail(table: str) -> Statement:
    """One row of facts about a Delta table, its size among them."""
    return Statement(f"DESCRIBE DETAIL {name_sql(table)}", "metadata", f"size of {table}")


def describe_column(table: str, column: str) -> Statement:
    return Statement(f"DESCRIBE TABLE {name_sql(table)} {identifier(column).sql(DELTA.name)}", "metadata",
                     f"column {column} of {table}")


def explain(table: str) -> Statement:
    """The plan that reads a table, before it is optimised to nothing."""
    return Statement(f"EXPLAIN EXTENDED SELECT * FROM {name_sql(table)} WHERE FALSE", "metadata", f"plan of reading {table}")


def set_option(key: str, value: str) -> Statement:
    """SET in its quoted form: the plain one refuses semicolons and would swallow a comment that dbt appends."""
    quoted = exp.to_identifier(value, quoted=True).sql(DELTA.name)
    return Statement(f"SET `{key}`={quoted}", "setting", f"set {key}", fetch=False)


def read_option(key: str) -> Statement:
    return Statement(f"SET `{key}`", "metadata", f"read {key}")


def reset_option(key: str) -> Statement:
    # quoted for the sake of a comment that dbt appends
    return Statement(f"RESET `{key}`", "setting", f"reset {key}", fetch=False)


def properties(table: str) -> Statement:
    return Statement(f"SHOW TBLPROPERTIES {name_sql(table)}", "metadata", f"properties of {table}")


def unset_properties(table: str, keys: tuple[str, ...]) -> Statement:
    listed = ", ".join(string_sql(key) for key in keys)
    return Statement(f"ALTER TABLE {name_sql(table)} UNSET TBLPROPERTIES IF EXISTS ({listed})", "metadata",
                     f"release {table}", fetch=False)


def comment_relation(kind: str, relation: str, text: str) -> Statement:
    """`kind` is table or view. An empty text takes the comment away."""
    sql = f"ALTER {kind.upper()} {name_sql(relation)} SET TBLPROPERTIES ('comment' = {string_sql(text)})"
    return Statement(sql, "metadata", f"describe {relation}", fetch=False)


def comment_column(table: str, column: str, text: str) -> Statement:
    sql = f"ALTER TABLE {name_sql(table)} ALTER COLUMN {identifier(column).sql(DELTA.name)} COMMENT {string_sql(text)}"
    return Statement(sql, "metadata", f"describe column {column} of {table}", fetch=False)


def add_check(table: str, name: str, expression: str) -> Statement:
    """`expression` is the user's SQL as it is."""
    sql = f"ALTER TABLE {name_sql(table)} ADD CONSTRAINT {identifier(name).sql(DELTA.name)} CHECK ({expression})"
    return Statement(sql, "metadata", f"constrain {table}", fetch=False)


def drop_check(table: str, name: str) -> Statement:
    sql = f"ALTER TABLE {name_sql(table)} DROP CONSTRAINT {identifier(name).sql(DELTA.name)}"
    return Statement(sql, "metadata", f"release {table} from a constraint", fetch=False)


def drop(kind: str, table: str) -> Statement:
    """DROP TABLE or DROP VIEW, if it is there."""
    return Statement(f"DROP {kind.upper()} IF EXISTS {name_sql(table)}", "metadata", f"drop {kind} {table}",
                     fetch=False)
