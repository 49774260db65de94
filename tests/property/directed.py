"""Cases written by hand: where random search is a weak finder, and counter-examples that were found once.

`build` makes a case from a text: tables as `name(column type, …; key)`, rows and batches as Python values.
"""

from __future__ import annotations

from tests.property.harness import Table
from tests.property.strategies import Case, Content


def table(text: str) -> Table:
    """`t(k int, x string; k)`: a table with its key behind the semicolon, if it has one."""
    name, _, inside = text.rstrip(")").partition("(")
    columns, _, key = inside.partition(";")
    pairs = tuple(tuple(column.split()) for column in columns.split(","))
    return Table(name, pairs, tuple(key.replace(",", " ").split()) or None)


def build(tables: str, sql: str, start: Content, *batches: Content) -> Case:
    """One table a line."""
    return Case(tuple(table(line.strip()) for line in tables.strip().splitlines()), sql, start, batches)


FOUND = {
    "alias of the stored view beside a union that is called v": build(
        "t0(k int; k)\nt1(k int, l int; k, l)",
        "SELECT a.k AS c0 FROM t0 AS a UNION SELECT b.k AS c0 FROM t1 AS b CROSS JOIN t0 AS c",
        {"t0": [(0,)], "t1": [(0, 0)]}, {"t0": [(1,)]}),
}
