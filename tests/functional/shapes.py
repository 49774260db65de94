"""The kinds of refresh, and what the model's relation shows after each of their statements that changes something."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from dbt_idivm.cost.choice import Alternative, cheapest
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.relations import LOG, VIEW
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Outcome, Refresh, Statement
from tests.functional.project import Project

# What is seen at the model's name: the old rows and their vector; the new ones and theirs; nothing; the old rows although their
# table is newer already; or the rows of an edited SELECT at the old vector.
OLD, NEW, GONE, HELD, TAKEN = "old", "new", "gone", "held", "taken"

KEYS = {"orders": ["id"], "cust": ["id"]}
SOURCES = frozenset(KEYS)
CHANGES = "v__idivm_changes"


@dataclass(frozen=True)
class Sight:
    """The rows at the model's name as a bag, and the versions that their state records; no rows at all if nothing exists
    (no versions either) or it cannot be read (none of them)."""

    rows: Counter[tuple[Any, ...]] | None
    vector: Mapping[str, int] | None


class LaterRun(Invocation):
    """A run at another time, in which `forced` is chosen wherever it is among the alternatives."""

    def __init__(self, later: dt.timedelta, forced: str) -> None:
        super().__init__(choose=lambda found: _named(found, forced))
        self._later = later

    def now(self) -> dt.datetime:
        return super().now() + self._later


def _named(found: Sequence[Alternative], name: str) -> Alternative:
    return next((each for each in found if each.name == name), cheapest(found))


@dataclass
class Stage:
    """A schema with two inputs and one model, refreshed in one session after the other.

    A shape's `change` and `initial` are functions on a stage: the former makes the next change of the inputs, a new one each
    time, the latter creates what the model's name has before the refresh.
    """

    project: Project
    new_session: Callable[[], Any]
    warehouse: Path
    shape: Shape
    number: int = 10
    reference: list[str] = field(default_factory=list)
    old: Sight = Sight(None, None)
    new: Sight = Sight(None, None)
    taken: Sight = Sight(None, None)

    @classmethod
    def made(cls, new_session: Callable[[], Any], schema: str, warehouse: Path, shape: Shape) -> Stage:
        project = Project(new_session(), schema)
        project.table(
            "orders",
            "id int, cust int, price int, note string",
            "(1, 1, 5, 'a')",
            "(2, 1, 7, 'b')",
            "(3, 2, 1, null)",
            "(10, 2, 3, 'd')",
        )
        project.table("cust", "id int, name string", "(0, 'z')", "(1, 'ann')", "(2, 'bob')")
        return cls(project, new_session, warehouse / f"{schema}.db", shape)

    @property
    def model(self) -> ModelRequest:
        return self.as_model(self.shape.sql)

    def as_model(self, sql: str) -> ModelRequest:
        return self.project.model("v", sql, KEYS, **self.shape.options)

    # before a refresh

    def arrive(self) -> None:
        """The state from which the next refresh is of this kind."""
        self.shape.initial(self)
        taken = self.wanted() if TAKEN in dict(self.shape.effects).values() else None
        self.shape.change(self)
        self.old, self.new = self.sight(), self.wanted(**self.shape.asked)
        self.taken = taken or self.new

    def wanted(self, sql: str | None = None, restricted: bool = False, **asked: Any) -> Sight:
        """What a run with these arguments would make of the current inputs."""
        query = sql or self.shape.sql
        read = () if restricted else sorted(set(re.findall(r"\$\.(\w+)", query)))
        return Sight(self.rows(f"({query})"), {f"{self.project.schema}.{name}": self.version(name) for name in read})

    def drop(self) -> None:
        """The model does not exist."""
        for name, kind in self.project.relations().items():
            if name not in SOURCES:
                self.project.sql(f"drop {kind} $.{name}")

    def current(self) -> None:
        """The model exists, and is current."""
        if "v" not in self.project.relations():
            self.project.refresh(self.model)

    def plain_view(self) -> None:
        self.drop()
        self.project.sql("create view $.v as select id, note from $.orders")

    def parquet(self) -> None:
        self.drop()
        self.project.sql("create table $.v using parquet as select id, note from $.orders")

    def insert(self) -> None:
        """A row comes, another one moves: in a join rows of both kinds change, in each group the number of rows."""
        self.number += 1
        self.project.sql(
            f"insert into $.orders values ({self.number}, {self.number % 3}, {self.number}, 'n')",
            f"update $.orders set price = price + 1, cust = (cust + 1) % 3 where id = {self.number - 1}",
        )

    def move(self) -> None:
        """A row comes, another one changes, and the condition on the price holds for a third one, or holds no more."""
        self.insert()
        self.project.sql(
            f"update $.orders set price = {self.number}, note = 'm{self.number}' where id = 1",
            "update $.orders set price = 4 - price where id = 3",
        )

    def with_a_row(self) -> None:
        """The same, of one row more."""
        self.number += 1
        self.project.sql(f"insert into $.orders values ({self.number}, 1, 9, 'w')")
        self.project.refresh(self.model)

    def take_out(self) -> None:
        self.project.sql(f"delete from $.orders where id = {self.number}")

    def rename(self) -> None:
        self.number += 1
        self.project.sql(f"update $.cust set name = 'n{self.number}' where id = 1")

    def grow(self) -> None:
        """Rows that are new for certain."""
        self.number += 10
        self.project.sql(f"insert into $.orders select {self.number}, id, 5, 'g' from $.cust where id = 1")

    def reprice(self) -> None:
        """A change of what is summed up, and of nothing else."""
        self.number += 1
        self.project.sql(f"update $.orders set price = {self.number} where id in (1, 3)")

    def keeping(self, **options: Any) -> None:
        """The model exists with another output; the next run changes that."""
        self.drop()
        self.project.refresh(self.project.model("v", self.shape.sql, KEYS, **options))

    def many(self) -> None:
        self.number += 2000
        self.project.sql(f"insert into $.orders select id, id % 3, 2, 'm' from range({self.number - 1500}, {self.number})")

    def elsewhere(self) -> None:
        """A change that the model may not see: of a column that it does not read."""
        self.number += 1
        self.project.sql(f"update $.orders set note = 'x{self.number}' where id = 3")

    def unseen(self) -> None:
        """A change whose feed cannot be read."""
        self.behind_the_feed(self.insert)

    def unseen_price(self) -> None:
        self.behind_the_feed(self.reprice)

    def behind_the_feed(self, change: Callable[[], None]) -> None:
        switch = "alter table $.orders set tblproperties ('delta.enableChangeDataFeed' = '{}')"
        self.project.sql(switch.format("false"))
        change()
        self.project.sql(switch.format("true"))

    def rest(self) -> None:
        """No change."""

    def more(self) -> None:
        """What somebody else changes: as before the refresh, or some rows where that was nothing."""
        (Stage.insert if self.shape.change is Stage.rest else self.shape.change)(self)

    def forget_logs(self) -> None:
        """Delta knows the tables' logs by their folders, and would put former files together with commits of others that took
        the folder; another process would not."""
        self.project.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    # a refresh

    def begin(self) -> Refresh:
        """A run of this kind."""
        return self.begin_asked(**self.shape.asked)

    def begin_asked(self, **asked: Any) -> Refresh:
        self.project.new_run()
        self.project.invocation = LaterRun(self.shape.later, self.shape.forced)
        self.project.executed = []
        if "sql" in asked:
            asked["sql"] = self.project.within(asked["sql"])
        return Refresh(
            refresh(self.project.request(self.model, **asked), self.project.invocation, self.project.engine_for(self.model))
        )

    def go_on(self, steps: Refresh, statements: int | None = None) -> None:
        """So many statements more; None: to the end."""
        while steps.statement is not None and statements != 0:
            steps.answer(self.project.run(steps.statement))
            statements = None if statements is None else statements - 1

    def whole(self) -> Outcome:
        """A complete run of this kind, of which interrupted runs are a part."""
        self.arrive()
        steps = self.begin()
        self.go_on(steps)
        assert steps.outcome is not None
        self.reference = [kind_of(statement) for statement in self.project.executed]
        assert steps.outcome.mode == self.shape.mode, steps.outcome.message
        assert acts(self.project.executed) == [act for act, _ in self.shape.effects]
        assert applied(self.project.executed) == self.shape.applied
        return steps.outcome

    def die(self, statements: int) -> None:
        """Run so many statements, then stop without closing the refresh, as a process that dies."""
        steps = self.begin()
        self.go_on(steps, statements)
        assert [kind_of(statement) for statement in self.project.executed] == self.reference[:statements]

    def points(self, *, every: bool) -> Iterator[int]:
        """Numbers of statements after which something happens to a refresh: each, or those around what changes something."""
        for statements in range(len(self.reference) + 1):
            around = {self.changed(statements + step) for step in (-1, 0, 1)}
            if every or len(around) > 1:
                yield statements

    def changed(self, statements: int) -> int:
        """How many of so many statements change something."""
        return sum(name in dict(self.shape.effects) for name in self.reference[: max(statements, 0)])

    def effect(self, statements: int) -> str:
        """What is seen after so many statements of a run of this kind."""
        changed = self.changed(statements)
        return self.shape.effects[changed - 1][1] if changed else OLD

    # afterwards

    def again(self) -> None:
        """A session of its own for what comes next."""
        self.project.move(self.new_session())

    def expected(self, effect: str) -> Sight:
        return {
            OLD: self.old,
            NEW: self.new,
            GONE: Sight(None, None),
            HELD: Sight(self.old.rows, self.new.vector),
            TAKEN: self.taken,
        }[effect]

    def sight(self) -> Sight:
        if "v" not in self.project.relations():
            return Sight(None, None)
        properties = self.project.properties("v")
        if LOG in properties:
            return self.sight_of_log()
        if VIEW not in properties:
            return Sight(self.rows("$.v"), None)
        table = state.decode(properties[VIEW])
        if table.rpartition(".")[2] not in self.project.relations():
            return Sight(None, {})  # a view of a missing table: it exists and cannot be read
        return Sight(self.rows("$.v"), self.vector(table))

    def sight_of_log(self) -> Sight:
        """What subscribers see: the rows that the log replays to, and the versions that its state records."""
        if CHANGES not in self.project.relations():
            return Sight(None, {})
        return Sight(self.replayed(), self.vector(f"{self.project.schema}.{CHANGES}"))

    def replayed(self) -> Counter[tuple[Any, ...]]:
        found: Counter[tuple[Any, ...]] = Counter()
        for *row, change, copies, _, _ in self.project.sql(f"select * from $.{CHANGES}"):
            found[tuple(row)] += copies if change == "insert" else -copies
        assert all(copies >= 0 for copies in found.values()), "nothing leaves that did not come"
        return +found

    def vector(self, table: str) -> dict[str, int]:
        """The versions of the sources in the newest state of a table."""
        history = self.project.spark.sql(f"describe history {table} limit 5")
        metadata = list(history.columns).index("userMetadata")
        found = [state.read(row[metadata]) for row in history.collect()]
        versions = next((each.versions for each in found if each is not None), {})
        sources = {f"{self.project.schema}.{name}" for name in SOURCES}
        return {table: version for table, version in versions.items() if table in sources}

    def check_log(self, *allowed: Sight) -> None:
        """A log beside a view replays to the rows of one of its refreshes."""
        if CHANGES in self.project.relations():
            assert self.replayed() in [each.rows for each in allowed], "the log is wrong"

    def version(self, table: str) -> int:
        return self.project.version(table)

    def rows(self, source: str) -> Counter[tuple[Any, ...]]:
        return self.project.rows(f"select * from {source}")

    def recover(self, *, thorough: bool, files: bool = True) -> None:
        """The next run, and that it loses nothing, does nothing twice and leaves nothing behind, no `files` either."""
        steps = self.begin_asked()
        self.go_on(steps)
        assert steps.outcome is not None
        newest = self.wanted() if "sql" in self.shape.asked else self.new
        self.check_log(newest)
        seen = self.sight()
        assert seen.rows == newest.rows
        assert seen.vector == newest.vector or steps.outcome.mode == "noop"
        if thorough:
            assert self.project.differences(self.model) == []
            steps = self.begin_asked()
            self.go_on(steps)
            assert steps.outcome is not None and steps.outcome.mode == "noop"
        made = {identifier: kind for _, identifier, kind in steps.outcome.relations}
        assert self.project.relations() == dict.fromkeys(SOURCES, "table") | made, "nothing is left behind"
        tables = SOURCES | {name for name, kind in made.items() if kind == "table"}
        assert not files or {path.name for path in self.warehouse.iterdir()} == tables, "no files either"


def acts(statements: list[Statement]) -> list[str]:
    """The statements that change what others, or later statements, find."""
    return [kind_of(s) for s in statements if s.kind == "write" or s.sql.split()[0] in ("CREATE", "DROP", "ALTER", "CACHE")]


def kind_of(statement: Statement) -> str:
    """A statement's label without schema, versions and what tells caches apart; staging has another label than reading."""
    label = re.sub(r"\bcrash\w*\.", "", re.sub(r"idivm_cache_[0-9a-f]+_", "idivm_cache_", statement.label))
    return "stage" if statement.sql.startswith("CACHE") else re.sub(r" from version \d+ to \d+", "", label)


