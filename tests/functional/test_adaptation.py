"""Edited models on Spark + Delta: stored rows are taken over, in one commit, and the refresh goes on from there (ADR 0047)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt_idivm.cost.choice import Alternative
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.decide import adapting
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Outcome, Refresh
from tests.functional.project import Project
from tests.functional.shapes import kind_of
from tests.functional.subscriber import Subscriber
from tests.functional.test_refresh_modes import KEYS, add_log, refreshed, shop, written

__all__ = ["shop"]  # a fixture

FLAT = "select id, cust, price, note from $.orders where price > 1"
JOINED = "select o.id, o.price, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 1"
GROUPS = "select cust, count(*) as n, sum(price) as total from $.orders group by cust"
UNION = "select id, name from $.cust where region = 'n' union all select id, note from $.orders where price > 2"

# before, after, what is said of it, what is written: nothing, "delete", "append", or "build"
EDITS = [
    (FLAT, "with w as (select * from $.orders) select id, cust, price, note from w where 1 < price", "stored rows stay", ""),
    (
        FLAT,
        "select id as number, price * 2 as twice, upper(note) as note from $.orders where price > 1",
        "columns over stored ones",
        "build",
    ),
    (FLAT, f"{FLAT} and note is not null and cust in (1, 2)", "condition narrowed", "delete"),
    (FLAT, FLAT.replace("> 1", ">= 1"), "condition widened", "append"),
    (
        FLAT,
        FLAT.replace("id, ", "id, id + 1 as next, ").replace("> 1", "> 0"),
        "condition widened, columns over stored ones",
        "build",
    ),
    (
        FLAT,
        "select o.id, o.cust, o.price, o.note, c.name from $.orders o left join $.cust c on c.id = o.cust where o.price > 1",
        "look-up, columns over stored ones",
        "build",
    ),
    (
        FLAT,
        "select o.id, o.cust, c.region from $.orders o join $.cust c on c.id = o.cust where o.price > 1 and c.region = 'n'",
        "look-up, condition narrowed, columns over stored ones",
        "build",
    ),
    (JOINED, JOINED.replace("o.price, ", "") + " and o.price < 6", "condition narrowed, columns over stored ones", "build"),
    (GROUPS, f"{GROUPS} having count(*) > 1", "condition narrowed, columns over stored ones", "build"),
    (
        GROUPS,
        "select cust, count(*) as n, max(note) as last, sum(price) as total from $.orders group by cust",
        "aggregate added, columns over stored ones",
        "build",
    ),
    (UNION, UNION.partition(" union all ")[0], "branch removed, columns over stored ones", "build"),
    (UNION, f"{UNION} union all select id, 'x' from $.orders where note is null", "branch added", "append"),
    (
        JOINED,
        JOINED.replace("c.name", "c.name, c.region") + " and c.region is not null",
        "columns looked up, condition narrowed, columns over stored ones",
        "build",
    ),
    (
        JOINED.replace(" join", " left join"),
        JOINED.replace(" join", " left join").replace("c.name", "c.name, c.region"),
        "look-up, columns over stored ones",
        "build",
    ),
    (
        "select id, cust as e, price from $.orders",  # within the lambda e is its variable
        "select id, cust as e, price from $.orders as o where exists(array(0, id, 2), e -> e > o.cust)",
        "condition narrowed",
        "delete",
    ),
]

# edits of `make test` and of `make deep`; all others are long
MARKS = {2: (), 1: pytest.mark.deep, 3: pytest.mark.deep}
# These read as many tables as a rebuild does, and write as much: they are done only where sizes show that they pay.
DOUBTFUL = (4, 9)


def verbs(project: Project) -> list[str]:
    return [each.label.split()[0] for each in project.executed if each.kind == "write"]


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=MARKS.get(number, pytest.mark.long)) for number in range(len(EDITS))]
)
def test_an_edit(shop: Project, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edited view is exact, its state is that of its rows, and it is maintained from then on."""
    before, after, said, statement = EDITS[number]
    refreshed(shop, shop.model("m", before, KEYS))
    model = shop.model("m", after, KEYS)
    if number in DOUBTFUL:
        assert shop.forecast(model).mode == "full"
        monkeypatch.setattr(adapting, "pays", lambda *given: True)
    foreseen = shop.forecast(model)
    assert (foreseen.mode, foreseen.reason) == ("migrated", said)
    outcome = refreshed(shop, model)
    assert (outcome.mode, outcome.reason) == ("migrated", said), outcome.message
    assert verbs(shop) == ([statement] if statement else [])
    assert shop.differences(model) == []
    assert refreshed(shop, model).mode == "noop"
    shop.sql("insert into $.orders values (7, 2, 3.00, 'n'), (8, 1, 1.00, null)", "update $.cust set region = 'n' where id = 2")
    assert refreshed(shop, model).mode == "incremental"
    assert shop.differences(model) == []


