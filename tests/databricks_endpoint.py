"""A stand-in for a Databricks cluster or SQL warehouse, over the local Spark: what such an endpoint answers and refuses.

It is Spark with Delta, whose only catalog takes the place of one of Unity Catalog, so that names of three parts are real. Changed
is what is documented to be different there: which commands and settings are refused, which tables are created with deletion
vectors and row tracking, the columns of DESCRIBE and of the counts of a write, and the views of the information schema. What is
taken for granted here without a workspace is listed in docs/databricks.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CATALOG = "spark_catalog"
# All that a session of a SQL warehouse can set.
PARAMETERS = frozenset(
    {
        "ANSI_MODE",
        "ENABLE_PHOTON",
        "LEGACY_TIME_PARSER_POLICY",
        "MAX_FILE_PARTITION_BYTES",
        "QUERY_TAGS",
        "READ_ONLY_EXTERNAL_METASTORE",
        "STATEMENT_TIMEOUT",
        "TIMEZONE",
        "USE_CACHED_RESULT",
    }
)
# Workspaces create tables so.
DEFAULTS = {
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
    "spark.databricks.delta.properties.defaults.enableRowTracking": "true",
}
_COMMENT = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)
_SETTING = re.compile(r"(?:RE)?SET\s+(?!TIME\s+ZONE)`?([\w.]+)`?\s*(?:=\s*(.*))?\Z", re.IGNORECASE | re.DOTALL)
_TEMPORARY = re.compile(r"CREATE\s+(OR\s+REPLACE\s+)?(GLOBAL\s+)?TEMP(ORARY)?\s+(VIEW|TABLE)", re.IGNORECASE)
_INFORMATION = re.compile(rf"`?(?:system|{CATALOG})`?\.`?information_schema`?\.`?(\w+)`?", re.IGNORECASE)
# Its views that have a row for something that no table here has.
_NOTHING = {
    "row_filters": "table_catalog, table_schema, table_name, filter_name, target_columns",
    "column_masks": "table_catalog, table_schema, table_name, column_name, mask_name, using_columns",
    "table_tags": "catalog_name, schema_name, table_name, tag_name, tag_value",
    "column_tags": "catalog_name, schema_name, table_name, column_name, tag_name, tag_value",
    "table_constraints": "constraint_catalog, constraint_schema, constraint_name, table_catalog, table_schema, table_name, "
    "constraint_type, is_deferrable, initially_deferred, enforced, comment",
    "key_column_usage": "constraint_catalog, constraint_schema, constraint_name, table_catalog, table_schema, table_name, "
    "column_name, ordinal_position, position_in_unique_constraint",
    "referential_constraints": "constraint_catalog, constraint_schema, constraint_name, unique_constraint_catalog, "
    "unique_constraint_schema, unique_constraint_name, match_option, update_rule, delete_rule",
}
_TABLE = re.compile(r"table_name\s*=\s*'([^']*)'", re.IGNORECASE)
_SCHEMA = re.compile(r"table_schema\s*=\s*'([^']*)'", re.IGNORECASE)
_NAME = r"((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
_WRITTEN = re.compile(
    r"(?:INSERT\s+(?:INTO|OVERWRITE)(?:\s+TABLE)?|CREATE\s+(?:OR\s+REPLACE\s+)?TABLE(?:\s+IF\s+NOT\s+EXISTS)?)"
    rf"\s+{_NAME}",
    re.IGNORECASE,
)
_AS_JSON = re.compile(rf"DESCRIBE\s+TABLE\s+EXTENDED\s+{_NAME}\s+AS\s+JSON\Z", re.IGNORECASE)
_RELATION = re.compile(rf"DESCRIBE\s+(?:TABLE\s+)?EXTENDED\s+{_NAME}\s*\Z", re.IGNORECASE)


class Refused(Exception):
    """The text is that of the endpoint's error."""


@dataclass(frozen=True)
class Kind:
    """A kind of compute. `runtime` is None for a warehouse, which does not say."""

    name: str
    runtime: str | None
    temporary_views: bool = True


CLUSTER = Kind("cluster", "17.3.x-scala2.13")
WAREHOUSE = Kind("warehouse", None, temporary_views=False)


