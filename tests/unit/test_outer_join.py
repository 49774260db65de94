"""⟕ and ⟗: names in scope, SQL text, how far a restriction goes, what is left where an input is empty, what is known of rows."""

from __future__ import annotations

from typing import cast

import pytest
from sqlglot import exp, parse_one

from dbt_idivm.algebra.core import Compute, Filter, Pair, SemiJoin
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caching, Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators import OneRow, OuterJoin, Scan
from dbt_idivm.operators.scan import Attribute, DiffRows
from dbt_idivm.passes.annotate import Annotated
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.render import relation_query


def scan(name: str, *columns: str, key: bool = True) -> Scan:
    return Scan(name, name, tuple(Attribute(each, "int") for each in columns), ("k",) if key else None)


A, B, C = scan("a", "k", "x", "y"), scan("b", "k", "x", "z"), scan("c", "k", "w")
ON = parse_one("a__x = b__x")
LEFT, FULL = OuterPair(A, B, ON, "o"), OuterPair(A, B, ON, "o", full=True)
ROWS = DiffRows(B, "upd", B.columns)
CATALOG = Catalog(
    {
        name: TableInfo(name, tuple(Attribute(each, "int") for each in columns), columns[:1], "")
        for name, columns in (("a", ("k", "x", "y")), ("b", ("k", "x", "z")), ("c", ("k", "w")), ("d", ("K", "v")))
    }
)


def lowered(sql: str) -> Lowered:
    return lower(sql, CATALOG)


def output(sql: str) -> list[tuple[str, str]]:
    return list(lowered(sql).output)


def annotated(sql: str) -> Annotated:
    found = lowered(sql)
    return compile_plan(found.root, found.output, caching=Caching("none")).annotated


def text(relation: Relation) -> str:
    return relation_query(relation, Binding()).sql("spark")


def keys(**definitions: exp.Expr) -> Compute:
    """Keys by b's k, and markers."""
    return Compute(ROWS, (("b__k", column("b__k")), *definitions.items()))


# --- names


@pytest.mark.parametrize(
    "sql, attributes",
    [
        ("SELECT * FROM a LEFT JOIN c USING (k)", ["a__k", "a__x", "a__y", "c__w"]),
        ("SELECT * FROM a RIGHT JOIN c USING (k)", ["c__k", "a__x", "a__y", "c__w"]),
        ("SELECT * FROM a RIGHT OUTER JOIN b USING (x, k)", ["b__x", "b__k", "a__y", "b__z"]),
        ("SELECT * FROM a FULL JOIN c USING (k)", ["c_2__k", "a__x", "a__y", "c__w"]),
        ("SELECT * FROM a NATURAL LEFT JOIN b", ["a__k", "a__x", "a__y", "b__z"]),
        ("SELECT * FROM a NATURAL RIGHT JOIN b", ["b__k", "b__x", "a__y", "b__z"]),
        ("SELECT * FROM a NATURAL FULL JOIN b", ["b_2__k", "b_2__x", "a__y", "b__z"]),
    ],
)
def test_star_has_the_columns_of_using_first_and_of_the_preserved_side(sql: str, attributes: list[str]) -> None:
    assert [attribute for _, attribute in output(sql)] == attributes


def test_natural_outer_join_tells_upper_from_lower_case() -> None:
    assert output("SELECT c.*, d.k AS l FROM c NATURAL FULL JOIN d") == [("k", "c__k"), ("w", "c__w"), ("l", "d__K")]
    assert lowered("SELECT w, v FROM c NATURAL LEFT JOIN d").root.label() == "⟕ TRUE"


@pytest.mark.parametrize("side, shown", [("LEFT", "a__k"), ("RIGHT", "c__k"), ("FULL", "c_2__k")])
def test_both_columns_of_using_are_known_by_their_qualifiers(side: str, shown: str) -> None:
    join = f"a {side} JOIN c USING (k)"
    assert output(f"SELECT K, a.k AS i, c.k AS j FROM {join}") == [("K", shown), ("i", "a__k"), ("j", "c__k")]
    assert [each for _, each in output(f"SELECT a.* FROM {join}")] == ["a__k", "a__x", "a__y"]
    assert [each for _, each in output(f"SELECT c.* FROM {join}")] == ["c__k", "c__w"]


