"""Which statement applies a MERGE's source rows once they are known, and how it is written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.script import replace_where
from dbt_idivm.script.dialect import DELTA
from dbt_idivm.script.diff import INLINE_ROWS, Row
from dbt_idivm.script.known_rows import with_rows
from dbt_idivm.script.merge import Clause, Comparison, Condition, Key, Matching, Merge, op_is
from dbt_idivm.script.replace_where import Replacing
from dbt_idivm.script.source_rows import SOURCE_ROWS, SourceQuery, SourceRows, source_query_of

ON = (Key("id", "id"),)
TYPES = {name: exp.DataType.build(kind, dialect="spark") for name, kind in (("id", "int"), ("k", "int"), ("x", "string"))}
UPDATE = (Clause("update", (exp.condition("NOT (v.x <=> d.x)", dialect="spark"),), {"x": column("x", "d")}),)
DELETE = (Clause("delete"),)


def by_op(*names: str) -> tuple[Clause, ...]:
    values = {name: column(name, "d") for name in names}
    update = Clause("update", (op_is("U"),), {"x": values["x"]})
    return Clause("delete", (op_is("D"),)), update, Clause("insert", (op_is("I"),), values)


def added(*groups: str) -> tuple[Clause, ...]:
    calls = {name: exp.Add(this=column(name, "v"), expression=column(name, "d")) for name in ("n", "x")}
    gone = Clause("delete", (Comparison("n", "<", 0), exp.condition("v.n + d.n = 0")))
    new = {name: column(name, "d") for name in (*groups, "n", "x")}
    return gone, Clause("update", (), calls), Clause("insert", (Comparison("n", ">", 0),), new)


BY_OP, ADDED = by_op("id", "x"), added("id")


def merge(clauses: tuple[Clause, ...], on: tuple[Condition, ...] = ON, unmatched: str | None = None) -> Merge:
    matching = Matching(on, clauses, None if unmatched is None else op_is(unmatched))
    return Merge(DELTA.table("m.v", None), exp.select("*").from_("s"), matching)


def written(
    clauses: tuple[Clause, ...],
    rows: SourceRows,
    on: tuple[Condition, ...] = ON,
    unmatched: str | None = None,
    *,
    replaces: bool = False,
) -> str:
    found = with_rows(merge(clauses, on, unmatched), rows, DELTA, TYPES if replaces else None)
    if isinstance(found, Replacing):
        assert found.asks() is None
        found = found.statement(None, None, DELTA)
    return "nothing" if found is None else DELTA.sql(found, pretty=False)


def ids(*rows: Row) -> SourceRows:
    return SourceRows(("id", "x"), ("bigint", "string"), rows)


def ops(*rows: Row) -> SourceRows:
    return SourceRows(("idivm_op", "id", "x"), ("string", "int", "string"), rows)


def sums(*rows: Row) -> SourceRows:
    return SourceRows(("id", "n", "x"), ("int", "bigint", "bigint"), rows)


def test_updates_by_key() -> None:
    assert written(UPDATE, ids((4, "Anne"))) == (
        "UPDATE m.v AS v SET x = 'Anne' WHERE v.id = 4 AND NOT (v.x IS NOT DISTINCT FROM 'Anne')"
    )
    assert written(UPDATE, ids((4, None))).startswith("UPDATE m.v AS v SET x = CAST(NULL AS STRING) WHERE v.id = 4")
    found = "MAP_FROM_ARRAYS(CAST(ARRAY(4, 5) AS ARRAY<BIGINT>), ARRAY('a', NULL))[v.id]"
    assert written(UPDATE, ids((4, "a"), (5, None))) == (
        f"UPDATE m.v AS v SET x = {found} WHERE v.id IN (4, 5) AND NOT (v.x IS NOT DISTINCT FROM {found})"
    )


def test_keys_of_several_columns() -> None:
    """IN restricts each column, so that files are skipped; the combination is looked for among the keys."""
    rows = SourceRows(("a", "b", "x"), ("int", "date", "decimal(9,2)"), ((1, "2024-01-01", "1.50"), (2, "2024-01-02", "1.50")))
    keys = (
        "ARRAY(STRUCT(CAST(1 AS INT) AS k1, CAST('2024-01-01' AS DATE) AS k2), "
        "STRUCT(CAST(2 AS INT) AS k1, CAST('2024-01-02' AS DATE) AS k2))"
    )
    assert written((Clause("update", (), {"x": column("x", "d")}),), rows, (Key("a", "a"), Key("b", "b"))) == (
        "UPDATE m.v AS v SET x = CAST('1.50' AS DECIMAL(9, 2)) WHERE v.a IN (1, 2) "
        "AND v.b IN (CAST('2024-01-01' AS DATE), CAST('2024-01-02' AS DATE)) "
        f"AND ARRAY_CONTAINS({keys}, STRUCT(CAST(v.a AS INT) AS k1, CAST(v.b AS DATE) AS k2))"
    )


def test_a_session_may_read_timestamp_as_another_type() -> None:
    rows = SourceRows(("a", "b"), ("timestamp", "int"), ((0, 1), (1, 2)))
    found = written(DELETE, rows, (Key("a", "a"), Key("b", "b")))
    assert "STRUCT(v.a AS k1, CAST(v.b AS INT) AS k2)" in found and "AS TIMESTAMP)" not in found


@pytest.mark.parametrize(
    "rows",
    [
        ids((4, "a"), (None, "b")),
        ids((4, "a"), (4, "b")),
        SourceRows(("id", "x"), ("double", "string"), (("4.0", "a"), ("0.0", "b"))),
    ],
    ids=["null", "twice", "float"],
)
def test_keys_that_literals_cannot_name_are_merged(rows: SourceRows) -> None:
    assert written(UPDATE, rows).startswith("MERGE INTO m.v AS v USING")


def test_the_clauses_that_rows_may_fire() -> None:
    assert written(BY_OP, ops(("D", 1, None), ("D", 2, None))) == "DELETE FROM m.v AS v WHERE v.id IN (1, 2)"
    assert written(BY_OP, ops(("U", 1, "a"))).startswith("UPDATE m.v")
    both = written(BY_OP, ops(("U", 1, "a"), ("D", 2, None)))
    assert both.startswith("MERGE") and "INSERT" not in both and "UPDATE" in both and "DELETE" in both
    assert "BETWEEN" not in both, "the ranges are those of the rows, and added later"
    assert written(BY_OP, ops()) == "nothing" == written(BY_OP, ops(("X", 1, "a")))


def test_new_rows_are_inserted_where_they_match_nothing() -> None:
    rows = ops(("I", 1, "a"))
    assert written(BY_OP, rows).startswith("MERGE"), "an I row that matches changes nothing"
    assert written(BY_OP, rows, unmatched="I").startswith("INSERT INTO m.v (id, x) SELECT d.id AS id, d.x AS x FROM (SELECT")
    assert written(BY_OP, rows, (op_is("D"), *ON)).startswith("INSERT")
    some = written(BY_OP, ops(("I", 1, "a"), ("D", 2, None)), unmatched="I")
    assert some.startswith("MERGE") and "UPDATE" not in some


def test_whole_rows_with_one_id_are_replaced() -> None:
    rows = ops(("I", 1, "a"), ("U", 2, "b"), ("D", 3, None))
    assert written(BY_OP, rows, unmatched="I", replaces=True) == (
        "INSERT INTO m.v REPLACE WHERE id IN (1, 2, 3) SELECT d.id AS id, d.x AS x FROM (SELECT CAST(c1 AS STRING) AS idivm_op, "
        "CAST(c2 AS INT) AS id, CAST(c3 AS STRING) AS x FROM VALUES ('I', 1, 'a'), ('U', 2, 'b'), ('D', 3, NULL) "
        "AS r(c1, c2, c3)) AS d WHERE NOT d.idivm_op = 'D'"
    )
    assert written(BY_OP, rows, unmatched="I").startswith("MERGE"), "the source may have a part of each row"


def test_rows_that_literals_cannot_name_are_not_replaced() -> None:
    assert written(BY_OP, ops(("U", 2, "b"), ("D", 2, None)), unmatched="I", replaces=True).startswith("MERGE"), "twice"
    floats = SourceRows(("idivm_op", "id", "x"), ("string", "double", "string"), (("U", "1.5", "a"), ("D", "2.5", None)))
    assert written(BY_OP, floats, unmatched="I", replaces=True).startswith("MERGE")


def test_a_row_without_id_is_replaced() -> None:
    """An ID is NULL where an outer join found no partner."""
    found = written(BY_OP, ops(("I", None, "a"), ("D", 3, None)), unmatched="I", replaces=True)
    assert found.startswith("INSERT INTO m.v REPLACE WHERE id = 3 OR id IS NULL SELECT")


TWO = (Key("id", "id"), Key("k", "k"))


def replacing(*rows: Row, kind: str = "int") -> Replacing:
    known = SourceRows(("idivm_op", "id", "k", "x"), ("string", "int", kind, "string"), rows)
    found = with_rows(merge(by_op("id", "k", "x"), TWO, "I"), known, DELTA, TYPES)
    assert isinstance(found, Replacing)
    return found


@pytest.fixture
def not_combined(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for too many rows."""
    monkeypatch.setattr(replace_where, "_COMBINED", 0)


