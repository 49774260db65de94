"""The classes of a net diff that stays in the engine are those of one that is inlined."""

from __future__ import annotations

from collections import Counter

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from dbt_idivm.operators.scan import Attribute, DiffClass, DiffRows, Scan
from dbt_idivm.refresh.changes.net_diffs import changed_keys_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetChanges, Row, classify

# `signed` is the feed as it is: there more rows may cancel
CLASSES: tuple[DiffClass, ...] = ("ins", "del", "upd", "rec", "plus", "minus")
VALUES = st.sampled_from((None, 0, 1))
# key → (moves, stays): `moves` is an attribute that splits
STATES = st.dictionaries(st.integers(0, 4), st.tuples(VALUES, VALUES), max_size=5)
DATABASE = duckdb.connect(":memory:")


@given(STATES, STATES, st.booleans())
def test_classes(before: dict[int, tuple[int, int]], after: dict[int, tuple[int, int]], keyed: bool) -> None:
    scan = Scan("t", "t", tuple(Attribute(name, "int") for name in ("k", "moves", "stays")), ("k",) if keyed else None)
    split = frozenset({"t__moves"}) if keyed else frozenset()
    rows = [((key, *rest), sign) for state, sign in ((before, -1), (after, 1)) for key, rest in state.items()]
    weights: Counter[Row] = Counter()
    for row, sign in rows:
        weights[row] += sign
    net = InlineDiff(("k", "moves", "stays"), tuple((row, weight) for row, weight in weights.items() if weight))
    expected = classify(scan, net, split)
    assert in_engine(scan, split, rows) == {name: Counter(expected[name]) for name in CLASSES}
    if keyed:
        empty, least, greatest = known_of_keys(("k",))
        new = after.keys() - before.keys()
        assert (least, greatest) == ((str(min(new)), str(max(new))) if new else (None, None))
        assert not any(expected[name] for name in empty), "what is called empty is"
        same = any(before[key] == after[key] for key in before if key in after)  # in the feed, and no change
        assert same or empty >= {name for name in ("ins", "del", "plus", "minus") if not expected[name]}, "and is found"


def test_a_zero_that_gets_a_sign() -> None:
    """It is another value: a row that moves with it is none that stays."""
    scan = Scan("t", "t", (Attribute("k", "int"), Attribute("moves", "double"), Attribute("stays", "int")), ("k",))
    split, images = frozenset({"t__moves"}), [((1, 0.0, 1), -1), ((1, -0.0, 1), 1)]
    net = InlineDiff(("k", "moves", "stays"), tuple(((k, str(moves), stays), sign) for (k, moves, stays), sign in images))
    expected, found = classify(scan, net, split), in_engine(scan, split, images)
    assert len(expected["rec"]) == 2 and {name: found[name].total() for name in CLASSES} == {
        name: len(expected[name]) for name in CLASSES
    }


def known_of_keys(key: tuple[str, ...]) -> tuple[frozenset[DiffClass], str | None, str | None]:
    """The classes that are known to have no rows, and between what the new keys are."""
    feed = FeedDiff("t", 0, 1)
    found = DATABASE.execute(DUCKDB.sql(changed_keys_query(DUCKDB, feed, key, key))).fetchall()[0]
    inserted, deleted, kept = map(bool, found[:3])
    assert not found[-1], "no key is NULL"
    return feed.with_keys(key, inserted=inserted, deleted=deleted, kept=kept).empty, *found[3:5]


def in_engine(scan: Scan, split: frozenset[str], rows: list[tuple[Row, int]]) -> dict[DiffClass, Counter[Row]]:
    """The rows of each class, as a statement over the staged net diff finds them."""
    columns = ", ".join(f"{each.name} {each.type}" for each in scan.attributes)
    DATABASE.execute(f"CREATE OR REPLACE TABLE t__changes ({columns}, _change_type VARCHAR)")
    for row, sign in rows:
        DATABASE.execute("INSERT INTO t__changes VALUES (?, ?, ?, ?)", [*row, "insert" if sign > 0 else "delete"])
    binder = Binding(changes=NetChanges({"t": FeedDiff("t", 0, 1)}), dialect=DUCKDB).statement()
    queries = {name: DiffRows(scan, name, scan.columns, split).block(binder).select() for name in CLASSES}
    for each in binder.staged:
        DATABASE.execute(f"CREATE OR REPLACE TABLE {each.name} AS {DUCKDB.sql(each.query)}")
    return {name: Counter(DATABASE.execute(DUCKDB.sql(binder.attach(query))).fetchall()) for name, query in queries.items()}
