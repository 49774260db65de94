"""Each row of the support matrix: its example, maintained through changes of every kind, equals what Spark makes of its text."""

from __future__ import annotations

from itertools import product

import pytest

from dbt_idivm.support import CATALOG, CONSTRUCTS
from tests.property.chosen import some
from tests.property.coverage import DIRECTED_AND_MEANT
from tests.property.judge import judge
from tests.property.plans import Table
from tests.property.profiles import is_long
from tests.property.strategies import Case, Content
from tests.property.test_equivalence import ALL_WAYS

TABLES = tuple(Table(info.name, tuple((a.name, a.type) for a in info.columns), info.key) for info in CATALOG.tables.values())
SQL = {each.name: each.sql for each in CONSTRUCTS}
NOON = 1_704_110_400_000_000
WAYS = ("additive", "optimised", "recompute", "tuple") if is_long() else ("additive",)
# orders: id, cid, status, price, amount, weight; customers: id, name, credit; clicks: page, at
START: Content = {
    "orders": [
        (1, 1, "open", "10.00", 1, "0.5"),
        (2, 1, "paid", "20.00", 2, "0.25"),
        (3, 2, "open", "10.00", None, "1.0"),
        (4, None, None, None, 4, None),
        (5, 9, "paid late", "5.50", 5, "2.0"),
    ],
    "customers": [(1, "Ann", "15.00"), (2, "Bo", "5.00"), (3, None, None)],
    "clicks": [("home", NOON), ("shop", NOON), ("shop", NOON)],
}
BATCHES: tuple[Content, ...] = (
    # rows come, with a partner, without one, with NULLs; one more copy of a row without a key
    {
        "orders": [*START["orders"], (6, 3, "open", "10.00", 6, "0.5"), (7, None, "sent", "-1.00", None, None)],
        "customers": [*START["customers"], (9, "Cy", "20.00")],
        "clicks": [*START["clicks"], ("shop", NOON), (None, None)],
    },
    # values change, in every column; a row moves to another group and partner, one group is gone
    {
        "orders": [
            (1, 1, "open", "12.00", 1, "0.5"),
            (2, 2, "paid", "20.00", 2, "0.25"),
            (3, 2, "sent", "10.00", 3, "-0.0"),
            (4, 1, "open now", "7.00", 4, "0.0"),
            (5, None, None, None, None, None),
            (6, 3, "open", "10.00", 6, "0.5"),
        ],
        "customers": [(1, "Anne", "11.00"), (2, "Bo", None), (3, "Di", "1.00"), (9, "Cy", "20.00")],
        "clicks": [("shop", NOON), ("home", NOON)],
    },
    # rows go, on one side only
    {"customers": [(2, "Bo", None), (9, "Cy", "20.00")]},
    # keys are used again for other rows
    {
        "orders": [(1, 9, "paid", "3.00", 7, "0.125"), (2, 2, "paid", "20.00", 2, "0.25"), (8, 2, "paid", "20.00", 2, "0.25")],
        "customers": [(1, "Eve", "3.00"), (2, "Bo", None)],
    },
    {"orders": [], "customers": [], "clicks": []},
    START,
)


@pytest.mark.parametrize(("name", "way"), some(product(SQL, WAYS), 2, of_deep=1))
def test_maintained(name: str, way: str) -> None:
    judge(Case(TABLES, SQL[name], START, BATCHES), ALL_WAYS[way], DIRECTED_AND_MEANT)