def test_rows_with_two_ids_are_replaced_by_their_combinations() -> None:
    found = replacing(("U", 1, 1, "a"), ("D", 2, 3, None))
    assert found.asks() is None and DELTA.sql(found.statement(None, None, DELTA), pretty=False) == (
        "INSERT INTO m.v REPLACE WHERE id IN (1, 2) AND k IN (1, 3) AND ((id = 1 AND k = 1) OR (id = 2 AND k = 3)) "
        "SELECT d.id AS id, d.k AS k, d.x AS x FROM (SELECT "
        "CAST(c1 AS STRING) AS idivm_op, CAST(c2 AS INT) AS id, CAST(c3 AS INT) AS k, CAST(c4 AS STRING) AS x FROM VALUES "
        "('U', 1, 1, 'a'), ('D', 2, 3, NULL) AS r(c1, c2, c3, c4)) AS d WHERE NOT d.idivm_op = 'D'"
    )


def test_combinations_are_those_of_the_id_with_the_fewest_values() -> None:
    """And an ID may be NULL."""
    found = replacing(("U", 1, 1, "a"), ("U", 2, 1, "b"), ("U", 3, None, "c"), ("U", 4, None, "d"), ("D", 1, None, None))
    assert DELTA.sql(found.condition, pretty=False) == (
        "id IN (1, 2, 3, 4) AND (k = 1 OR k IS NULL) AND ((k = 1 AND id IN (1, 2)) OR (k IS NULL AND id IN (3, 4, 1)))"
    )


