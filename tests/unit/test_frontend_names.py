"""Names mean what they mean to Spark. Each case here was run on Spark 4.1 with ANSI on; sqlglot's `qualify` differs in some."""

from __future__ import annotations

import re

import pytest

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import Lowered, lower, tables_in
from dbt_idivm.operators.scan import Attribute, Scan


def table(name: str, *columns: str, kind: str = "int", visible: tuple[str, ...] | None = None) -> TableInfo:
    return TableInfo(name, tuple(Attribute(column, kind) for column in columns), (columns[0],), visible=visible)


CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("s.t", "g", "x", "y"),
            table("s.u", "x", "k"),
            table("s.a", "z", "k", "w"),
            table("s.b", "zz", "k", "ww"),
            table("other.t", "x"),
            table("s.hid", "id", "Name", "idivm_x", visible=("id", "name")),
            table("s.n", "s", kind="struct<f:int,t:struct<g:int>>"),
            table("s.m", "x", "odd name!", "UPPER"),
        )
    },
    {"s.v": PlainView("SELECT g AS a, x AS b FROM s.t")},
)


def lowered(sql: str) -> Lowered:
    return lower(sql, CATALOG)


def printed(sql: str) -> list[str]:
    """The tree's lines, top first, without indentation."""
    lines: list[str] = []

    def visit(node: Relation) -> None:
        lines.append(node.label())
        for child in node.children:
            visit(child)

    visit(lowered(sql).root)
    return lines


def codes(sql: str) -> tuple[str, ...]:
    with pytest.raises(IdivmError) as error:
        lowered(sql)
    return error.value.codes


def test_output_keeps_the_spelling_of_the_query_and_of_the_table_under_a_star() -> None:
    assert lowered("SELECT X, G AS Gg, t.`Y` FROM s.t").output == (("X", "t__x"), ("Gg", "t__g"), ("Y", "t__y"))
    assert lowered("SELECT * FROM s.m").output == (("x", "m__x"), ("odd name!", "m__odd name!"), ("UPPER", "m__UPPER"))


def test_using_puts_its_columns_first_and_hides_the_right_one() -> None:
    names = [name for name, _ in lowered("SELECT * FROM s.a JOIN s.b USING (k)").output]
    assert names == ["k", "z", "w", "zz", "ww"]
    assert [a for _, a in lowered("SELECT b.* FROM s.a JOIN s.b USING (k)").output] == ["b__k", "b__zz", "b__ww"]
    assert [a for _, a in lowered("SELECT a.* FROM s.a JOIN s.b USING (k)").output] == ["a__k", "a__z", "a__w"]
    assert [a for _, a in lowered("SELECT k, b.k AS bk FROM s.a JOIN s.b USING (k)").output] == ["a__k", "b__k"]


def test_comma_binds_like_a_join() -> None:
    assert printed("SELECT a.g FROM s.t a, s.t b JOIN s.u USING (x)") == [
        "⋈ a__x = u__x",
        "⋈ TRUE",
        "scan s.t as a",
        "scan s.t as b",
        "scan s.u",
    ]
    assert printed("SELECT a.g FROM s.t a, s.t b JOIN s.u ON a.x = u.x")[0] == "⋈ a__x = u__x"
    assert printed("SELECT a.g FROM s.t a CROSS JOIN s.u, s.a JOIN s.b ON a.g = b.k")[0] == "⋈ a__g = b__k"


def test_using_takes_the_first_column_of_that_name() -> None:
    assert printed("SELECT a.z FROM s.a JOIN s.b ON a.k = b.k JOIN s.u USING (k)")[0] == "⋈ a__k = u__k"
    assert codes("SELECT a.z FROM s.a JOIN s.b USING (x)") == ("IDIVM-221",)


def test_natural_join_tells_upper_from_lower_case() -> None:
    assert printed("SELECT ww FROM s.a NATURAL JOIN s.b")[0] == "⋈ a__k = b__k"
    assert printed("SELECT ww FROM (SELECT K, z FROM s.a) AS q NATURAL JOIN s.b")[0] == "⋈ TRUE"
    assert printed("SELECT ww FROM (SELECT K FROM s.a) AS q NATURAL JOIN (SELECT K, ww FROM s.b) AS r")[0] == "⋈ a__k = b__k"


