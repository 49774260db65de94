"""The rows that changes reach: which tables are asked for which keys, in which order, and when they are not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.cost.reaching import _Estimate, _most_values, incremental_by_reach
from dbt_idivm.cost.sizes import Size
from dbt_idivm.cost.work import Situation, incremental
from dbt_idivm.operators.scan import DiffClass
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import InlineDiff, Row, Value
from dbt_idivm.script.found_rows import MOST_ROWS, find, forms, reached_by
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.reach import _Search
from dbt_idivm.script.render import applications
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ways import Application
from tests.property.plans import Options, Table, plan_of

PARTS = Table("parts", (("pid", "int"), ("price", "int")), ("pid",))
LINKS = Table("links", (("did", "int"), ("pid", "int")), ("did", "pid"))
DEVICES = Table("devices", (("did", "int"), ("kind", "string")), ("did",))
PHONES = "select l.did, l.pid, p.price from parts p join links l on p.pid = l.pid join devices d on d.did = l.did where d.kind = 'phone'"
CHANGES = {
    "parts": InlineDiff(("pid", "price"), (((1, 5), -1), ((1, 6), 1))),
    "devices": InlineDiff(("did", "kind"), (((3, "tablet"), -1), ((3, "phone"), 1))),
}
Diffs = Mapping[str, InlineDiff]


def prepared(tables: Sequence[Table], sql: str, diffs: Diffs, way: str = "recompute") -> tuple[Application, Binding]:
    plan = plan_of(tuple(tables), sql, Options(every_way=True))
    binding = Binding(changes=net_changes(plan, diffs))
    found = applications(plan, binding.changes)
    assert found is not None
    return next(each for each in found if each.way == way), binding


def asked(given: tuple[Application, Binding], rows: Mapping[str, Sequence[Row] | None]) -> tuple[list[tuple[str, str]], set[str]]:
    """(table, condition) of each query, and the tables whose rows were found. `rows`: what each table answers; None: too many."""
    application, binding = given
    search = find(reached_by(application, binding.changes.is_known), binding)
    queries, answer = [], None
    try:
        while True:
            each = search.send(answer)
            where = each.query.query.find_all(type(each.query.query))
            condition = next(select.args["where"] for select in where if select.args.get("where"))
            queries.append((each.table, condition.sql("spark").replace("`", "")))
            given_rows = rows[each.table]
            answer = None if given_rows is None else SourceRows(each.query.names, each.query.types, tuple(given_rows))
    except StopIteration as done:
        return queries, set(done.value)


def test_tables_are_asked_in_the_order_in_which_their_keys_are_known() -> None:
    given = prepared((PARTS, LINKS, DEVICES), PHONES, CHANGES)
    queries, found = asked(given, {"links": [(7, 1), (3, 4)], "parts": [(1, 6), (4, 2)], "devices": [(7, "phone"), (3, "phone")]})
    assert [table for table, _ in queries] == ["links", "devices", "parts"]
    links, devices, parts = (condition for _, condition in queries)
    assert "stored.pid = 1" in links and "stored.did = 3" in links
    assert "stored.did = 7" in devices, "those of the links of the part"
    assert "stored.pid = 4" in parts, "those of the links of the device"
    assert found == {"links", "parts", "devices"}


def test_a_table_of_which_too_many_rows_are_reached_is_read_as_before_and_so_is_what_depends_on_it() -> None:
    given = prepared((PARTS, LINKS, DEVICES), PHONES, CHANGES)
    queries, found = asked(given, {"links": None})
    assert [table for table, _ in queries] == ["links"] and found == set()


def test_tables_whose_keys_depend_on_each_other_are_asked_again_without_the_rows_that_they_gave() -> None:
    tables = [Table(name, ((f"{one}", "int"), (f"{other}", "int")), None) for name, one, other in ("rab", "sbc", "tcd")]
    sql = "select r.a, t.d from r join s on r.b = s.b join t on s.c = t.c"
    changes = {"r": InlineDiff(("a", "b"), (((1, 1), 1),)), "t": InlineDiff(("c", "d"), (((9, 9), 1),))}
    given = prepared(tables, sql, changes)
    rows = {"r": [(1, 1)], "s": [(1, 2), (8, 9)], "t": [(2, 3)]}
    queries, found = asked(given, rows)
    assert found == {"r", "s", "t"}
    again = [condition for number, (table, condition) in enumerate(queries) if table in dict(queries[:number])]
    assert all("NOT COALESCE" in condition for condition in again)


def test_a_table_without_known_keys_has_no_rows_and_is_not_asked() -> None:
    changes = {"parts": InlineDiff(("pid", "price"), (((1, 5), -1), ((1, 6), 1)))}
    queries, found = asked(prepared((PARTS, LINKS, DEVICES), PHONES, changes), {"links": []})
    assert [table for table, _ in queries] == ["links"] and found >= {"links"}


@pytest.mark.parametrize(
    ("one", "other"), [("double", "double"), ("int", "string"), ("decimal(10,2)", "decimal(12,2)"), ("array<int>", "array<int>")]
)
def test_keys_whose_cells_do_not_tell_whether_they_are_equal_reach_nothing(one: str, other: str) -> None:
    tables = (Table("t", (("k", "int"), ("x", one)), ("k",)), Table("u", (("l", "int"), ("x", other)), ("l",)))
    changes = {"t": InlineDiff(("k", "x"), (((1, "1"), 1),))}
    application, binding = prepared(tables, "select t.k, u.l from t join u on t.x = u.x", changes)
    assert "u" not in reached_by(application, binding.changes.is_known)


@pytest.mark.parametrize(
    ("kind", "cell", "condition"),
    [
        ("bigint", -5, "x = -5"),
        ("timestamp", 5, "x = TIMESTAMP_MICROS(5)"),
        ("date", "2026-01-02", "x = CAST('2026-01-02' AS DATE)"),
        ("decimal(10,2)", "1.50", "x = CAST('1.50' AS DECIMAL(10, 2))"),
        ("boolean", True, "x = TRUE"),
        ("string", None, None),
    ],
)
def test_keys_are_literals_of_their_type(kind: str, cell: Value, condition: str | None) -> None:
    tables = (Table("t", (("k", "int"), ("x", kind)), ("k",)), Table("u", (("l", "int"), ("x", kind)), ("l",)))
    changes = {"t": InlineDiff(("k", "x"), (((1, cell), 1),))}
    queries, found = asked(prepared(tables, "select t.k, u.l from t join u on t.x = u.x", changes), {"u": []})
    assert "u" in found, "NULL has no partner: nothing is asked"
    assert [query.replace("stored.", "") for table, query in queries if table == "u"] == (
        [f"WHERE {condition}"] if condition else []
    )


@pytest.mark.parametrize("joined", ["join", "left join"])
@pytest.mark.parametrize("way", ["id", "recompute", "tuple"])
def test_what_is_walked_grows_with_the_number_of_joins(joined: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(number: int) -> int:
        tables = [Table(f"t{i}", (("k", "int"), ("f", "int"), ("x", "int")), ("k",)) for i in range(number)]
        joins = "".join(f" {joined} t{i} on t{i - 1}.f = t{i}.x" for i in range(1, number))
        changes = {each.name: InlineDiff(("k", "f", "x"), (((1, 1, 1), -1), ((1, 2, 2), 1))) for each in tables}
        application, binding = prepared(tables, f"select t0.k, t{number - 1}.f from t0{joins}", changes, way)
        counted = 0
        restrict = _Search._restrict_sides

        def counting(search: _Search, node: Relation) -> Relation:
            nonlocal counted
            counted += 1
            return restrict(search, node)

        with monkeypatch.context() as patch:
            patch.setattr(_Search, "_restrict_sides", counting)
            assert reached_by(application, binding.changes.is_known)
        return counted

    assert walked(8) < 10 * walked(4), "of each doubling at most a cubic growth"


def test_computed_columns_are_not_keys() -> None:
    tables = (Table("t", (("k", "int"), ("x", "int")), ("k",)), Table("u", (("l", "int"), ("v", "variant")), ("l",)))
    changes = {"t": InlineDiff(("k", "x"), (((1, 5), 1),))}
    sql = "select t.k, u.l from t join u on t.x = try_variant_get(u.v, '$.a', 'int')"
    application, binding = prepared(tables, sql, changes)
    assert "u" not in reached_by(application, binding.changes.is_known)


def test_large_tables_are_cheaper_by_reach_and_small_ones_are_not() -> None:
    plan = plan_of((PARTS, LINKS, DEVICES), PHONES, Options(every_way=True))
    changes = net_changes(plan, CHANGES)
    done = next(each for each in applications(plan, changes) or () if each.way == "recompute")
    wanted = reached_by(done, changes.is_known)

    def seconds(rows: int) -> tuple[float, float]:
        tables = {name: Size(rows, 8 * rows) for name in ("parts", "links", "devices")}
        now = Situation(plan, tables, Size(rows, 12 * rows), lambda *leaf: 1.0)
        by_reach = incremental_by_reach(done, wanted, now)
        assert by_reach is not None
        whole = incremental(done, now)
        return by_reach.queries * 0.25 + by_reach.tuples * 1e-7, whole.queries * 0.25 + whole.tuples * 1e-7

    small, large = seconds(1_000), seconds(20_000_000)
    assert small[0] > small[1] and large[0] < large[1]


def test_a_reach_that_is_expected_to_be_large_is_not_tried() -> None:
    plan = plan_of((PARTS, LINKS, DEVICES), PHONES, Options(every_way=True))
    changes = net_changes(plan, CHANGES)
    done = next(each for each in applications(plan, changes) or () if each.way == "recompute")
    sizes = {"parts": Size(10, 80), "links": Size(10 * MOST_ROWS * 10, 80), "devices": Size(10, 80)}
    now = Situation(plan, sizes, None, one_of_each)
    assert incremental_by_reach(done, reached_by(done, changes.is_known), now) is None


def one_of_each(occurrence: str, kind: str, split: frozenset[str]) -> float:
    """One row is inserted, one deleted, one updated."""
    return 2.0 if kind in ("plus", "minus") else 1.0


CHAIN = "select d.did, l.pid, p.price from devices d left join links l on l.did = d.did left join parts p on p.pid = l.pid and p.price > 9"


def expected(changes: Diffs, *, former: bool = False, sql: str = CHAIN) -> Mapping[str, float]:
    """Table → the rows that are expected to be found, of 10 links for each device and part."""
    plan = plan_of((PARTS, LINKS, DEVICES), sql, Options(every_way=True))
    net = net_changes(plan, changes)
    done = next(each for each in applications(plan, net) or () if each.way == "id")
    wanted = dict(forms(done, net.is_known))[done.over_reached if former else done]

    def changed(occurrence: str, kind: DiffClass, split: frozenset[str]) -> float:
        return float(len(net.classes[occurrence, split][kind])) if (occurrence, split) in net.classes else 0.0

    sizes = {"parts": Size(1_000, 8_000), "links": Size(10_000, 80_000), "devices": Size(1_000, 8_000)}
    now = Situation(plan, sizes, Size(10_000, 160_000), changed)
    estimate = _Estimate(now, _most_values(wanted, now))
    return {table: estimate.rows(table, each) for table, each in wanted.items()}


def test_a_value_is_expected_once_however_it_is_found() -> None:
    deleted = {"links": InlineDiff(("did", "pid"), tuple(((did, did), -1) for did in range(5)))}
    found = expected(deleted, former=True)
    assert found["links"] == 50, "the links of five devices, which are found by the deleted links and by their devices"
    assert found["devices"] == 5


def test_a_new_row_is_expected_to_have_new_partners_only() -> None:
    new, old = ((2_000, 10), 1), ((1, 10), -1)
    assert expected({"parts": InlineDiff(("pid", "price"), (new,))})["links"] == 0
    assert expected({"parts": InlineDiff(("pid", "price"), (old,))})["links"] == 10
    with_link = {"parts": InlineDiff(("pid", "price"), (new,)), "links": InlineDiff(("did", "pid"), (((1, 2_000), 1),))}
    assert expected(with_link)["links"] == 1


def test_rows_of_a_group_are_as_many_as_it_has() -> None:
    """A new price reaches 10 links, and for their groups the 10 links of each of their devices."""
    groups = "select l.did, sum(p.price) as cost from parts p join links l on p.pid = l.pid join devices d on d.did = l.did group by l.did"
    price = {"parts": InlineDiff(("pid", "price"), (((1, 10), -1), ((1, 11), 1)))}
    assert expected(price, former=True, sql=groups)["links"] == 10 + 10 * 10
