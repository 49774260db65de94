"""The demo: five tables of flights, its six models, and two of its rounds of changes in one, read from the demo's own files.

Scale 1 is the year 2013, 336,776 flights. At scale 10 or 100 the same flights left in each of so many years up to 2013, in the
same weather; below 1 it is a sample of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.workload import Change, Query, Step, Table, Workload

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "nycflights"
sys.path.append(str(EXAMPLE))

from nycflights_demo import data  # noqa: E402

FLIGHT = ("year", "month", "day", "carrier", "flight", "origin")
# In the order of dbt's run: a model after those that it reads.
KEYS = {
    "flight_details": FLIGHT,
    "carrier_manufacturers": ("carrier", "manufacturer"),
    "airport_movements": (*FLIGHT, "movement"),
    "foul_weather": FLIGHT,
    "long_hauls": tuple(f"key_{name}" for name in FLIGHT),
    "airline_routes": ("airline", "destination"),
}
NOT_BY_HAND = {"dbt_incremental": "flights are deleted, and no column says when a row was loaded: no exact MERGE can be written"}


def workload(scale: float = 1.0) -> Workload:
    years, one_in = max(1, round(scale)), max(1, round(1 / scale))
    sampled = f"where pmod(xxhash64({', '.join(FLIGHT)}), {one_in}) = 0" if one_in > 1 else ""
    return Workload(
        name=data.SCHEMA,
        tables=(
            Table("flights", f"select * from ({data.over_years('flights', years)}) {sampled}", FLIGHT),
            Table("airlines", "select * from csv_airlines", ("carrier",)),
            Table("airports", "select * from csv_airports", ("faa",)),
            Table("planes", "select * from csv_planes", ("tailnum",)),
            Table("weather", data.over_years("weather", years)),
        ),
        queries=tuple(_query(name, key) for name, key in KEYS.items()),
        changes=(Change("day", "flights", day, fixed=True), Change("delays", "flights", delays)),
        prepare=read_files,
    )


def read_files(session: Any, folder: Path) -> None:
    """The package's CSV files as temporary views."""
    for table, schema in data.TABLES.items():
        reader = session.read.schema(schema).option("mode", "FAILFAST")
        rows = reader.csv(str(data.csv_file(table, folder)), header=True, nullValue=data.MISSING)
        rows.createOrReplaceTempView(f"csv_{table}")


def _query(name: str, key: tuple[str, ...]) -> Query:
    (file,) = (EXAMPLE / "models").rglob(f"{name}.sql")
    sql = re.sub(r"{{ source\('(\w+)', '(\w+)'\) }}", r"\1.\2", file.read_text(encoding="utf-8"))
    sql = re.sub(r"{{ ref\('(\w+)'\) }}", r"$lane.\1", sql)
    extended = None
    if name == "long_hauls":  # it selects no key
        extended = sql.replace("\nfrom", "".join(f",\n    f.{each} as key_{each}" for each in FLIGHT) + "\nfrom", 1)
    return Query(name, sql, key, extended, without=NOT_BY_HAND)


def day(step: Step) -> Sequence[str]:
    """The demo's second and third round, with each step a day later: flights of a new day, corrections of an old one, airports,
    weather."""
    number = step.number
    files = ("2_a_new_day_of_flights.sql", "3_corrections.sql")
    statements = [each for file in files for each in data.statements(EXAMPLE / "changes" / file)]
    later = {
        "2014, 1, 1,": f"2014, 1, {number},",
        "interval 34 days": f"interval {33 + number} days",
        "interval 353 days": f"interval {352 + number} days",
        "day = 31": f"day = {32 - number}",
        "'PSE'": f"'PS{number}'",
        "San Jose'": f"San Jose {number}'",
        "faa = '04G'": "faa = '04G'" if number == 1 else f"faa = 'PS{number - 1}'",
        "wind_speed > 38": f"wind_speed > {39 - number}",
    }
    text = ";".join(statements)
    for old, new in later.items():
        if old not in text:
            raise ValueError(f"the demo's second round does not contain: {old}")
        text = text.replace(old, new)
    return text.split(";")


def delays(step: Step) -> Sequence[str]:
    """Flights all over the year were later than reported."""
    return (
        f"""update nycflights.flights set dep_delay = dep_delay + 5, arr_delay = arr_delay + 7
                where pmod(xxhash64({", ".join(FLIGHT)}, {step.number}), {step.every}) = 0""",
    )