def test_all_ids_are_combined() -> None:
    """Also those that are the same in these rows: they need not be in others."""
    found = replacing(("U", 1, 1, "a"), ("D", 2, 2, None))
    assert DELTA.sql(found.condition, pretty=False) == (
        "id IN (1, 2) AND k IN (1, 2) AND ((id = 1 AND k = 1) OR (id = 2 AND k = 2))"
    )


def test_many_ids_are_not_combined() -> None:
    rows = [("D" if number == 0 else "U", number, number % 7, "a") for number in range(101)]
    assert replacing(*rows[:100]).asks() is None
    found = replacing(*rows)
    assert found.asks() is found.left_out is not None


@pytest.mark.usefixtures("not_combined")
def test_rows_with_two_ids_are_replaced_with_their_neighbours() -> None:
    found = replacing(("U", 1, 1, "a"), ("D", 2, 3, None))
    assert found.inserted is not None and DELTA.sql(found.inserted.query, pretty=False) == (
        "SELECT d.id AS c1, d.k AS c2, CAST(d.x AS STRING) AS c3, TYPEOF(d.id) AS t1, TYPEOF(d.k) AS t2, TYPEOF(d.x) AS t3 FROM "
        "(SELECT v.id, v.k, v.x FROM m.v AS v WHERE v.id IN (1, 2) AND v.k IN (1, 3) AND NOT EXISTS(SELECT /*+ BROADCAST(d) */ 1 "
        "FROM (SELECT CAST(c1 AS STRING) AS idivm_op, CAST(c2 AS INT) AS id, CAST(c3 AS INT) AS k, CAST(c4 AS STRING) AS x FROM "
        "VALUES ('U', 1, 1, 'a'), ('D', 2, 3, NULL) AS r(c1, c2, c3, c4)) AS d WHERE v.id IS NOT DISTINCT FROM d.id "
        "AND v.k IS NOT DISTINCT FROM d.k)) AS d ORDER BY c1 LIMIT 1001"
    )
    rows = (
        "INSERT INTO m.v REPLACE WHERE id IN (1, 2) AND k IN (1, 3) SELECT d.id AS id, d.k AS k, d.x AS x FROM (SELECT "
        "CAST(c1 AS STRING) AS idivm_op, CAST(c2 AS INT) AS id, CAST(c3 AS INT) AS k, CAST(c4 AS STRING) AS x FROM VALUES "
        "('U', 1, 1, 'a'), ('D', 2, 3, NULL) AS r(c1, c2, c3, c4)) AS d WHERE NOT d.idivm_op = 'D'"
    )
    beside = SourceRows(("id", "k", "x"), ("int", "int", "string"), ((1, 3, "b"),))
    assert DELTA.sql(found.statement(found.inserted, replace(beside, rows=()), DELTA), pretty=False) == rows
    assert DELTA.sql(found.statement(found.inserted, beside, DELTA), pretty=False) == (
        f"{rows} UNION ALL SELECT CAST(c1 AS INT) AS id, CAST(c2 AS INT) AS k, CAST(c3 AS STRING) AS x FROM "
        "VALUES (1, 3, 'b') AS r(c1, c2, c3)"
    )
    assert isinstance(found.statement(found.inserted, None, DELTA), exp.Merge), "there are too many"


