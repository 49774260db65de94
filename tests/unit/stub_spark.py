"""Sessions that answer the SQL of dbt and of the materialization as a Spark would, from a DuckDB in memory: tests of what is sent
need no JVM. What it has no answer for it refuses, as Spark's parser does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from dbt.adapters.idivm.progress import Tasks
from dbt.adapters.idivm.spark_handle import SparkConnection, SparkCursor

_COMMENT = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)
_RUN_AS_IT_IS = re.compile(r"(CREATE SCHEMA|USE) ", re.IGNORECASE)
_NAME = r"`?(?P<schema>\w+)`?\.`?(?P<name>\w+)`?"
_TEXT = r"'(?P<text>(?:[^'\\]|\\.)*)'"
_WRITES = (exp.Create, exp.Drop, exp.Insert)
_RELATIONS = (
    "select table_name, 'TABLE', comment from duckdb_tables() where schema_name = $schema union all "
    "select view_name, 'VIEW', comment from duckdb_views() where schema_name = $schema and not internal"
)
_COLUMNS = (
    "select column_name, data_type, coalesce(comment, '') from duckdb_columns() where schema_name = $schema "
    "and table_name = $name order by column_index"
)


class Refused(Exception):
    """The text is that of an error of Spark."""


class Kind(str):
    """A type, by its name."""

    __slots__ = ()
    simpleString = typeName = str.__str__


@dataclass
class Frame:
    """Rows, and the columns with their types."""

    columns: list[str]
    types: list[str]
    rows: list[tuple[Any, ...]]

    @property
    def schema(self) -> Any:
        return SimpleNamespace(
            fields=[
                SimpleNamespace(name=name, dataType=Kind(kind), nullable=True)
                for name, kind in zip(self.columns, self.types, strict=True)
            ]
        )

    def collect(self) -> list[tuple[Any, ...]]:
        return self.rows

    def take(self, size: int) -> list[tuple[Any, ...]]:
        return self.rows[:size]


NOTHING = Frame([], [], [])


@dataclass
class StubSpark:
    """One session. All of them share tables, and what is known of their commits."""

    database: Any = field(default_factory=lambda: duckdb.connect(":memory:"))
    commits: dict[str, list[str]] = field(default_factory=dict)
    conf: Any = field(default_factory=lambda: {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"})

    def newSession(self) -> StubSpark:
        return StubSpark(self.database.cursor(), self.commits)

    def sql(self, text: str) -> Frame:
        plain = _COMMENT.sub(" ", text).strip()
        for pattern, answer in ANSWERS.items():
            if (found := re.fullmatch(pattern, plain, re.IGNORECASE | re.DOTALL)) is not None:
                return answer(self, **found.groupdict())
        return self.run(plain) if _RUN_AS_IT_IS.match(plain) else self.parsed(plain)

    def parsed(self, text: str) -> Frame:
        """A query, or a statement that creates, fills or drops a relation."""
        try:
            tree = sqlglot.parse_one(text, read="spark")
        except sqlglot.ParseError as error:
            raise Refused(f"[PARSE_SYNTAX_ERROR] {error}") from None
        if not isinstance(tree, (exp.Query, *_WRITES)):
            raise Refused(f"[PARSE_SYNTAX_ERROR] Syntax error at or near '{text.split()[0]}'.")
        if isinstance(tree, exp.Create):
            tree.set("properties", None)
        if isinstance(tree, _WRITES):
            table = tree.find(exp.Table)
            assert table is not None
            self.committed(table.db, table.name, text)
            self.run(tree.sql("duckdb"))
            return NOTHING
        return self.run(tree.sql("duckdb"))

    def run(self, text: str) -> Frame:
        found = self.database.execute(text)
        described = found.description or []
        return Frame([each[0] for each in described], [_spark_type(str(each[1])) for each in described], found.fetchall())

    def asked(self, text: str, **values: str) -> list[tuple[Any, ...]]:
        return list(self.database.execute(text, values).fetchall())

    def committed(self, schema: str, name: str, what: str) -> None:
        self.commits.setdefault(f"{schema}.{name}", []).append(what)

    # what Spark shows, and DuckDB does not

    def schemas(self) -> Frame:
        return self.run("select distinct schema_name as namespace from duckdb_schemas() where not internal")

    def relations(self, schema: str) -> Frame:
        about = {"TABLE": "Type: MANAGED\nProvider: delta\n", "VIEW": "Type: VIEW\n"}
        rows = [
            (schema, name, False, f"Database: {schema}\nTable: {name}\n{about[kind]}")
            for name, kind, _ in self.asked(_RELATIONS, schema=schema)
        ]
        return Frame(["namespace", "tableName", "isTemporary", "information"], ["string", "string", "boolean", "string"], rows)

    def described(self, schema: str, name: str) -> Frame:
        found = {each: (kind, comment) for each, kind, comment in self.asked(_RELATIONS, schema=schema)}
        if name not in found:
            raise Refused(f"[TABLE_OR_VIEW_NOT_FOUND] The table or view `{schema}`.`{name}` cannot be found.")
        kind, comment = found[name]
        columns = [(column, _spark_type(of), text) for column, of, text in self.asked(_COLUMNS, schema=schema, name=name)]
        details = {
            "Name": f"spark_catalog.{schema}.{name}",
            "Type": {"TABLE": "MANAGED"}.get(kind, kind),
            "Comment": comment,
            "Provider": {"TABLE": "delta"}.get(kind),
        }
        more = [
            ("", "", ""),
            ("# Detailed Table Information", "", ""),
            *((key, value, "") for key, value in details.items() if value is not None),
        ]
        return Frame(["col_name", "data_type", "comment"], ["string"] * 3, [*columns, *more])

    def comment_on_column(self, schema: str, name: str, column: str, text: str) -> Frame:
        self.committed(schema, name, f"comment on {column}")
        return self.run(f"COMMENT ON COLUMN {schema}.{name}.{column} IS {_literal(text)}")

    def comment_on_relation(self, kind: str, schema: str, name: str, text: str) -> Frame:
        self.committed(schema, name, "comment")
        return self.run(f"COMMENT ON {kind} {schema}.{name} IS {_literal(text)}")

    def history(self, schema: str, name: str) -> Frame:
        rows = [(version, what) for version, what in enumerate(self.commits.get(f"{schema}.{name}", []))]
        return Frame(["version", "operation"], ["bigint", "string"], rows)

    def setting(self, key: str, value: str | None = None) -> Frame:
        """It is read, or set."""
        if value is not None:
            self.conf[key] = value
        return Frame(["key", "value"], ["string", "string"], [(key, self.conf.get(key, "<undefined>"))])

    def properties(self, schema: str, name: str) -> Frame:
        """Its tables have none."""
        return Frame(["key", "value"], ["string", "string"], [])


ANSWERS: dict[str, Callable[..., Frame]] = {
    r"show (databases|schemas)": StubSpark.schemas,
    r"show table extended in (?P<schema>\w+) like '\*'": StubSpark.relations,
    rf"describe (?:table )?extended {_NAME}": StubSpark.described,
    rf"show tblproperties {_NAME}": StubSpark.properties,
    r"set `?(?P<key>[\w.]+)`?(?: = (?P<value>\S+))?": StubSpark.setting,
    rf"describe history {_NAME}": StubSpark.history,
    rf"alter table {_NAME} alter column `?(?P<column>\w+)`? comment {_TEXT}": StubSpark.comment_on_column,
    rf"alter (?P<kind>table|view) {_NAME} set tblproperties \('comment' = {_TEXT}\)": StubSpark.comment_on_relation,
}


def _literal(text: str) -> str:
    """Of DuckDB, for what is between the quotes of one of Spark."""
    return "'" + re.sub(r"\\(.)", r"\1", text).replace("'", "''") + "'"


def _spark_type(kind: str) -> str:
    return "void" if kind == '"NULL"' else exp.DataType.build(kind, dialect="duckdb").sql("spark").lower()


class StubCursor(SparkCursor):
    def _is_done(self, frame: Frame) -> bool:
        return True


class StubConnection(SparkConnection):
    """In the place of the one over an embedded Spark. `shown`: how far its statements are."""

    cursor_type = StubCursor
    shown: Tasks | None = None

    def tasks(self) -> Tasks | None:
        return self.shown

    def cancel(self) -> None:
        """Nothing runs for long."""
