"""Spark's meaning as the engine of a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.script.bind import BoundScript
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row, Value
from dbt_idivm.script.ways import Write
from tests.meaning.spark_meaning import ANSI, NOT_ANSI, SparkRefuses, spark_meaning
from tests.property.engine import Collision, Columns

SPARK = Dialect("spark", time_travel=False)


class OnSpark:
    """Spark's catalog in memory, of which there is one: one world at a time. Its oracle is the user's SQL, letter by letter."""

    dialect = SPARK
    name = "Spark's meaning"

    def __init__(self, *, ansi: bool = True) -> None:
        self.spark = spark_meaning()
        self.spark.reset()
        self.spark.configure(ANSI if ansi else NOT_ANSI)

    def create(self, name: str, columns: Columns) -> None:
        self.spark.table(name, columns, ())

    def fill(self, name: str, columns: Columns, rows: Sequence[Row]) -> None:
        self.spark.table(name, columns, rows)

    def store(self, name: str, query: exp.Expr) -> None:
        self.spark.create(name, _sql(query))

    def rows(self, query: exp.Expr) -> list[Row]:
        return self.spark.query(_sql(query))

    def oracle(self, sql: str) -> list[Row]:
        return self.spark.query(sql)

    def types(self, query: exp.Expr) -> Mapping[str, str]:
        return dict(self.spark.schema(_sql(query)))

    def cell(self, value: object) -> Value:
        return value  # read as it is inlined

    def type_name(self, own: str) -> str:
        return own

    def stage(self, script: BoundScript) -> None:
        for each in script.staged:
            self.store(each.name, each.query)

    def write(self, statement: Write, script: BoundScript) -> int:
        try:
            return self._append(statement) if isinstance(statement, exp.Insert) else self.spark.merge(_sql(statement))
        except SparkRefuses as error:
            if error.is_collision:
                raise Collision from error
            raise

    def _append(self, insert: exp.Insert) -> int:
        """The table with the rows of the query behind its own; their types have to be the columns' own, or that of NULL."""
        target, query = insert.this.this, insert.expression
        columns = [name.copy() for name in insert.this.expressions]
        before = self.types(exp.Select(expressions=columns).from_(target.copy()))
        assert all(kind in (before[name], "void") for name, kind in self.types(query).items())
        number = len(self.rows(query))
        own, new = (exp.Select(expressions=[exp.Star()]).from_(rows) for rows in (target.copy(), subquery(query, "new_rows")))
        self.store(target.name, union_all([own, new]))
        return number

    def close(self) -> None:
        self.spark.reset()


def not_ansi() -> OnSpark:
    """The same without ANSI mode."""
    return OnSpark(ansi=False)


def _sql(query: exp.Expr) -> str:
    return SPARK.sql(query, pretty=False)
