"""Values as SQL text and back: by Spark's rules for literals (written down here), and by DuckDB for its dialect."""

from __future__ import annotations

import datetime as dt
import re
import struct
from decimal import Decimal

import duckdb
from hypothesis import example, given
from hypothesis import strategies as st

from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.refresh.engine.engine import SPARK_DELTA
from dbt_idivm.script.dialect import DELTA, DUCKDB, literal
from dbt_idivm.script.diff import Value
from tests.property.values import CHARACTERS, STRINGS

# One literal of Spark's grammar; an escape: \uXXXX, \UXXXXXXXX, three octal digits of which the first is 0 or 1, one character
LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))", re.DOTALL)
NAMED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def read_by_spark(sql: str) -> str:
    """What Spark makes of a literal, or of CONCAT over literals. Fails where the text is anything else."""
    assert "${" not in sql, "Spark would look for a variable"
    inside = re.fullmatch(r"CONCAT\((.*)\)", sql, re.DOTALL)
    texts = LITERAL.findall(inside[1] if inside else sql)
    assert LITERAL.sub("_", inside[1] if inside else sql) == ", ".join("_" * len(texts)), sql
    return "".join(ESCAPE.sub(_unescaped, text) for text in texts)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code or found[3]:
        return chr(int(code, 16) if code else int(found[3], 8))
    return NAMED.get(found[4], found[4])


@given(STRINGS | st.text(CHARACTERS))
@example("\0" + "12")
@example("$" + "{x}")
@example("\\%")
@example("0" * 80)
def test_strings_by_sparks_rules(text: str) -> None:
    assert read_by_spark(literal(text).sql("spark")) == text
    # as part of a statement that is printed over several lines
    query = DELTA.sql(DELTA.rows((("c", "string"),), ((text,),), "r").subquery("s").select("c"))
    found = re.search(r"VALUES\s*\((.*)\) AS r\(c1\)", query, re.DOTALL)
    assert found and read_by_spark(re.sub(r"\s*\n\s*", " ", found[1]).strip().replace("( ", "(").replace(" )", ")")) == text


@given(STRINGS | st.text(CHARACTERS, min_size=1))
def test_names(name: str) -> None:
    """A quoted identifier has no escapes but the doubled quote."""
    sql = identifier(name).sql("spark")
    if sql != name:
        assert re.fullmatch(r"`(?:[^`]|``)*`", sql, re.DOTALL) and sql[1:-1].replace("``", "`") == name
    else:
        assert re.fullmatch(r"[a-z_][a-z0-9_]*", name)
    option = SPARK_DELTA.commands.set_option("k", name or "x").sql
    assert option.startswith("SET `k`=`") and option[9:-1].replace("``", "`") == (name or "x")


DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2])
DECIMALS = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: f"{'-' * (n < 0)}{abs(n) // 10**18}.{abs(n) % 10**18:018}")
CELLS: list[tuple[str, st.SearchStrategy[Value]]] = [
    ("string", STRINGS.filter(lambda text: "\0" not in text)),
    ("double", DOUBLES.map(repr)),
    ("boolean", st.booleans()),
    ("bigint", st.integers(-(2**63), 2**63 - 1)),
    ("tinyint", st.integers(-128, 127)),
    ("date", st.dates().map(str)),
    ("timestamp_ntz", st.datetimes().map(str)),
    ("decimal(38,18)", DECIMALS),
]
ROW = st.tuples(*(st.none() | cells for _, cells in CELLS))


@given(st.lists(ROW, max_size=20))
def test_rows_by_duckdb(rows: list[tuple[Value, ...]]) -> None:
    """Each cell comes back with its type and its value, doubles to the bit."""
    kinds = tuple((f"c{n}", kind) for n, (kind, _) in enumerate(CELLS))
    found = duckdb.sql(DUCKDB.sql(DUCKDB.rows(kinds, tuple(rows), "r"))).fetchall()
    assert [tuple(map(_plain, row)) for row in found] == [
        tuple(_wanted(kind, cell) for (kind, _), cell in zip(CELLS, row, strict=True)) for row in rows
    ]


def _plain(value: object) -> object:
    return struct.pack("d", value) if isinstance(value, float) else value


def _wanted(kind: str, cell: Value) -> object:
    if cell is None or not isinstance(cell, str):
        return cell
    if kind == "double":
        return _plain(float(cell))
    read = {"date": dt.date.fromisoformat, "timestamp_ntz": dt.datetime.fromisoformat, "string": str}.get(kind, Decimal)
    return read(cell)
