"""SELECTs of which it is counted how many are proven, by where they come from."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.golden.golden_file import read
from tests.meaning.spark_meaning import spark_meaning
from tests.proof import tpch
from tests.property.directed import DIRECTED, FOUND
from tests.property.meaning import OnSpark
from tests.property.misreadings import MISREADINGS
from tests.property.plans import Table
from tests.property.strategies import Case, Content

_ROOT = Path(__file__).resolve().parents[2]
_DEMO = _ROOT / "examples" / "nycflights"
_RELATION = re.compile(r"\{\{ (?:source\('\w+', |ref\()'(\w+)'\) \}\}")
_KEYS = {
    "airlines": ("carrier",),
    "airports": ("faa",),
    "planes": ("tailnum",),
    "flights": ("year", "month", "day", "carrier", "flight", "origin"),
}


@dataclass(frozen=True)
class Select:
    """A SELECT over tables, with rows where there are some."""

    name: str
    tables: tuple[Table, ...]
    sql: str
    rows: Content


def create(tables: tuple[Table, ...], rows: Content | None = None) -> None:
    """These tables on Spark's meaning, and no others."""
    engine = OnSpark()
    for table in tables:
        engine.create(table.name, table.columns)
        engine.fill(table.name, table.columns, (rows or {}).get(table.name, []))


def of_tpch() -> Iterator[Select]:
    for name, sql in tpch.QUERIES.items():
        yield Select(name, tpch.TABLES, sql, {})


def of_demo() -> Iterator[Select]:
    """Its models over its sources; what a model reads of another one, that one has as a table."""
    sys.path.insert(0, str(_DEMO))
    from nycflights_demo import data

    texts = {path.stem: _RELATION.sub(r"\1", path.read_text()) for path in sorted((_DEMO / "models").rglob("*.sql"))}
    tables = tuple(
        Table(name, tuple(_column(each) for each in columns.split(", ")), _KEYS.get(name))
        for name, columns in data.TABLES.items()
    )
    create(tables)
    details = Table("flight_details", tuple(spark_meaning().schema(texts["flight_details"])), _KEYS["flights"])
    for name, sql in texts.items():
        yield Select(name, (*tables, details) if details.name in sql else tables, sql, {})


def _column(text: str) -> tuple[str, str]:
    name, kind = text.split()
    return name, kind


def of_goldens() -> Iterator[Select]:
    for path in sorted((_ROOT / "tests" / "golden").rglob("*.sql")):
        golden = read(path)
        if not golden.sections:  # a single statement
            continue
        yield Select(path.stem, golden.tables, golden.view, {})


def of_cases(cases: dict[str, Case]) -> Iterator[Select]:
    for name, case in cases.items():
        yield Select(name, case.tables, case.sql, case.start)


CORPUS = {
    "TPC-H": of_tpch,
    "demo models": of_demo,
    "goldens": of_goldens,
    "directed cases": lambda: of_cases({**DIRECTED, **FOUND}),
    "misreadings": lambda: of_cases(MISREADINGS),
}
