"""Which edits of constants are migrated, by which rule, and which constants are no input."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt_idivm.adaptation.adapt import Adaptation, adapt
from dbt_idivm.adaptation.moved import Moved, edit_of, moved
from dbt_idivm.adaptation.moving import constant_kind
from dbt_idivm.algebra.expressions import DIALECT
from tests.property.plans import VIEW, Options, Table, plan_of

T = Table(
    "t",
    (
        ("k", "int"),
        ("x", "int"),
        ("b", "bigint"),
        ("s", "string"),
        ("c", "char(5)"),
        ("d", "date"),
        ("ts", "timestamp"),
        ("m", "decimal(10,2)"),
        ("wide", "decimal(38,20)"),
        ("f", "double"),
        ("parts", "array<int>"),
    ),
    ("k",),
)
U = Table("u", (("k", "int"), ("x", "int"), ("z", "int")), ("k",))
STARTED = ("2026-11-29 22:58:34.123456+00:00", "2026-11-30 22:58:35.654321+00:00")


def edit(sql: str, *constants: str) -> tuple[Adaptation | Moved | None, Moved | None]:
    """The edit of the text from the one constant to the other, and the same as an edit of constants."""
    old, new = (plan_of((T, U), sql.replace("{}", each), Options()) for each in constants)
    return edit_of(old, new, VIEW), moved(old, new, VIEW)


# the text; the constants; the types of what moves
MOVED = {
    "select k, s from t where x > {}": ("1", "0", "int"),
    "select k, s from t where b > {}": ("1", "5000000000", "decimal(20, 0)"),
    "select k, x from t where s = '{}'": ("a", "b", "string"),
    "select k, s from t where x in (1, 2, {})": ("3", "4", "int"),
    "select k, s from t where m > {}": ("1", "1.5", "decimal(11, 1)"),
    "select k, m * {} as v from t": ("1.5", "2.5", "decimal(2, 1)"),
    "select k, f * {} as v from t": ("1", "2", "int"),
    "select k, x from t where d >= '{}'": ("2026-01-01", "2026-01-02", "date"),
    "select k, x from t where d in ('2026-01-01', '{}')": ("2026-01-01", "2026-01-02", "date"),
    "select k, x from t where ts < '{}'": (*STARTED, "timestamp"),
    "select k, x from t where d >= date '2026-01-01' - interval {} days": ("30", "60", "date"),
    "select k, x from t where d >= '{}'::date - interval 30 days": ("2026-01-01", "2026-01-02", "date"),
    "select k, '{}' as loaded_at from t": (*STARTED, "string"),
    "select k, case when x > {} then 'a' else 'b' end as v from t": ("1", "2", "int"),
    "select k, coalesce(x, {}) as v from t": ("1", "2", "int"),
    "select x, count(*) as n, sum(k) as total from t where k > {} group by x": ("1", "2", "int"),
    "select x, count(*) as n from t group by x having sum(k) > {}": ("1", "2", "int"),
    "select t.k, u.z from t left join u on u.k = t.x and u.z > {}": ("1", "2", "int"),
    "with q as (select * from t where x > {}) select q.k, q.s from q join u on u.k = q.k": ("1", "2", "int"),
    "select k, row_number() over (partition by x order by k) as n from t where b > {}": ("1", "2", "int"),
    "select k, upper(if(x > {}, 'a', s)) as v from t": ("1", "2", "int"),
}


@pytest.mark.parametrize("sql", MOVED)
def test_an_edit_of_constants(sql: str) -> None:
    *constants, kind = MOVED[sql]
    _, found = edit(sql, *constants)
    assert found is not None and [each.kind for each in found.constants.values()] == [kind]
    assert found.summary == "constants moved" and found.sources == found.plan.tables


# A constant that decides more than values, or a text that is not certain to be a time.
OTHERS = {
    "a format": ("select k, date_format(d, '{}') as v from t", "yyyy", "MM"),
    "a format that is chosen by a constant": ("select k, regexp_replace(s, if(1 > {}, 'a', 'b'), '') as v from t", "0", "1"),
    "a pattern": ("select k, x from t where s rlike '{}'", "a", "b"),
    "a scale": ("select k, round(m, {}) as v from t", "1", "0"),
    "a type": ("select k, cast(m as decimal(12, {})) as v from t", "1", "0"),
    "a unit": ("select k, date_trunc('{}', ts) as v from t", "month", "year"),
    "a field": ("select k, parts[{}] as v from t", "0", "1"),
    "another type": ("select k, {} as v from t", "1", "1.5"),
    "another type of a value": ("select k, x + {} as v from t", "1", "5000000000"),
    "another type beside a DOUBLE": ("select k, x from t where f > {}", "1", "1.5"),
    "another type than fits": ("select k, x from t where wide > {}", "5000000000", "1.5"),
    "digits beside a DECIMAL": ("select k, m * {} as v from t", "1", "2"),
    "more digits than a DECIMAL has": ("select k, x from t where wide > {}", "1", "5000000000"),
    "a text beside a number": ("select k, s from t where x > '{}'", "1", "2"),
    "no date": ("select k, x from t where d > '{}'", "2026-01-01", "2026-02-30"),
    "a time beside dates": ("select k, x from t where d > '{}'", "2026-01-01 00:00:00", "2026-01-02 00:00:00"),
    "a list of times": ("select k, x from t where ts in ('2026-01-01', '{}')", "2026-01-01", "2026-01-02"),
    "a text that is padded": ("select k, x from t where c = '{}'", "a", "b"),
    "a collation": ("select k, x from t where s collate utf8_lcase = '{}'", "a", "b"),
    "a variable of a function": ("select k, x from t where exists(parts, e -> e > {})", "1", "2"),
    "a column of a group": ("select x, count(*) as n, max(s) as m from t group by {}, x", "x", "k"),
    "a number of rows in a frame": (
        "select k, sum(b) over (partition by x order by k rows between {} preceding and current row) as v from t",
        "1",
        "2",
    ),
    "an offset": ("select k, lag(b, {}) over (partition by x order by k) as v from t", "1", "2"),
    "an interval beside a column": ("select k, x from t where d + interval {} days > date '2026-01-01'", "30", "60"),
    "a separator": ("select x, array_join(array_sort(collect_list(s)), '{}') as v from t group by x", ",", ";"),
    "another expression": ("select k, x from t where s = {}", "'a'", "upper('a')"),
    "hidden columns of other names": ("select x, sum(case when k > {} then b end) as v from t group by x", "1", "2"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_edit(name: str) -> None:
    assert edit(*OTHERS[name])[1] is None


@pytest.mark.parametrize(
    ("sql", "constants", "summary"),
    [
        ("select k, x from t where x > {}", ("0", "1"), "condition narrowed"),
        ("select k, x from t where x > {}", ("1", "0"), "condition widened"),
        ("select k, x from t where x = {}", ("1", "0"), "constants moved"),  # rows leave and enter
        ("select k, x, '{}' as v from t", ("a", "b"), "constants moved"),  # the table stays
        ("select k, '{}' as v from t where x > 0", ("a", "b"), "constants moved"),
    ],
)
def test_least_is_written(sql: str, constants: tuple[str, str], summary: str) -> None:
    """Stored rows stay where they are."""
    found, _ = edit(sql, *constants)
    assert found is not None and (found.summary, found.in_place) == (summary, True)


def test_one_input_for_a_constant() -> None:
    _, found = edit("select k, x + {} as v from t where x > {}", "1", "2")
    assert found is not None and len(found.constants) == 1


def test_no_constants_at_all() -> None:
    sql = "select k, x from t where x > 1"
    assert edit(f"{sql} and b > 1 --{{}}", "1", "2")[0] is not None
    plans = [plan_of((T, U), each, Options()) for each in (sql, f"{sql} and k > 2")]
    assert moved(*plans, VIEW) is None and adapt(*plans, VIEW) is not None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1", "int"),
        ("-1", "int"),
        ("(1)", "int"),
        ("2147483648", "bigint"),
        ("0.05", "decimal(2,2)"),
        ("10.5", "decimal(3,1)"),
        ("1e3", None),
        ("'a'", "string"),
        ("-'1'", None),
        ("DATE '2026-01-31'", "date"),
        ("DATE '2026-02-30'", None),
        ("CAST('today' AS DATE)", None),
        ("CAST('1' AS INT)", None),
        ("TIMESTAMP '2026-01-31 10:00:00'", "timestamp"),
        ("TIMESTAMP '10:00:00'", None),
        ("DATE '2026-01-31' + INTERVAL 1 MONTH", "date"),
        ("DATE '2026-01-31' + INTERVAL 1 HOUR", None),
        ("CURRENT_DATE()", "date"),
        ("CURRENT_DATE() - INTERVAL 30 DAYS", "date"),
        ("CURRENT_DATE() - INTERVAL 30 HOURS", None),
        ("NULL", None),
        ("TRUE", None),
        ("x", None),
    ],
)
def test_types_of_constants(text: str, kind: str | None) -> None:
    found = constant_kind(exp.maybe_parse(text, dialect=DIALECT))
    assert (found or "").replace(" ", "") == (kind or "")


@pytest.mark.parametrize(
    ("sql", "constants", "kinds"),
    [
        ("select k, x from t where d >= current_date() - interval {} days", ("30", "60"), ["date"]),
        ("select k, x from t where d >= {}", ("current_date()", "date '2026-01-01'"), ["date"]),
        ("select k, d < current_date() as late from t where x > {}", ("1", "2"), ["date", "int"]),
        ("select k, x from t where s > date_format(current_date(), '{}')", ("yyyy", "yyyy-MM"), ["string"]),
        ("select k, now() as at, x + {} as v from t", ("1", "2"), ["int"]),  # a time of writing is none
    ],
)
def test_constants_beside_the_clock(sql: str, constants: tuple[str, str], kinds: list[str]) -> None:
    _, found = edit(sql, *constants)
    assert found is not None and sorted(each.kind for each in found.constants.values()) == kinds


def test_another_time_of_writing() -> None:
    """It is not known which rows have the former one."""
    assert edit("select k, date_trunc('{}', now()) as at, x from t", "month", "year")[1] is None
