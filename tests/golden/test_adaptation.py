"""What each rule of view adaptation makes of an edit: a file for each, to be read like code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_idivm.adaptation.adapt import adapt
from dbt_idivm.adaptation.statement import adapted_query, delete_rows, insert_rows
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from tests.property.plans import Options, Table, plan_of

FOLDER = Path(__file__).parent / "adaptation"
TABLES = (
    Table("orders", (("id", "int"), ("cid", "int"), ("status", "string"), ("price", "decimal(10,2)")), ("id",)),
    Table("customers", (("id", "int"), ("name", "string"), ("region", "string")), ("id",)),
)
OPEN = "SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'"
GROUPS = "SELECT cid, sum(price) AS total FROM orders GROUP BY cid"
BOTH = "SELECT id, name FROM customers UNION ALL SELECT id, status FROM orders WHERE price > 1"
NAMED = "SELECT o.id, o.price, c.name FROM orders o JOIN customers c ON c.id = o.cid WHERE c.region <> 'US'"
PADDED = NAMED.replace("JOIN", "LEFT JOIN").partition(" WHERE ")[0]
# file → the model before and after
EDITS = {
    "nothing": (OPEN, "WITH o AS (SELECT * FROM orders WHERE status = 'open') SELECT id, cid, price * 2 AS twice FROM o"),
    "columns": (OPEN, "SELECT price * 2 + 1 AS more, id AS number FROM orders WHERE status = 'open'"),
    "narrowed": (OPEN, f"{OPEN} AND price * 2 > 5"),
    "widened": (OPEN, OPEN.replace("= 'open'", "IN ('open', 'new')")),
    "look_up": (OPEN, "SELECT o.id, o.cid, c.name FROM orders o LEFT JOIN customers c ON c.id = o.cid WHERE o.status = 'open'"),
    "joined": (
        OPEN,
        "SELECT o.id, o.cid, c.name FROM orders o JOIN customers c ON c.id = o.cid WHERE o.status = 'open' AND c.region = 'EU'",
    ),
    "columns_of_source": (NAMED, NAMED.replace("c.name", "c.name, upper(c.region) AS region") + " AND c.region < 'F'"),
    "columns_of_padded_source": (PADDED, PADDED.replace("c.name", "c.name, c.region")),
    "aggregates": (GROUPS, "SELECT cid, sum(price) AS total, max(status) AS last FROM orders GROUP BY cid"),
    "branch_added": (BOTH, f"{BOTH} UNION ALL SELECT id, region FROM customers"),
    "branch_removed": (BOTH, BOTH.partition(" UNION ALL ")[0]),
}


@pytest.mark.parametrize("name", EDITS)
def test_adaptation(name: str, golden: Callable[[Path, str], None]) -> None:
    old, new = (plan_of(TABLES, sql, Options()) for sql in EDITS[name])
    found = adapt(old, new, "view")
    assert found is not None
    binding = Binding({"view": 7, "orders": 3, "customers": 4}, dialect=DELTA)
    done = {"deleted": delete_rows(found, DELTA), "inserted": insert_rows(found, new, binding)}
    parts = {
        "before": EDITS[name][0],
        "after": EDITS[name][1],
        "edits": found.summary,
        "rows": DELTA.sql(adapted_query(found, new, binding)),
        **({name: DELTA.sql(each) for name, each in done.items() if each is not None} if found.in_place else {}),
    }
    golden(
        FOLDER / f"{name}.sql",
        "\n\n".join(f"-- {title}\n{text}" if title != "edits" else f"-- edits: {text}" for title, text in parts.items()) + "\n",
    )


def test_each_file_is_shown() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == EDITS.keys()