@pytest.mark.deep
def test_inputs_that_moved(shop: Project) -> None:
    """The rows are taken over at the versions of the old state; the refresh that follows reads what changed since."""
    refreshed(shop, shop.model("m", FLAT, KEYS))
    shop.sql(
        "insert into $.orders values (7, 2, 3.00, 'n')",
        "delete from $.orders where id = 1",
        "update $.cust set name = 'ANN' where id = 1",
    )
    sql = "select o.id, o.price, c.name from $.orders o left join $.cust c on c.id = o.cust where o.price > 1"
    model = shop.model("m", sql, KEYS)
    outcome = refreshed(shop, model)
    assert outcome.mode == "migrated" and ", then +" in outcome.message
    assert verbs(shop)[0] == "build" and len(verbs(shop)) == 2
    assert shop.differences(model) == []


@pytest.mark.long
def test_one_edit_after_the_other(shop: Project) -> None:
    """Each finds the definition that the one before has left, without hidden columns and with them."""
    texts = [
        FLAT,
        f"{FLAT} and cust = 1",
        f"{FLAT} and cust = 1 and note is not null",
        "select id, price, note from $.orders where price > 1 and cust = 1 and note is not null",
        "select id as i, price, note from $.orders where price > 1 and cust = 1 and note is not null",
        "select price, note from $.orders where price > 1 and cust = 1 and note is not null",
        "select price, note, upper(note) as loud from $.orders where price > 1 and cust = 1 and note is not null",
    ]
    refreshed(shop, shop.model("m", texts[0], KEYS))
    found = [refreshed(shop, shop.model("m", text, KEYS)) for text in texts[1:]]
    assert [each.mode for each in found] == ["migrated"] * len(found)
    assert [found[-1].relations[0][2], found[2].relations[0][2]] == ["view", "table"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("after", "config"),
    [
        ("select distinct id, cust, price, note from $.orders where price > 1", {}),
        ("select id, cust, price, amount from $.orders join $.log using (cust) where price > 1", {"strategy": "full"}),
        (f"{FLAT} and cust = 1", {"caches": "none", "cluster_by": ["id"]}),
    ],
)
def test_what_is_rebuilt(shop: Project, after: str, config: dict[str, object]) -> None:
    add_log(shop)
    refreshed(shop, shop.model("m", FLAT, KEYS))
    assert refreshed(shop, shop.model("m", after, KEYS, **config)).mode == "full"


@pytest.mark.long
def test_a_full_refresh_rebuilds(shop: Project) -> None:
    refreshed(shop, shop.model("m", FLAT, KEYS))
    outcome = refreshed(shop, shop.model("m", f"{FLAT} and cust = 1", KEYS), full_refresh=True)
    assert outcome.mode == "full" and (outcome.reason or "").startswith("IDIVM-401")


