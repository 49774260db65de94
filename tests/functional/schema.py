"""A schema in a Spark session: SQL with its name put in, its tables, and what they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engines import relations


@dataclass
class Schema:
    """In SQL, `$` is replaced by the name of the schema; `${` is text."""

    spark: Any
    schema: str

    def __post_init__(self) -> None:
        self.sql("create schema if not exists $", "use $")

    def within(self, sql: str) -> str:
        return re.sub(r"\$(?!\{)", self.schema, sql)

    def frame(self, sql: str) -> Any:
        return self.spark.sql(self.within(sql))

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """Rows of the last statement."""
        frames = [self.frame(each) for each in statements]
        return [tuple(row) for row in frames[-1].collect()] if frames else []

    def rows(self, sql: str) -> Counter[tuple[Any, ...]]:
        """Rows as a bag."""
        return Counter(self.sql(sql))

    def is_same(self, one: str, other: str) -> bool:
        """Two queries, in which `$` is text, give the same bag of rows. Compared here, because EXCEPT ALL costs seconds, and as
        text: NaN equals itself then."""
        first, second = (Counter(repr(tuple(row)) for row in self.spark.sql(each).collect()) for each in (one, other))
        return first == second

    def table(self, name: str, columns: str, *rows: str, feed: bool = True) -> None:
        """A Delta source with change data feed."""
        properties = f"tblproperties ('delta.enableChangeDataFeed' = '{str(feed).lower()}')"
        pairs = [column.split(" ", 1) for column in columns.split(", ")]
        names = [name for name, _ in pairs]
        types = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in pairs)
        source = f"select {types} from values {', '.join(rows)} as t({', '.join(names)})"
        self.sql(
            f"create table $.{name} using delta {properties} as {source}"
            if rows
            else f"create table $.{name} ({columns}) using delta {properties}"
        )

    def rewrite(self, name: str, *rows: str) -> None:
        """New contents in one commit: all old rows are deleted, the given ones inserted, and the net diff is what differs."""
        source = f"values {', '.join(rows)}" if rows else f"select * from $.{name} where false"
        self.sql(f"insert overwrite table $.{name} {source}")

    def relations(self) -> dict[str, str]:
        """The relations of the schema: name → table or view."""
        return relations(self.spark, self.schema)

    def existing(self, identifier: str) -> str | None:
        return self.relations().get(identifier.lower())

    def properties(self, table: str) -> dict[str, str]:
        return dict(self.sql(f"show tblproperties $.{table}"))

    def detail(self, table: str) -> dict[str, Any]:
        """What DESCRIBE DETAIL says of a Delta table."""
        frame = self.frame(f"describe detail $.{table}")
        (row,) = frame.collect()
        return dict(zip(frame.columns, row, strict=True))

    def location(self, table: str) -> Path:
        """The folder of a Delta table."""
        return Path(self.detail(table)["location"].removeprefix("file:"))

    def history(self, table: str, *columns: str, limit: int = 1000) -> list[tuple[Any, ...]]:
        """These columns of the newest commits of a Delta table, the newest first."""
        frame = self.frame(f"describe history $.{table} limit {limit}")
        places = [frame.columns.index(each) for each in columns]
        return [tuple(row[place] for place in places) for row in frame.collect()]

    def version(self, table: str) -> int:
        """The newest version of a Delta table."""
        ((found,),) = self.history(table, "version", limit=1)
        return int(found)

    def invalidate(self, table: Path) -> None:
        """What Spark knows of the log of a Delta table is read again."""
        logs = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog
        logs.invalidateCache(self.spark._jsparkSession, self.spark._jvm.org.apache.hadoop.fs.Path(str(table)))

    def move(self, session: Any) -> None:
        """Go on in another session."""
        self.spark = session
        self.sql("use $")

    @contextmanager
    def in_session(self, session: Any) -> Iterator[None]:
        """In the session of somebody else."""
        own = self.spark
        try:
            self.move(session)
            yield
        finally:
            self.spark = own

    def drop(self) -> None:
        """Nothing is left of it."""
        self.sql("drop schema $ cascade", "use default")
