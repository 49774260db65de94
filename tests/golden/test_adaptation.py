"""What each rule of view adaptation makes of an edit: a file for each, to be read like code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_idivm.adaptation.adapt import adapt
from dbt_idivm.adaptation.moved import moved
from dbt_idivm.adaptation.statement import adapted_query, delete_rows, insert_rows
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.render import bind
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

# the same for constants that move, and the text of each before and after
MOVED = {
    "constants": tuple(
        f"SELECT cid, count(*) AS n, sum(price) AS total FROM orders WHERE status = '{each}' GROUP BY cid"
        for each in ("open", "new")
    ),
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


@pytest.mark.parametrize("name", MOVED)
def test_moved_constants(name: str, golden: Callable[[Path, str], None]) -> None:
    old, new = (plan_of(TABLES, sql, Options()) for sql in MOVED[name])
    found = moved(old, new, "view")
    assert found is not None
    constants = found.constants.values()
    changes = found.changes(tuple(each.old.name for each in constants), tuple(each.new.name for each in constants))
    values = {name: each.new.name for name, each in found.constants.items()}
    script = bind(found.plan, Binding({"orders": 3}, changes, DELTA, clock=values), "view")
    assert script is not None
    before, after = MOVED[name]
    golden(
        FOLDER / f"{name}.sql",
        f"-- before\n{before}\n\n-- after\n{after}\n\n-- edits: {found.summary}\n\n-- statement\n{DELTA.sql(script.statement)}\n",
    )


def test_each_file_is_shown() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {*EDITS, *MOVED}
