"""Which subviews are cached, what a cache holds, and the findings where one is impossible."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Caches, Caching, Catalog, PlainView, TableInfo
from dbt_idivm.definition.config import model_config
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import Lowered, lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.passes.canonical import canonical, with_canonical_names
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.multivalued import is_multivalued
from dbt_idivm.script.plan import Plan


def table(name: str, columns: str, *key: str) -> TableInfo:
    return TableInfo(name, tuple(Attribute(*each.split(" ", 1)) for each in columns.split(", ")), key or None)


CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("orders", "id int, cid int, day date, price decimal(10,2), tags map<string,int>", "id"),
            table("customers", "cid int, name string, region string", "cid"),
            table("lines", "id int, pid int, n int", "id", "pid"),
            table("parts", "pid int, price int", "pid"),
            table("log", "cid int, line string"),
        )
    },
    {"big": PlainView("SELECT id, cid, price FROM orders WHERE price > 100")},
)


def lowered(sql: str) -> Lowered:
    return lower(sql, CATALOG)


def plan(sql: str, policy: Caches = "all", stored: Mapping[str, Mapping[str, str]] | None = None, project: str = "") -> Plan:
    found = lowered(sql)
    return compile_plan(found.root, found.output, caching=Caching(policy, "main.v", found.subviews, stored or {}, project))


def refused(sql: str, *names: str) -> IdivmError:
    with pytest.raises(IdivmError) as error:
        plan(sql, names)
    return error.value


def trees(sql: str, policy: Caches = "all") -> list[str]:
    return [type(cache.plan.root.inputs[0]).__name__ for cache in plan(sql, policy).caches]


SPJ = "orders AS o JOIN customers AS c ON o.cid = c.cid"


@pytest.mark.parametrize(
    "sql, cached",
    [
        (f"SELECT c.name, sum(o.price) AS s FROM {SPJ} GROUP BY c.name", ["Join"]),
        ("SELECT cid, count(*) AS n FROM orders WHERE price > 1 GROUP BY cid", []),
        ("SELECT cid, count(*) AS n FROM orders GROUP BY cid HAVING count(*) > 1", ["Aggregate"]),
        (f"SELECT c.name, count(*) AS n FROM {SPJ} GROUP BY c.name HAVING count(*) > 1", ["Join", "Aggregate"]),
        (f"SELECT o.id, c.name FROM {SPJ}", []),
        ("SELECT n, count(*) AS m FROM (SELECT cid, count(*) AS n FROM orders GROUP BY cid) AS g GROUP BY n", ["Aggregate"]),
        ("SELECT a.region, count(*) AS n FROM customers AS a JOIN customers AS b ON a.region = b.region GROUP BY a.region", []),
        ("SELECT l.cid, count(*) AS n FROM log AS l JOIN customers AS c ON l.cid = c.cid GROUP BY l.cid", []),
        (
            "SELECT o.cid, count(*) AS n FROM orders AS o LEFT ANTI JOIN customers AS c ON o.cid = c.cid GROUP BY o.cid",
            ["SemiAntiJoin"],
        ),
        ("SELECT id FROM orders UNION SELECT cid FROM customers", ["UnionAll"]),
    ],
)
def test_all(sql: str, cached: list[str]) -> None:
    """Before and after each γ: not the view itself, no copy of a table, no multi-valued join, no rows without IDs."""
    assert trees(sql) == cached
    assert trees(sql, "auto") == trees(sql, "none") == []


@pytest.mark.parametrize(
    "source, multivalued",
    [
        (SPJ, False),
        ("orders AS o JOIN customers AS c ON o.cid <=> c.cid AND o.price > 1", False),
        ("orders AS o, customers AS c WHERE c.cid = o.cid", False),
        ("orders AS o JOIN customers AS c ON o.cid = c.cid + 0", True),
        ("orders AS o JOIN customers AS c ON c.cid = o.cid + 1", False),
        ("orders AS o JOIN customers AS c ON o.cid > c.cid", True),
        ("orders AS o CROSS JOIN customers AS c", True),
        ("orders AS o CROSS JOIN customers AS c WHERE c.cid = 7", False),
        ("customers AS a JOIN customers AS b ON a.region = b.region", True),
        (
            "parts AS p JOIN lines AS l ON l.pid = p.pid JOIN orders AS o ON o.id = l.id JOIN customers AS c ON c.cid = o.cid",
            False,
        ),
        ("parts AS p JOIN lines AS l ON l.pid = p.pid JOIN lines AS m ON m.pid = p.pid", True),
        ("lines AS l JOIN lines AS m ON l.pid = m.pid AND l.id = m.id", False),
        ("lines AS l JOIN lines AS m ON l.pid = m.pid WHERE m.id = 3", False),
        ("orders AS o JOIN (SELECT cid, count(*) AS n FROM orders GROUP BY cid) AS g ON g.cid = o.cid", False),
        ("orders AS o JOIN (SELECT cid, count(*) AS n FROM orders GROUP BY cid) AS g ON g.n = o.cid", True),
        ("orders AS o JOIN (SELECT count(*) AS n FROM parts) AS g ON o.id > g.n", False),
        ("(SELECT cid + 1 AS next FROM orders) AS o JOIN customers AS c ON c.cid = o.next", False),
        ("orders AS o LEFT SEMI JOIN customers AS c ON o.price > c.cid", False),
        ("(SELECT cid FROM orders UNION ALL SELECT cid FROM customers) AS u", False),
        ("(SELECT a.cid FROM orders AS a CROSS JOIN parts AS p UNION ALL SELECT cid FROM customers) AS u", True),
        ("log AS l JOIN customers AS c ON l.cid = c.cid", False),
        ("customers AS c JOIN log AS l ON l.cid = c.cid AND l.line = 'x'", False),
        ("orders AS o JOIN customers AS c ON o.cid = c.cid JOIN log AS l ON l.cid = c.cid", True),
    ],
)
def test_multivalued(source: str, multivalued: bool) -> None:
    assert is_multivalued(infer_ids(lowered(f"SELECT count(*) AS n FROM {source}").root.inputs[0])) is multivalued


CTES = f"WITH a AS (SELECT o.id, o.price, c.name, o.cid FROM {SPJ}), b AS (SELECT name, sum(price) AS s FROM a GROUP BY name) "


def test_named() -> None:
    cached = plan(f"{CTES} SELECT b.s, a.id FROM a JOIN b ON a.name = b.name", ("B", "a"))
    first, second = cached.caches
    assert all(re.fullmatch(r"main\.idivm_cache_[0-9a-f]{12}_orders_customers", each.table) for each in (first, second))
    assert (first.number, second.number) == (1, 2) and first.table != second.table
    assert first.reason == "`a` is named in the config `caches`, 2 times in the query"
    assert second.plan.tables == (first.table,) and first.plan.tables == ("orders", "customers")
    assert cached.tables == (first.table, second.table) and cached.base_tables == ("orders", "customers")


def test_a_cache_holds_what_is_read_of_any_occurrence_and_ids() -> None:
    """Nobody reads cid or region; the second occurrence reads what the first does not."""
    cached = plan(f"{CTES} SELECT x.id, y.price AS p FROM a AS x JOIN a AS y ON x.id = y.id", ("a",))
    (cache,) = cached.caches
    assert [a.name for a in cache.attributes] == ["orders__id", "orders__price", "customers__cid"]
    assert cache.key == ("orders__id", "customers__cid")
    left, right = cached.scans
    assert left.attribute("orders__id") == "o__id" and right.attribute("orders__id") == "o_2__id"
    assert (left.occurrence, right.occurrence) == ("cache_1", "cache_1_2")
    assert left.columns == ("o__id", "c__cid") and right.columns == ("o_2__id", "o_2__price", "c_2__cid")


def test_the_view_itself_and_what_it_shows_is_no_cache() -> None:
    assert plan("WITH a AS (SELECT cid, count(*) AS n FROM orders GROUP BY cid) SELECT n, cid FROM a", ("a",)).caches == ()


def test_all_that_is_wrong_with_names() -> None:
    error = refused(
        f"{CTES}, k AS (SELECT line FROM log), m AS (SELECT p.pid FROM parts AS p JOIN orders AS o) "
        "SELECT b.s FROM b JOIN k ON k.line = b.name JOIN m ON m.pid = b.s JOIN m AS n",
        "ab",
        "k",
        "m",
        "big",
        "b",
    )
    assert error.codes == ("IDIVM-108", "IDIVM-109", "IDIVM-110", "IDIVM-108")
    assert "the nearest: `b`" in str(error) and "log has no key" in str(error)
    assert error.findings[2].place is not None and not error.is_refusal


def test_a_name_where_there_are_none() -> None:
    assert "the nearest: it has none yet" in str(refused("SELECT id FROM orders", "a"))


def test_types_that_a_cache_cannot_hold() -> None:
    maps = "SELECT g.id FROM (SELECT o.id, map(array(o.cid), 1) AS m FROM orders AS o WHERE o.cid > 1) AS g WHERE g.m IS NOT NULL"
    assert refused(maps, "g").codes == ("IDIVM-218",)
    nulls = "SELECT g.id FROM (SELECT o.id, NULL AS m FROM orders AS o) AS g WHERE g.m IS NULL"
    assert refused(nulls, "g").codes == ("IDIVM-111",)
    unused = "SELECT g.id FROM (SELECT o.id, NULL AS m FROM orders AS o) AS g WHERE g.id > 1"
    assert len(plan(unused, ("g",)).caches) == 1


SUM = (
    "SELECT g.s, count(*) AS n, sum(g.s) AS t "
    f"FROM (SELECT c.name, sum(o.price) AS s FROM {SPJ} GROUP BY c.name) AS g GROUP BY g.s"
)


def test_types_that_the_engine_reports() -> None:
    """An inferred type may be `unknown`; then the view above is not additive. The engine's types are used unchanged."""
    sums = plan(SUM)
    assert [[a.type for a in cache.attributes] for cache in sums.caches] == [
        ["decimal(10, 2)", "string", "int", "int"],
        ["decimal(20, 2)", "string"],
    ]
    assert sums.way("additive") is not None
    sql = SUM.replace("o.price", "mod(o.price, 7)")
    inferred = plan(sql)
    assert inferred.caches[1].attributes[0].type == "unknown"
    assert inferred.way("additive") is None
    _, second = inferred.caches
    typed = plan(sql, stored={second.table: {"COMPUTED__VALUE": "decimal(20,2)", "customers__name": "string"}})
    assert [a.type for a in typed.caches[1].attributes] == ["decimal(20,2)", "string"] and typed.way("additive") is not None
    for kind, code in (("variant", "IDIVM-218"), ("interval day to second", "IDIVM-111")):
        with pytest.raises(IdivmError) as error:
            plan(sql, stored={second.table: {"computed__value": kind}})
        assert error.value.codes == (code,)