@pytest.mark.long
def test_a_value_that_fails(shop: Project) -> None:
    """What fails for a stored value fails as in a rebuild, and the view stays what it was."""
    old = shop.model("m", FLAT, KEYS)
    refreshed(shop, old)
    broken = shop.model("m", "select id, 1 / (id - 2) as x from $.orders where price > 1", KEYS)
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        shop.refresh(broken)
    assert refreshed(shop, old).mode == "noop"


BROKEN = (
    f"{FLAT} and note is not null",
    FLAT.replace("id, ", "id, id as again, "),
    FLAT.replace("id, ", ""),
    FLAT.replace("> 1", ">= 1"),
    FLAT.replace("from $.orders", "from (select * from $.orders) as o"),
)


@pytest.mark.deep
@pytest.mark.parametrize("after", [BROKEN[0], *(pytest.param(sql, marks=pytest.mark.long) for sql in BROKEN[1:])])
def test_broken_off(shop: Project, after: str) -> None:
    """A run that dies around any statement that changes something leaves rows that one of the definitions has, and the next run
    brings them to the new one."""
    old, new = shop.model("m", FLAT, KEYS), shop.model("m", after, KEYS)
    refreshed(shop, old)
    refreshed(shop, new)
    for statements in around_changes(shop):
        refreshed(shop, old)
        broken_off(shop, new, statements)
        if shop.existing("m") is None:  # a view is about to get the name of a table
            assert shop.executed[-1].label.startswith("drop table")
        else:
            assert shop.is_exact(old) or shop.is_exact(new)
        refreshed(shop, new)
        assert shop.differences(new) == []


@pytest.mark.long
@pytest.mark.parametrize("after", BROKEN)  # rows go or come, the table is replaced, or nothing but the text is new
def test_broken_off_over_changed_inputs(shop: Project, after: str) -> None:
    """The same where the migration is followed by a refresh: what is stored in between are the rows of the new definition at the
    old versions, and the next run goes on from there, or rebuilds them."""
    old, new = shop.model("m", FLAT, KEYS), shop.model("m", after, KEYS)
    moved(shop, 0)
    refreshed(shop, old)
    moved(shop, 1)
    outcome = refreshed(shop, new)
    assert outcome.mode == "migrated" and ", then +" in outcome.message
    reference = [kind_of(each) for each in shop.executed]
    points = around_changes(shop)
    assert len(points) > 2, "those of the migration, and of the refresh"
    for number, statements in enumerate(points, 2):
        refreshed(shop, old)
        known = [shop.rows(FLAT), shop.rows(after)]
        moved(shop, number)
        shop.executed = []
        broken_off(shop, new, statements)
        assert [kind_of(each) for each in shop.executed] == reference[:statements]
        assert shop.existing("m") is None or shop.rows("select * from $.m") in (*known, shop.rows(after))
        refreshed(shop, new)
        assert shop.differences(new) == []


def around_changes(shop: Project) -> list[int]:
    """Before and after which statements of the last refresh something changes."""
    changing = [
        number
        for number, each in enumerate(shop.executed, 1)
        if each.kind == "write" or each.label.startswith(("set the properties", "create view", "drop"))
    ]
    return sorted({place for number in changing for place in (number - 1, number)})


def moved(shop: Project, number: int) -> None:
    """Rows come, change and go; `number` is another one each time, from 0 on."""
    shop.sql(
        f"insert into $.orders values ({100 + number}, 2, {number + 2}, 'n{number}'), ({200 + number}, 1, 1, null)",
        f"update $.orders set price = price + 1, note = 'u{number}' where id = 2",
        f"delete from $.orders where id = {100 + number - 1}",
    )


def broken_off(project: Project, model: ModelRequest, statements: int) -> Outcome | None:
    """A run that dies after so many statements, with the settings of its session."""
    project.new_run()
    steps = Refresh(refresh(project.request(model), project.invocation))
    for _ in range(statements):
        if steps.statement is None:
            return steps.outcome
        steps.answer(project.run(steps.statement))
    project.move(project.spark.newSession())
    return steps.outcome