@pytest.mark.usefixtures("not_combined")
def test_neighbours_are_left_out() -> None:
    """They are not written again. A condition that may be NULL would leave out rows whose ID is NULL, too."""
    found = replacing(("U", 1, 1, "a"), ("D", 2, None, None))
    assert found.left_out is not None and found.left_out.names == ("id", "k") and found.left_out.most == 1000
    beside = SourceRows(("id", "k"), ("int", "int"), ((1, None), (2, 1)))
    statement = DELTA.sql(found.statement(found.left_out, beside, DELTA), pretty=False)
    assert statement.startswith(
        "INSERT INTO m.v REPLACE WHERE (id IN (1, 2) AND (k = 1 OR k IS NULL)) AND NOT ((id IS NOT DISTINCT FROM 1 AND "
        "k IS NOT DISTINCT FROM NULL) OR (id IS NOT DISTINCT FROM 2 AND k IS NOT DISTINCT FROM 1)) SELECT"
    )


@pytest.mark.usefixtures("not_combined")
def test_neighbours_are_asked_for_again_where_they_are_too_many_to_be_left_out() -> None:
    """And not where they are too many to be fetched."""
    found = replacing(("U", 1, 1, "a"), ("D", 2, None, None))
    asked = found.asks()
    assert asked is found.left_out is not None

    def beside(count: int) -> SourceRows:
        return SourceRows(("id", "k"), ("int", "int"), tuple((1, number) for number in range(count)))

    assert found.asks(asked, beside(100)) is None and found.asks(asked, None) is None
    assert found.asks(asked, beside(101)) is found.inserted is not None
    assert found.asks(found.inserted, beside(101)) is None
    assert isinstance(found.statement(asked, None, DELTA), exp.Merge)