def test_group_by_prefers_columns_to_aliases() -> None:
    assert codes("SELECT x + 1 AS g, count(*) AS c FROM s.t GROUP BY g") == ("IDIVM-223",)
    assert codes("SELECT g AS x, count(*) AS c FROM s.t GROUP BY x") == ("IDIVM-223",)
    assert printed("SELECT g + 1 AS q, count(*) AS c FROM s.t GROUP BY q") == [
        "γ v__q; COUNT(*) → v__c",
        "π t__g + 1 → v__q",
        "scan s.t",
    ]


def test_having_prefers_a_column_that_is_grouped_or_aggregated_to_an_alias() -> None:
    assert printed("SELECT sum(x) AS x FROM s.t GROUP BY g HAVING x > 2")[0] == "σ v__x > 2"
    assert printed("SELECT g, sum(y) AS x FROM s.t GROUP BY g, x HAVING x > 2")[0] == "σ t__x > 2"
    assert printed("SELECT g AS y, max(x) AS m FROM s.t GROUP BY g HAVING y = 1")[0] == "σ t__g = 1"
    assert printed("SELECT g AS y, max(x) AS m FROM s.t GROUP BY g HAVING max(y) > 10")[0] == "σ v__max_y > 10"
    assert codes("SELECT g AS q, max(x) AS m FROM s.t GROUP BY g HAVING max(q) > 10") == ("IDIVM-221",)
    assert (
        printed("SELECT t.x AS k, max(y) AS m FROM s.t JOIN s.u ON t.x = u.x JOIN s.a ON a.k = u.k GROUP BY t.x HAVING k > 1")[0]
        == "σ t__x > 1"
    )


def test_having_takes_a_whole_grouping_expression_before_the_names_in_it() -> None:
    assert printed("SELECT x + 1 AS x, count(*) AS n FROM s.t GROUP BY x + 1 HAVING x + 1 > 2")[0] == "σ v__x > 2"
    assert printed("SELECT -x AS x, count(*) AS n FROM s.t GROUP BY -x HAVING -x < -1")[0] == "σ v__x < -1"
    assert printed("SELECT x + 1 AS x, count(*) AS n FROM s.t GROUP BY x + 1 HAVING x > 2")[0] == "σ v__x > 2"


def test_having_alone_makes_one_group_of_all_rows() -> None:
    assert printed("SELECT 1 AS one FROM s.t HAVING 1 = 1") == [
        "π 1 → v__one",
        "σ 1 = 1",
        "γ (); COUNT(*) → v__count",
        "scan s.t",
    ]


def test_brackets_are_part_of_an_expression() -> None:
    calls = printed("SELECT sum(g - (x - y)) AS p, sum(g - x - y) AS q, sum((g + x) * y) AS r, sum(g + x * y) AS s FROM s.t")[0]
    assert calls.count("SUM(") == 4
    assert "IDIVM-223" in codes("SELECT g - (x - y) AS p, count(*) AS n FROM s.t GROUP BY g - x - y")
    assert printed("SELECT g + (x + y) AS p, count(*) AS n FROM s.t GROUP BY y + g + x")[0] == "γ v__p; COUNT(*) → v__n"
    assert printed("SELECT g > x AS p, count(*) AS n FROM s.t GROUP BY x < g")[0] == "γ v__p; COUNT(*) → v__n"


def test_operators_bind_as_in_spark() -> None:
    calls = printed("SELECT sum(g | x & y) AS p, sum((g | x) & y) AS q, sum(g & x << y) AS r, sum((g & x) << y) AS s FROM s.t")[0]
    assert calls.count("SUM(") == 4
    # sqlglot writes << as a function: of what, depends on how it binds
    assert printed("SELECT g & x << y AS p FROM s.t")[0] == "π t__g & SHIFTLEFT(t__x, t__y) → v__p"
    assert "IDIVM-223" in codes("SELECT g || (x + y) AS p, count(*) AS n FROM s.t GROUP BY g || x + y")
    assert "IDIVM-223" in codes("SELECT g = (x < y) AS p, count(*) AS n FROM s.t GROUP BY g = x < y")
    assert "IDIVM-223" in codes("SELECT g = (x IN (1)) AS p, count(*) AS n FROM s.t GROUP BY g = x IN (1)")
    assert codes("SELECT g LIKE x = y AS p FROM s.t") == ("IDIVM-220",)