@pytest.mark.long
def test_only_the_stored_rows_are_read(shop: Project) -> None:
    refreshed(shop, shop.model("m", FLAT, KEYS))
    refreshed(shop, shop.model("m", "select id, price from $.orders where price > 1 and cust = 1", KEYS))
    assert f"{shop.schema}.orders" not in written(shop)


TOTALS = """select c.name, t.total from (select cust, sum(price) as total from $.orders where price > 0 group by cust) t
    join $.cust c on t.cust = c.id"""


def caches(project: Project) -> list[str]:
    return [name for name in project.relations() if name.startswith("idivm_cache_")]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("after", "said"),
    [
        (f"{TOTALS} where t.total > 6", "condition narrowed"),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in (
                (TOTALS.replace("t.total from", "t.total * 2 as twice from"), "columns over stored ones"),
                (TOTALS.replace("t.cust = c.id", "c.id = t.cust"), "stored rows stay"),
                (
                    TOTALS.replace("t.total from", "t.total, d.name as other from") + " left join $.cust d on d.id = c.id + 1",
                    "look-up, columns over stored ones",
                ),
            )
        ),
    ],
)
def test_a_view_with_caches(shop: Project, after: str, said: str) -> None:
    """Its cache stays, and is refreshed with the view, after inputs moved as well."""
    refreshed(shop, shop.model("m", TOTALS, KEYS, caches="all"))
    before = caches(shop)
    shop.sql("insert into $.orders values (7, 2, 30.00, 'n'), (8, 1, 1.00, null)", "update $.cust set name = 'x' where id = 2")
    model = shop.model("m", after, KEYS, caches="all")
    foreseen = shop.forecast(model)
    assert (foreseen.mode, foreseen.reason) == ("migrated", said)
    outcome = refreshed(shop, model)
    assert (outcome.mode, outcome.reason) == ("migrated", said), outcome.message
    assert {*foreseen.inputs} == {*outcome.inputs} == {shop.within(f"$.{name}") for name in KEYS}
    assert caches(shop) == before and len(before) == 1
    shop.sql("delete from $.orders where id = 7", "update $.orders set price = price + 3")
    assert refreshed(shop, model).mode == "incremental"
    assert shop.differences(model) == []


@pytest.mark.long
def test_a_cache_that_is_given_up(shop: Project) -> None:
    refreshed(shop, shop.model("m", TOTALS, KEYS, caches="all"))
    model = shop.model("m", TOTALS.replace(" join $.cust c on t.cust = c.id", "").replace("c.name, ", ""), KEYS, caches="all")
    assert caches(shop)
    refreshed(shop, model)
    assert not caches(shop)


@pytest.mark.deep
def test_a_cache_that_was_made_again(shop: Project) -> None:
    """It has other rows at the version that the view names, which no edit may read."""
    wide = TOTALS + " where t.total > 6"
    refreshed(shop, shop.model("m", wide, KEYS, caches="all"))
    (cache,) = caches(shop)
    shop.sql(
        f"drop table $.{cache}",
        f"create table $.{cache} using delta as select cust as t__cust, 100L as made from $.orders",
        "update $.orders set price = price + 1",
    )
    outcome = refreshed(shop, shop.model("m", TOTALS, KEYS, caches="all"))
    assert outcome.mode == "full"


@pytest.mark.deep
def test_a_key_that_holds_no_more(shop: Project) -> None:
    """Nobody maintains a view that reads a table, or the model, by a key that was given up in place."""
    sql = "select id, cust from $.orders"
    upper = shop.model("u", "select id, cust from $.m where cust > 0")
    for model in (shop.model("m", sql, KEYS), upper):
        refreshed(shop, model)
    model = shop.model("m", sql)
    assert refreshed(shop, model).mode == "migrated"
    for change in ("insert into $.orders values (1, 2, 9.00, 'again')", "delete from $.orders where note = 'again'"):
        shop.sql(change)
        refreshed(shop, model)
        refreshed(shop, upper)


