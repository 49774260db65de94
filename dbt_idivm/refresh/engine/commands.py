"""Commands that sqlglot cannot represent as trees: look-ups, settings and clean-up. sqlglot quotes the names and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.dialect import Dialect

# Settings under which EXPLAIN shows all columns. By default Spark shows the first 25.
ALL_COLUMNS = {"spark.sql.debug.maxToStringFields": "100000"}


@dataclass(frozen=True)
class Commands:
    """The commands of Spark and Delta, as an engine of this dialect writes them."""

    dialect: Dialect

    def _name(self, relation: str) -> str:
        return self.dialect.relation_sql(relation)

    def history(self, table: str, limit: int) -> Statement:
        sql = f"DESCRIBE HISTORY {self._name(table)} LIMIT {limit}"
        return Statement(sql, "metadata", f"history of {table}", history=(table, limit))

    def file_actions(self, table: str, first: int, last: int) -> Statement:
        """What the commits from `first` to `last` did to the files of a table (`catalog/file_actions.py`). It has no SQL."""
        return Statement("", "metadata", f"file actions of {table} from version {first} to {last}", actions=(table, first, last))

    def describe(self, table: str) -> Statement:
        return Statement(f"DESCRIBE TABLE EXTENDED {self._name(table)}", "metadata", f"columns of {table}", described=table)

    def describe_as_json(self, relation: str) -> Statement:
        return Statement(f"DESCRIBE TABLE EXTENDED {self._name(relation)} AS JSON", "metadata", f"settings of {relation}")

    def describe_query(self, sql: str, what: str = "the model's SELECT") -> Statement:
        """The columns of a SELECT, with their types, without running it."""
        return Statement(f"DESCRIBE QUERY {sql.strip().rstrip(';')}", "metadata", f"columns of {what}")

    def explain_query(self, sql: str, what: str) -> Statement:
        """The plans of a SELECT, without running it."""
        return Statement(f"EXPLAIN EXTENDED {sql.strip().rstrip(';')}", "metadata", f"plan of {what}")

    def detail(self, table: str) -> Statement:
        """One row of facts about a Delta table, including its size in bytes."""
        return Statement(f"DESCRIBE DETAIL {self._name(table)}", "metadata", f"size of {table}")

    def describe_column(self, table: str, column: str) -> Statement:
        return Statement(
            f"DESCRIBE TABLE {self._name(table)} {self.dialect.identifier_sql(column)}", "metadata", f"column {column} of {table}"
        )

    def explain(self, *tables: str) -> Statement:
        """The plan for reading tables, before the optimiser reduces it to nothing."""
        every = [exp.Select(expressions=[exp.Star()]).from_(self.dialect.table(each, None)).where(exp.false()) for each in tables]
        if len(tables) == 1:
            what, query = tables[0], self.dialect.sql(every[0], pretty=False)
        else:
            what = f"{len(tables)} tables, {tables[0]} to {tables[-1]}"
            # UNION ALL needs branches of the same columns
            ones = [exp.Select(expressions=[exp.Literal.number(1)]).from_(subquery(each, "every_column")) for each in every]
            query = self.dialect.sql(union_all(ones), pretty=False)
        return Statement(f"EXPLAIN EXTENDED {query}", "metadata", f"plan of reading {what}")

    def describe_function(self, function: str) -> Statement:
        return Statement(f"DESCRIBE FUNCTION EXTENDED {self._name(function)}", "metadata", f"function {function}")

    def set_option(self, key: str, value: str) -> Statement:
        """SET in its quoted form. The plain form does not accept semicolons, and would include a comment that dbt appends."""
        quoted = exp.to_identifier(value, quoted=True).sql(self.dialect.name)
        return Statement(f"SET `{key}`={quoted}", "setting", f"set {key}", fetch=False, setting=(key, value))

    def read_option(self, key: str) -> Statement:
        return Statement(f"SET `{key}`", "metadata", f"read {key}")

    def reset_option(self, key: str) -> Statement:
        # quoted because of a comment that dbt may append
        return Statement(f"RESET `{key}`", "setting", f"reset {key}", fetch=False, setting=(key, None))

    def properties(self, table: str) -> Statement:
        return Statement(f"SHOW TBLPROPERTIES {self._name(table)}", "metadata", f"properties of {table}")

    def set_properties(self, table: str, properties: Mapping[str, str]) -> Statement:
        pairs = [exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value)) for key, value in properties.items()]
        action = exp.AlterSet(expressions=[exp.Properties(expressions=pairs)])
        tree = exp.Alter(this=self.dialect.table(table, None), kind="TABLE", actions=[action])
        return Statement(self.dialect.sql(tree, pretty=False), "metadata", f"set properties of {table}", fetch=False)

    def unset_properties(self, table: str, keys: tuple[str, ...]) -> Statement:
        listed = ", ".join(self.dialect.string_sql(key) for key in keys)
        return Statement(
            f"ALTER TABLE {self._name(table)} UNSET TBLPROPERTIES IF EXISTS ({listed})",
            "metadata",
            f"release {table}",
            fetch=False,
        )

    def comment_relation(self, kind: str, relation: str, text: str) -> Statement:
        """`kind` is table or view. An empty text removes the comment."""
        sql = f"ALTER {kind.upper()} {self._name(relation)} SET TBLPROPERTIES ('comment' = {self.dialect.string_sql(text)})"
        return Statement(sql, "metadata", f"describe {relation}", fetch=False)

    def comment_column(self, table: str, column: str, text: str) -> Statement:
        comment = self.dialect.string_sql(text)
        sql = f"ALTER TABLE {self._name(table)} ALTER COLUMN {self.dialect.identifier_sql(column)} COMMENT {comment}"
        return Statement(sql, "metadata", f"describe column {column} of {table}", fetch=False)

    def add_check(self, table: str, name: str, expression: str) -> Statement:
        """`expression` is the user's SQL, unquoted."""
        sql = f"ALTER TABLE {self._name(table)} ADD CONSTRAINT {self.dialect.identifier_sql(name)} CHECK ({expression})"
        return Statement(sql, "metadata", f"constrain {table}", fetch=False)

    def drop_check(self, table: str, name: str) -> Statement:
        sql = f"ALTER TABLE {self._name(table)} DROP CONSTRAINT {self.dialect.identifier_sql(name)}"
        return Statement(sql, "metadata", f"release {table} from a constraint", fetch=False)

    def optimize(self, table: str) -> Statement:
        return Statement(f"OPTIMIZE {self._name(table)}", "metadata", f"optimize {table}", fetch=False)

    def vacuum(self, table: str) -> Statement:
        return Statement(f"VACUUM {self._name(table)}", "metadata", f"vacuum {table}", fetch=False)

    def drop(self, kind: str, table: str) -> Statement:
        """DROP TABLE or DROP VIEW, if it exists."""
        return Statement(f"DROP {kind.upper()} IF EXISTS {self._name(table)}", "metadata", f"drop {kind} {table}", fetch=False)