def test_a_column_of_full_join_using_is_coalesced_once() -> None:
    root = lowered("SELECT k, x FROM a FULL JOIN c USING (k)").root
    assert root.label().endswith("COALESCE(a__k, c__k) → c_2__k")
    assert lowered("SELECT a.k AS i, c.k AS j FROM a FULL JOIN c ON a.k = c.k").root.label() == "⟗ a__k = c__k"


def test_a_second_join_by_using_takes_the_merged_column() -> None:
    assert lowered("SELECT z FROM a FULL JOIN c USING (k) JOIN b USING (k)").root.label() == "⋈ c_2__k = b__k"
    assert lowered("SELECT z FROM a RIGHT JOIN c USING (k) LEFT JOIN b USING (k)").root.label() == "⟕ c__k = b__k"


def test_right_join_is_left_join_with_its_inputs_exchanged() -> None:
    root = lowered("SELECT a.k, c.w FROM a RIGHT JOIN c ON a.k = c.k").root
    assert isinstance(root, OuterJoin) and not root.full
    assert [child.label() for child in root.inputs] == ["scan c", "scan a"]


def test_columns_of_both_sides_by_one_name_are_ambiguous() -> None:
    with pytest.raises(IdivmError) as error:
        lowered("SELECT k FROM a FULL JOIN c ON a.k = c.k")
    assert error.value.codes == ("IDIVM-222",)


# --- SQL


def test_a_plain_table_stands_in_from_itself() -> None:
    assert text(OuterPair(A, B, ON, "o", marked=False)) == (
        "SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y, b.k AS b__k, b.x AS b__x, b.z AS b__z "
        "FROM a AS a LEFT JOIN b AS b ON a.x = b.x"
    )


def test_the_marker_and_what_is_computed_stand_below_the_join() -> None:
    assert text(LEFT).endswith(
        "FROM a AS a LEFT JOIN (SELECT b.k AS b__k, b.x AS b__x, b.z AS b__z, 1 AS o__has_right FROM b AS b) AS o ON a.x = o.b__x"
    )
    computed = Compute(B, (("b__x", column("b__x")), ("one", parse_one("coalesce(b__z, 1)"))))
    assert text(OuterPair(A, computed, ON, "o", marked=False)).endswith(
        "LEFT JOIN (SELECT b.x AS b__x, COALESCE(b.z, 1) AS one FROM b AS b) AS o ON a.x = o.b__x"
    )


def test_conditions_of_the_right_side_stand_below_the_join_and_of_the_left_side_above() -> None:
    found = text(OuterPair(Filter(A, parse_one("a__y > 1")), Filter(B, parse_one("b__z > 1")), ON, "o", marked=False))
    assert found.endswith(
        "FROM a AS a LEFT JOIN (SELECT b.k AS b__k, b.x AS b__x, b.z AS b__z FROM b AS b WHERE b.z > 1) AS o "
        "ON a.x = o.b__x WHERE a.y > 1"
    )


def test_both_sides_of_a_full_join_are_one_source_each() -> None:
    found = text(OuterPair(Filter(A, parse_one("a__y > 1")), B, ON, "o", full=True, marked=False))
    assert "FROM (SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y FROM a AS a WHERE a.y > 1) AS o FULL JOIN b AS b ON" in found


def test_several_sources_on_the_right_are_one() -> None:
    pairs = Pair(B, C, parse_one("b__k = c__k"))
    found = text(OuterPair(A, pairs, ON, "o", marked=False))
    assert "FROM a AS a LEFT JOIN (SELECT" in found and "FROM b AS b JOIN c AS c ON b.k = c.k) AS o ON a.x = o.b__x" in found
    assert "JOIN c AS c ON a.k = c.k LEFT JOIN b AS b ON a.x = b.x" in text(
        OuterPair(Pair(A, C, parse_one("a__k = c__k")), B, ON, "o", marked=False)
    )