@pytest.mark.long
def test_a_key_that_held_not_yet(shop: Project) -> None:
    """It is declared when it holds, of tables and of models; at the versions of the stored rows it did not."""
    sql = "select id, cust from $.orders"
    upper = shop.model("u", "select id, cust from $.m where cust > 0")
    shop.sql("insert into $.orders values (1, 2, 9.00, 'again')")
    for model in (shop.model("m", sql), shop.model("n", sql), upper):
        refreshed(shop, model)
    shop.sql("delete from $.orders where note = 'again'")
    refreshed(shop, shop.model("m", sql))
    for name, mode in (("m", "migrated"), ("n", "full")):
        assert refreshed(shop, shop.model(name, sql, KEYS)).mode == mode, name
    assert refreshed(shop, upper).mode == "full"


@pytest.mark.long
def test_a_key_that_a_cache_has_not_looked_up(shop: Project) -> None:
    """A cache that is rebuilt for its costs leaves the key of its table to its next refresh. A view above knows nothing of it."""
    config = {"caches": "all", "strategy": "auto"}
    refreshed(shop, shop.model("m", TOTALS, KEYS, **config))
    shop.sql("insert into $.orders values (1, 2, 9.00, 'again')")
    named = ["id", "rebuild"]  # the cache, which comes first, is rebuilt

    def choose(found: Sequence[Alternative]) -> Alternative:
        name = named.pop() if named else "id"
        return next(each for each in found if each.name == name)

    shop.new_run()
    shop.invocation = Invocation(choose=choose)
    assert shop.refresh_in_run(shop.model("m", TOTALS, KEYS, **config)).mode == "incremental"
    assert verbs(shop) == ["rebuild", "update"]
    direct = TOTALS.replace("t.total from", "t.total, o.note from") + " join $.orders o on o.id = t.cust"
    with pytest.raises(IdivmError, match="IDIVM-305"):
        shop.refresh(shop.model("m", direct, KEYS, **config))


@pytest.mark.deep
@pytest.mark.parametrize(
    "before", [f"{FLAT} and note is not null", pytest.param(FLAT.replace("id, ", "id, id as again, "), marks=pytest.mark.long)]
)
def test_constraints_of_a_former_contract(shop: Project, before: str) -> None:
    """They hold for the rows of a former definition. dbt adds those of the contract after the refresh."""
    refreshed(shop, shop.model("m", before, KEYS))
    shop.sql("alter table $.m add constraint idivm_1 check (note is not null)")
    assert refreshed(shop, shop.model("m", FLAT, KEYS)).mode == "migrated"
    shop.sql("insert into $.orders values (7, 2, 30.00, null)")
    refreshed(shop, shop.model("m", FLAT, KEYS))


@pytest.mark.deep
@pytest.mark.parametrize(
    "after",
    [
        f"{FLAT} and note is not null",
        *(
            pytest.param(sql, marks=pytest.mark.long)
            for sql in (
                FLAT.replace("> 1", ">= 1"),
                FLAT.replace("id, ", "id, id as again, "),
                FLAT.replace("note from", "upper(note) as note from"),
                FLAT.replace("from $.orders", "from (select * from $.orders) as o"),
            )
        ),
    ],
)
def test_a_view_with_a_log(shop: Project, after: str) -> None:
    """What the edit changed is appended to the log, or the log begins anew where it has other columns."""
    refreshed(shop, shop.model("m", FLAT, KEYS, output="both"))
    shop.sql("insert into $.orders values (7, 2, 30.00, 'n'), (8, 1, 1.00, null)")
    model = shop.model("m", after, KEYS, output="both")
    assert refreshed(shop, model).mode == "migrated"
    log = Subscriber(shop, model)
    log.catch_up()
    assert log.rows == shop.rows(after)
    assert refreshed(shop, model).mode == "noop"