def applied(statements: Sequence[Statement]) -> tuple[str, ...]:
    """How statements of a refresh apply, from their texts: what they add to stored values, whether they read the view, or whether
    their source was fetched."""
    found, fetched = [], False
    for each in statements:
        if each.label.startswith("changes of"):
            fetched = True
        elif each.label.startswith(("merge", "append", "update", "delete", "replace")):
            found.append(_application(sqlglot.parse_one(each.sql, dialect="spark"), fetched))
            fetched = False
    return tuple(found)


def _application(tree: exp.Expression, fetched: bool) -> str:
    if not isinstance(tree, exp.Merge):
        return tree.key if not isinstance(tree, exp.Insert) else "replaced" if tree.args.get("where") else "append"
    if any({"v", "d"} <= {column.table for column in each.find_all(exp.Column)} for each in tree.args["whens"].find_all(exp.Add)):
        return "additive"
    if fetched:
        return "fetched"
    read = [table.name for table in tree.args["using"].find_all(exp.Table)]
    return "effective" if tree.this.name in read else "direct"


def under(sql: str) -> Callable[[Stage], None]:
    """The model exists, built from another SELECT."""

    def initial(stage: Stage) -> None:
        stage.project.refresh(stage.as_model(sql))

    return initial


@dataclass(frozen=True)
class Shape:
    """A kind of refresh.

    `sql` is the model's, `initial` and `change` make the state that the refresh starts from, `asked` are the arguments of the
    run, `later` its clock, `forced` what is chosen where the strategy chooses. `mode`, `effects` (the statements that change
    something, each with what is seen after it) and `applied` (how each MERGE applies) are what is expected of it.
    """

    sql: str
    mode: str
    effects: tuple[tuple[str, str], ...]
    initial: Callable[[Stage], None] = Stage.current
    change: Callable[[Stage], None] = Stage.insert
    applied: tuple[str, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    later: dt.timedelta = dt.timedelta(0)
    forced: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


JOIN = "select o.note, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 1"  # hides both keys
# hides a key; of its rows none of the others' are made
WIDER = "select o.note, o.price as p, c.id as customer from $.orders o left join $.cust c on o.cust = c.id"
TYPED = "select o.note, o.cust / 4 as p, c.id as customer from $.orders o join $.cust c on o.cust = c.id"  # no int any more
PLAIN = "select id, note from $.orders where price > 1"  # hides nothing
SAME = "with o as (select * from $.orders) select id, note from o where 1 < price"
MARKED = "select id, upper(note) as note from $.orders where price > 1"
LESS = f"{PLAIN} and id <> 2"  # that row is there at any time
OTHER = "select id, note, price from $.orders"
GROUPS = "select cust, sum(price) as total, count(*) as n from $.orders group by cust"
REBUILT_ALWAYS = "select cust, try_sum(price) as middle from $.orders group by cust"  # no rules: rebuilt each time
ABOVE = """select c.name, t.total from (select cust, sum(price) as total from $.orders group by cust) t
    join $.cust c on t.cust = c.id"""  # hides a key; the groups are cached
EMPTY = JOIN.replace("$.orders", "(select * from $.orders where false limit 0)")

CACHE = "idivm_cache_orders"
APPENDED = f"append to {CHANGES}"
BEGUN = f"build {CHANGES}"
DIFFS, BOTH = {"output": "diffs"}, {"output": "both"}
MERGED = (("merge into v__idivm", NEW),)
REPLACED = (("replace rows of v__idivm", NEW),)
UPDATED = (("update v__idivm", NEW),)
REBUILT = (("rebuild v__idivm", NEW),)
CHOSEN = {"strategy": "incremental"}
# the name belongs to something that is not a Delta table
SWAPPED = (("build v__idivm_new", OLD), ("drop view v", GONE), ("rename v__idivm_new", NEW))
SHOWN = (*SWAPPED, ("drop table v__idivm", NEW))
DEFINED = (("create view v", OLD), ("build v__idivm", HELD), ("create view v", NEW))

SHAPES = {
    "create": Shape(JOIN, "create", (("build v__idivm", GONE), ("create view v", NEW)), Stage.drop),
    "create_table": Shape(PLAIN, "create", (("build v", NEW),), Stage.drop),
    "append": Shape(JOIN, "incremental", (("append to v__idivm", NEW),), change=Stage.grow, applied=("append",)),
    "direct": Shape(JOIN, "incremental", UPDATED, change=Stage.rename, applied=("update",)),
    "deleted": Shape(JOIN, "incremental", (("delete from v__idivm", NEW),), Stage.with_a_row, Stage.take_out, ("delete",)),
    "effective": Shape(JOIN, "incremental", REPLACED, applied=("replaced",)),
    "replaced": Shape(MARKED, "incremental", (("replace rows of v", NEW),), change=Stage.move, applied=("replaced",)),
    "additive": Shape(GROUPS, "incremental", MERGED, applied=("additive",)),
    # the ways that are not the first of strategy `id`, and the rebuild, each chosen by force
    "recomputed": Shape(
        GROUPS, "incremental", UPDATED, change=Stage.reprice, applied=("update",), forced="recompute", options=CHOSEN
    ),
    "tuples": Shape(JOIN, "incremental", REPLACED, applied=("replaced",), forced="tuple", options=CHOSEN),
    "whole": Shape(JOIN, "incremental", REPLACED, applied=("replaced",), forced="whole", options=CHOSEN),
    "rebuilt": Shape(JOIN, "full", REBUILT, forced="rebuild", options={"strategy": "auto"}),
    "staged": Shape(
        JOIN,
        "incremental",
        (("stage", OLD), ("append to v__idivm", NEW), ("drop view idivm_net_1", NEW)),
        change=Stage.many,
        applied=("append",),
    ),
    "cached_create": Shape(
        ABOVE,
        "create",
        ((f"build {CACHE}", GONE), ("build v__idivm", GONE), ("create view v", NEW)),
        Stage.drop,
        options={"caches": "all"},
    ),
    "cached": Shape(
        ABOVE,
        "incremental",
        ((f"update {CACHE}", OLD), *UPDATED),
        change=Stage.reprice,
        applied=("update", "update"),
        options={"caches": "all"},
    ),
    "cached_full": Shape(
        ABOVE, "full", ((f"rebuild {CACHE}", OLD), *REBUILT), asked={"full_refresh": True}, options={"caches": "all"}
    ),
    "cached_gap": Shape(
        ABOVE,
        "incremental",
        ((f"rebuild {CACHE}", OLD), *UPDATED),
        change=Stage.unseen_price,
        applied=("update",),
        options={"caches": "all"},
    ),
    "full": Shape(JOIN, "full", REBUILT, asked={"full_refresh": True}),
    "gap": Shape(JOIN, "full", REBUILT, change=Stage.unseen),
    "refused": Shape(REBUILT_ALWAYS, "full", (("rebuild v", NEW),)),
    "definition": Shape(OTHER, "full", (("build v", NEW),), under(PLAIN)),
    "columns": Shape(JOIN, "full", DEFINED, under(WIDER)),
    # stored rows are taken over: nothing is to be refreshed then
    "migrated": Shape(MARKED, "migrated", (("build v", NEW),), under(PLAIN), change=Stage.rest),
    "migrated_less": Shape(
        LESS,
        "migrated",
        (("delete from v", NEW), ("set the properties of v", NEW)),
        under(PLAIN),
        change=Stage.rest,
        applied=("delete",),
    ),
    "migrated_cached": Shape(
        f"{ABOVE} where t.total > 5",
        "migrated",
        (("delete from v__idivm", NEW), ("set the properties of v__idivm", NEW), ("create view v", NEW)),
        under(ABOVE),
        change=Stage.rest,
        applied=("delete",),
        options={"caches": "all"},
    ),
    "migrated_both": Shape(
        MARKED,
        "migrated",
        (("build v", NEW), (APPENDED, NEW)),
        under(PLAIN),
        change=Stage.rest,
        applied=("append",),
        options=BOTH,
    ),
    "types": Shape(TYPED, "full", DEFINED, under(WIDER)),
    "hides": Shape(JOIN, "full", (("build v__idivm", OLD), ("drop table v", GONE), ("create view v", NEW)), under(PLAIN)),
    "shows": Shape(PLAIN, "full", SHOWN, under(JOIN)),
    "over_view": Shape(PLAIN, "full", SWAPPED, Stage.plain_view),
    "over_view_hidden": Shape(JOIN, "full", (("build v__idivm", OLD), ("create view v", NEW)), Stage.plain_view),
    "over_parquet": Shape(
        PLAIN, "full", (("build v__idivm_new", OLD), ("drop table v", GONE), ("rename v__idivm_new", NEW)), Stage.parquet
    ),
    "over_parquet_hidden": Shape(
        JOIN, "full", (("build v__idivm", OLD), ("drop table v", GONE), ("create view v", NEW)), Stage.parquet
    ),
    "empty": Shape(PLAIN, "full", (("build v", NEW),), asked={"restricted": True, "sql": EMPTY}),
    "empty_shows": Shape(JOIN, "full", SHOWN, asked={"restricted": True, "sql": EMPTY}),
    "empty_create": Shape(JOIN, "create", (("build v", NEW),), Stage.drop, asked={"restricted": True, "sql": EMPTY}),
    # no view is kept: what is seen are the rows that the log replays to
    "diffs_create": Shape(JOIN, "create", ((BEGUN, GONE), ("create view v", NEW)), Stage.drop, options=DIFFS),
    "diffs": Shape(JOIN, "incremental", ((APPENDED, NEW),), applied=("append",), options=DIFFS),
    "diffs_groups": Shape(GROUPS, "incremental", ((APPENDED, NEW),), applied=("append",), options=DIFFS),
    "diffs_staged": Shape(
        JOIN,
        "incremental",
        (("stage", OLD), (APPENDED, NEW), ("drop view idivm_feed_1", NEW)),
        change=Stage.many,
        applied=("append",),
        options=DIFFS,
    ),
    "diffs_gap": Shape(JOIN, "full", ((APPENDED, NEW),), change=Stage.unseen, applied=("append",), options=DIFFS),
    "diffs_full": Shape(JOIN, "full", ((APPENDED, NEW),), applied=("append",), asked={"full_refresh": True}, options=DIFFS),
    "diffs_columns": Shape(JOIN, "full", ((BEGUN, NEW), ("create view v", NEW)), under(WIDER), options=DIFFS),
    "diffs_cached": Shape(
        ABOVE,
        "incremental",
        ((f"update {CACHE}", OLD), (APPENDED, NEW)),
        change=Stage.reprice,
        applied=("update", "append"),
        options={**DIFFS, "caches": "all"},
    ),
    "diffs_after_view": Shape(
        JOIN,
        "full",
        ((BEGUN, OLD), ("create view v", NEW), ("drop table v__idivm", NEW)),
        partial(Stage.keeping, output="view"),
        options=DIFFS,
    ),
    "diffs_after_table": Shape(
        PLAIN,
        "full",
        ((BEGUN, OLD), ("drop table v", GONE), ("create view v", NEW)),
        partial(Stage.keeping, output="view"),
        options=DIFFS,
    ),
    "view_after_diffs": Shape(
        JOIN,
        "full",
        (("build v__idivm", OLD), ("create view v", NEW), (f"drop table {CHANGES}", NEW)),
        partial(Stage.keeping, output="diffs"),
    ),
    "diffs_mark": Shape(
        GROUPS,
        "noop",
        ((f"move the watermark of {CHANGES}", NEW),),
        change=Stage.elsewhere,
        later=dt.timedelta(days=4),
        options=DIFFS,
    ),
    # the view is kept as well: the log follows it
    "both_create": Shape(
        JOIN, "create", (("build v__idivm", GONE), ("create view v", NEW), (BEGUN, NEW)), Stage.drop, options=BOTH
    ),
    "both": Shape(JOIN, "incremental", (*REPLACED, (APPENDED, NEW)), applied=("replaced", "append"), options=BOTH),
    "both_groups": Shape(GROUPS, "incremental", (*MERGED, (APPENDED, NEW)), applied=("additive", "append"), options=BOTH),
    "both_gap": Shape(JOIN, "full", (*REBUILT, (APPENDED, NEW)), change=Stage.unseen, applied=("append",), options=BOTH),
    "both_columns": Shape(JOIN, "full", (*DEFINED, (BEGUN, NEW)), under(WIDER), options=BOTH),
    "both_after_diffs": Shape(
        JOIN,
        "full",
        (("build v__idivm", OLD), ("create view v", NEW), (APPENDED, NEW)),
        partial(Stage.keeping, output="diffs"),
        applied=("append",),
        options=BOTH,
    ),
    "both_mark": Shape(
        GROUPS,
        "noop",
        (("move the watermark of v__idivm", NEW), (APPENDED, NEW)),
        change=Stage.elsewhere,
        applied=("append",),
        later=dt.timedelta(days=4),
        options=BOTH,
    ),
    "noop": Shape(JOIN, "noop", (), change=Stage.rest),
    "looked": Shape(GROUPS, "noop", (), change=Stage.elsewhere),
    "mark": Shape(GROUPS, "noop", (("move the watermark of v__idivm", NEW),), change=Stage.elsewhere, later=dt.timedelta(days=4)),
    "old_mark": Shape(JOIN, "noop", (("move the watermark of v__idivm", NEW),), change=Stage.rest, later=dt.timedelta(days=16)),
}
# Stored rows are taken over at the old versions, and refreshed then.
EDITED_AND_MOVED = {
    "migrated_then": Shape(
        MARKED, "migrated", (("build v", TAKEN), ("replace rows of v", NEW)), under(PLAIN), Stage.move, ("replaced",)
    ),
    "migrated_same_then": Shape(
        SAME,
        "migrated",
        (("set the properties of v", TAKEN), ("replace rows of v", NEW)),
        under(PLAIN),
        Stage.move,
        ("replaced",),
    ),
    "migrated_less_then": Shape(
        LESS,
        "migrated",
        (("delete from v", TAKEN), ("set the properties of v", TAKEN), ("replace rows of v", NEW)),
        under(PLAIN),
        Stage.move,
        ("delete", "replaced"),
    ),
    "migrated_more_then": Shape(
        PLAIN.replace("> 1", "> 0"),
        "migrated",
        (("append to v", TAKEN), ("set the properties of v", TAKEN), ("replace rows of v", NEW)),
        under(PLAIN),
        Stage.move,
        ("append", "replaced"),
    ),
    "migrated_both_then": Shape(
        MARKED,
        "migrated",
        (("build v", TAKEN), ("replace rows of v", NEW), (APPENDED, NEW)),
        under(PLAIN),
        Stage.move,
        ("replaced", "append"),
        options=BOTH,
    ),
    "migrated_cached_then": Shape(
        f"{ABOVE} where t.total > 5",
        "migrated",
        (
            ("delete from v__idivm", TAKEN),
            ("set the properties of v__idivm", TAKEN),
            ("create view v", TAKEN),
            ("update v__idivm", NEW),
        ),
        under(ABOVE),
        Stage.rename,
        ("delete", "update"),
        options={"caches": "all"},
    ),
}