def test_one_row_on_the_left_is_a_source() -> None:
    one = Compute(OneRow(), (("n", exp.Literal.number(1)),))
    assert text(OuterPair(one, B, parse_one("n = b__x"), "o", marked=False)).endswith(
        "FROM (SELECT 1 AS n) AS o LEFT JOIN b AS b ON o.n = b.x"
    )


def test_a_join_above_has_its_own_on() -> None:
    plain = OuterPair(A, B, ON, "o", marked=False)
    assert text(Pair(plain, C, parse_one("a__k = c__k"))).endswith(
        "FROM a AS a LEFT JOIN b AS b ON a.x = b.x JOIN c AS c ON a.k = c.k"
    )
    right = text(Pair(C, plain, parse_one("a__k = c__k")))
    assert "FROM c AS c JOIN (SELECT" in right and right.endswith("LEFT JOIN b AS b ON a.x = b.x) AS joined ON joined.a__k = c.k")
    assert text(Filter(plain, parse_one("b__k IS NULL"))).endswith("ON a.x = b.x WHERE b.k IS NULL")


# --- restrictions


def test_rows_by_the_left_key_restrict_the_left_side() -> None:
    found = LEFT.restrict(("a__k",), DiffRows(A, "upd", A.columns))
    assert [type(node).__name__ for node in chain(found)] == ["Compute", "OuterPair", "SemiJoin", "Scan"]


def test_rows_by_the_right_key_may_be_padded() -> None:
    assert isinstance(LEFT.restrict(("b__k",), ROWS), SemiJoin)
    null = exp.Cast(this=exp.null(), to=exp.DataType.build("int"))
    assert isinstance(LEFT.restrict(("b__k", "o__has_right"), keys(o__has_right=null)), SemiJoin)


def test_rows_that_have_a_right_row_are_those_of_a_join() -> None:
    present = keys(o__has_right=exp.Literal.number(1))
    found = LEFT.restrict(("b__k", "o__has_right"), present)
    assert found.columns == LEFT.columns and isinstance(found, Compute)
    assert found.child == Pair(A, SemiJoin(B, ("b__k",), present), ON)


def test_of_a_full_join_the_present_side_is_restricted_and_preserved() -> None:
    present = keys(o__has_right=exp.Literal.number(1))
    found = FULL.restrict(("b__k", "o__has_right"), present)
    assert found.columns == FULL.columns and isinstance(found, Compute) and isinstance(found.child, OuterPair)
    assert found.child.left == SemiJoin(B, ("b__k",), present) and found.child.right == A
    assert isinstance(FULL.restrict(("a__k",), DiffRows(A, "upd", A.columns)), SemiJoin)


def test_keys_that_are_a_marker_only_are_tested() -> None:
    one = Compute(OneRow(), (("n", exp.Literal.number(1)),))
    whole = OuterPair(A, one, parse_one("a__x = n"), "o", full=True)
    marker = Compute(ROWS, (("o__has_right", exp.Literal.number(1)),))
    assert any(isinstance(node, SemiJoin) and node.keys == marker for node in every(whole.restrict(("o__has_right",), marker)))


def chain(relation: Relation) -> list[Relation]:
    """The node, its first child, and so on."""
    return [relation, *(chain(relation.children[0]) if relation.children else ())]


def every(relation: Relation) -> list[Relation]:
    return [relation, *(node for child in relation.children for node in every(child))]


# --- empty inputs, and what is known of rows


def test_without_the_right_rows_the_left_ones_are_padded() -> None:
    found = LEFT.without_empty((A, None))
    assert found is not None and found.columns == LEFT.columns
    assert text(found) == (
        "SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y, CAST(NULL AS INT) AS b__k, "
        "CAST(NULL AS INT) AS b__x, CAST(NULL AS INT) AS b__z, "
        "CAST(NULL AS INT) AS o__has_right FROM a AS a"
    )
    assert LEFT.without_empty((None, B)) is None and LEFT.without_empty((None, None)) is None