def test_many_rows_are_updated_by_a_merge() -> None:
    """A value of an UPDATE is looked up by comparing its key with all of them."""
    rows = [(number, f"{number}") for number in range(INLINE_ROWS + 1)]
    known = [SourceRows(("id", "x"), ("int", "string"), tuple(rows[:count])) for count in (INLINE_ROWS, INLINE_ROWS + 1)]
    assert [written(UPDATE, each).split()[0] for each in known] == ["UPDATE", "MERGE"]


@pytest.mark.usefixtures("not_combined")
def test_equal_ids_have_the_neighbours_of_one_of_them() -> None:
    """The condition has one of them, so a neighbour may have another value in the other."""
    found = replacing(("U", 1, 1, "a"), ("D", 2, 2, None))
    assert found.left_out is not None and found.left_out.names == ("id", "k")
    assert "WHERE v.k IN (1, 2) AND NOT EXISTS(" in DELTA.sql(found.left_out.query, pretty=False)


def test_ids_that_no_filter_can_have_leave_nothing_out() -> None:
    found = replacing(("U", 1, 0, "a"), ("D", 1, 1, None), kind="timestamp")
    assert found.left_out is None and found.asks() is found.inserted is not None


def test_all_combinations_have_no_neighbours() -> None:
    assert replacing(("U", 1, 1, "a"), ("D", 1, 2, None)).asks() is None
    assert replacing(("U", 1, 1, "a"), ("D", 1, 2, None), kind="string").asks() is None
    assert replacing(("U", 1, 0, "a"), ("D", 1, 1, None), kind="timestamp").inserted is not None, "k is not in the condition"


@pytest.mark.usefixtures("not_combined")
def test_of_equal_ids_one_is_in_the_condition() -> None:
    found = DELTA.sql(replacing(("U", 1, 1, "a"), ("D", 2, 2, None)).condition)
    assert found == "k IN (1, 2)"


def test_ids_in_one_column_have_no_neighbours() -> None:
    """As the keys of ⋈ a.id = b.id."""
    shared = (Key("id", "id"), Key("id", "k"))
    rows = SourceRows(("idivm_op", "id", "k", "x"), ("string", "int", "int", "string"), (("U", 1, 1, "a"), ("D", 2, 2, None)))
    found = with_rows(merge(by_op("id", "x"), shared, "I"), rows, DELTA, TYPES)
    assert isinstance(found, Replacing) and found.asks() is None
    assert DELTA.sql(found.condition) == "id IN (1, 2)"


def test_sums() -> None:
    """Without a change of the number of rows a group can only be updated; with fewer rows it may go, with more it may be new."""
    assert written(ADDED, sums((1, 0, 5))) == (
        "UPDATE m.v AS v SET n = v.n + CAST(0 AS BIGINT), x = v.x + CAST(5 AS BIGINT) WHERE v.id = 1"
    )
    fewer, more = written(ADDED, sums((1, -1, 5))), written(ADDED, sums((1, 1, 5)))
    assert fewer.startswith("MERGE") and "DELETE" in fewer and "INSERT" not in fewer
    assert more.startswith("MERGE") and "DELETE" not in more and "INSERT" in more


def test_a_row_without_ids() -> None:
    """Of a view that has one row."""
    assert written(added(), sums((1, 0, 5)), ()) == (
        "UPDATE m.v AS v SET n = v.n + CAST(0 AS BIGINT), x = v.x + CAST(5 AS BIGINT)"
    )


def test_idiffs_with_different_ids() -> None:
    clauses = (Clause("update", (op_is("upd_1"),), {"x": column("x", "d")}), Clause("delete", (op_is("del_2"),)))
    on = (Key("a", "a", "any_a"), Key("b", "b", "any_b"))
    names, types = ("any_a", "a", "any_b", "b", "idivm_op", "x"), ("boolean", "int", "boolean", "int", "string", "int")
    one = (False, 1, True, None, "upd_1", 7)
    assert written(clauses, SourceRows(names, types, (one,)), on) == "UPDATE m.v AS v SET x = CAST(7 AS INT) WHERE v.a = 1"
    assert written(clauses, SourceRows(names, types, (one, (True, None, False, 1, "del_2", None))), on).startswith("MERGE")
    mixed = written(clauses, SourceRows(names, types, (one, (False, 2, False, 1, "upd_1", 7))), on)
    assert mixed.startswith(
        "UPDATE m.v AS v SET x = CAST(7 AS INT) WHERE v.a IN (1, 2) AND (MAP_FROM_ARRAYS(ARRAY(1, 2), ARRAY(TRUE, FALSE))[v.a] OR"
    )


