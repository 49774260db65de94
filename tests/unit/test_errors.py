"""The texts of each code: golden files, pages, and the shape of a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_idivm.context import Catalog, PlainView, TableInfo
from dbt_idivm.docs import error_pages, reasons
from dbt_idivm.errors import CODES, ErrorCode, IdivmError, Place, finding, nearest
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "errors"


def table(name: str, columns: str, *key: str) -> TableInfo:
    pairs = [column.split(" ", 1) for column in columns.split(", ")]
    return TableInfo(name, tuple(Attribute(each, kind) for each, kind in pairs), key or None)


CATALOG = Catalog(
    {
        info.name: info
        for info in (
            table("main.orders", "id int, cid int, price decimal(10,2), placed timestamp, tags map<string,int>", "id"),
            table("main.customers", "cid int, name string, region string", "cid"),
            table("main.log", "line string, props map<string,string>"),
        )
    },
    {
        name: PlainView(text)
        for name, text in {
            "main.recent": "SELECT *\nFROM main.orders\nWHERE placed > now()",
            "main.broken": "SELECT FROM WHERE",
            "main.circle": "SELECT * FROM main.circle",
        }.items()
    },
)

# Code → a model that is refused with it.
SQL = {
    203: "SELECT id,\n  last_value(price) OVER (PARTITION BY cid ORDER BY placed) AS n\nFROM main.orders",
    204: "SELECT id\nFROM main.orders\nWHERE rand() < 0.1",
    205: "SELECT id\nFROM main.orders\nLIMIT 10",
    206: "SELECT id\nFROM main.orders\nWHERE placed < current_timestamp()",
    207: "SELECT cid, collect_set(price * 1.5D) AS prices\nFROM main.orders\nGROUP BY cid",
    208: "SELECT name\nFROM main.customers AS c\nWHERE NOT (cid = 1 OR cid IN (SELECT o.cid FROM main.orders AS o))",
    210: "SELECT cid, status, count(*) AS n\nFROM main.orders\nGROUP BY CUBE (cid, status, price, placed, id, id + 1)",
    211: "SELECT id, t.k\nFROM main.orders\nLATERAL VIEW json_tuple(status, 'k') t AS k",
    213: "SELECT id\nFROM main.orders TABLESAMPLE (10 PERCENT)",
    214: "WITH RECURSIVE r AS (SELECT id FROM main.orders UNION ALL SELECT id + 1 FROM r)\nSELECT id FROM r",
    215: "SELECT id\nFROM main.orders VERSION AS OF 3",
    216: "SELECT cid, try_sum(price) AS total\nFROM main.orders\nGROUP BY cid",
    218: "SELECT DISTINCT cid, tags\nFROM main.orders",
    220: "SELECT id,\nFROM WHERE main.orders",
    221: "SELECT o.id,\n  o.pirce * 2 AS double_price\nFROM main.orders AS o",
    222: "SELECT cid\nFROM main.orders AS o\nJOIN main.customers AS c ON o.cid = c.cid",
    223: "SELECT region, name, count(*) AS n\nFROM main.customers\nGROUP BY region",
    224: "SELECT id, price,\n  price * 2 AS PRICE\nFROM main.orders",
    225: "SELECT region,\n  count(*)\nFROM main.customers\nGROUP BY region",
    226: "SELECT my_udf(name) AS n\nFROM main.customers",
    227: "SELECT cid, name FROM main.customers\nUNION ALL\nSELECT cid FROM main.orders",
    228: "SELECT max(DISTINCT cid, price) AS n\nFROM main.orders",
    229: "SELECT cid\nFROM main.orders\nWHERE sum(price) > 1",
    230: "SELECT id\nFROM main.orders\nWHERE placed >= 'today'",
    235: "SELECT id\nFROM (SELECT id, price * 1.5D AS f FROM main.orders)\nWHERE f = 0 AND CAST(f AS STRING) = '-0.0'",
    301: "SELECT id\nFROM main.ordres",
    307: "SELECT *\nFROM main.broken",
}

# Code → details of a case that does not come from the SQL.
CASES: dict[int, dict[str, object]] = {
    102: {"key": "uniqe_key", "nearest": "`unique_key`"},
    103: {"key": "verify", "value": "maybe", "accepted": "none, sample or always"},
    106: {"view": "marts.sales"},
    107: {"view": "marts.sales", "before": "id int", "now": "id int, name string"},
    108: {"name": "costs", "nearest": "`cost`"},
    109: {"name": "clicks", "tables": "raw.log"},
    110: {"name": "pairs"},
    113: {"file": "models/schema.yml", "found": "`version`"},
    114: {"problem": "there is no target/manifest.json"},
    115: {"option": "--rate", "value": "orders=often", "problem": "it is not TABLE=PART[/day]", "do": "write it in this form"},
    116: {"tables": "`raw.orders`"},
    117: {"table": "raw.orders", "problem": "a table cannot have -5 rows"},
    118: {"file": ".idivm/costs.json", "problem": "it is no JSON"},
    119: {},
    120: {"file": "models/_idivm_advice.yml", "problem": "there is a file that `idivm advise` did not write"},
    121: {"models": "`sales`", "file": "models/schema.yml", "problem": "dbt allows the properties of a model in one file only"},
    122: {
        "view": "marts.sales",
        "column": "idivm__copies",
        "own": "`idivm__change`, `idivm__copies`, `idivm__refresh`, `idivm__versions`",
    },
    123: {"source": "orders", "candidates": "they list `shop.orders`"},
    124: {"file": "target/idivm/sales/seen.json", "problem": "it is not JSON"},
    126: {"setting": "spark.sql.session.timeZone", "value": "Asia/Tokyo", "wanted": "UTC"},
    125: {
        "relations": "`shop.orders`",
        "whose": "that the last run saw, not those in catalog.json",
        "reason": "they differ, and the run is newer",
    },
    237: {"what": "SUM(price)"},
    231: {},
    233: {"message": "[DIVIDE_BY_ZERO] Division by zero"},
    234: {
        "function": "main.margin",
        "problem": "its body is a query, and changes of the tables in that query would go unnoticed",
    },
    232: {"mentions": 1024, "tables": 32},
    111: {"name": "`waits`", "column": "wait", "type": "INTERVAL DAY TO SECOND"},
    302: {"source": "raw.events", "provider": "parquet"},
    303: {"source": "raw.orders"},
    304: {"source": "raw.orders", "column": "order_di", "declared": "the config `keys`", "nearest": "order_id"},
    305: {"source": "raw.orders", "key": "order_id", "declared": "the test `unique`", "count": 2, "example": "(17)"},
    236: {},
    238: {"what": "5,000 columns", "characters": "1,000,000", "columns": "2,000", "tables": "1,000"},
    306: {"source": "raw.orders", "key": "order_id", "declared": "the config", "version": 12, "example": "(17)"},
    308: {"source": "raw.orders", "column": "price", "nearest": "unit_price"},
    309: {"source": "raw.orders", "version": 4, "message": "version 4 is older than 7 days"},
    310: {"source": "raw.orders", "version": 4},
    311: {"source": "main.days", "setting": "spark.sql.session.timeZone", "theirs": "Asia/Tokyo", "ours": "UTC"},
    312: {"source": "main.days"},
    314: {"source": "main.orders", "table": "main.orders__idivm"},
    401: {},
    402: {"what": "other SQL"},
    403: {"source": "raw.orders", "from_version": 4, "to_version": 90, "message": "version 4 is past retention"},
    404: {"source": "raw.orders"},
    405: {"view": "marts.sales", "version": 7, "operation": "WRITE"},
    406: {"view": "marts.sales", "message": "no commit carries it"},
    407: {},
    408: {"reason": "LIMIT", "codes": "IDIVM-205"},
    409: {"setting": "time zone", "before": "UTC", "now": "Europe/Berlin"},
    410: {},
    411: {"incremental": "2.4 s", "full": "1.1 s", "pays": "incremental pays from about 3 million rows in its inputs"},
    412: {"source": "raw.orders", "before": "id int", "now": "id bigint"},
    413: {"view": "marts.sales"},
    414: {},
    415: {},
    416: {"source": "raw.orders"},
    417: {"message": "[DIVIDE_BY_ZERO] Division by zero"},
    418: {"source": "raw.orders"},
    419: {"source": "raw.orders", "key": "id", "version": 7, "example": "id = 3"},
    420: {"caches": "idivm_cache_d2ad61c409ba_orders", "cached": "4.9 s", "now": "21.8 s"},
    421: {"caches": "idivm_cache_d2ad61c409ba_orders", "without": "2.1 s", "now": "3.9 s"},
    422: {"caches": "idivm_cache_d2ad61c409ba_orders", "message": "[DIVIDE_BY_ZERO] Division by zero"},
    423: {"source": "main.orders", "operation": "RENAME COLUMN", "version": 7, "columns": "price, tax"},
    424: {"source": "main.orders", "before": "none", "now": "none day"},
    425: {"view": "marts.sales"},
    426: {},
    427: {
        "source": "raw.orders",
        "version": 7,
        "operation": "UPDATE",
        "writer": "delta-rs:py-1.6.6",
        "from_version": 4,
        "to_version": 9,
        "why": "has 0 rows from before updates in its change feed, and 1 from after them",
    },
    428: {"key": "order_id", "source": "raw.orders", "version": 7, "what": "order_id = 5 occurs more than once"},
    501: {"host": "spark.example:15002", "message": "Connection refused"},
    502: {"host": "spark.example:15002", "message": "Invalid authentication token"},
    503: {"host": "spark.example:15002", "setting": "spark.sql.ansi.enabled", "value": "true", "message": "not allowed"},
    504: {"host": "spark.example:15002"},
    505: {"message": "[INVALID_HANDLE.SESSION_CHANGED] The handle is invalid"},
    506: {"view": "marts.sales", "message": "Table sales does not support truncate in batch mode", "state": "It is at version 8"},
    507: {"host": "spark.example:15002", "version": "3.5.7"},
    508: {
        "table": "main.marts.idivm__state",
        "statement": "claim main.marts.sales",
        "message": "[PERMISSION_DENIED] no CREATE TABLE",
    },
    901: {"message": "⋈ of inputs that share ['o__id']"},
    902: {"statement": "merge into marts.sales", "message": "[ARITHMETIC_OVERFLOW]", "state": "It is at version 7"},
    903: {"view": "marts.sales", "message": "[DELTA_CONCURRENT_APPEND]", "state": "It is at version 8"},
    904: {"view": "marts.sales"},
    905: {"difference": "it has 1 too many of the row (s1=5, s2=5)"},
    906: {"message": "IDIVM-221 unknown column a"},
    907: {"view": "marts.sales"},
}


def raised(sql: str) -> IdivmError:
    with pytest.raises(IdivmError) as error:
        lower(sql, CATALOG)
    return error.value.of_model("marts.sales")


@pytest.mark.parametrize("entry", CODES, ids=lambda entry: entry.code)
def test_golden(entry: ErrorCode, golden: Callable[[Path, str], None]) -> None:
    number = int(entry.code[-3:])
    if number in SQL:
        error = raised(SQL[number])
        assert error.codes == (entry.code,)
        text = f"{SQL[number]}\n\n{error}\n"
    else:
        text = f"{finding(number, model='marts.sales', **CASES[number])}\n"
    golden(GOLDEN / f"{entry.code}.txt", text)


def test_every_golden_file_has_a_code() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {entry.code for entry in CODES}


def test_pages_are_up_to_date() -> None:
    stale = [name for name, text in error_pages().items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    assert not stale, "run python -m dbt_idivm.docs"
    assert {f"docs/errors/{path.name}" for path in (ROOT / "docs" / "errors").iterdir()} == set(error_pages())


def test_it_is_known_where_each_reason_for_a_full_refresh_is_found() -> None:
    assert set(reasons()) == {entry.code for entry in CODES if entry.kind == "full refresh"}


def test_codes_are_unique_and_in_order() -> None:
    codes = [entry.code for entry in CODES]
    assert codes == sorted(set(codes))


def test_only_missing_rules_are_on_the_roadmap() -> None:
    assert all((entry.roadmap is not None) == (entry.kind == "not yet") for entry in CODES)


def test_all_findings_are_reported_at_once() -> None:
    error = raised(
        "SELECT rand() AS r, o.id, rank() OVER (ORDER BY o.id) AS n FROM main.orders AS o JOIN main.ordres AS p "
        "ON o.id = p.id LIMIT 3"
    )
    assert sorted(error.codes) == ["IDIVM-204", "IDIVM-205", "IDIVM-301"]
    assert sorted(raised("SELECT idd, prise AS p, cid AS P FROM main.orders").codes) == ["IDIVM-221", "IDIVM-221", "IDIVM-224"]


def test_what_is_said_of_several_places_is_said_once() -> None:
    """With the first three of them."""
    said = str(raised("SELECT id,\nnow() AS a,\nnow() AS b,\nnow() AS c,\nnow() AS d,\nrand() AS e FROM main.orders"))
    assert said.count("IDIVM-206 unsupported") == said.count("IDIVM-204 unsupported") == 1
    assert [said.count(f"   {line} | ") for line in range(1, 7)] == [0, 1, 1, 1, 0, 1]
    assert "\n         and 1 more\n  why" in said


def test_place_in_an_expanded_view_names_the_view() -> None:
    error = raised("SELECT id\nFROM main.recent")
    assert error.codes == ("IDIVM-206",)
    assert "  model  marts.sales, view main.recent   3 | WHERE placed > now()" in str(error)


@pytest.mark.parametrize(
    "call", ["Max_By(price)", "collect_set(price * 1.5D)", "percentile_approx(price, 0.5)", "approx_percentile(price, 0.5)"]
)
def test_the_call_is_named_with_its_function(call: str) -> None:
    error = raised(f"SELECT status, {call} AS f FROM main.orders GROUP BY status")
    assert call in str(error) and "depends on the order of rows" in str(error)


def test_view_that_reads_itself() -> None:
    assert raised("SELECT * FROM main.circle").codes == ("IDIVM-307",)


_SESSIONS = "(SELECT cid, session_window(placed, '1 day') AS a, count(*) AS n FROM main.orders GROUP BY 1, 2) t"
REFUSED = {
    "SELECT id FROM main.orders QUALIFY row_number() OVER (ORDER BY id) = 1": "228",
    "SELECT first_value(price) IGNORE NULLS OVER (ORDER BY placed) AS s FROM main.orders": "203",
    "SELECT first(price, true) OVER (ORDER BY placed) AS s FROM main.orders": "203",
    "SELECT nth_value(price, 2) OVER (ORDER BY placed) AS s FROM main.orders": "203",
    "SELECT first_value(price) OVER (ORDER BY cid RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM main.orders": "203",
    "SELECT first_value(price) OVER (ORDER BY placed RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM main.orders": "203",
    "SELECT line, row_number() OVER (ORDER BY line) AS r FROM main.log": "203",
    "SELECT rank() AS r FROM main.orders": "229",
    "SELECT max(price) OVER (PARTITION BY rank()) AS r FROM main.orders": "229",
    "SELECT abs(price) OVER () AS r FROM main.orders": "229",
    "SELECT sum(DISTINCT price) OVER () AS r FROM main.orders": "229",
    "SELECT sum(price) FILTER (WHERE price > 1) OVER () AS r FROM main.orders": "229",
    "SELECT max(rank() OVER (ORDER BY id)) OVER () AS r FROM main.orders": "228",
    "SELECT id, sum(price) OVER w AS s FROM main.orders WINDOW w AS w": "229",
    "SELECT id, sum(price) OVER w AS s FROM main.orders WINDOW w AS v, v AS w": "229",
    "SELECT id, sum(price) OVER w AS s FROM main.orders WINDOW w AS (w)": "229",
    "SELECT s FROM (SELECT sum(price) OVER w AS s FROM main.orders) z WINDOW w AS (PARTITION BY s)": "228",
    "SELECT max(rank() OVER (ORDER BY id)) AS r FROM main.orders": "229",
    "SELECT id FROM main.orders WHERE rank() OVER (ORDER BY id) = 1": "229",
    "SELECT cid FROM main.orders GROUP BY cid HAVING rank() OVER (ORDER BY cid) = 1": "229",
    "SELECT count(*) AS n FROM main.orders GROUP BY rank() OVER (ORDER BY id)": "229",
    "SELECT sum(price) OVER v AS s FROM main.orders WINDOW w AS (PARTITION BY cid)": "229",
    "SELECT sum(price) OVER w AS s FROM main.orders WINDOW W AS (PARTITION BY cid)": "229",  # unlike all other names
    "SELECT rank() OVER (PARTITION BY tags ORDER BY id) AS r FROM main.orders": "218",
    "SELECT collect_list(price) OVER (PARTITION BY cid) AS r FROM main.orders": "207",
    "SELECT rank() OVER (ORDER BY rand()) AS r FROM main.orders": "204",
    "SELECT uuid() AS u FROM main.orders": "204",
    "SELECT monotonically_increasing_id() AS u FROM main.orders": "204",
    "SELECT shuffle(array(id)) AS u FROM main.orders": "204",
    "SELECT id FROM (SELECT id FROM main.orders LIMIT 5) t": "205",
    "SELECT id FROM main.orders OFFSET 5": "205",
    "SELECT current_date AS d FROM main.orders": "206",
    "SELECT id FROM main.orders WHERE placed > current_timestamp": "206",
    "SELECT now() AS d FROM main.orders": "206",
    "SELECT unix_timestamp() AS d FROM main.orders": "206",
    "SELECT current_user() AS d FROM main.orders": "206",
    "SELECT id, first(cid) FILTER (WHERE price > 1) AS f, cid AS c FROM main.orders GROUP BY id": "223",
    "SELECT cid, max_by(price, id) OVER (PARTITION BY cid) AS f FROM main.orders": "216",
    "SELECT percentile_approx(price, 0.5) AS f FROM main.orders": "207",
    "SELECT id FROM main.orders WHERE window(placed, '5 minutes').start IS NULL": "228",
    "SELECT window(placed, '5 minutes') AS a, window(placed, '6 minutes') AS b FROM main.orders": "228",
    "SELECT window(placed, '5 minutes', '6 minutes') AS a FROM main.orders": "229",
    "SELECT window(placed, '5 minutes', '1 minute', '-1 minute') AS a FROM main.orders": "229",
    "SELECT window(placed, '1 month') AS a FROM main.orders": "228",
    "SELECT window(id, '1 day') AS a FROM main.orders": "228",
    "SELECT session_window(placed, '1 day') AS a FROM main.orders": "228",
    "SELECT session_window(placed, '1 day').start AS a FROM main.orders GROUP BY session_window(placed, '1 day').start": "228",
    "SELECT session_window AS a FROM main.orders GROUP BY session_window(placed, '1 day'), session_window.end": "228",
    "SELECT cid, max(session_window(placed, '1 day').end) AS a FROM main.orders GROUP BY cid": "228",
    "SELECT session_window(placed, '1 day') AS a, count(DISTINCT id) AS n, sum(DISTINCT cid) AS m FROM main.orders GROUP BY 1": "228",
    "SELECT session_window(placed, '1 day') AS a, count(DISTINCT id) FILTER (WHERE cid > 1) AS n FROM main.orders GROUP BY 1": "228",
    "SELECT DISTINCT session_window(placed, '1 day') AS a FROM main.orders GROUP BY cid, 1": "228",
    "SELECT session_window(placed, '1 day') AS a FROM main.orders GROUP BY 1 HAVING session_window.start > date'2024-01-01'": "228",
    f"SELECT a, count(*) AS n FROM {_SESSIONS} GROUP BY a": "228",
    f"SELECT cid, max(s) AS s FROM (SELECT cid, a.start AS s FROM {_SESSIONS}) t GROUP BY cid": "228",
    f"SELECT cid, a FROM {_SESSIONS} WHERE date(a.end) > date'2024-01-01'": "228",
    f"SELECT t.cid, n FROM {_SESSIONS} JOIN main.orders o ON o.placed = a.start": "228",
    f"SELECT t.cid, n, name FROM {_SESSIONS} LEFT JOIN main.customers c ON c.cid = t.cid AND a.start > date'2024-01-01'": "228",
    f"SELECT id FROM main.orders o WHERE EXISTS (SELECT 1 FROM {_SESSIONS} WHERE a.start = o.placed)": "228",
    f"SELECT a FROM {_SESSIONS} UNION SELECT a FROM {_SESSIONS}": "228",
    f"SELECT b, count(*) AS n FROM (SELECT a AS b FROM {_SESSIONS} UNION ALL SELECT a FROM {_SESSIONS}) u GROUP BY b": "228",
    "SELECT window(placed, '1 day') AS a FROM main.orders GROUP BY ROLLUP (window(placed, '1 day'))": "228",
    "SELECT id FROM main.orders WHERE id IN (SELECT unix_seconds(window(placed, '1 day').start) FROM main.orders)": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR (cid, id) NOT IN (SELECT cid, cid FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR NOT ((cid, id) IN (SELECT cid, 1 FROM main.customers WHERE cid > 1))": "208",
    "SELECT id, cid NOT IN (SELECT cid FROM main.customers) AS e FROM main.orders": "208",
    "SELECT id, cid IN (SELECT cid FROM main.customers WHERE cid > 1) AS e FROM main.orders": "208",
    "SELECT id, cid IN (SELECT cid FROM main.customers) AS e FROM main.orders WHERE cid > 1": "208",
    "SELECT cid FROM main.orders WHERE cid > 0 GROUP BY cid HAVING cid NOT IN (SELECT 1)": "208",
    "SELECT id FROM main.orders WHERE NOT (cid = 1 OR cid IN (SELECT cid FROM main.customers))": "208",
    "SELECT id FROM main.orders WHERE (cid = 1 OR cid IN (SELECT cid FROM main.customers)) = (id > 1)": "208",
    "SELECT id, CASE WHEN NOT (cid IN (SELECT cid FROM main.customers) OR id = 1) THEN 1 END AS e FROM main.orders": "208",
    "SELECT id, CASE WHEN id = 1 THEN cid IN (SELECT cid FROM main.customers) END AS e FROM main.orders": "208",
    "SELECT id, CASE id > 1 WHEN cid IN (SELECT cid FROM main.customers) THEN 1 END AS e FROM main.orders": "208",
    "SELECT id, CASE WHEN (cid IN (SELECT cid FROM main.customers)) = (id > 1) THEN 1 END AS e FROM main.orders": "208",
    "SELECT id, if(id = 1, cid IN (SELECT cid FROM main.customers), true) AS e FROM main.orders": "208",
    "SELECT cid FROM main.orders GROUP BY cid HAVING CASE WHEN cid IN (SELECT cid FROM main.customers) THEN true END": "208",
    "SELECT id FROM main.orders WHERE coalesce(cid IN (SELECT cid FROM main.customers), id > 1)": "208",
    "SELECT o.id FROM main.orders o JOIN main.orders p ON o.id = 1 OR p.cid IN (SELECT cid FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE CAST(id AS STRING) COLLATE UTF8_LCASE NOT IN (SELECT name FROM main.customers)": "208",
    "SELECT line, (SELECT price FROM main.orders WHERE status = line ORDER BY id LIMIT 1) AS q FROM main.log": "208",
    "SELECT o.id, l.q FROM main.orders o LEFT JOIN LATERAL (SELECT p.price AS q FROM main.orders p WHERE p.cid = o.cid "
    "ORDER BY p.id LIMIT 1) l ON l.q > 3": "208",
    "SELECT o.id, (SELECT p.price FROM main.orders p WHERE p.cid = o.cid ORDER BY p.id LIMIT 1 OFFSET 1) AS q "
    "FROM main.orders o": "208",
    "SELECT (SELECT max(name) FROM main.customers c WHERE c.name = l.line HAVING count(*) > 1) AS m FROM main.log l": "208",
    "SELECT id, (SELECT max(name) FROM main.customers c WHERE c.cid = o.cid HAVING c.cid > 1) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT percentile(1, 0.5) FROM main.customers c WHERE c.cid > o.cid) AS m FROM main.orders o": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR cid IN (SELECT name FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR CAST(price AS FLOAT) IN (SELECT cid FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR upper(CAST(id AS STRING)) IN (SELECT name FROM main.customers)": "208",
    "SELECT id FROM main.orders o WHERE id = 1 OR cid IN (SELECT cid FROM main.customers c WHERE c.cid > o.id)": "208",
    "SELECT id FROM main.orders WHERE id = 1 OR (id, cid) IN (SELECT cid FROM main.customers)": "229",
    "SELECT id FROM main.orders WHERE id = 1 OR sum(id) IN (SELECT cid FROM main.customers)": "229",
    "SELECT mode() WITHIN GROUP (ORDER BY price) AS f FROM main.orders": "207",
    "SELECT array_sort(collect_list(price) OVER ()) AS f FROM main.orders": "207",
    "SELECT sort_array(collect_set(struct(id, CAST(price AS FLOAT) AS p))) AS f FROM main.orders": "207",
    "SELECT sort_array(collect_list(CAST(tags AS MAP<STRING, INT>))) AS f FROM main.orders": "207",
    "SELECT corr(price, sum(id)) AS f FROM main.orders": "229",
    "SELECT corr(price, id) WITHIN GROUP (ORDER BY id) AS f FROM main.orders": "229",
    "SELECT percentile_cont(0.5) AS f FROM main.orders": "229",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id, price) AS f FROM main.orders": "229",
    "SELECT array_sort(collect_list(id)) FILTER (WHERE id > 1) AS f FROM main.orders": "229",
    "SELECT array_agg() AS f FROM main.orders": "229",
    "SELECT id FROM main.orders WHERE corr(id, price) > 1": "229",
    "SELECT id FROM main.orders JOIN main.customers ON corr(id, price) > 1": "229",
    "SELECT count(DISTINCT cid, tags) AS n FROM main.orders": "218",
    "SELECT id, cid IN (SELECT cid FROM main.customers) AS e FROM main.orders": "208",
    "SELECT id FROM main.orders o WHERE id = 1 OR EXISTS (SELECT 1 FROM main.customers c WHERE c.cid > o.cid)": "208",
    "SELECT id, EXISTS (SELECT 1 FROM main.customers c WHERE c.cid = k) AS e, cid AS k FROM main.orders": "208",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY cid HAVING cid = 1 OR EXISTS ("
    "SELECT 1 FROM main.customers c WHERE c.cid = n)": "208",
    "SELECT o.id FROM main.orders o JOIN main.orders p ON EXISTS (SELECT 1 FROM main.customers)": "208",
    "SELECT cid FROM main.orders GROUP BY cid HAVING cid IN (SELECT cid FROM main.customers)": "208",
    # which x is meant is not known yet
    "SELECT cid, max(id) AS id FROM main.orders GROUP BY cid HAVING cid = 1 OR id IN (SELECT cid FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE (cid IN (SELECT cid FROM main.customers)) IS NULL": "208",
    "SELECT sum(id) FILTER (WHERE EXISTS (SELECT 1 FROM main.customers)) AS s FROM main.orders": "208",
    "SELECT upper(status) FILTER (WHERE id > 1) AS s FROM main.orders": "229",
    "SELECT try_sum(id) FILTER (WHERE id > 1) AS s FROM main.orders": "228",
    "SELECT cid, sum(id) FILTER (WHERE sum(id) > 1) AS s FROM main.orders GROUP BY cid": "229",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT count(*) FROM main.orders o WHERE o.cid = c.cid)": "208",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE o.cid = c.cid GROUP BY id)": "208",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT c.name FROM main.orders)": "208",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM (SELECT * FROM main.orders o WHERE o.cid = c.cid) t)": "208",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o JOIN main.orders p ON p.cid = c.cid)": "208",
    "SELECT name FROM main.customers c WHERE EXISTS (SELECT 1 FROM main.orders o WHERE EXISTS ("
    "SELECT 1 FROM main.orders p WHERE p.cid = c.cid))": "208",
    "SELECT name FROM main.customers c WHERE EXISTS ("
    "SELECT 1 FROM main.orders o WHERE o.cid = c.cid UNION ALL SELECT 1 FROM main.orders)": "208",
    "SELECT name FROM main.customers WHERE cid IN (SELECT max(o.cid) FROM main.orders o WHERE id = region)": "208",
    "SELECT name FROM main.customers WHERE name IN (SELECT cid FROM main.orders)": "208",
    "SELECT name FROM main.customers WHERE cid IN (SELECT cid FROM main.orders LIMIT 2)": "205",
    "SELECT name FROM main.customers WHERE EXISTS (SELECT cid FROM main.orders LIMIT 0)": "205",
    "SELECT name FROM main.customers WHERE EXISTS (SELECT cid FROM main.orders OFFSET 2)": "205",
    "SELECT name FROM main.customers WHERE (cid, name) IN (SELECT cid FROM main.orders)": "229",
    "SELECT id FROM main.orders o NATURAL LEFT SEMI JOIN main.customers c": "229",
    "SELECT id FROM main.orders o WHERE EXISTS (SELECT 1 FROM main.orders p WHERE p.tags = o.tags)": "218",
    "SELECT id FROM main.orders o WHERE sum(id) IN (SELECT cid FROM main.customers)": "229",
    # an aggregate of the outer query, which Spark has
    "SELECT cid FROM main.orders GROUP BY cid HAVING 1 = (SELECT count(*) FROM main.customers c WHERE c.cid = count(id))": "208",
    # two INTs equal one FLOAT, and two DATEs one TIMESTAMP where a zone left out a day
    "SELECT id, EXISTS (SELECT 1 FROM main.customers c WHERE c.cid = CAST(o.price AS FLOAT)) AS e FROM main.orders o": "208",
    "SELECT id, EXISTS (SELECT 1 FROM main.orders c WHERE CAST(c.placed AS DATE) = o.placed) AS e FROM main.orders o": "208",
    # no key is fixed: another column, a key of none, one of two parts, by < or by texts of which several are one INT, through OR
    "SELECT id, (SELECT name FROM main.customers c WHERE c.region = CAST(o.id AS STRING)) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT line FROM main.log l WHERE l.line = CAST(o.id AS STRING)) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT p.price FROM main.orders p JOIN main.customers c ON p.price > c.cid WHERE p.id = o.id) AS m "
    "FROM main.orders o": "208",
    "SELECT id, (SELECT name FROM main.customers c WHERE c.cid < o.cid) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT name FROM main.customers c WHERE c.cid = o.cid OR c.cid = 1) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT name FROM main.customers c WHERE c.cid % 2 = o.cid) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT name FROM main.customers c WHERE c.cid = CAST(o.price AS FLOAT)) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT name FROM main.customers c WHERE c.cid = o.cid UNION ALL SELECT 'x') AS m FROM main.orders o": "208",
    "SELECT id, (SELECT max(name) FROM main.customers c WHERE c.cid > o.cid GROUP BY c.cid) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT name, cid FROM main.customers WHERE cid = 1) AS m FROM main.orders": "229",
    "SELECT id, (SELECT * FROM main.customers c WHERE c.cid = o.cid) AS m FROM main.orders o": "229",
    "SELECT id, (SELECT count(*), max(cid) FROM main.customers GROUP BY ()) AS m FROM main.orders": "229",
    "SELECT (SELECT max(name) FROM main.customers c WHERE c.name > l.line) AS m FROM main.log l": "208",
    "SELECT id, (SELECT max(name) FROM main.customers c WHERE c.name = upper(o.status)) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT max(o.id) FROM main.customers c) AS m FROM main.orders o": "208",
    "SELECT id, (SELECT max(cid), 1 FROM main.customers) AS m FROM main.orders": "229",
    "SELECT count(*) AS n, (SELECT max(cid) FROM main.customers) AS m FROM main.orders": "208",
    "SELECT o.id FROM main.orders o JOIN main.customers c ON o.cid = (SELECT max(cid) FROM main.customers)": "208",
    "SELECT count(*) AS n FROM main.orders GROUP BY (SELECT max(cid) FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE (SELECT max(cid) FROM main.customers) IN (SELECT cid FROM main.customers)": "208",
    "SELECT id FROM main.orders WHERE price > ANY (SELECT 1 FROM main.orders)": "208",
    "SELECT tags FROM main.orders EXCEPT ALL SELECT tags FROM main.orders": "218",
    "SELECT cid FROM main.customers EXCEPT SELECT cid, id FROM main.orders": "227",
    "SELECT tags FROM main.orders INTERSECT SELECT tags FROM main.orders": "218",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY CUBE (cid, status), ROLLUP (id, price, placed), CUBE (id, price)": "210",
    f"SELECT cid FROM main.orders GROUP BY CUBE ({', '.join(f'cid + {number}' for number in range(99))})": "210",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY ROLLUP (cid, ())": "229",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY ROLLUP (cid) WITH CUBE": "229",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY ROLLUP ()": "229",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY ROLLUP (cid), grouping(cid)": "229",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY ALL WITH ROLLUP": "221",
    "SELECT cid, id, count(*) AS n FROM main.orders GROUP BY ROLLUP (cid)": "223",
    "SELECT cid, 1 AS one, count(*) AS n FROM main.orders GROUP BY ROLLUP (cid, one)": "228",
    "SELECT cid AS c, count(*) AS n FROM main.orders GROUP BY ROLLUP (c), cid": "228",
    "SELECT x, y FROM (SELECT cid AS x, cid AS y FROM main.orders) AS q GROUP BY ROLLUP (x, y)": "228",
    "SELECT (cid, id) AS c, count(*) AS n FROM main.orders GROUP BY (cid, id) WITH ROLLUP": "228",
    "SELECT tags, count(*) AS n FROM main.orders GROUP BY ROLLUP (tags)": "218",
    "SELECT cid, explode(sequence(1, 2)) AS k FROM main.orders GROUP BY ROLLUP (cid)": "228",
    "SELECT cid, sum(grouping(cid)) AS n FROM main.orders GROUP BY ROLLUP (cid)": "228",
    "SELECT cid, count(*) FILTER (WHERE grouping(cid) = 1) AS n FROM main.orders GROUP BY ROLLUP (cid)": "228",
    "SELECT cid, grouping(id) AS n FROM main.orders GROUP BY ROLLUP (cid)": "229",
    "SELECT cid, grouping_id(id, cid) AS n FROM main.orders GROUP BY ROLLUP (cid, id)": "229",
    "SELECT cid, count(*) AS n FROM main.orders WHERE grouping(cid) = 0 GROUP BY ROLLUP (cid)": "229",
    "SELECT json_tuple(status, 'a') AS k FROM main.orders": "211",
    "SELECT explode(sequence(1, 2)) + 1 AS k FROM main.orders": "229",
    "SELECT explode(sequence(1, 2)) AS k, k + 1 AS l FROM main.orders": "228",
    "SELECT explode(sequence(1, 2)) AS k, explode(sequence(1, 2)) AS l FROM main.orders": "228",
    "SELECT id FROM main.orders WHERE explode(sequence(1, 2)) = 1": "229",
    "SELECT explode(sequence(1, 2)) AS (k, l) FROM main.orders": "229",
    "SELECT upper(status) AS (k, l) FROM main.orders": "228",
    "SELECT stack(id, 1, 2) AS k FROM main.orders": "228",
    "SELECT stack(0, 1, 2) AS k FROM main.orders": "228",
    "SELECT explode(sequence(1, 2)) AS k, rank() OVER (ORDER BY id) AS r FROM main.orders": "228",
    "SELECT explode(transform(array(id), e -> e + 1)) FROM main.orders": "228",
    "SELECT inline(from_json(status, 'a')) FROM main.orders": "228",
    "SELECT cid FROM main.customers c WHERE EXISTS (SELECT explode(sequence(1, o.id)) FROM main.orders o WHERE o.cid = c.cid)": "208",
    "SELECT o.id FROM main.orders o RIGHT JOIN LATERAL (SELECT c.cid FROM main.customers c WHERE c.cid = o.cid) c": "208",
    "SELECT c.cid FROM LATERAL (SELECT cid FROM main.customers) c": "208",
    "SELECT o.id FROM main.orders o, LATERAL (SELECT c.cid + o.id AS k FROM main.customers c) c": "208",
    "SELECT o.id FROM main.orders o, LATERAL (SELECT DISTINCT c.name FROM main.customers c WHERE c.cid = o.cid) c": "208",
    "SELECT o.id FROM main.orders o, LATERAL (SELECT count(*) AS n FROM main.customers c WHERE c.cid = id HAVING n = 0) c": "208",
    "SELECT 1 FROM main.orders o LEFT JOIN LATERAL (SELECT max(cid) n FROM main.customers c WHERE c.cid = o.cid) ON n > 1": "208",
    "SELECT o.id FROM main.orders o, LATERAL (SELECT n.cid FROM main.customers n WHERE n.cid = p.cid) c, main.orders p": "221",
    "SELECT o.id, e.k FROM main.orders o RIGHT JOIN LATERAL explode(sequence(1, 2)) AS e(k)": "228",
    "SELECT o.id, e.k FROM main.orders o LEFT JOIN LATERAL explode(sequence(1, 2)) AS e(k) ON e.k = 1": "228",
    "SELECT * FROM main.orders o JOIN main.customers c ON o.cid = c.cid UNPIVOT (v FOR n IN (credit, price))": "228",
    "SELECT * FROM main.customers UNPIVOT ((v, w) FOR n IN (credit, (cid, credit)))": "229",
    "SELECT * FROM main.customers PIVOT (cid FOR region IN ('east'))": "220",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR region IN ('east')) AS p": "229",
    "SELECT * FROM main.customers PIVOT (max(cid), min(cid) FOR region IN ('east'))": "228",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR credit IN (1.5))": "228",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR (credit, region) IN ((1, 'east', 2) AS a))": "229",
    "SELECT cid, explode(sequence(1, 2)) AS k FROM main.orders GROUP BY ALL": "228",
    "SELECT cid, explode(sequence(1, 2)) AS k FROM main.orders GROUP BY cid HAVING k > 0": "228",
    "SELECT cid, explode(sequence(1, 2)) AS k FROM main.orders GROUP BY 1, 2": "228",
    "SELECT cid, inline_outer(array(struct(cid AS k))) AS k FROM main.orders GROUP BY 1, 2": "228",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR credit IN (1, 01 AS one))": "228",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR credit IN (-1))": "228",
    "SELECT * FROM main.customers PIVOT (max(cid) FOR credit IN (1 + 1 AS two))": "228",
    # `o` may be the table or the column of the result
    "SELECT o.id, o.price AS o FROM main.orders o ORDER BY o.status, o.id LIMIT 2": "228",
    "SELECT id FROM main.orders ORDER BY price, id LIMIT 1 + 1": "205",
    "SELECT id FROM main.orders SORT BY id LIMIT 2": "205",
    "SELECT sum(price) AS price, cid FROM main.orders GROUP BY cid ORDER BY max(price), cid LIMIT 2": "228",
    # Spark orders by the column
    "SELECT cid AS `all`, id FROM main.orders ORDER BY ALL LIMIT 2": "228",
    "SELECT id FROM main.orders ORDER BY ALL, price LIMIT 2": "228",
    "SELECT id, rank() OVER (ORDER BY price) AS r FROM main.orders ORDER BY r, status LIMIT 2": "228",
    "SELECT id, rank() OVER (ORDER BY price) AS r FROM main.orders ORDER BY 2, status LIMIT 2": "228",
    "SELECT id, (SELECT max(cid) FROM main.customers) AS m FROM main.orders ORDER BY m, status LIMIT 2": "228",
    "SELECT id, price AS p, cid AS p FROM main.orders ORDER BY p, status LIMIT 2": "228",
    "SELECT id, cid FROM main.orders ORDER BY 3, status LIMIT 2": "228",
    "SELECT explode(array(count(*), 1)) AS x FROM main.orders LIMIT 1": "205",
    "SELECT cid, count(*) AS n FROM main.orders GROUP BY cid LIMIT 1": "205",
    "SELECT count(*) AS n FROM main.orders LIMIT 0": "205",
    # the greatest of one value may be another zero, or there is no greatest
    "SELECT id, (SELECT CAST(price AS FLOAT) FROM main.orders WHERE cid = 1) AS m FROM main.orders": "208",
    "SELECT id, (SELECT array(cid) FROM main.customers) AS m FROM main.orders": "208",
    "SELECT DISTINCT cid + 1 AS c FROM main.orders ORDER BY cid + 1 LIMIT 2": "228",
    "SELECT o.id, r.id AS n FROM main.orders o CROSS JOIN range(3) r": "211",
    "SELECT id FROM main.orders@v3": "215",
    "SELECT id FROM main.orders TIMESTAMP AS OF '2024-01-01'": "215",
    "SELECT percentile(price, 0.5) OVER (PARTITION BY cid) AS m FROM main.orders": "216",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) OVER (PARTITION BY cid) AS m FROM main.orders": "216",
    "SELECT listagg(name) WITHIN GROUP (ORDER BY name) OVER () AS m FROM main.customers": "216",
    "SELECT count_if(DISTINCT price > 1) AS m FROM main.orders": "228",
    "SELECT bool_and() AS m FROM main.orders": "220",
    "SELECT median(price, 2) AS m FROM main.orders": "229",
    "SELECT approx_count_distinct(cid) OVER () AS m FROM main.orders": "216",
    "SELECT tags, count(*) AS n FROM main.orders GROUP BY tags": "218",
    "SELECT tags FROM main.orders UNION SELECT tags FROM main.orders": "218",
    "SELECT a.id FROM main.orders a JOIN main.orders b ON a.tags = b.tags": "218",
    "SELECT line, props FROM main.log": "218",
    "SELECT max(tags) AS m FROM main.orders": "218",
    "SELECT count(DISTINCT tags) AS m FROM main.orders": "218",
    "SELECT grouping(cid) AS g FROM main.orders GROUP BY cid": "229",
    "SELECT grouping_id() AS g FROM main.orders": "229",
    "SELECT id FROM main.orders WHERE current_user = 'x'": "206",
    "SELECT v.col1 FROM VALUES 1, 2 v": "228",
    f"SELECT v.a FROM VALUES {', '.join(['(1)'] * 201)} AS v(a)": "228",
    "SELECT v.a FROM VALUES (1), (2, 3) AS v(a)": "229",
    "SELECT v.a FROM VALUES (sum(1)) AS v(a)": "229",
    "SELECT v.a FROM VALUES (1) AS v(a, b)": "229",
    "SELECT *": "229",
    "FROM all (a, b) AS s SELECT t": "228",
    "SELECT a": "221",
    "SELECT v.a FROM main.orders, VALUES (id) AS v(a)": "221",
    "SELECT current_date() AS a": "206",
    "SELECT v.a FROM VALUES (rand()) AS v(a)": "204",
    "SELECT v.a FROM VALUES ((SELECT max(id) FROM main.orders)) AS v(a)": "208",
    "SELECT id FROM main.orders AS o WHERE EXISTS (SELECT 1 FROM VALUES (o.id) AS v(a))": "208",
    "SELECT id FROM main.orders; SELECT 1": "220",
    "INSERT INTO main.orders SELECT * FROM main.orders": "220",
    "SELECT o.* FROM main.orders": "221",
    "SELECT * EXCEPT (nope) FROM main.orders": "221",
    "SELECT id FROM main.orders JOIN main.customers USING (region)": "221",
    "SELECT main.abs(id) AS a FROM main.orders": "226",
    "SELECT `my fn`(id) AS a FROM main.orders": "226",
    "SELECT count(*, price) AS n FROM main.orders": "228",
    "SELECT count(DISTINCT o.*, price) AS n FROM main.orders o": "228",
    "SELECT max(DISTINCT cid, price) AS n FROM main.orders": "228",
    "SELECT count(DISTINCT *) AS n FROM main.orders": "228",
    "SELECT struct(*) AS n FROM main.orders": "228",
    "SELECT id FROM main.orders WHERE id = :x": "228",
    "SELECT 'it''s' AS s FROM main.orders": "228",
    "SELECT TIME'10:00:00' AS t FROM main.orders": "228",
    "SELECT id FROM main.orders UNION ALL BY NAME SELECT id FROM main.orders": "228",
    "SELECT id FROM main.orders GROUP BY 2": "229",
    "SELECT sum(sum(price)) AS s FROM main.orders": "229",
    "SELECT id FROM main.orders HAVING id > 1": "223",
    "SELECT count(*) AS n FROM main.orders GROUP BY sum(price)": "229",
    "SELECT t.a FROM (SELECT id, cid FROM main.orders) AS t(a)": "229",
}


@pytest.mark.parametrize(("sql", "code"), REFUSED.items())
def test_refusal(sql: str, code: str) -> None:
    assert f"IDIVM-{code}" in raised(sql).codes


def test_finding_needs_its_details() -> None:
    with pytest.raises(KeyError, match="source"):
        finding(303)


def test_refusals_leave_a_full_refresh_open_and_mistakes_do_not() -> None:
    assert raised(SQL[203]).is_refusal
    assert not raised(SQL[221]).is_refusal
    assert not IdivmError((finding(205, clause="LIMIT 3", reason=""), finding(301, source="s.t"))).is_refusal


def test_underline_stands_below_the_span() -> None:
    place = Place(6, "where rand() < 0.1", 6, 12)
    lines = str(finding(204, place, model="m.v", function="rand()")).splitlines()
    start = lines[1].index("rand()")
    assert lines[2] == " " * start + "^" * 6


def test_nearest_ignores_case() -> None:
    assert nearest("PIRCE", ("id", "Price", "placed"))[0] == "Price"
    assert nearest("zzz", ("id", "name")) == ("id", "name")