def test_state_of_an_additive_cache_is_stored_and_not_read() -> None:
    _, second = plan(SUM).caches
    assert second.plan.way("additive") is not None and not second.plan.hidden
    assert {c.name for c in second.plan.columns} > {a.name for a in second.attributes} == {*second.key, "computed__value"}


def test_a_view_that_is_not_stored_has_one_way_and_its_caches_have_theirs() -> None:
    groups = "(SELECT cid, count(*) AS n FROM orders GROUP BY cid)"
    found = lowered(f"SELECT c.name, t.n FROM {groups} t JOIN customers c ON t.cid = c.cid")
    config = model_config({"idivm": {"output": "diffs", "caches": "all"}})
    plan = compile_plan(
        found.root, found.output, ways=config.ways, cache_ways=config.cache_ways, caching=Caching("all", "main.v")
    )
    assert [way.name for way in plan.ways] == ["tuple"] and plan.caches[0].plan.way("additive") is not None


def test_names_of_caches_fit_a_metastore() -> None:
    found = lowered(f"SELECT c.name, count(*) AS n FROM {SPJ} GROUP BY c.name")

    def name(model: str) -> str:
        (cache,) = compile_plan(found.root, found.output, caching=Caching("all", model)).caches
        return cache.table

    assert name("main.m") == name("main.n") != name("other.m")
    assert name("`a b`.m").startswith("`a b`.idivm_cache_")