def test_what_is_fetched() -> None:
    types = {"id": exp.DataType.build("bigint"), "x": exp.DataType.build("timestamp", dialect="spark")}
    asked = source_query_of(merge(UPDATE), types)
    assert asked is not None and DELTA.sql(asked.query, pretty=False) == (
        "SELECT d.id AS c1, UNIX_MICROS(d.x) AS c2, TYPEOF(d.id) AS t1, TYPEOF(d.x) AS t2 FROM (SELECT * FROM s) AS d ORDER BY c1 LIMIT 4001"
    )
    assert asked.answered([(1, 5, "bigint", "timestamp")]) == SourceRows(("id", "x"), ("bigint", "timestamp"), ((1, 5),))
    assert asked.answered([(1, "5", "bigint", "string")]) is None, "another type than was encoded"
    assert asked.answered([]) == SourceRows(("id", "x"), ("bigint", "timestamp"), ())
    assert asked.answered([(n, 5, "bigint", "timestamp") for n in range(SOURCE_ROWS + 1)]) is None
    assert source_query_of(merge(UPDATE), {**types, "x": exp.DataType.build("array<int>", dialect="spark")}) is None
    assert source_query_of(merge(DELETE, ()), types) is None, "nothing to fetch"


@pytest.mark.parametrize("text", ["a\ufffd", "x" * 1_000_001], ids=["not UTF-8", "long"])
def test_texts_that_are_not_inlined(text: str) -> None:
    asked = SourceQuery(("x",), ("string",), exp.select("1"))
    assert asked.answered([(text, "string")]) is None


@pytest.mark.parametrize(("kind", "replaced"), [("date", True), ("timestamp", False), ("decimal(9,2)", False)])
def test_keys_of_replaced_rows(kind: str, replaced: bool) -> None:
    """Delta writes the condition as text, and two timestamps may have the same local text."""
    cells = ("2024-01-01", "2024-01-02") if kind == "date" else (0, 1) if kind == "timestamp" else ("0.00", "1.00")
    rows = SourceRows(("idivm_op", "id", "x"), ("string", kind, "string"), (("D", cells[0], "a"), ("I", cells[1], "b")))
    assert ("REPLACE WHERE" in written(BY_OP, rows, replaces=True)) is replaced


@pytest.mark.parametrize("name", ["null", "TRUE", "false", "not", "Select", "from", "values"])
def test_names_that_delta_misreads_are_in_no_condition(name: str) -> None:
    """Delta writes the condition as text without quotes: `null IS NULL` is true for all rows of the view."""
    types = {name: TYPES["id"], "k": TYPES["k"], "x": TYPES["x"]}
    rows = SourceRows(("idivm_op", name, "x"), ("string", "int", "string"), (("D", None, None), ("I", 2, "b")))
    changed = merge(by_op(name, "x"), (Key(name, name),), "I")
    assert isinstance(with_rows(changed, rows, DELTA, types), exp.Merge)
    rows = SourceRows(
        ("idivm_op", name, "k", "x"),
        ("string", "int", "int", "string"),
        (("D", None, 1, None), ("U", 2, 5, "b"), ("I", 3, 7, "c")),
    )
    found = with_rows(merge(by_op(name, "k", "x"), (Key(name, name), Key("k", "k")), "I"), rows, DELTA, types)
    assert isinstance(found, Replacing) and found.condition.sql("spark") == "k IN (1, 5, 7)"