class Endpoint:
    """One session of the compute."""

    def __init__(self, spark: Any, kind: Kind) -> None:
        """`spark` is a session of its own."""
        self.spark, self.kind = spark, kind
        self.executed: list[str] = []
        for key, value in DEFAULTS.items():
            spark.conf.set(key, value)

    def sql(self, text: str) -> Any:
        """The frame that the statement gives, as a session of Spark has it. Raises what Spark raises, and Refused."""
        self.executed.append(text)
        plain = _COMMENT.sub(" ", text).strip().removesuffix(";").strip()
        setting = _SETTING.match(plain)
        if setting is not None:
            return self._setting(plain, setting[1], setting[2])
        if self.kind.runtime is None:
            self._refuse(plain)
        return self._answer(plain)(text)

    def _refuse(self, plain: str) -> None:
        verb = plain.split(None, 2)[:2]
        temporary = _TEMPORARY.match(plain) and not self.kind.temporary_views
        if temporary or verb[0].upper() in ("CACHE", "UNCACHE"):
            what = "CREATE TEMPORARY VIEW" if temporary else "CACHE TABLE"
            raise Refused(f"[NOT_SUPPORTED_WITH_DB_SQL] {what} is not supported on a SQL warehouse. SQLSTATE: 0A000")

    def _setting(self, plain: str, key: str, value: str | None) -> Any:
        if key == "spark.databricks.clusterUsageTags.sparkVersion" and self.kind.runtime is not None:
            return self.spark.createDataFrame([(key, self.kind.runtime)], "key string, value string")
        if self.kind.runtime is None and key.upper() not in PARAMETERS:
            raise Refused(f"[CONFIG_NOT_AVAILABLE] Configuration {key} is not available. SQLSTATE: 42K0I")
        if key.upper() == "ANSI_MODE" and value is not None:
            return self.spark.sql(f"SET spark.sql.ansi.enabled={value.strip().lower()}")
        return self.spark.sql(plain)

    def _answer(self, plain: str) -> Callable[[str], Any]:
        if plain.upper().startswith("DESCRIBE HISTORY"):
            return self._history
        as_json = _AS_JSON.match(plain)
        if as_json is not None:
            return lambda text: self._described_as_json(text, as_json[1])
        if _RELATION.match(plain):
            return self._described
        if _INFORMATION.search(plain):
            return self._information
        written = _WRITTEN.match(plain)
        if written is not None:
            return lambda text: self._counted(text, written[1])
        return self.spark.sql  # type: ignore[no-any-return]

    def _history(self, text: str) -> Any:
        """Who has committed, with what."""
        found = self.spark.sql(text)
        known = {
            "userId": "'7423461298'",
            "userName": "'ann@example.com'",
            "clusterId": "'1125-090000-abcdefgh'",
            "engineInfo": "'Databricks-Runtime/17.3.x-photon-scala2.13'",
        }
        return found.selectExpr(*(f"{known[each]} as {each}" if each in known else f"`{each}`" for each in found.columns))

    def _described(self, text: str) -> Any:
        """A table has its catalog, schema and name in rows of their own, and more about who manages it."""
        frame = self.spark.sql(text)
        rows = [tuple(row) for row in frame.collect()]
        at = next((number for number, row in enumerate(rows) if row[0] == "# Detailed Table Information"), None)
        name = next((row[1] for row in rows[at or 0 :] if row[0] == "Name"), None)
        if at is None or name is None:
            return frame
        catalog, schema, table = name.split(".")
        before = [
            ("# Delta Statistics Columns", "", ""),
            ("Column Names", ", ".join(row[0] for row in rows[:at] if row[1]), ""),
            ("Column Selection Method", "first-32", ""),
            ("", "", ""),
        ]
        own = [
            ("Catalog", catalog, ""),
            ("Database", schema, ""),
            ("Table", table, ""),
            ("Created By", "Spark ", ""),
            ("Is_managed_location", "true", ""),
            ("Predictive Optimization", "ENABLE (inherited from METASTORE)", ""),
        ]
        rest = [row for row in rows[at + 1 :] if row[0] not in ("Name", "Is_managed_location")]
        return self.spark.createDataFrame(
            [*rows[:at], *before, rows[at], *own, *rest], "col_name string, data_type string, comment string"
        )

    def _described_as_json(self, text: str, name: str) -> Any:
        """Local Spark has no JSON of Delta tables."""
        rows = [tuple(row) for row in self.spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()]
        details = {row[0]: row[1] for row in rows}
        if "Name" not in details:  # a view, which has it
            return self.spark.sql(text)
        catalog, schema, table = details["Name"].split(".")
        columns = [
            {"name": each.name, "type": _json_type(each.dataType.jsonValue()), "nullable": each.nullable}
            for each in self.spark.table(name).schema.fields
        ]
        properties = dict(tuple(row) for row in self.spark.sql(f"SHOW TBLPROPERTIES {name}").collect())
        found = {
            "table_name": table,
            "catalog_name": catalog,
            "namespace": [schema],
            "schema_name": schema,
            "columns": columns,
            "type": details["Type"],
            "provider": details["Provider"],
            "table_properties": properties,
        }
        return self.spark.createDataFrame([(json.dumps(found),)], "json_metadata string")

    def _information(self, text: str) -> Any:
        """A query over the information schema; of tables, asked of one schema at a time."""
        for view in {found.lower() for found in _INFORMATION.findall(text)}:
            if view == "tables":
                self._list_tables(text)
            elif view == "columns":
                self._list_columns(text)
            elif view not in _NOTHING:
                raise Refused(f"the stand-in has no {view} in its information schema")
            else:
                columns = ", ".join(f"{each} string" for each in _NOTHING[view].split(", "))
                self.spark.createDataFrame([], columns).createOrReplaceTempView(f"idivm_stand_in_{view}")
        return self.spark.sql(_INFORMATION.sub(lambda found: f"idivm_stand_in_{found[1].lower()}", text))

    def _list_tables(self, text: str) -> None:
        found = _SCHEMA.search(text)
        schema = found[1] if found else ""
        rows = []
        if self.spark.sql(f"show schemas in {CATALOG} like '{schema}'").collect():
            views = {row[1] for row in self.spark.sql(f"show views in {CATALOG}.{schema}").collect()}
            tables = [row[1] for row in self.spark.sql(f"show tables in {CATALOG}.{schema}").collect() if row[0]]
            rows = [
                (
                    CATALOG,
                    schema,
                    name,
                    "VIEW" if name in views else "MANAGED",
                    None if name in views else self._format(schema, name),
                    "ann@example.com",
                )
                for name in tables
            ]
        columns = (
            "table_catalog string, table_schema string, table_name string, table_type string, data_source_format string, "
            "table_owner string"
        )
        self.spark.createDataFrame(rows, columns).createOrReplaceTempView("idivm_stand_in_tables")

    def _list_columns(self, text: str) -> None:
        """Those of one table."""
        schema, table = _SCHEMA.search(text), _TABLE.search(text)
        assert schema is not None and table is not None, text
        fields = self.spark.table(f"{CATALOG}.{schema[1]}.`{table[1]}`").schema.fields
        rows = [
            (
                CATALOG,
                schema[1],
                table[1],
                each.name,
                number,
                "YES" if each.nullable else "NO",
                each.dataType.simpleString(),
                each.metadata.get("comment"),
            )
            for number, each in enumerate(fields)
        ]
        self.spark.createDataFrame(
            rows,
            "table_catalog string, table_schema string, table_name string, column_name string, "
            "ordinal_position int, is_nullable string, full_data_type string, comment string",
        ).createOrReplaceTempView("idivm_stand_in_columns")

    def _format(self, schema: str, name: str) -> str:
        rows = self.spark.sql(f"describe table extended {CATALOG}.{schema}.`{name}`").collect()
        return next((row[1].upper() for row in rows if row[0] == "Provider"), "")

    def _counted(self, text: str, table: str) -> Any:
        """An INSERT, and a CREATE TABLE AS SELECT, answers how many rows it has written."""
        frame = self.spark.sql(text)
        if frame.columns:
            return frame
        commit = self.spark.sql(f"describe history {table} limit 1").collect()
        written = (commit[0]["operationMetrics"] or {}).get("numOutputRows") if commit else None
        if written is None:
            return frame
        return self.spark.createDataFrame([(int(written), int(written))], "num_affected_rows long, num_inserted_rows long")


def _json_type(name: Any) -> dict[str, Any]:
    """A type as DESCRIBE AS JSON shows it; nested ones are not asked for here."""
    plain = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    if decimal is not None:
        return {"name": "decimal", "precision": int(decimal[1]), "scale": int(decimal[2])}
    return {"name": plain.get(name, name)}