@pytest.mark.parametrize(
    "other, same",
    [
        # other names, another use
        (
            "WITH b AS (SELECT x.cid AS c, sum(x.price) AS t FROM orders x WHERE x.price > 1 GROUP BY x.cid) "
            "SELECT c, t, p.pid FROM b LEFT JOIN parts p ON p.pid = b.c",
            True,
        ),
        (
            "WITH b AS (SELECT cid, sum(price) AS s FROM orders WHERE price > 2 GROUP BY cid) "
            "SELECT s, b.cid, c.name FROM b JOIN customers c ON b.cid = c.cid",
            False,
        ),
        # another aggregate is read
        (
            "WITH b AS (SELECT cid, sum(price) AS s, min(day) AS d FROM orders WHERE price > 1 GROUP BY cid) "
            "SELECT s, d, c.name FROM b JOIN customers c ON b.cid = c.cid",
            False,
        ),
    ],
)
def test_models_share_equal_caches(other: str, same: bool) -> None:
    one = plan(
        "WITH a AS (SELECT cid, sum(price) AS s FROM orders WHERE price > 1 GROUP BY cid) "
        "SELECT s, c.name FROM a JOIN customers c ON a.cid = c.cid",
        ("a",),
    )
    two = plan(other, ("b",))
    (mine,), (theirs,) = one.caches, two.caches
    assert (mine.table == theirs.table) is same
    if same:
        assert (mine.key, mine.attributes, mine.plan.root) == (theirs.key, theirs.attributes, theirs.plan.root)
    assert plan(other, ("b",), project="another").caches[0].table != theirs.table


