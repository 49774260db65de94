"""Spark's meaning as the engine of a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.script.binding import Staged
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import Row, Value
from dbt_idivm.script.render import BoundScript
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

    def stage(self, relations: Sequence[Staged]) -> None:
        for each in relations:
            self.store(each.name, each.query)

    def write(self, statement: Write, script: BoundScript) -> int:
        try:
            if isinstance(statement, exp.Insert) and (where := statement.args.get("where")) is not None:
                return self._replace(statement, where)
            return self._append(statement) if isinstance(statement, exp.Insert) else self.spark.merge(_sql(statement))
        except SparkRefuses as error:
            if error.is_collision:
                raise Collision from error
            raise

    def _replace(self, insert: exp.Insert, where: exp.Expr) -> int:
        """REPLACE WHERE: the rows for which the condition does not hold, and those of the query, whose types are the columns'."""
        every = exp.Select(expressions=[exp.Star()])
        before, after = self.types(every.from_(insert.this.copy())), self.types(insert.expression)
        assert list(before) == list(after) and all(kind in (before[name], "void") for name, kind in after.items())
        rows = self.rows(insert.expression)
        is_kept = exp.Not(this=exp.Coalesce(this=where.copy(), expressions=[exp.false()]))
        kept = every.from_(insert.this.copy()).where(is_kept)
        self.store(insert.this.name, union_all([kept, every.from_(subquery(insert.expression, "new_rows"))]))
        return len(rows)

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