def test_a_column_may_be_called_all() -> None:
    catalog = Catalog({"s.w": table("s.w", "all", "b")})
    assert lower("SELECT all, count(*) AS n FROM s.w GROUP BY all", catalog).root.label() == "γ w__all; COUNT(*) → v__n"
    assert lower("SELECT b, count(*) AS n FROM s.w GROUP BY all, b", catalog).root.label() == "γ w__all, w__b; COUNT(*) → v__n"
    assert printed("SELECT x AS `all`, count(*) AS n FROM s.t GROUP BY ALL")[0] == "γ t__x; COUNT(*) → v__n"


def test_fields_of_an_alias_that_is_a_struct() -> None:
    assert printed("SELECT s AS q, q.f AS p FROM s.n")[0] == "π n__s, n__s.f → v__p"
    computed = printed("SELECT named_struct('a', x) AS q, q.a + 1 AS p FROM s.t")[0]
    assert computed.endswith("(NAMED_STRUCT('a', t__x)).a + 1 → v__p")


def test_expressions_are_grouped_whatever_their_brackets_and_operand_order() -> None:
    assert printed("SELECT g + x AS k, count(*) AS n FROM s.t GROUP BY (x + g)") == [
        "γ v__k; COUNT(*) → v__n",
        "π t__x + t__g → v__k",
        "scan s.t",
    ]
    assert printed("SELECT (g) AS k, count(*) AS n FROM s.t GROUP BY (g)") == ["γ t__g; COUNT(*) → v__n", "scan s.t"]


def test_integer_in_group_by_is_a_position_and_another_literal_is_a_constant() -> None:
    assert printed("SELECT g, count(*) AS n FROM s.t GROUP BY 1") == ["γ t__g; COUNT(*) → v__n", "scan s.t"]
    assert printed("SELECT count(*) AS n FROM s.t GROUP BY 'a'") == [
        "γ v__false; COUNT(*) → v__n",
        "π FALSE → v__false",
        "scan s.t",
    ]
    assert printed("SELECT NULL AS c, count(*) AS n FROM s.t GROUP BY c")[1:] == [
        "γ v__false; COUNT(*) → v__n",
        "π FALSE → v__false",
        "scan s.t",
    ]
    assert printed("SELECT 'a' AS c, g, count(*) AS n FROM s.t GROUP BY c, g")[1:] == ["γ t__g; COUNT(*) → v__n", "scan s.t"]
    assert codes("SELECT g FROM s.t GROUP BY 2") == ("IDIVM-229", "IDIVM-223")
    assert codes("SELECT count(*) AS n FROM s.t GROUP BY 1") == ("IDIVM-229",)


def test_alias_of_the_select_list_can_be_used_after_it_where_no_column_has_its_name() -> None:
    assert printed("SELECT g, g + 1 AS q, q * 2 AS z FROM s.t")[0] == "π t__g, t__g + 1 → v__q, (t__g + 1) * 2 → v__z"
    assert printed("SELECT g, g + 1 AS x, x + 1 AS z FROM s.t")[0] == "π t__g, t__g + 1 → v__x, t__x + 1 → v__z"


def test_where_sees_no_alias() -> None:
    assert codes("SELECT g AS gg FROM s.t WHERE gg > 1") == ("IDIVM-221",)


def test_group_by_all_leaves_mixed_items_out() -> None:
    assert printed("SELECT g, count(*) AS n FROM s.t GROUP BY ALL")[0] == "γ t__g; COUNT(*) → v__n"
    assert codes("SELECT g + 1 AS h, g + count(*) AS n FROM s.t GROUP BY ALL") == ("IDIVM-223",)


def test_one_column_under_two_names_is_not_ambiguous() -> None:
    assert lowered("SELECT q.x FROM (SELECT x, x FROM s.t) q").output == (("x", "t__x"),)
    assert codes("SELECT q.x FROM (SELECT x, g AS X FROM s.t) q") == ("IDIVM-222",)


def test_qualifier_is_an_alias_or_the_tail_of_the_table_name() -> None:
    assert lowered("SELECT s.t.x FROM s.t JOIN other.t AS o ON s.t.x = o.x").output == (("x", "t__x"),)
    assert codes("SELECT s.t.x FROM s.t AS o") == ("IDIVM-221",)
    assert codes("SELECT t.x FROM s.t JOIN other.t ON s.t.x = other.t.x") == ("IDIVM-222",)


def test_dotted_name_may_be_a_field() -> None:
    assert printed("SELECT s.f, n.s.t.g FROM s.n")[0] == "π n__s.f → v__f, n__s.t.g → v__g"