def everything(a: str, b: str, o: str) -> str:
    """A query with every operator; CTEs, an alias and columns as they are called here."""
    return (
        f"WITH {a} AS (SELECT c.name AS {a}1, {o}.price FROM orders {o} LEFT JOIN customers c ON {o}.cid = c.cid "
        f"UNION ALL SELECT 'x', 1), {b} AS (SELECT {a}1, rank() OVER (PARTITION BY {a}1 ORDER BY price) AS {b}1, l.{b}2 "
        f"FROM {a} LATERAL VIEW explode(split({a}1, ' ')) l AS {b}2) "
        f"SELECT {b}1, count({b}2) AS n FROM {b} WHERE EXISTS (SELECT 1 FROM parts p WHERE p.price = {b}1) GROUP BY {b}1"
    )


def test_canonical_names() -> None:
    """Equal trees get equal ones, and a tree keeps what it is."""
    one, two = (lowered(everything(*names)).root for names in ("abo", "xyz"))
    assert one != two and canonical(one).text == canonical(two).text
    (first, names), (second, _) = with_canonical_names(one), with_canonical_names(two)
    assert first == second and canonical(first).text == canonical(one).text
    assert first.columns == tuple(names[each] for each in one.columns)
    assert with_canonical_names(first)[0] == first


@pytest.mark.parametrize(
    "other, same",
    [
        ("SELECT p.id, p.price + 1 AS x FROM orders AS p WHERE p.cid = 3", True),
        ("SELECT p.id, p.price + 1 AS y FROM orders AS p WHERE p.cid = 3", True),
        ("SELECT p.id, p.price + 2 AS x FROM orders AS p WHERE p.cid = 3", False),
        ("SELECT p.id, p.price + 1 AS x FROM orders AS p WHERE p.cid = 4", False),
        ("SELECT p.id, p.price + 1 AS x FROM orders AS p WHERE p.id = 3", False),
        ("SELECT p.id, p.price + 1 AS x FROM orders AS p WHERE p.cid = '3'", False),
        ("SELECT p.id, p.price + 1 AS x FROM big AS p WHERE p.cid = 3", False),
    ],
)
def test_canonical_form(other: str, same: bool) -> None:
    one, two = (canonical(lowered(sql).root) for sql in ("SELECT o.id, o.price + 1 AS x FROM orders AS o WHERE o.cid = 3", other))
    assert (one.text == two.text) is same and (one.digest == two.digest) is same


def test_a_model_that_looks_no_keys_up_has_caches_of_its_own() -> None:
    found = lowered(SUM)
    one, two = (
        compile_plan(found.root, found.output, caching=Caching("all", "main.v", checked=checked)).caches[0]
        for checked in (True, False)
    )
    assert one.table != two.table and one.plan.digest == two.plan.digest


def test_caches_do_not_depend_on_the_model() -> None:
    one, two = (
        compile_plan(f.root, f.output, caching=Caching("all", model)).caches
        for model, f in (("main.a", lowered(SUM)), ("main.b", lowered(SUM.replace("o.", "u.").replace(" AS o ", " AS u "))))
    )
    assert one == two
    assert one[0].plan.digest != one[1].plan.digest