def test_of_a_full_join_the_rows_of_either_side_are_left() -> None:
    found = FULL.without_empty((None, B))
    assert found is not None and found.columns == FULL.columns
    assert text(found).endswith("CAST(NULL AS INT) AS o__has_left, 1 AS o__has_right FROM b AS b")
    assert FULL.without_empty((None, None)) is None


def test_values_come_unchanged_from_a_preserved_side_that_is_in_each_row() -> None:
    assert LEFT.provenance(("a__k", "a__x")) == ((A, ("a__k", "a__x")),)
    assert LEFT.provenance(("b__k",)) is LEFT.provenance(("a__k", "b__k")) is LEFT.provenance(("o__has_right",)) is None
    assert FULL.provenance(("a__k",)) is None


def test_conditions_above_screen_the_preserved_side_and_on_the_other() -> None:
    above, on = (parse_one("a__y > 1"),), parse_one("a__x = b__x AND b__z > 1 AND a__y < 5")
    left, right = OuterJoin(A, B, on, "o").screened(above)
    assert left == above and [each.sql() for each in right] == ["a__x = b__x", "b__z > 1", "a__y < 5"]
    assert OuterJoin(A, B, on, "o", full=True).screened(above) == ((), ())


def test_rows_of_preserved_inputs_are_named_by_what_their_changes_know() -> None:
    left, full = OuterJoin(A, B, ON, "o"), OuterJoin(A, B, ON, "o", full=True)
    assert left.carried("a") == A.carried("a") is not None and left.carried("b") is None
    assert full.carried("b") == B.carried("b") and full.carried("c") is None


@pytest.mark.parametrize(
    "sql, key",
    [
        ("SELECT a.y, b.z FROM a LEFT JOIN b ON a.x = b.k", {"a__k"}),
        ("SELECT a.y, b.z FROM a LEFT JOIN b ON a.x = b.k AND a.y > 1", {"a__k"}),
        ("SELECT a.y, b.z FROM b RIGHT JOIN a ON a.x = b.k", {"a__k"}),
        ("SELECT a.y, b.z FROM a LEFT JOIN b ON a.x = b.x", {"a__k", "b__k"}),
        ("SELECT a.y, b.z FROM a LEFT JOIN b ON b.x = b.k", {"a__k", "b__k"}),
        ("SELECT a.y, b.z FROM a FULL JOIN b ON a.x = b.k", {"a__k", "b__k", "b_2__has_left", "b_2__has_right"}),
    ],
)
def test_the_left_key_is_enough_where_a_row_has_one_partner_at_most(sql: str, key: set[str]) -> None:
    assert set(annotated(sql).facts.key or ()) == key


def test_what_may_be_absent_may_be_null() -> None:
    found = annotated("SELECT a.k, a.y, b.k AS l FROM (SELECT k, x, y FROM a WHERE y > 1) a LEFT JOIN b ON a.x = b.x").facts
    assert "a__y" not in found.nullable and {"b__k", "b_2__has_right"} <= found.nullable
    found = annotated("SELECT a.k, a.y, b.k AS l FROM (SELECT k, x, y FROM a WHERE y > 1) a FULL JOIN b ON a.x = b.x").facts
    assert {"a__y", "b__k"} <= found.nullable


def test_a_padded_row_has_only_types_that_are_certain() -> None:
    """Another one would change the values beside it: round of a BIGINT is a DOUBLE for sqlglot."""
    found = annotated("SELECT a.k, g.v, g.k AS l FROM a LEFT JOIN (SELECT k, x, round(z) AS v FROM b) g ON a.x = g.x").facts
    (outer,) = (each.node for each in found if isinstance(each.node, OuterPair))
    pads = dict(cast(Compute, outer.pad(0, A)).definitions)
    assert [pads[name].sql("spark") for name in ("g__v", "b__k")] == [
        "CASE WHEN FALSE THEN ROUND(CAST(NULL AS INT)) END",
        "CAST(NULL AS INT)",
    ]