def test_star_may_be_of_a_struct() -> None:
    assert [name for name, _ in lowered("SELECT s.*, s.t.*, n.s FROM s.n").output] == ["f", "t", "g", "s"]
    assert printed("SELECT s.* EXCEPT (t) FROM s.n")[0] == "π n__s.f → v__f"
    for none in ("SELECT s.f.* FROM s.n", "SELECT x.* FROM s.t", "SELECT s.* EXCEPT (x) FROM s.n"):
        assert codes(none) == ("IDIVM-221",)


def test_words_that_are_functions_where_no_column_has_the_name() -> None:
    assert codes("SELECT user AS u FROM s.t") == codes("SELECT x FROM s.t WHERE current_time > '10:00'") == ("IDIVM-206",)
    assert codes("SELECT _metadata.file_name AS f FROM s.t") == codes("SELECT t._metadata AS m FROM s.t") == ("IDIVM-204",)
    assert lowered("SELECT user FROM (SELECT x AS user FROM s.t) q").output == (("user", "t__x"),)


def test_the_columns_of_a_refused_lateral_subquery_are_not_reported() -> None:
    for query in (
        "SELECT count(*) AS n FROM s.u WHERE u.x > t.x HAVING n > 1",
        "SELECT count(*) AS n FROM s.u WHERE u.x > t.x GROUP BY u.x",
    ):
        assert codes(f"SELECT l.*, n FROM s.t, LATERAL ({query}) AS l") == ("IDIVM-208",)


def test_aggregates_by_their_other_names() -> None:
    assert printed("SELECT mean(x) AS m FROM s.t") == printed("SELECT avg(x) AS m FROM s.t")
    for name in ("some", "ANY"):
        call = f"{name}(x > 1) FILTER (WHERE x < 9)"
        assert printed(f"SELECT {call} AS b FROM s.t") == printed("SELECT bool_or(x > 1) FILTER (WHERE x < 9) AS b FROM s.t")
    assert codes("SELECT x FROM s.t WHERE x = SOME (SELECT k FROM s.u)") == ("IDIVM-208",)


def test_functions_are_written_back_as_the_user_wrote_them() -> None:
    # sqlglot alone: LOG(10, x), DATE_TRUNC('G', x), CAST(x AS STRING), DATE_ADD(x, y * -1), the argument of parse_json
    for call in (
        "LOG10(x)",
        "DATE_TRUNC(g, x)",
        "TO_CHAR(x, '99')",
        "DATE_SUB(x, y)",
        "PARSE_JSON(x)",
        "UNIX_DATE(x)",
        "TIMESTAMPDIFF(HOUR, x, y)",
        "TIMESTAMPADD(MONTH, 1, y)",
        "DATEDIFF(DAY, x, y)",
        "DATE_ADD(x, 1)",
        "LENGTH(x)",
        "NVL2(x, g, y)",
        "LTRIM('a', x)",
        "MOD(x, y)",
    ):
        written = "".join(f"t__{part}" if part in ("x", "y", "g") else part for part in _words(call))
        assert printed(f"SELECT {call.lower()} AS r FROM s.t")[0].upper() == f"Π {written} → V__R".upper(), call


def _words(text: str) -> list[str]:
    return re.split(r"(\W+)", text)


def test_cte_hides_a_table_only_below_it_and_is_not_a_relation() -> None:
    assert tables_in("WITH a AS (SELECT * FROM s.t), b AS (SELECT * FROM a JOIN B) SELECT * FROM b, s.a") == ("s.t", "b", "s.a")
    assert tables_in("SELECT * FROM S.T t1 JOIN `s`.`t` USING (x) WHERE EXISTS (SELECT 1 FROM s.u)") == ("s.t", "s.u")


def test_names_of_a_subquery_are_its_own_before_those_around_it() -> None:
    # x is in both, y only around; the g of the CTE hides that of s.t
    assert printed("SELECT t.g FROM s.t WHERE EXISTS (SELECT 1 FROM s.u WHERE x = k AND y = k)") == [
        "⋉ t__y = u__k",
        "scan s.t",
        "σ u__x = u__k",
        "scan s.u",
    ]
    assert printed("SELECT t.g FROM s.t WHERE EXISTS (SELECT 1 FROM s.u AS t WHERE t.x = t.k AND t.y = 1)")[:3] == [
        "⋉ t__y = 1",
        "scan s.t",
        "σ t_2__x = t_2__k",
    ]
    assert printed("SELECT t.g FROM s.t WHERE x IN (WITH w AS (SELECT k AS g FROM s.u) SELECT g FROM w WHERE g > y)")[:2] == [
        "⋉ u__k > t__y AND t__x = u__k",
        "scan s.t",
    ]
    assert printed("SELECT g FROM s.t WHERE x NOT IN (SELECT u.x FROM s.u)")[0] == "▷ t__x = u__x OR (t__x = u__x) IS NULL"
    assert codes("SELECT a.z FROM s.a JOIN s.b ON a.z = b.zz WHERE EXISTS (SELECT 1 FROM s.t WHERE t.g = k)") == ("IDIVM-222",)
    assert codes("SELECT g FROM s.t WHERE EXISTS (SELECT 1 FROM s.u WHERE nothing = 1)") == ("IDIVM-221",)
    assert codes("SELECT g FROM s.t WHERE EXISTS (SELECT nothing FROM s.u)") == ("IDIVM-221",)


def test_a_semi_join_shows_its_left_columns_only() -> None:
    assert [name for name, _ in lowered("SELECT * FROM s.a LEFT SEMI JOIN s.b USING (k)").output] == ["k", "z", "w"]
    assert [name for name, _ in lowered("SELECT * FROM s.a LEFT ANTI JOIN s.b ON a.k = b.k").output] == ["z", "k", "w"]
    assert codes("SELECT b.zz FROM s.a LEFT SEMI JOIN s.b USING (k)") == ("IDIVM-221",)
    assert codes("SELECT a.z FROM s.a LEFT SEMI JOIN s.b USING (k) JOIN s.t ON t.g = zz") == ("IDIVM-221",)


def test_hidden_columns_cannot_be_named() -> None:
    assert lowered("SELECT * FROM s.hid").output == (("id", "hid__id"), ("Name", "hid__Name"))
    assert codes("SELECT idivm_x FROM s.hid") == ("IDIVM-221",)


def test_occurrences_are_numbered_in_reading_order() -> None:
    sql = "WITH c AS (SELECT x FROM s.t) SELECT d.x FROM s.t p, c, c AS d, s.t AS `p!`"
    scans = [node for node in leaves(lowered(sql).root) if isinstance(node, Scan)]
    assert [scan.occurrence for scan in scans] == ["p", "t", "t_2", "p_2"]


def test_view_is_expanded_under_its_own_name_and_alias() -> None:
    assert lowered("SELECT v.a FROM s.v").output == (("a", "t__g"),)
    assert lowered("SELECT w.B FROM s.v AS w").output == (("B", "t__x"),)


Pairs = tuple[tuple[str, str], ...]


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("SELECT * FROM s.t", (("p", "x"), ("q", "G")), (("p", "t__x"), ("q", "t__g"))),
        ("SELECT x, x FROM s.t", (("p", "x"), ("q", "x")), (("p", "t__x"), ("q", "t__x"))),
    ],
)
def test_a_view_has_its_own_columns(text: str, columns: Pairs, expected: Pairs) -> None:
    """They have the names that they were given, whatever the tables have got since then, and in whatever order."""
    catalog = Catalog(CATALOG.tables, {"s.v": PlainView(text, columns)})
    assert lower("SELECT * FROM s.v", catalog).output == expected
    swapped = tuple((name, attribute) for name, (_, attribute) in zip(("a", "b"), expected, strict=True))
    assert lower("SELECT * FROM s.v AS w(a, b)", catalog).output == swapped


@pytest.mark.parametrize(("text", "selected"), [("SELECT * FROM s.t", "z"), ("SELECT *, g AS x FROM s.t", "x")])
def test_a_column_that_a_view_cannot_select(text: str, selected: str) -> None:
    catalog = Catalog(CATALOG.tables, {"s.v": PlainView(text, (("a", "g"), ("b", selected)))})
    with pytest.raises(IdivmError, match=f"has no column {selected}, or more than one") as caught:
        lower("SELECT * FROM s.v", catalog)
    assert caught.value.codes == ("IDIVM-307",)


def test_read_table_may_be_another_than_the_named_one() -> None:
    info = TableInfo("s.up", (Attribute("a", "int"), Attribute("hidden", "int")), ("hidden",), "", "s.up__idivm", ("a",))
    plan = lower("SELECT * FROM s.up", Catalog({"s.up": info}))
    assert plan.output == (("a", "up__a"),)
    assert isinstance(plan.root, Scan) and plan.root.table == "s.up__idivm"


def leaves(node: Relation) -> list[Relation]:
    return [leaf for child in node.children for leaf in leaves(child)] or [node]
